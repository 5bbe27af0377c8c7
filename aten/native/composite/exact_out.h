#pragma once
// Out forms of composite operators whose output is written by a kernel: unlike a copy, that takes no other dtype.

#include <aten/core/Tensor.h>
#include <aten/native/support/OutArgument.h>

namespace at::native {

/// Writes `result` to `out`, resized to fit. Throws unless the dtypes are equal, and where one of them requires grad.
inline Tensor& write_exact_out(const char* op, Tensor& out, const Tensor& result) {
  check_out_without_grad(op, out);
  check_out_without_grad(op, result);
  copy_into_out(op, out, result, OutDtype::Exact);
  return out;
}

} // namespace at::native
