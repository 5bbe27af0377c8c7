// Sizes and strides of a tensor as kernels take them.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/macros/Macros.h>

#include <cstdint>
#include <limits>

namespace at::cuda::detail {

#define MAX_TENSORINFO_DIMS 25

/// A tensor of up to 25 dimensions, by value.
template <typename T, typename IndexType>
struct TensorInfo {
  TensorInfo() = default;
  TensorInfo(T* p, int dim, IndexType sz[MAX_TENSORINFO_DIMS], IndexType st[MAX_TENSORINFO_DIMS]) : data(p), dims(dim) {
    TORCH_CHECK(dim <= MAX_TENSORINFO_DIMS, "CUDA Tensors cannot have more than 25 dimensions, got ", dim);
    for (int i = 0; i < dim; ++i) {
      sizes[i] = sz[i];
      strides[i] = st[i];
    }
  }

  /// As if the dimension had size 1.
  void reduceDim(int dim) {
    TORCH_CHECK(dim >= 0 && dim < dims, "expected dim between 0 and dims - 1, got ", dim);
    sizes[dim] = 1;
  }

  /// Merges dimensions that lie in memory one after the other, and drops those of size 1. Dimension `excludeDim` stays
  /// by itself; the result is where it went, or -1.
  int collapseDims(const int excludeDim = -1) {
    TORCH_CHECK(
        excludeDim >= -1 && excludeDim < dims, "expected excluded dim between -1 and dims - 1, got ", excludeDim);
    int kept = 0;
    int excluded = -1;
    bool joinable = false; // may the last kept dimension grow?
    for (int i = 0; i < dims; ++i) {
      if (i != excludeDim && sizes[i] == 1) {
        continue;
      }
      if (i != excludeDim && joinable && strides[kept - 1] == sizes[i] * strides[i]) {
        sizes[kept - 1] *= sizes[i];
        strides[kept - 1] = strides[i];
        continue;
      }
      if (i == excludeDim) {
        excluded = kept;
      }
      joinable = i != excludeDim;
      sizes[kept] = sizes[i];
      strides[kept] = strides[i];
      ++kept;
    }
    if (kept == 0) {
      sizes[0] = 1;
      strides[0] = 1;
      kept = 1;
    }
    dims = kept;
    return excluded;
  }

  C10_HOST_DEVICE bool isContiguous() const {
    return dims == 1 && strides[0] == 1;
  }

  T* data = nullptr;
  IndexType sizes[MAX_TENSORINFO_DIMS] = {};
  IndexType strides[MAX_TENSORINFO_DIMS] = {};
  int dims = 0;
};

/// Where element number `linearId` lies. Dims: number of dimensions if known, -1 if not, -2 for contiguous tensors.
template <typename T, typename IndexType, int Dims>
struct IndexToOffset {
  static C10_HOST_DEVICE IndexType get(IndexType linearId, const TensorInfo<T, IndexType>& info) {
    if constexpr (Dims == -2) {
      return linearId;
    } else {
      IndexType offset = 0;
      for (int i = (Dims > 0 ? Dims : info.dims) - 1; i > 0; --i) {
        offset += linearId % info.sizes[i] * info.strides[i];
        linearId /= info.sizes[i];
      }
      return offset + linearId * info.strides[0];
    }
  }
};

} // namespace at::cuda::detail
