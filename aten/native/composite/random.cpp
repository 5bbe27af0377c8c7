// Functional forms of the in-place samplers: a tensor like self, filled.
#include <aten/Functions.h>
#include <aten/core/Generator.h>

namespace at::native {

Tensor uniform_functional(const Tensor& self, double from, double to, std::optional<Generator> generator) {
  return at::empty_like(self).uniform_(from, to, std::move(generator));
}
Tensor normal_functional(const Tensor& self, double mean, double std, std::optional<Generator> generator) {
  return at::empty_like(self).normal_(mean, std, std::move(generator));
}
Tensor log_normal_functional(const Tensor& self, double mean, double std, std::optional<Generator> generator) {
  return at::empty_like(self).log_normal_(mean, std, std::move(generator));
}
Tensor exponential_functional(const Tensor& self, double lambd, std::optional<Generator> generator) {
  return at::empty_like(self).exponential_(lambd, std::move(generator));
}
Tensor cauchy_functional(const Tensor& self, double median, double sigma, std::optional<Generator> generator) {
  return at::empty_like(self).cauchy_(median, sigma, std::move(generator));
}
Tensor geometric_functional(const Tensor& self, double p, std::optional<Generator> generator) {
  return at::empty_like(self).geometric_(p, std::move(generator));
}
Tensor random_functional(const Tensor& self, std::optional<Generator> generator) {
  return at::empty_like(self).random_(std::move(generator));
}
Tensor random_from_functional(
    const Tensor& self,
    int64_t from,
    std::optional<int64_t> to,
    std::optional<Generator> generator) {
  return at::empty_like(self).random_(from, to, std::move(generator));
}
Tensor random_to_functional(const Tensor& self, int64_t to, std::optional<Generator> generator) {
  return at::empty_like(self).random_(to, std::move(generator));
}
Tensor bernoulli_tensor_functional(const Tensor& self, const Tensor& p, std::optional<Generator> generator) {
  return at::empty_like(self).bernoulli_(p, std::move(generator));
}

} // namespace at::native
