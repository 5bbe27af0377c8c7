// Sums, products and parts of compressed sparse matrices. Where two of them meet they do so in coordinates.
#include <aten/native/sparse/compressed.h>
#include <aten/native/sparse/coo.h>
#include <aten/native/sparse/device_kernels.h>
#include <aten/native/sparse/product.h>
#include <aten/native/sparse/values.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/WrapDimUtilsMulti.h>
#include <aten/iterator/ExpandUtils.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <limits>

namespace at::native {

using c10::DimVector;

namespace {

Tensor as_coo(const Tensor& t) {
  return is_compressed(t) ? compressed_to_coo(t) : t;
}

/// A result in coordinates in the layout, blocks and index dtype of a matrix.
Tensor back(const Tensor& coo, const Tensor& like) {
  const std::array<int64_t, 2> block = block_sizes(like);
  const Tensor made = coo_to_compressed(
      coo, like.layout(), is_blocked(like.layout()) ? OptionalIntArrayRef(block) : OptionalIntArrayRef());
  const SparseCsrTensorImpl* impl = compressed_impl(made);
  const ScalarType index = compressed_impl(like)->compressed_indices().scalar_type();
  return make_compressed(
      like.layout(), coo.sizes(), impl->compressed_indices().to(index), impl->plain_indices().to(index),
      impl->values());
}

/// Whether both have their elements at the same indices.
bool same_places(const Tensor& a, const Tensor& b) {
  if (a.layout() != b.layout() || a.sizes() != b.sizes()) {
    return false;
  }
  const SparseCsrTensorImpl* x = compressed_impl(a);
  const SparseCsrTensorImpl* y = compressed_impl(b);
  return x->values().sizes() == y->values().sizes() &&
      x->plain_indices().scalar_type() == y->plain_indices().scalar_type() &&
      at::equal(x->compressed_indices(), y->compressed_indices()) && at::equal(x->plain_indices(), y->plain_indices());
}

void check_pair(const char* op, const Tensor& self, const Tensor& other) {
  TORCH_CHECK(
      !self.is_sparse() && !other.is_sparse(), op, ": tensors of layouts ", self.layout(), " and ", other.layout(),
      " do not go together; convert one of them");
}

} // namespace

// ---- pointwise -------------------------------------------------------------------------

Tensor add_compressed(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_pair("add", self, other);
  if (self.layout() == kStrided || other.layout() == kStrided) {
    return self.layout() == kStrided ? at::add(self, compressed_to_coo(other), alpha)
                                     : at::add(other.mul(alpha), compressed_to_coo(self), 1);
  }
  TORCH_CHECK(
      self.sizes() == other.sizes(),
      "torch.add: Expected input tensors to have the same shape, but got tensor `self` with shape ", self.sizes(),
      " and tensor `other` with shape ", other.sizes());
  if (same_places(self, other)) {
    return with_compressed_values(
        self, at::add(compressed_impl(self)->values(), compressed_impl(other)->values(), alpha));
  }
  return back(at::add(compressed_to_coo(self), compressed_to_coo(other), alpha), self);
}

Tensor& add_compressed_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (self.layout() == kStrided && is_compressed(other)) {
    return self.add_(compressed_to_coo(other), alpha);
  }
  write_sparse("add", self, at::native::add_compressed(self, other, alpha));
  return self;
}

Tensor sub_compressed(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::native::add_compressed(self, other, -alpha);
}

Tensor& sub_compressed_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::native::add_compressed_(self, other, -alpha);
}

Tensor mul_compressed(const Tensor& self, const Tensor& other) {
  check_pair("mul", self, other);
  const Tensor& sparse = is_compressed(self) ? self : other;
  const Tensor& factor = is_compressed(self) ? other : self;
  if (factor.layout() == kStrided && factor.dim() == 0) {
    return with_compressed_values(sparse, compressed_impl(sparse)->values().mul(factor));
  }
  if (is_compressed(factor) && same_places(sparse, factor)) {
    return with_compressed_values(sparse, compressed_impl(sparse)->values().mul(compressed_impl(factor)->values()));
  }
  return back(at::mul(as_coo(self), as_coo(other)), sparse);
}

