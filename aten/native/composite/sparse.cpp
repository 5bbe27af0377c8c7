// Out forms of constructors of sparse tensors.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace at::native {

Tensor& sparse_coo_tensor_with_dims_out(int64_t sparse_dim, int64_t dense_dim, IntArrayRef size, Tensor& out) {
  out.sparse_resize_and_clear_(size, sparse_dim, dense_dim);
  return out;
}

Tensor& sparse_coo_tensor_with_dims_and_tensors_out(
    int64_t sparse_dim,
    int64_t dense_dim,
    IntArrayRef size,
    const Tensor& indices,
    const Tensor& values,
    std::optional<bool> is_coalesced,
    Tensor& out) {
  const Tensor result = at::_sparse_coo_tensor_with_dims_and_tensors(
      sparse_dim, dense_dim, size, indices, values, values.options().layout(kSparse), is_coalesced);
  out.sparse_resize_and_clear_(size, sparse_dim, dense_dim);
  return out.copy_(result);
}

} // namespace at::native
