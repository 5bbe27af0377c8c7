// Visits the rows of several tensors of the same shape along one dimension.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/parallel/Parallel.h>

#include <c10/util/SmallVector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace at::native {

/// Strides of a tensor for a walk over rows of `shape` along `dim`; `t` has that dimension, with any size, or dropped
/// it.
inline c10::SmallVector<int64_t, 6> row_strides(const TensorBase& t, int64_t ndim, int64_t dim) {
  c10::SmallVector<int64_t, 6> strides(ndim, 0);
  const bool dropped = t.dim() < ndim;
  for (int64_t d = 0, o = 0; d < ndim; ++d) {
    if (dropped && d == dim) {
      continue;
    }
    strides[d] = t.strides()[o++];
  }
  return strides;
}

/// Calls body(offsets) for each row of tensors[0] along `dim`, in parallel; offsets[i] is the place of the row in
/// tensors[i], in elements. `body_factory()` makes one body a thread, which may own scratch memory.
template <size_t N, class Factory>
void for_rows(const std::array<const TensorBase*, N>& tensors, int64_t dim, int64_t cost, const Factory& body_factory) {
  const TensorBase& first = *tensors[0];
  const int64_t ndim = first.dim();
  std::array<c10::SmallVector<int64_t, 6>, N> strides;
  for (size_t t = 0; t < N; ++t) {
    strides[t] = row_strides(*tensors[t], ndim, dim);
  }
  int64_t rows = 1;
  for (int64_t d = 0; d < ndim; ++d) {
    rows *= d == dim ? 1 : first.sizes()[d];
  }
  at::parallel_for(0, rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, cost)), [&](int64_t begin, int64_t end) {
    auto body = body_factory();
    for (int64_t row = begin; row < end; ++row) {
      std::array<int64_t, N> offsets{};
      int64_t rest = row;
      for (int64_t d = ndim - 1; d >= 0; --d) {
        if (d != dim) {
          const int64_t i = rest % first.sizes()[d];
          rest /= first.sizes()[d];
          for (size_t t = 0; t < N; ++t) {
            offsets[t] += i * strides[t][d];
          }
        }
      }
      body(offsets);
    }
  });
}

/// Of a 0-dim tensor the one element is the answer at place 0, whatever its dtype. Returns whether it was one.
inline bool copy_scalar(const TensorBase& self, const TensorBase& values, const TensorBase& indices) {
  if (self.dim() > 0) {
    return false;
  }
  std::memcpy(values.mutable_data_ptr(), self.const_data_ptr(), self.itemsize());
  *indices.mutable_data_ptr<int64_t>() = 0;
  return true;
}

/// Size of a row and distance of its elements; a 0-dim tensor is a row of one.
inline int64_t row_size(const TensorBase& t, int64_t dim) {
  return t.dim() == 0 ? 1 : t.sizes()[dim];
}
inline int64_t row_stride(const TensorBase& t, int64_t dim) {
  return t.dim() == 0 ? 1 : t.strides()[dim];
}

} // namespace at::native
