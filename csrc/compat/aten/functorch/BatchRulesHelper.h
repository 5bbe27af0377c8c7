// Helpers for kernels of the key FuncTorchBatched, under libtorch's names. A tensor comes with its batch dimension,
// std::nullopt if it has none.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace at::functorch {

/// Dimensions that a sample has.
inline int64_t rankWithoutBatchDim(const Tensor& tensor, std::optional<int64_t> maybe_batch_dim) {
  return tensor.dim() - (maybe_batch_dim ? 1 : 0);
}
/// Elements that a sample has. An empty batch has no sample to say it, and gives the number of all elements, 0.
inline int64_t numelWithoutBatchDim(const Tensor& tensor, std::optional<int64_t> maybe_batch_dim) {
  const int64_t batch = maybe_batch_dim ? tensor.size(*maybe_batch_dim) : 1;
  return batch == 0 ? 0 : tensor.numel() / batch;
}
inline Tensor moveBatchDimToFront(const Tensor& tensor, std::optional<int64_t> maybe_batch_dim) {
  return maybe_batch_dim && *maybe_batch_dim != 0 ? tensor.movedim(*maybe_batch_dim, 0) : tensor;
}
/// Dimension `logical_dim` of a sample in a tensor with the batch in front.
inline int64_t getPhysicalDim(const Tensor& tensor, bool has_batch_dim, int64_t logical_dim) {
  const int64_t rank = tensor.dim() - (has_batch_dim ? 1 : 0);
  return c10::maybe_wrap_dim(logical_dim, rank) + (has_batch_dim ? 1 : 0);
}
inline std::vector<int64_t> getPhysicalDims(const Tensor& tensor, bool has_batch_dim, IntArrayRef logical_dims) {
  std::vector<int64_t> dims;
  for (const int64_t dim : logical_dims) {
    dims.push_back(getPhysicalDim(tensor, has_batch_dim, dim));
  }
  return dims;
}
/// Adds dimensions of size 1 behind the batch, which is in front, until a sample has `logical_rank`.
inline Tensor maybePadToLogicalRank(const Tensor& tensor, std::optional<int64_t> has_bdim, int64_t logical_rank) {
  Tensor padded = tensor;
  while (has_bdim && rankWithoutBatchDim(padded, has_bdim) < logical_rank) {
    padded = padded.unsqueeze(1);
  }
  return padded;
}
/// The tensor with a batch in front, expanded if it has none.
inline Tensor ensure_has_bdim(const Tensor& tensor, bool has_bdim, int64_t batch_size) {
  if (has_bdim) {
    return tensor;
  }
  std::vector<int64_t> sizes = tensor.sizes().vec();
  sizes.insert(sizes.begin(), batch_size);
  return tensor.expand(sizes);
}
/// Dimension `src` joins dimension `dst` of the rest, in front of it: [B, N, C] -> [B * N, C] for 0 and 0.
inline Tensor reshape_dim_into(int64_t src, int64_t dst, const Tensor& x) {
  const int64_t from = c10::maybe_wrap_dim(src, x.dim());
  const int64_t to = c10::maybe_wrap_dim(dst, x.dim() - 1);
  return x.movedim(from, to).flatten(to, to + 1);
}
/// The other way round: dimension `src` becomes two, the first of size `size1`.
inline Tensor reshape_dim_outof(int64_t src, int64_t size1, const Tensor& x) {
  const int64_t from = c10::maybe_wrap_dim(src, x.dim());
  TORCH_CHECK(
      size1 == 0 ? x.size(from) == 0 : x.size(from) % size1 == 0, "reshape_dim_outof: dimension ", from, " of size ",
      x.size(from), " must be divisible by ", size1);
  return x.unflatten(from, {size1, size1 == 0 ? 1 : x.size(from) / size1});
}

} // namespace at::functorch
