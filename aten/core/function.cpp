#include <aten/core/function.h>

namespace torch::jit {

Function::~Function() = default;

c10::IValue Function::operator()(Stack stack) {
  return (*this)(std::move(stack), Kwargs());
}

c10::IValue Function::operator()(Stack stack, const Kwargs& kwargs) {
  getSchema().checkAndNormalizeInputs(stack, kwargs);
  run(stack);
  TORCH_CHECK(
      stack.size() == 1, "function ", qualname().qualifiedName(), " left ", stack.size(), " values on the stack");
  return std::move(stack.front());
}

} // namespace torch::jit