Tensor div_compressed(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(
      is_compressed(self) && other.layout() == kStrided && other.dim() == 0,
      "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape ", other.sizes(), " for divisor)");
  return with_compressed_values(self, compressed_impl(self)->values().div(other));
}

// ---- products --------------------------------------------------------------------------

namespace {

/// The rows of a CSR matrix as they are, checked: its index tensors may have been written to.
RowOrder checked_rows(const Tensor& sparse) {
  const SparseCsrTensorImpl* impl = compressed_impl(sparse);
  TORCH_CHECK_NOT_IMPLEMENTED(
      impl->batch_dim() == 0, "a batch of compressed sparse matrices of size ", sparse.sizes(),
      " was given where one matrix is needed; take them one by one");
  const Tensor starts = impl->compressed_indices().to(kLong).contiguous(),
               cols = impl->plain_indices().to(kLong).contiguous();
  const int64_t* start = starts.const_data_ptr<int64_t>();
  TORCH_CHECK(
      starts.numel() == sparse.size(0) + 1 && start[0] == 0 && start[sparse.size(0)] == cols.numel() &&
          std::is_sorted(start, start + starts.numel()),
      "the compressed indices of a sparse tensor were changed: they do not cover its elements, or decrease");
  check_places(cols, sparse.size(1), "columns");
  return {starts, cols, Tensor()};
}

/// alpha * (sparse @ dense) + beta * base.
Tensor compressed_times_dense(
    const char* op,
    const Tensor& sparse,
    const Tensor& dense,
    const Tensor& base,
    const Scalar& beta,
    const Scalar& alpha) {
  const SparseCsrTensorImpl* impl = compressed_impl(sparse);
  TORCH_CHECK(
      sparse.dim() == 2 && dense.dim() == 2 && impl->dense_dim() == 0, op, ": matrices expected, got ", sparse.dim(),
      "D and ", dense.dim(), "D tensors");
  TORCH_CHECK(
      sparse.size(1) == dense.size(0), "mat1 and mat2 shapes cannot be multiplied (", sparse.size(0), "x",
      sparse.size(1), " and ", dense.size(0), "x", dense.size(1), ")");
  TORCH_CHECK(
      sparse.scalar_type() == dense.scalar_type(), op, ": expected both matrices to have the same dtype, but got ",
      sparse.scalar_type(), " and ", dense.scalar_type());
  if (is_blocked(sparse.layout())) {
    const Tensor coo = compressed_to_coo(sparse);
    return sparse_times_dense(
        sparse.sizes(), get_sparse_impl(coo)->indices(), get_sparse_impl(coo)->values(), dense, base, beta, alpha);
  }
  if (sparse.layout() == kSparseCsr && sparse_kernels(dense) == nullptr) {
    return rows_times_dense(sparse.sizes(), checked_rows(sparse), impl->values(), dense, base, beta, alpha);
  }
  return sparse_times_dense(
      sparse.sizes(), compressed_to_coo_indices(sparse), impl->values(), dense, base, beta, alpha);
}

} // namespace

Tensor addmm_compressed(
    const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  TORCH_CHECK(
      mat1.dim() == 2 && mat2.dim() == 2, "addmm: matrices expected, got ", mat1.dim(), "D and ", mat2.dim(),
      "D tensors");
  if (mat1.layout() != kStrided && mat2.layout() != kStrided) {
    const Tensor product = at::_sparse_sparse_matmul(as_coo(mat1), as_coo(mat2));
    if (self.layout() == kStrided) {
      return at::add(self.expand({mat1.size(0), mat2.size(1)}).mul(beta), product, alpha);
    }
    const Tensor sum = beta.equal(0) ? product.mul(alpha) : at::add(as_coo(self).mul(beta), product, alpha);
    return is_compressed(self) ? back(sum, self) : sum;
  }
  TORCH_CHECK(
      self.layout() == kStrided, "addmm: the product of layouts ", mat1.layout(), " and ", mat2.layout(),
      " is strided and cannot be added to ", self.layout());
  const Tensor base = self.expand({mat1.size(0), mat2.size(1)});
  if (is_compressed(mat1)) {
    return compressed_times_dense("addmm", mat1, mat2, base, beta, alpha);
  }
  return compressed_times_dense("addmm", mat2.t(), mat1.t(), base.t(), beta, alpha).t();
}

