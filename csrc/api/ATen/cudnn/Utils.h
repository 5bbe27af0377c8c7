#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/cuda/Exceptions.h>
#include <ATen/cudnn/Handle.h>

namespace at::native {

/// cuDNN takes no stride of 0.
inline Tensor contiguousIfZeroInStrides(const Tensor& t) {
  for (const int64_t stride : t.strides()) {
    if (stride == 0) {
      return t.contiguous();
    }
  }
  return t;
}

} // namespace at::native
