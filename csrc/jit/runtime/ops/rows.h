// Rows of operator tables from plain functions: `{"aten::add.int(int a, int b) -> int", call<add_int>}`.
#pragma once

#include <aten/core/stack.h>
#include <csrc/jit/runtime/operator.h>
#include <csrc/jit/runtime/ops/tables.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace torch::jit::ops {

using Complex = c10::complex<double>;
using AnyList = c10::impl::GenericList;
using AnyDict = c10::impl::GenericDict;
using at::Scalar;
using at::Tensor;

namespace detail {

template <class T>
struct Argument {
  static T from(IValue& value) {
    return std::move(value).to<T>();
  }
};
template <>
struct Argument<IValue&> {
  static IValue& from(IValue& value) {
    return value;
  }
};
template <>
struct Argument<const std::string&> {
  static const std::string& from(IValue& value) {
    return value.toStringRef();
  }
};
template <>
struct Argument<const Tensor&> {
  static const Tensor& from(IValue& value) {
    return static_cast<const IValue&>(value).toTensor();
  }
};
template <>
struct Argument<AnyList> {
  static AnyList from(IValue& value) {
    return std::move(value).toList();
  }
};
template <>
struct Argument<AnyDict> {
  static AnyDict from(IValue& value) {
    return std::move(value).toGenericDict();
  }
};

template <class T>
inline constexpr bool is_tuple_v = false;
template <class... T>
inline constexpr bool is_tuple_v<std::tuple<T...>> = true;

template <class T>
T as_value(T result) {
  return result;
}
// Moved once, into its place.
inline IValue as_value(std::string&& result) {
  return c10::make_intrusive<c10::ivalue::ConstantString>(std::move(result));
}

template <class R, class... Args, size_t... I>
void run(R (*function)(Args...), Stack& stack, std::index_sequence<I...>) {
  constexpr size_t kCount = sizeof...(Args);
  if constexpr (std::is_void_v<R>) {
    function(Argument<Args>::from(peek(stack, I, kCount))...);
    drop(stack, kCount);
  } else if constexpr (is_tuple_v<R>) {
    R results = function(Argument<Args>::from(peek(stack, I, kCount))...);
    drop(stack, kCount);
    pack(stack, std::move(results));
  } else {
    // Arguments may be references into the stack: they live until the result has their place.
    IValue result(as_value(function(Argument<Args>::from(peek(stack, I, kCount))...)));
    if constexpr (kCount == 0) {
      stack.push_back(std::move(result));
    } else {
      peek(stack, 0, kCount) = std::move(result);
      drop(stack, kCount - 1);
    }
  }
}

template <class R, class... Args>
void run(R (*function)(Args...), Stack& stack) {
  run(function, stack, std::index_sequence_for<Args...>());
}

} // namespace detail

/// The code of a function of plain values. A std::tuple is several results; arguments are taken by value (numbers,
/// AnyList, AnyDict), as `const std::string&`, `const Tensor&`, or as `IValue&` to be moved from.
template <auto kFunction>
void call(Stack& stack) {
  detail::run(+kFunction, stack);
}

/// The position that an index from the front or (negative) from the end stands for. Throws "list index out of range".
inline size_t list_position(int64_t index, size_t size) {
  const int64_t length = static_cast<int64_t>(size);
  const int64_t position = index < 0 ? index + length : index;
  TORCH_CHECK_INDEX(position >= 0 && position < length, "list index out of range");
  return static_cast<size_t>(position);
}

[[noreturn]] void throw_key_error(const IValue& key);

/// Python's slice: the first position, the step, and how many there are.
struct SliceRange {
  int64_t start;
  int64_t step;
  int64_t count;
};
SliceRange slice_range(std::optional<int64_t> start, std::optional<int64_t> end, int64_t step, size_t size);

/// Python's comparison of lists, tuples and objects for sorting. Throws if values of the type have no order.
bool less_than(const IValue& a, const IValue& b);

} // namespace torch::jit::ops
