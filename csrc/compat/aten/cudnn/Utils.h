#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/optional_tensor.h>
#include <aten/cuda/CudnnHandle.h>
#include <c10/util/Optional.h>
#include <csrc/compat/aten/cuda/Exceptions.h>

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
