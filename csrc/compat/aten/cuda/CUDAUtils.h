#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/optional_tensor.h>
#include <c10/util/Optional.h>
#include <csrc/compat/aten/cuda/CUDAContext.h>

namespace at::cuda {

/// Are all tensors CUDA tensors on the current device?
inline bool check_device(ArrayRef<Tensor> ts) {
  const Device current(kCUDA, current_device());
  for (const Tensor& t : ts) {
    if (t.device() != current) {
      return false;
    }
  }
  return true;
}

} // namespace at::cuda
