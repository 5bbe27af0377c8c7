#pragma once

#include <aten/core/TensorBase.h>
#include <csrc/compat/aten/cuda/detail/TensorInfo.cuh>
#include <csrc/compat/aten/native/CanUse32BitIndexMath.h>

#include <cstdint>
#include <type_traits>

namespace at::cuda::detail {

using at::native::canUse32BitIndexMath;

/// Do two of its elements lie in one place?
inline bool maybeOverlappingIndices(const at::TensorBase& t) {
  return t.numel() > 0 && !t.is_non_overlapping_and_dense();
}

template <typename scalar, typename IndexType>
TensorInfo<scalar, IndexType> getTensorInfo(const at::TensorBase& t) {
  IndexType sizes[MAX_TENSORINFO_DIMS];
  IndexType strides[MAX_TENSORINFO_DIMS];
  TORCH_CHECK(t.dim() <= MAX_TENSORINFO_DIMS, "CUDA Tensors cannot have more than 25 dimensions, got ", t.dim());
  for (int64_t dim = 0; dim < t.dim(); ++dim) {
    sizes[dim] = static_cast<IndexType>(t.size(dim));
    strides[dim] = static_cast<IndexType>(t.stride(dim));
  }
  scalar* data = nullptr;
  if constexpr (std::is_const_v<scalar>) {
    data = t.const_data_ptr<std::remove_const_t<scalar>>();
  } else {
    data = t.mutable_data_ptr<scalar>();
  }
  return {data, static_cast<int>(t.dim()), sizes, strides};
}

} // namespace at::cuda::detail
