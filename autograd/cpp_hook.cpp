#include <autograd/cpp_hook.h>

#include <c10/util/Exception.h>

#include <string>
#include <utility>

namespace torch::autograd {

void check_variable_result(const at::TensorBase& original, const at::TensorBase& result, const std::string& hook_name) {
  TORCH_CHECK(
      original.options().type_equal(result.options()), "hook '", hook_name, "' has changed the type of value (was ",
      original.toString(), " got ", result.toString(), ")");
  TORCH_CHECK(
      original.device() == result.device(), "hook '", hook_name, "' has changed the type of value: it was on ",
      original.device(), " and is on ", result.device());
  TORCH_CHECK(
      original.sizes() == result.sizes(), "hook '", hook_name, "' has changed the size of value: it was ",
      original.sizes(), " and is ", result.sizes());
}

CppFunctionTensorPreHook::CppFunctionTensorPreHook(std::shared_ptr<hooks_list> hooks, size_t value_idx)
    : hooks_(std::move(hooks)), value_idx_(value_idx) {}

variable_list CppFunctionTensorPreHook::operator()(const variable_list& values) {
  at::Tensor value = values[value_idx_];
  // A hook may register further hooks on the same tensor: the list may grow while it is walked.
  for (size_t i = 0; i < hooks_->size(); ++i) {
    const auto hook = (*hooks_)[i];
    if (!hook) {
      continue;
    }
    at::TensorBase result = hook(value);
    if (!result.defined()) {
      continue;
    }
    check_variable_result(value, result, std::to_string(i));
    value = at::Tensor(std::move(result));
  }
  variable_list results(values);
  results[value_idx_] = std::move(value);
  return results;
}

CppFunctionSingleTensorPreHook::CppFunctionSingleTensorPreHook(
    std::function<at::TensorBase(const at::TensorBase&)> hook, size_t value_idx)
    : hook_(std::move(hook)), value_idx_(value_idx) {}

variable_list CppFunctionSingleTensorPreHook::operator()(const variable_list& values) {
  const at::Tensor& value = values[value_idx_];
  at::TensorBase result = hook_(value);
  if (!result.defined()) {
    return values;
  }
  check_variable_result(value, result, "hook");
  variable_list results(values);
  results[value_idx_] = at::Tensor(std::move(result));
  return results;
}

} // namespace torch::autograd
