#pragma once

#include <aten/cuda/CachingHostAllocator.h>
#include <c10/core/Storage.h>
#include <csrc/compat/aten/cuda/CUDAConfig.h>
#include <csrc/compat/aten/cuda/CUDAContext.h>
#include <csrc/compat/aten/cuda/Exceptions.h>

#include <limits>

namespace at::native {

/// `value` as an int, for libraries that take no more. `varname` is for the error.
inline int cuda_int_cast(int64_t value, const char* varname) {
  TORCH_CHECK(
      value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max(),
      "cuda_int_cast: The value of ", varname, " (", value, ") is too large to fit into a int (", sizeof(int),
      " bytes)");
  return static_cast<int>(value);
}

/// Pinned host memory for `size` elements.
template <class T>
inline c10::Storage pin_memory(int64_t size) {
  return c10::Storage(
      c10::Storage::use_byte_size_t(), static_cast<size_t>(size) * sizeof(T), at::cuda::getPinnedMemoryAllocator(),
      /*resizable=*/false);
}

} // namespace at::native
