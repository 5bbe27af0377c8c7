// The problem on which reference.py runs PyTorch's optimizers.
#pragma once

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/variable_factories.h>
#include <csrc/optim/optimizer.h>

#include <vector>

namespace test {

inline std::vector<at::Tensor> parameters(at::ScalarType dtype) {
  const at::Tensor a = at::linspace(-1, 1, 6, at::kDouble).view({2, 3}).to(dtype);
  const at::Tensor b = at::linspace(0.5, 2, 3, at::kDouble).to(dtype);
  return {a.set_requires_grad(true), b.set_requires_grad(true)};
}

/// Squares of a linear map, and a bowl with ripples.
inline at::Tensor loss(const std::vector<at::Tensor>& params) {
  const at::Tensor &a = params[0], &b = params[1];
  const at::Tensor x = at::linspace(-1, 1, 12, at::kDouble).view({3, 4}).to(a.scalar_type());
  const at::Tensor y = at::linspace(2, -1, 8, at::kDouble).view({2, 4}).to(a.scalar_type());
  return (a.mm(x) - y).square().sum() * 0.25 + b.cos().sum() + b.square().sum() * 0.3;
}

/// A closure for the problem.
inline torch::optim::Optimizer::LossClosure closure(
    torch::optim::Optimizer& optimizer, const std::vector<at::Tensor>& params) {
  return [&optimizer, params] {
    optimizer.zero_grad();
    const at::Tensor value = loss(params);
    value.backward();
    return value;
  };
}

inline std::vector<double> numbers(const std::vector<at::Tensor>& tensors) {
  std::vector<double> result;
  for (const at::Tensor& t : tensors) {
    const at::Tensor flat = t.detach().to(at::kDouble).reshape({-1}).contiguous();
    result.insert(result.end(), flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
  }
  return result;
}

} // namespace test
