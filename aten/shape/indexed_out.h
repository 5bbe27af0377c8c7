// Outputs of indexing operators.
#pragma once

#include <aten/core/TensorBase.h>

#include <initializer_list>
#include <tuple>
#include <type_traits>

namespace at::shape {

/// Throws when elements of `out` share memory, with each other or with those of `inputs`.
void check_no_overlap(const TensorBase& out, std::initializer_list<const TensorBase*> inputs);

/// For operators that write a value, which may be a tensor, where an index says. The output comes last; it may be self.
template <class Value, class... MoreAndOut>
void indexed_out(
    const char*,
    const TensorBase&,
    int64_t,
    const TensorBase& index,
    const Value& value,
    const MoreAndOut&... more_and_out) {
  const TensorBase& out = std::get<sizeof...(MoreAndOut) - 1>(std::tie(more_and_out...));
  check_no_overlap(out, {&index});
  if constexpr (std::is_base_of_v<TensorBase, Value>) {
    check_no_overlap(out, {&value});
  }
}

} // namespace at::shape
