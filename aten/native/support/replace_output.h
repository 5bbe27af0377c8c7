// Outputs that are resized when their elements are known, so that a call that is refused on the way leaves them alone.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

namespace at::native {

/// Gives a caller's output sizes and elements of `result`, and its strides too where the output has other sizes, with
/// PyTorch's warning if it held elements. Memory that is too small is exchanged for the result's where nobody can tell
/// the difference, and only copied otherwise: `result` must not be used afterwards.
void replace_output(const Tensor& out, const Tensor& result);

/// `fill` writes an output of these sizes: to `out` itself if it has them, else to a new tensor that then takes its
/// place.
template <class Fill>
Tensor& fill_sized(Tensor& out, IntArrayRef sizes, const Fill& fill) {
  if (out.sizes() == sizes) {
    fill(out);
    return out;
  }
  Tensor fresh = empty_contiguous(sizes, out.scalar_type(), out.device());
  fill(fresh);
  replace_output(out, fresh);
  return out;
}

} // namespace at::native
