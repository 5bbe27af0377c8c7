// Functional forms of in-place operators on sparse tensors, whose outputs take over members, and copies of other kinds.
#include <aten/Functions.h>
#include <aten/native/sparse/values.h>

#include <vector>

namespace at::native {

Tensor _lazy_clone(const Tensor& self) {
  return self.clone();
}

std::vector<Tensor> _to_cpu(TensorList tensors) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    result.push_back(tensor.to(kCPU));
  }
  return result;
}

// ---- sparse
// ----------------------------------------------------------------------------------------------------------------

Tensor _coalesced(const Tensor& self, bool coalesced) {
  return self.clone()._coalesced_(coalesced);
}
Tensor& _coalesced_out(const Tensor& self, bool coalesced, Tensor& out) {
  write_sparse("_coalesced", out, at::native::_coalesced(self, coalesced));
  return out;
}

Tensor sparse_resize(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  return self.clone().sparse_resize_(size, sparse_dim, dense_dim);
}
Tensor& sparse_resize_out(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim, Tensor& out) {
  write_sparse("sparse_resize", out, at::native::sparse_resize(self, size, sparse_dim, dense_dim));
  return out;
}

Tensor sparse_resize_and_clear(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  return self.clone().sparse_resize_and_clear_(size, sparse_dim, dense_dim);
}
Tensor& sparse_resize_and_clear_out(
    const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim, Tensor& out) {
  write_sparse("sparse_resize_and_clear", out, at::native::sparse_resize_and_clear(self, size, sparse_dim, dense_dim));
  return out;
}

Tensor resize_as_sparse(const Tensor& self, const Tensor& the_template) {
  Tensor result = self.clone();
  return at::resize_as_sparse_(result, the_template);
}
Tensor& resize_as_sparse_out(const Tensor& self, const Tensor& the_template, Tensor& out) {
  write_sparse("resize_as_sparse", out, at::native::resize_as_sparse(self, the_template));
  return out;
}

Tensor copy_sparse_to_sparse(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor result = self.clone();
  return at::copy_sparse_to_sparse_(result, src, non_blocking);
}
Tensor& copy_sparse_to_sparse_out(const Tensor& self, const Tensor& src, bool non_blocking, Tensor& out) {
  write_sparse("copy_sparse_to_sparse", out, at::native::copy_sparse_to_sparse(self, src, non_blocking));
  return out;
}

Tensor _sparse_broadcast_to_copy(const Tensor& self, IntArrayRef size) {
  return at::_sparse_broadcast_to(self, size).clone();
}
Tensor& _sparse_broadcast_to_copy_out(const Tensor& self, IntArrayRef size, Tensor& out) {
  write_sparse("_sparse_broadcast_to_copy", out, at::native::_sparse_broadcast_to_copy(self, size));
  return out;
}

} // namespace at::native
