// Functional forms of the in-place samplers: a tensor like self, filled. Out forms of the factories *_like.
#include <aten/Functions.h>
#include <aten/core/Generator.h>
#include <aten/native/support/OutArgument.h>
#include <aten/ops/_philox_normal_.h>
#include <aten/ops/_philox_randint_.h>
#include <aten/ops/_philox_uniform_.h>

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
    const Tensor& self, int64_t from, std::optional<int64_t> to, std::optional<Generator> generator) {
  return at::empty_like(self).random_(from, to, std::move(generator));
}
Tensor random_to_functional(const Tensor& self, int64_t to, std::optional<Generator> generator) {
  return at::empty_like(self).random_(to, std::move(generator));
}
Tensor bernoulli_tensor_functional(const Tensor& self, const Tensor& p, std::optional<Generator> generator) {
  return at::empty_like(self).bernoulli_(p, std::move(generator));
}

Tensor philox_uniform(const Tensor& self, const Tensor& key, double low, double high) {
  Tensor result = at::empty_like(self);
  return at::_philox_uniform_(result, key, low, high);
}
Tensor philox_normal(const Tensor& self, const Tensor& key, double mean, double std) {
  Tensor result = at::empty_like(self);
  return at::_philox_normal_(result, key, mean, std);
}
Tensor philox_randint(const Tensor& self, const Tensor& key, std::optional<int64_t> low, std::optional<int64_t> high) {
  Tensor result = at::empty_like(self);
  return at::_philox_randint_(result, key, low, high);
}

// ---- out forms: a tensor of the output's dtype and the given format, copied
// -------------------------------------------------

namespace {

using LikeFormat = std::optional<MemoryFormat>;
using LikeGenerator = std::optional<Generator>;

/// `like` is called with what the output says of dtype, layout and device.
template <class Like>
Tensor& sampled_out(const char* op, Tensor& out, const Like& like) {
  TORCH_CHECK(out.defined(), op, ": the output tensor is undefined");
  check_out_without_grad(op, out);
  copy_into_out(op, out, like(out.scalar_type(), out.layout(), out.device()));
  return out;
}

} // namespace

Tensor& rand_like_generator_out(const Tensor& self, LikeGenerator generator, LikeFormat memory_format, Tensor& out) {
  return sampled_out("rand_like", out, [&](ScalarType dtype, Layout layout, Device device) {
    return at::rand_like(self, std::move(generator), dtype, layout, device, std::nullopt, memory_format);
  });
}
Tensor& rand_like_out(const Tensor& self, LikeFormat memory_format, Tensor& out) {
  return at::native::rand_like_generator_out(self, std::nullopt, memory_format, out);
}
Tensor& randn_like_generator_out(const Tensor& self, LikeGenerator generator, LikeFormat memory_format, Tensor& out) {
  return sampled_out("randn_like", out, [&](ScalarType dtype, Layout layout, Device device) {
    return at::randn_like(self, std::move(generator), dtype, layout, device, std::nullopt, memory_format);
  });
}
Tensor& randn_like_out(const Tensor& self, LikeFormat memory_format, Tensor& out) {
  return at::native::randn_like_generator_out(self, std::nullopt, memory_format, out);
}
Tensor& randint_like_generator_out(
    const Tensor& self, int64_t high, LikeGenerator generator, LikeFormat memory_format, Tensor& out) {
  return sampled_out("randint_like", out, [&](ScalarType dtype, Layout layout, Device device) {
    return at::randint_like(self, high, std::move(generator), dtype, layout, device, std::nullopt, memory_format);
  });
}
Tensor& randint_like_out(const Tensor& self, int64_t high, LikeFormat memory_format, Tensor& out) {
  return at::native::randint_like_generator_out(self, high, std::nullopt, memory_format, out);
}
Tensor& randint_like_low_generator_out(
    const Tensor& self, int64_t low, int64_t high, LikeGenerator generator, LikeFormat memory_format, Tensor& out) {
  return sampled_out("randint_like", out, [&](ScalarType dtype, Layout layout, Device device) {
    return at::randint_like(self, low, high, std::move(generator), dtype, layout, device, std::nullopt, memory_format);
  });
}
Tensor& randint_like_low_out(const Tensor& self, int64_t low, int64_t high, LikeFormat memory_format, Tensor& out) {
  return at::native::randint_like_low_generator_out(self, low, high, std::nullopt, memory_format, out);
}
Tensor& randint_like_tensor_generator_out(
    const Tensor& self, const Tensor& high, LikeGenerator generator, LikeFormat memory_format, Tensor& out) {
  return sampled_out("randint_like", out, [&](ScalarType dtype, Layout layout, Device device) {
    return at::randint_like(self, high, std::move(generator), dtype, layout, device, std::nullopt, memory_format);
  });
}
Tensor& randint_like_tensor_out(const Tensor& self, const Tensor& high, LikeFormat memory_format, Tensor& out) {
  return at::native::randint_like_tensor_generator_out(self, high, std::nullopt, memory_format, out);
}

} // namespace at::native
