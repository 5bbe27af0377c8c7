#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAContext.h>

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
