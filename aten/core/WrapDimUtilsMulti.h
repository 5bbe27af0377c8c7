// Lists of dimensions as sets.
#pragma once

#include <aten/core/WrapDimUtils.h>
#include <c10/util/OptionalArrayRef.h>

#include <bitset>

namespace at {

/// More dimensions than any tensor has.
constexpr size_t dim_bitset_size = 64;

/// The dimensions of a tensor with `ndims` that a list names; all of them without a list. Throws when one is out of
/// range or named twice.
inline std::bitset<dim_bitset_size> dim_list_to_bitset(c10::OptionalIntArrayRef opt_dims, size_t ndims) {
  TORCH_CHECK(
      ndims <= dim_bitset_size, "only tensors with up to ", dim_bitset_size, " dims are supported, got ", ndims);
  std::bitset<dim_bitset_size> seen;
  if (!opt_dims.has_value()) {
    for (size_t dim = 0; dim < ndims; ++dim) {
      seen[dim] = true;
    }
    return seen;
  }
  for (const int64_t given : *opt_dims) {
    const auto dim = static_cast<size_t>(maybe_wrap_dim(given, static_cast<int64_t>(ndims)));
    TORCH_CHECK(!seen[dim], "dim ", dim, " appears multiple times in the list of dims");
    seen[dim] = true;
  }
  return seen;
}

} // namespace at
