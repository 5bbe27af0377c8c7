#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <vector>

namespace torch::autograd {

using Variable = at::Tensor;
using variable_list = std::vector<Variable>;

/// Sees the gradients that reach a node before the node runs, and may replace them.
struct TORCH_API FunctionPreHook {
  virtual ~FunctionPreHook() = default;
  virtual variable_list operator()(const variable_list& grads) = 0;
};

/// Sees what a node made (`outputs`) from what it got (`inputs`), and may replace the outputs.
struct TORCH_API FunctionPostHook {
  virtual ~FunctionPostHook() = default;
  virtual variable_list operator()(const variable_list& outputs, const variable_list& inputs) = 0;
};

/// Runs after a gradient was added to a leaf's `.grad()`.
struct TORCH_API PostAccumulateGradHook {
  virtual ~PostAccumulateGradHook() = default;
  virtual void operator()(const Variable& tensor) = 0;
};

} // namespace torch::autograd
