#pragma once

#include <c10/core/TensorOptions.h>

namespace at {

/// Of a tensor whose options nobody named: strided float on the CPU, whatever the default dtype is.
inline TensorOptions initialTensorOptions() {
  return TensorOptions(kCPU).dtype(kFloat).layout(kStrided).requires_grad(false);
}

} // namespace at
