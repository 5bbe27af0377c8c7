#pragma once

#include <aten/core/ivalue.h>

#include <functional>
#include <vector>

// A boxed call takes its arguments from the end of a vector of IValues and puts its results there.

namespace torch::jit {

using c10::IValue;
using Stack = std::vector<IValue>;
using Operation = std::function<void(Stack&)>;

/// The i-th of the last N values.
inline IValue& peek(Stack& stack, size_t i, size_t N) {
  return *(stack.end() - static_cast<std::ptrdiff_t>(N) + static_cast<std::ptrdiff_t>(i));
}
inline IValue& peek(Stack* stack, size_t i, size_t N) {
  return peek(*stack, i, N);
}
inline const IValue& peek(const Stack& stack, size_t i, size_t N) {
  return *(stack.end() - static_cast<std::ptrdiff_t>(N) + static_cast<std::ptrdiff_t>(i));
}
inline const IValue& peek(const Stack* stack, size_t i, size_t N) {
  return peek(*stack, i, N);
}
/// Views of values counted from the end.
inline c10::ArrayRef<IValue> peekSlice(const Stack& stack, size_t i, size_t len, size_t N) {
  return c10::ArrayRef<IValue>(stack).slice(stack.size() - N + i, len);
}
inline c10::ArrayRef<IValue> last(const Stack& stack, size_t N) {
  return peekSlice(stack, 0, N, N);
}
inline c10::ArrayRef<IValue> last(const Stack* stack, size_t N) {
  return last(*stack, N);
}
inline void drop(Stack& stack, size_t n) {
  // Back to front: an erase would first compute a range.
  for (; n > 0; --n) {
    stack.pop_back();
  }
}
inline void drop(Stack* stack, size_t n) {
  drop(*stack, n);
}
inline IValue pop(Stack& stack) {
  IValue out = std::move(stack.back());
  stack.pop_back();
  return out;
}
inline IValue pop(Stack* stack) {
  return pop(*stack);
}
TORCH_API std::vector<IValue> pop(Stack& stack, size_t n);
/// `int64_t a; Tensor b; pop(stack, a, b);` takes b from the end, a from before it.
template <class... Types>
void pop(Stack& stack, Types&... args) {
  size_t i = 0;
  constexpr size_t N = sizeof...(args);
  ((args = std::move(peek(stack, i++, N)).template to<Types>()), ...);
  drop(stack, N);
}
template <class... Types>
void pop(Stack* stack, Types&... args) {
  pop(*stack, args...);
}
template <class T>
void push_one(Stack& stack, T&& value) {
  stack.emplace_back(std::forward<T>(value));
}
/// As four values: dtype, layout, device, pin_memory.
TORCH_API void push_one(Stack& stack, c10::TensorOptions options);
template <class... Types>
void push(Stack& stack, Types&&... args) {
  (push_one(stack, std::forward<Types>(args)), ...);
}
template <class... Types>
void push(Stack* stack, Types&&... args) {
  push(*stack, std::forward<Types>(args)...);
}
template <class T>
void push_list_elements(Stack& stack, const c10::List<T>& elements) {
  for (size_t i = 0; i < elements.size(); ++i) {
    stack.emplace_back(elements.get(i));
  }
}
/// Pushes one result, or the members of a tuple one by one.
template <class T>
void pack(Stack& stack, T&& value) {
  stack.emplace_back(std::forward<T>(value));
}
template <class T>
void pack(Stack* stack, T&& value) {
  stack->emplace_back(std::forward<T>(value));
}
template <class... Args>
void pack(Stack& stack, std::tuple<Args...>&& values) {
  std::apply([&](auto&&... each) { (stack.emplace_back(std::move(each)), ...); }, std::move(values));
}

} // namespace torch::jit

namespace c10 {
using Stack = torch::jit::Stack;
}
