// The -1 of reshape and view.
#pragma once

#include <aten/iterator/ExpandUtils.h>
#include <aten/native/support/view_support.h>
#include <csrc/compat/aten/TensorUtils.h>

namespace at {

/// `shape` with its -1, if any, replaced so that it holds `numel` elements. Throws "shape '[...]' is invalid for input
/// of size N" when there is no such number, and says when there are many.
inline c10::DimVector infer_size_dv(IntArrayRef shape, int64_t numel) {
  return at::native::infer_size(shape, numel);
}
inline SymDimVector infer_size_dv(c10::SymIntArrayRef shape, const c10::SymInt& numel) {
  const c10::DimVector sizes =
      at::native::infer_size(C10_AS_INTARRAYREF_SLOW(shape), numel.guard_int(__FILE__, __LINE__));
  return SymDimVector(sizes.begin(), sizes.end());
}
inline std::vector<int64_t> infer_size(IntArrayRef shape, int64_t numel) {
  const c10::DimVector sizes = at::native::infer_size(shape, numel);
  return std::vector<int64_t>(sizes.begin(), sizes.end());
}

} // namespace at