Tensor mm_compressed(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(
      self.dim() == 2 && mat2.dim() == 2, "mm: matrices expected, got ", self.dim(), "D and ", mat2.dim(), "D tensors");
  if (self.layout() != kStrided && mat2.layout() != kStrided) {
    const Tensor product = at::_sparse_sparse_matmul(as_coo(self), as_coo(mat2));
    const Tensor& like = is_compressed(self) ? self : mat2;
    return is_blocked(like.layout()) ? product.to_sparse_csr() : back(product, like);
  }
  if (is_compressed(self)) {
    return compressed_times_dense("mm", self, mat2, Tensor(), 0, 1);
  }
  return compressed_times_dense("mm", mat2.t(), self.t(), Tensor(), 0, 1).t();
}

Tensor bmm_compressed(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(
      self.dim() == 3 && mat2.dim() == 3, "bmm: batches of matrices expected, got ", self.dim(), "D and ", mat2.dim(),
      "D tensors");
  TORCH_CHECK(
      self.layout() == kStrided || mat2.layout() == kStrided,
      "bmm: one of both batches must be strided, but got layouts ", self.layout(), " and ", mat2.layout());
  if (is_compressed(self)) {
    return bmm_coo(compressed_to_coo(self), mat2);
  }
  return bmm_coo(compressed_to_coo(mat2.transpose(1, 2)), self.transpose(1, 2)).transpose(1, 2);
}

Tensor mv_compressed(const Tensor& self, const Tensor& vec) {
  TORCH_CHECK(
      self.dim() == 2 && vec.dim() == 1 && vec.layout() == kStrided, "mv: expected a matrix and a strided vector, got ",
      self.dim(), "D and ", vec.dim(), "D tensors");
  return at::native::mm_compressed(self, vec.unsqueeze(1)).squeeze(1);
}

Tensor addmv_compressed(
    const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  TORCH_CHECK(
      mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1, "vector + matrix @ vector expected, got ", self.dim(), ", ",
      mat.dim(), ", ", vec.dim());
  const Tensor base = self.expand({mat.size(0)}).unsqueeze(1);
  return at::native::addmm_compressed(base, mat, vec.unsqueeze(1), beta, alpha).squeeze(1);
}

Tensor sparse_sampled_addmm_compressed(
    const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  TORCH_CHECK(
      self.layout() == kSparseCsr, "sampled_addmm: Expected self to be a sparse CSR tensor, but got layout ",
      self.layout());
  TORCH_CHECK(
      mat1.layout() == kStrided && mat2.layout() == kStrided,
      "sampled_addmm: expected strided factors, but got layouts ", mat1.layout(), " and ", mat2.layout());
  TORCH_CHECK(
      self.dim() == 2 && mat1.dim() == 2 && mat2.dim() == 2, "sampled_addmm: matrices expected, got ", self.dim(),
      "D, ", mat1.dim(), "D and ", mat2.dim(), "D tensors");
  TORCH_CHECK(
      mat1.size(1) == mat2.size(0), "mat1 and mat2 shapes cannot be multiplied (", mat1.size(0), "x", mat1.size(1),
      " and ", mat2.size(0), "x", mat2.size(1), ")");
  TORCH_CHECK(
      self.size(0) == mat1.size(0) && self.size(1) == mat2.size(1), "sampled_addmm: Expected self.shape to be [",
      mat1.size(0), ", ", mat2.size(1), "], but got ", self.sizes());
  TORCH_CHECK(
      self.scalar_type() == mat1.scalar_type() && mat1.scalar_type() == mat2.scalar_type(),
      "sampled_addmm: expected one dtype, but got ", self.scalar_type(), ", ", mat1.scalar_type(), " and ",
      mat2.scalar_type());
  const Tensor places = compressed_to_coo_indices(self);
  const Tensor& values = compressed_impl(self)->values();
  if (const SparseDeviceKernels* const device = sparse_kernels(values); device != nullptr && values.numel() > 0) {
    const SparseCsrTensorImpl* impl = compressed_impl(self);
    const ScalarType dtype = self.scalar_type();
    const ScalarType wide = c10::isReducedFloatingType(dtype) ? kFloat : dtype;
    Tensor products = at::empty(values.sizes(), values.options().dtype(wide));
    device->sampled_product(
        mat1.to(wide).contiguous(), mat2.to(wide).contiguous(), impl->compressed_indices().to(kLong).contiguous(),
        impl->plain_indices().to(kLong).contiguous(), products);
    products = products.to(dtype).mul(alpha);
    return with_compressed_values(self, beta.equal(0) ? products : products + values * beta);
  }
  const Tensor products = (mat1.index_select(0, places.select(0, 0)) * mat2.t().index_select(0, places.select(0, 1)))
                              .sum(IntArrayRef{1})
                              .mul(alpha);
  return with_compressed_values(self, beta.equal(0) ? products : products + values * beta);
}

