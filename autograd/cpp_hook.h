#pragma once

#include <c10/util/SharedOf.h>
#include <autograd/function_hook.h>

#include <functional>
#include <memory>
#include <vector>

namespace torch::autograd {

/// Hooks of one tensor, in order of registration. A removed hook leaves an empty function, so that positions stay
/// valid.
using hooks_list = std::vector<std::function<at::TensorBase(const at::TensorBase&)>>;

/// Applies a tensor's hooks to gradient number `value_idx` of a node. Throws when a hook changes dtype, device or
/// shape.
struct CppFunctionTensorPreHook : public FunctionPreHook {
  CppFunctionTensorPreHook(std::shared_ptr<hooks_list> hooks, size_t value_idx);
  variable_list operator()(const variable_list& values) override;

  c10::SharedOf<hooks_list> hooks_;
  size_t value_idx_;
};

/// As CppFunctionTensorPreHook, for one hook that is not shared with the tensor.
struct CppFunctionSingleTensorPreHook : public FunctionPreHook {
  CppFunctionSingleTensorPreHook(std::function<at::TensorBase(const at::TensorBase&)> hook, size_t value_idx);
  variable_list operator()(const variable_list& values) override;

  std::function<at::TensorBase(const at::TensorBase&)> hook_;
  size_t value_idx_;
};

/// Throws std::runtime_error when `result`, which hook `hook_name` returned, cannot stand in for `original`.
TORCH_API void check_variable_result(
    const at::TensorBase& original, const at::TensorBase& result, const std::string& hook_name);

} // namespace torch::autograd
