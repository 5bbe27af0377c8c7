// Shared by the composite operators of linear algebra.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/support/differentiated.h>

#include <c10/core/GradMode.h>

namespace at::native {

/// Writes `result` to `out` when its dtype may hold it; throws PyTorch's error for linear algebra otherwise. A copy
/// that is recorded: either may require grad.
void write_linalg_out(const char* op, Tensor& out, const Tensor& result, const char* name = "out");

/// Whether a gradient of something computed from `t` may be asked for.
inline bool may_need_gradient(const Tensor& t) {
  return is_differentiated(t);
}

} // namespace at::native
