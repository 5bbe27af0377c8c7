#include <aten/core/stack.h>

#include <c10/core/TensorOptions.h>

#include <iterator>

namespace torch::jit {

std::vector<IValue> pop(Stack& stack, size_t n) {
  const auto first = stack.end() - static_cast<std::ptrdiff_t>(n);
  std::vector<IValue> out(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
  drop(stack, n);
  return out;
}

void push_one(Stack& stack, c10::TensorOptions options) {
  stack.emplace_back(options.scalar_type_opt());
  stack.emplace_back(options.layout_opt());
  stack.emplace_back(options.device_opt());
  stack.emplace_back(options.pinned_memory_opt());
}

} // namespace torch::jit
