#include "functional_cases.h"

#include <iterator>

namespace cases {

Tensor wave(torch::IntArrayRef sizes, double phase) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return (2 * torch::sin(torch::arange(count, torch::kDouble) * 1.3 + phase)).view(sizes);
}

Tensor fractions(torch::IntArrayRef sizes, double phase) {
  return wave(sizes, phase) * 0.24 + 0.5;
}

Tensor indices(torch::IntArrayRef sizes, int64_t classes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return torch::remainder(torch::arange(count, torch::kLong) * 7 + 2, classes).view(sizes);
}

Tensor weights_like(const Tensor& value) {
  return torch::cos(torch::arange(value.numel(), torch::kDouble) * 0.37).view(value.sizes()) + 0.1;
}

void differentiable(Cases& out, const std::string& name, const Function& f, Tensor x) {
  x = x.clone().requires_grad_();
  const Tensor value = f(x);
  out.push_back({name, value.detach()});
  const Tensor grad = torch::autograd::grad({(value * weights_like(value).to(value.dtype())).sum()}, {x})[0];
  out.push_back({name + "'", grad});
}

Cases all_cases() {
  Cases all;
  for (const auto& family :
       {activation_cases, attention_cases, layer_cases, loss_cases, pooling_cases, image_cases, random_cases}) {
    Cases part = family();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

} // namespace cases
