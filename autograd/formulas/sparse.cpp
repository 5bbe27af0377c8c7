// Derivatives of sparse operators that are longer than a line. A gradient has the places of the tensor it belongs to
// unless its operator says otherwise.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/sparse/SparseTensorUtils.h>
#include <autograd/formulas/shared.h>

namespace torch::autograd::formulas {

namespace {

/// A sparse tensor with the places of `like`, which is coalesced.
Tensor at_places_of(const Tensor& like, const Tensor& values) {
  if (like.is_sparse()) {
    return at::_sparse_coo_tensor_unsafe(like._indices(), values, like.sizes(), {}, like.is_coalesced());
  }
  const bool by_rows = like.layout() == at::kSparseCsr || like.layout() == at::kSparseBsr;
  return at::_sparse_compressed_tensor_unsafe(
      by_rows ? like.crow_indices() : like.ccol_indices(), by_rows ? like.col_indices() : like.row_indices(), values,
      like.sizes(), values.options().layout(like.layout()));
}

} // namespace

/// The elements of the gradient of a coordinate tensor at the places it was made of.
Tensor sparse_constructor_values_backward(const Tensor& grad, const Tensor& indices) {
  const int64_t sparse_dim = indices.size(0);
  std::vector<int64_t> shape{indices.size(1)};
  shape.insert(shape.end(), grad.sizes().begin() + sparse_dim, grad.sizes().end());
  const Tensor mask =
      at::_sparse_coo_tensor_unsafe(indices, at::zeros(shape, grad.options().layout(at::kStrided)), grad.sizes())
          .coalesce();
  const Tensor values = grad.sparse_mask(mask).values();
  // A place that was given twice reads its gradient twice.
  const Tensor place = std::get<1>(
      at::_unique(at::sparse::flatten_indices(indices, grad.sizes()), /*sorted=*/true, /*return_inverse=*/true));
  return values.index_select(0, place);
}

/// The same for a compressed tensor, `result`.
Tensor sparse_compressed_values_backward(const Tensor& grad, const Tensor& result, const Tensor& values) {
  return grad.sparse_mask(result.detach()).values().reshape(values.sizes());
}

/// A sparse tensor with the places of self.
Tensor sparse_values_backward(const Tensor& grad, const Tensor& self) {
  return at_places_of(self, grad);
}

Tensor to_sparse_backward(const Tensor& grad, const Tensor& self) {
  if (self.layout() == at::kStrided) {
    return grad.to_dense();
  }
  if (grad.layout() == self.layout()) {
    return grad;
  }
  return grad.to_dense().sparse_mask(self.is_sparse() ? self.coalesce() : self);
}

Tensor sparse_mask_backward(const Tensor& grad, const Tensor& mask, at::Layout self_layout) {
  const Tensor masked = grad.sparse_mask(mask);
  return self_layout == at::kStrided ? masked.to_dense() : masked;
}

Tensor sparse_sparse_matmul_backward(const Tensor& grad, const Tensor& self, const Tensor& other, int64_t which) {
  TORCH_CHECK(
      which == 0 || which == 1, "_sparse_sparse_matmul has two factors, asked for the gradient of number ", which);
  if (which == 0) {
    return at::_sparse_sparse_matmul(grad, other.conj().t()).sparse_mask(self.coalesce());
  }
  return at::_sparse_sparse_matmul(self.conj().t(), grad).sparse_mask(other.coalesce());
}

Tensor sparse_addmm_mat1_backward(const Tensor& grad, const Tensor& mat1, const Tensor& mat2, const at::Scalar& alpha) {
  const Tensor whole = maybe_multiply(grad.mm(mat2.t().conj()), alpha.conj());
  return mat1.layout() == at::kStrided ? whole : whole.sparse_mask(mat1.is_sparse() ? mat1.coalesce() : mat1);
}

Tensor sparse_addmm_mat2_backward(const Tensor& grad, const Tensor& mat1, const Tensor& mat2, const at::Scalar& alpha) {
  const Tensor whole = maybe_multiply(mat1.t().conj().mm(grad), alpha.conj());
  return mat2.layout() == at::kStrided ? whole : whole.sparse_mask(mat2.is_sparse() ? mat2.coalesce() : mat2);
}

/// Of the diagonals that _spdiags laid into a matrix.
Tensor spdiags_backward(const Tensor& grad, const Tensor& offsets, at::IntArrayRef sizes) {
  const Tensor matrix = grad.layout() == c10::kStrided ? grad : grad.to_dense();
  const Tensor shifts = offsets.contiguous();
  const int64_t width = sizes.back();
  std::vector<Tensor> rows;
  for (int64_t k = 0; k < shifts.numel(); ++k) {
    const int64_t shift = shifts.const_data_ptr<int64_t>()[k];
    const bool meets = shift > -matrix.size(0) && shift < std::min(matrix.size(1), width);
    if (!meets) {
      rows.push_back(at::zeros({width}, matrix.options()));
      continue;
    }
    const Tensor diagonal = matrix.diagonal(shift);
    const int64_t begin = std::max<int64_t>(shift, 0), count = std::min(diagonal.size(0), width - begin);
    rows.push_back(at::constant_pad_nd(diagonal.narrow(0, 0, count), {begin, width - begin - count}));
  }
  return rows.empty() ? at::zeros(sizes, matrix.options()) : at::stack(rows).view(sizes);
}

} // namespace torch::autograd::formulas
