// What the autograd tests share. They use the public API only, so they also run against libtorch.
#pragma once

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace autograd_test {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

inline torch::TensorOptions doubles() {
  return torch::TensorOptions().dtype(torch::kDouble);
}

inline Tensor values(std::initializer_list<double> list) {
  return torch::tensor(std::vector<double>(list), doubles());
}

/// A leaf that requires a gradient.
inline Tensor leaf(std::initializer_list<double> list) {
  return values(list).requires_grad_();
}

inline Tensor filled(std::vector<int64_t> shape, double value) {
  return torch::full(shape, value, doubles());
}

inline bool same(const Tensor& got, const Tensor& want) {
  return got.defined() && want.defined() && got.sizes() == want.sizes() && got.dtype() == want.dtype() &&
      torch::allclose(got, want);
}

inline bool same(const Tensor& got, std::initializer_list<double> want) {
  return same(got, values(want));
}

/// The message of what `call` throws; empty when it throws nothing.
template <class F>
std::string error_of(F&& call) {
  try {
    std::forward<F>(call)();
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

inline Catch::Matchers::StdString::ContainsMatcher says(const std::string& text) {
  return Catch::Matchers::Contains(text);
}

} // namespace autograd_test
