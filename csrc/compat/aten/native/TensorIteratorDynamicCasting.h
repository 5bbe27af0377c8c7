// Do a kernel's C++ types fit the dtypes that an iterator gives it?
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <c10/core/ScalarType.h>
#include <csrc/compat/aten/detail/FunctionTraits.h>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace at::native {

namespace detail {
template <class T>
bool has_dtype(const TensorIteratorBase& iter, int64_t operand) {
  return iter.dtype(operand) == c10::CppTypeToScalarType<std::decay_t<T>>::value;
}
template <class Args, std::size_t... i>
bool inputs_have_dtypes(const TensorIteratorBase& iter, std::index_sequence<i...>) {
  return (has_dtype<std::tuple_element_t<i, Args>>(iter, iter.noutputs() + static_cast<int64_t>(i)) && ...);
}
} // namespace detail

/// check(iter): does some operand have another dtype than the parameter or the result of F at its place?
template <class F>
struct needs_dynamic_casting {
  static bool check(const TensorIteratorBase& iter) {
    using traits = function_traits<F>;
    using result = typename traits::result_type;
    if constexpr (!std::is_void_v<result>) {
      if (!detail::has_dtype<result>(iter, 0)) {
        return true;
      }
    }
    return !detail::inputs_have_dtypes<typename traits::ArgsTuple>(iter, std::make_index_sequence<traits::arity>());
  }
};

} // namespace at::native