// ---- sums ------------------------------------------------------------------------------

Tensor sum_compressed(const Tensor& self, std::optional<ScalarType> dtype) {
  return compressed_impl(self)->values().sum(dtype);
}

namespace {

/// One number for each row (of dims {1}), each column ({0}) or for all, over the elements that are there, in a CSR
/// matrix.
Tensor reduce_csr(
    const char* op, const Tensor& self, IntArrayRef dims, bool keepdim, std::optional<ScalarType> dtype, bool product) {
  TORCH_CHECK(
      self.layout() == kSparseCsr && self.dim() == 2, op, ": expected a CSR matrix, but got ", self.layout(),
      " of size ", self.sizes());
  TORCH_CHECK(keepdim, "reduction operations on CSR tensors with keepdim=False is unsupported");
  const auto reduced = at::dim_list_to_bitset(dims, 2);
  const ScalarType type = dtype.value_or(c10::isIntegralType(self.scalar_type(), true) ? kLong : self.scalar_type());
  const Tensor values = compressed_impl(self)->values().to(type);
  const bool rows = reduced[0] || dims.empty();
  const bool cols = reduced[1] || dims.empty();
  Tensor places = compressed_to_coo_indices(self).clone();
  DimVector sizes{rows ? 1 : self.size(0), cols ? 1 : self.size(1)};
  if (rows) {
    places.select(0, 0).zero_();
  }
  if (cols) {
    places.select(0, 1).zero_();
  }
  const Tensor linear = at::sparse::flatten_indices(places, sizes);
  const auto [unique, number] = at::_unique(linear, /*sorted=*/true, /*return_inverse=*/true);
  const Tensor start =
      product ? at::ones({unique.numel()}, values.options()) : at::zeros({unique.numel()}, values.options());
  const Tensor result = product ? start.scatter_reduce(0, number, values, "prod") : start.index_add(0, number, values);
  const int64_t width = std::max<int64_t>(sizes[1], 1);
  return back(
      make_coo(sizes, at::stack({unique.div(width, "floor"), unique.remainder(width)}), result, /*coalesced=*/true),
      self);
}

} // namespace

Tensor sum_dim_compressed(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  return reduce_csr("sum", self, dim.value_or(IntArrayRef()), keepdim, dtype, false);
}
Tensor _sparse_csr_sum_compressed(const Tensor& self, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  return reduce_csr("_sparse_csr_sum", self, dim, keepdim, dtype, false);
}
Tensor _sparse_csr_prod_compressed(const Tensor& self, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  return reduce_csr("_sparse_csr_prod", self, dim, keepdim, dtype, true);
}

// ---- views -----------------------------------------------------------------------------

