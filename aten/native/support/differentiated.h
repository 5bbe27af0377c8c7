#pragma once

#include <aten/functorch/BatchedTensorImpl.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/GradMode.h>

namespace at::native {

/// Whether a derivative of something computed from `t` may be asked for, by backward or in forward mode.
inline bool is_differentiated(const TensorBase& t) {
  return (c10::GradMode::is_enabled() && t.requires_grad()) ||
      at::functorch::value_below_all_levels(Tensor(t)).key_set().has(c10::DispatchKey::ForwardAD);
}

} // namespace at::native