Tensor transpose_compressed(const Tensor& self, int64_t dim0, int64_t dim1) {
  dim0 = c10::maybe_wrap_dim(dim0, self.dim());
  dim1 = c10::maybe_wrap_dim(dim1, self.dim());
  if (dim0 > dim1) {
    std::swap(dim0, dim1);
  }
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  const int64_t batch = impl->batch_dim();
  if (dim0 == dim1) {
    return with_compressed_values(self, impl->values());
  }
  TORCH_CHECK(
      dim0 == batch && dim1 == batch + 1,
      "transpose(): can only transpose the two sparse dimensions of a tensor of layout ", self.layout(),
      ", but got dimensions ", dim0, " and ", dim1);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  std::swap(sizes[batch], sizes[batch + 1]);
  // The same members, read the other way; what is in a block turns with it.
  const Tensor values = is_blocked(self.layout()) ? impl->values().transpose(batch + 1, batch + 2) : impl->values();
  return make_compressed(
      transposed_layout(self.layout()), sizes, impl->compressed_indices(), impl->plain_indices(), values);
}

Tensor t_compressed(const Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return at::native::transpose_compressed(self, 0, 1);
}

Tensor select_compressed(const Tensor& self, int64_t dim, int64_t index) {
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  const int64_t batch = impl->batch_dim();
  if (batch == 0) {
    return compressed_to_coo(self).select(dim, index);
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(
      dim < batch || dim >= batch + 2,
      "select(): selecting sparse dimensions is not supported for batched sparse compressed tensors.");
  TORCH_CHECK_INDEX(
      index >= -self.size(dim) && index < self.size(dim), "select(): index ", index,
      " out of range for tensor of size ", self.sizes(), " at dimension ", dim);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  sizes.erase(sizes.begin() + dim);
  if (dim < batch) {
    const auto part = [&](const Tensor& t) { return t.select(dim, index); };
    return make_compressed(
        self.layout(), sizes, part(impl->compressed_indices()), part(impl->plain_indices()), part(impl->values()));
  }
  // The values have one dimension for the indices, and two for blocks.
  const Tensor values = impl->values().select(dim - (is_blocked(self.layout()) ? -1 : 1), index);
  return make_compressed(self.layout(), sizes, impl->compressed_indices(), impl->plain_indices(), values);
}

// ---- indices ---------------------------------------------------------------------------

Tensor _convert_indices_from_coo_to_csr_raw(const Tensor& self, int64_t size, bool out_int32) {
  TORCH_CHECK(self.dim() <= 1, "Input is supposed to be a vector, but got ", self.dim(), " dimensional tensor.");
  TORCH_CHECK(
      size >= 0 && size < std::numeric_limits<int64_t>::max(),
      "_convert_indices_from_coo_to_csr: size must not be negative, got ", size);
  TORCH_CHECK(
      !c10::isFloatingType(self.scalar_type()) && !c10::isComplexType(self.scalar_type()),
      "_convert_indices_from_coo_to_csr: expected integers, got ", self.scalar_type());
  const Tensor starts = row_starts(self.to(kLong), size);
  return out_int32 ? starts.to(kInt) : starts;
}

Tensor _convert_indices_from_csr_to_coo_raw(
    const Tensor& crow_indices, const Tensor& col_indices, bool out_int32, bool transpose) {
  TORCH_CHECK(
      crow_indices.dim() == 1 && col_indices.dim() == 1 && crow_indices.numel() > 0,
      "_convert_indices_from_csr_to_coo: expected vectors of row starts and columns, got ", crow_indices.sizes(),
      " and ", col_indices.sizes());
  const Tensor lengths = crow_indices.to(kLong).diff();
  TORCH_CHECK(
      lengths.numel() == 0 || lengths.min().item<int64_t>() >= 0,
      "_convert_indices_from_csr_to_coo: row starts must not decrease");
  const Tensor rows = at::arange(lengths.numel(), lengths.options()).repeat_interleave(lengths);
  TORCH_CHECK(
      rows.numel() == col_indices.numel(), "_convert_indices_from_csr_to_coo: row starts cover ", rows.numel(),
      " elements, but there are ", col_indices.numel(), " columns");
  const Tensor cols = col_indices.to(kLong);
  const Tensor result = transpose ? at::stack({cols, rows}) : at::stack({rows, cols});
  return out_int32 ? result.to(kInt) : result;
}

} // namespace at::native
