// Between compressed sparse tensors, coordinates and strided tensors.
#include <aten/native/sparse/compressed.h>
#include <aten/native/sparse/coo.h>

#include <aten/Functions.h>
#include <aten/TensorOperators.h>
#include <c10/util/DimVector.h>

#include <vector>

namespace at::native {

using c10::DimVector;

namespace {

/// One matrix of a batch, whose batch dimensions are merged.
Tensor matrix_of_batch(const Tensor& self, int64_t number) {
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  const int64_t batch = impl->batch_dim();
  const auto part = [&](const Tensor& t) { return t.flatten(0, batch - 1).select(0, number); };
  return make_compressed(
      self.layout(), self.sizes().slice(batch), part(impl->compressed_indices()), part(impl->plain_indices()), part(impl->values()));
}

int64_t count_of_batch(const Tensor& self) {
  int64_t count = 1;
  for (const int64_t size : self.sizes().slice(0, compressed_impl(self)->batch_dim())) {
    count *= size;
  }
  return count;
}

/// The other way round: a batch of these matrices, which must have as many elements each.
Tensor batch_of_matrices(Layout layout, IntArrayRef sizes, IntArrayRef batch, ArrayRef<Tensor> matrices) {
  std::vector<Tensor> compressed, plain, values;
  for (const Tensor& matrix : matrices) {
    const SparseCsrTensorImpl* impl = compressed_impl(matrix);
    TORCH_CHECK(
        plain.empty() || plain[0].size(0) == impl->nnz(), "Expect the same number of specified elements per batch.");
    compressed.push_back(impl->compressed_indices());
    plain.push_back(impl->plain_indices());
    values.push_back(impl->values());
  }
  return make_compressed(
      layout, sizes, at::stack(compressed).unflatten(0, batch), at::stack(plain).unflatten(0, batch),
      at::stack(values).unflatten(0, batch));
}

/// A batch in coordinates, those of the batch first. Matrix by matrix its places are in order.
Tensor batch_to_coo(const Tensor& self) {
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  const int64_t batch = impl->batch_dim();
  const int64_t count = count_of_batch(self);
  if (count == 0) {
    DimVector none{0};
    const IntArrayRef dense = self.sizes().slice(batch + 2);
    none.append(dense.begin(), dense.end());
    return make_coo(
        self.sizes(), at::empty({batch + 2, 0}, impl->plain_indices().options().dtype(kLong)), at::empty(none, impl->values().options()),
        /*coalesced=*/true);
  }
  std::vector<Tensor> indices, values;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor matrix = compressed_to_coo(matrix_of_batch(self, i));
    const SparseTensorImpl* coo = get_sparse_impl(matrix);
    const Tensor number = at::empty({batch, coo->nnz()}, coo->indices().options());
    int64_t rest = i;
    for (int64_t d = batch - 1; d >= 0; --d) {
      number.select(0, d).fill_(rest % self.size(d));
      rest /= self.size(d);
    }
    indices.push_back(at::cat({number, coo->indices()}, 0));
    values.push_back(coo->values());
  }
  return make_coo(self.sizes(), at::cat(indices, 1), at::cat(values, 0), /*coalesced=*/true);
}

std::array<int64_t, 2> given_blocks(const char* op, IntArrayRef blocksize, IntArrayRef sizes) {
  TORCH_CHECK(blocksize.size() == 2 && blocksize[0] > 0 && blocksize[1] > 0, op, ": blocksize needs to be a tuple of size 2, of positive numbers, but got ", blocksize);
  TORCH_CHECK(
      sizes[0] % blocksize[0] == 0 && sizes[1] % blocksize[1] == 0, op, ": tensor sparse size (", sizes[0], ",", sizes[1],
      ") must be divisible by given blocksize (", blocksize[0], ",", blocksize[1], ")");
  return {blocksize[0], blocksize[1]};
}

/// Blocks of a coalesced matrix, along `by` first.
Tensor blocked(const Tensor& coo, Layout layout, std::array<int64_t, 2> block) {
  const SparseTensorImpl* impl = get_sparse_impl(coo);
  const int64_t by = is_row_compressed(layout) ? 0 : 1;
  const std::array<int64_t, 2> blocks{coo.size(0) / block[0], coo.size(1) / block[1]};
  const auto number = [&](int64_t d) { return impl->indices().select(0, d).div(block[d], "floor"); };
  const auto inside = [&](int64_t d) { return impl->indices().select(0, d).remainder(block[d]); };
  const Tensor key = number(by) * blocks[1 - by] + number(1 - by);
  const auto [unique, place] = at::_unique(key, /*sorted=*/true, /*return_inverse=*/true);
  const int64_t count = unique.numel();
  DimVector sizes{count * block[0] * block[1]};
  sizes.append(impl->values().sizes().begin() + 1, impl->values().sizes().end());
  Tensor values = at::zeros(sizes, impl->values().options());
  values.index_copy_(0, (place * block[0] + inside(0)) * block[1] + inside(1), impl->values());
  DimVector shape{count, block[0], block[1]};
  shape.append(sizes.begin() + 1, sizes.end());
  const Tensor lines = unique.div(std::max<int64_t>(blocks[1 - by], 1), "floor").contiguous();
  const Tensor starts = at::sparse::coo_to_csr(lines.const_data_ptr<int64_t>(), blocks[by], count);
  return make_compressed(
      layout, coo.sizes(), starts, unique.remainder(std::max<int64_t>(blocks[1 - by], 1)), values.view(shape));
}

} // namespace

Tensor compressed_to_coo_indices(const Tensor& self) {
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  TORCH_CHECK_NOT_IMPLEMENTED(
      impl->batch_dim() == 0, "a batch of compressed sparse matrices of size ", self.sizes(),
      " was given where one matrix is needed; take them one by one");
  const Tensor starts = impl->compressed_indices().to(kLong).contiguous();
  const Tensor plain = impl->plain_indices().to(kLong).contiguous();
  const int64_t lines = starts.numel() - 1;
  const int64_t nnz = plain.numel();
  const int64_t by = is_row_compressed(self.layout()) ? 0 : 1;
  const int64_t count = self.size(1 - by) / block_sizes(self)[1 - by];
  const Tensor result = at::empty({2, nnz}, plain.options());
  int64_t* line = result.mutable_data_ptr<int64_t>() + by * nnz;
  int64_t* other = result.mutable_data_ptr<int64_t>() + (1 - by) * nnz;
  const int64_t* start = starts.const_data_ptr<int64_t>();
  const int64_t* index = plain.const_data_ptr<int64_t>();
  TORCH_CHECK(start[0] == 0 && start[lines] == nnz, "the compressed indices of a sparse tensor were changed: they do not cover its elements");
  for (int64_t i = 0; i < lines; ++i) {
    TORCH_CHECK(start[i] <= start[i + 1] && start[i + 1] <= nnz, "the compressed indices of a sparse tensor were changed: they decrease at ", i);
    for (int64_t k = start[i]; k < start[i + 1]; ++k) {
      TORCH_CHECK(index[k] >= 0 && index[k] < count, "the plain indices of a sparse tensor were changed: ", index[k], " is out of range");
      line[k] = i;
      other[k] = index[k];
    }
  }
  return result;
}

Tensor compressed_to_coo(const Tensor& self) {
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  if (impl->batch_dim() > 0) {
    return batch_to_coo(self);
  }
  Tensor indices = compressed_to_coo_indices(self);
  if (!is_blocked(self.layout())) {
    return coalesced(make_coo(self.sizes(), indices, impl->values(), self.layout() == kSparseCsr));
  }
  const std::array<int64_t, 2> block = block_sizes(self);
  const int64_t nnz = indices.size(1);
  const auto spread = [&](int64_t d) {
    const Tensor inside = at::arange(block[d], indices.options());
    return (indices.select(0, d).view({nnz, 1, 1}) * block[d] + (d == 0 ? inside.view({1, -1, 1}) : inside.view({1, 1, -1})))
        .expand({nnz, block[0], block[1]})
        .reshape({-1});
  };
  return coalesced(make_coo(self.sizes(), at::stack({spread(0), spread(1)}), impl->values().flatten(0, 2), false));
}

Tensor coo_to_compressed(const Tensor& self, Layout layout, OptionalIntArrayRef blocksize) {
  const SparseTensorImpl* given = get_sparse_impl(self);
  TORCH_CHECK(
      given->sparse_dim() == 2, "Only tensors with two sparse dimensions can be converted to the ", layout, " layout, got self with ",
      given->sparse_dim(), " sparse dimensions.");
  TORCH_CHECK(
      is_blocked(layout) == blocksize.has_value(), "to_sparse: a blocksize must be given for blocked layouts, and for these only; got layout ",
      layout);
  if (is_blocked(layout)) {
    const Tensor coo = coalesced(self);
    return blocked(coo, layout, given_blocks(layout == kSparseBsr ? "dense_to_sparse_bsr" : "dense_to_sparse_bsc", *blocksize, self.sizes()));
  }
  const Tensor sorted = coalesced(layout == kSparseCsr ? self : self.transpose(0, 1));
  const SparseTensorImpl* impl = get_sparse_impl(sorted);
  const Tensor lines = impl->indices().select(0, 0).contiguous();
  // Checks the other coordinate too.
  at::sparse::flatten_indices(impl->indices(), sorted.sizes());
  return make_compressed(
      layout, self.sizes(), at::sparse::coo_to_csr(lines.const_data_ptr<int64_t>(), sorted.size(0), lines.numel()),
      impl->indices().select(0, 1).clone(), impl->values().clone());
}

namespace {

Tensor strided_to_compressed(const Tensor& self, Layout layout, OptionalIntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  const int64_t dense = dense_dim.value_or(0);
  TORCH_CHECK(dense >= 0 && dense <= self.dim(), "to_sparse: dense_dim must be in [0, ", self.dim(), "], but got ", dense);
  const int64_t batch = self.dim() - 2 - dense;
  TORCH_CHECK(
      batch >= 0, "to_sparse for Strided to ", layout, " conversion does not support tensors with ", self.dim() - dense,
      " batch and sparse dimensions; it needs at least two");
  if (batch == 0) {
    return coo_to_compressed(self._to_sparse(2), layout, blocksize);
  }
  const Tensor matrices = self.flatten(0, batch - 1);
  TORCH_CHECK(matrices.size(0) > 0, "to_sparse: a batch without matrices cannot be converted to the ", layout, " layout");
  std::vector<Tensor> compressed;
  for (int64_t i = 0; i < matrices.size(0); ++i) {
    compressed.push_back(strided_to_compressed(matrices.select(0, i), layout, blocksize, dense));
  }
  return batch_of_matrices(layout, self.sizes(), self.sizes().slice(0, batch), compressed);
}

/// The same for a batch that is compressed another way. Blocks may differ in number from matrix to matrix.
Tensor batch_to_compressed(const Tensor& self, Layout layout, OptionalIntArrayRef blocksize) {
  const int64_t count = count_of_batch(self);
  TORCH_CHECK(count > 0, "to_sparse: a batch without matrices cannot be converted to the ", layout, " layout");
  std::vector<Tensor> compressed;
  for (int64_t i = 0; i < count; ++i) {
    compressed.push_back(coo_to_compressed(compressed_to_coo(matrix_of_batch(self, i)), layout, blocksize));
  }
  return batch_of_matrices(layout, self.sizes(), self.sizes().slice(0, compressed_impl(self)->batch_dim()), compressed);
}

Tensor to_compressed(const Tensor& self, Layout layout, OptionalIntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  if (self.layout() == kStrided) {
    return strided_to_compressed(self, layout, blocksize, dense_dim);
  }
  TORCH_CHECK(!dense_dim.has_value(), "to_sparse: conversion from ", self.layout(), " to ", layout, " with dense_dim argument is not supported");
  if (self.is_sparse()) {
    return coo_to_compressed(self, layout, blocksize);
  }
  if (self.layout() == layout && (!blocksize.has_value() || *blocksize == IntArrayRef(block_sizes(self)))) {
    return self;
  }
  return compressed_impl(self)->batch_dim() > 0 ? batch_to_compressed(self, layout, blocksize)
                                                : coo_to_compressed(compressed_to_coo(self), layout, blocksize);
}

} // namespace

Tensor compressed_like(const Tensor& t, const Tensor& like) {
  const std::array<int64_t, 2> block = block_sizes(like);
  return t._to_sparse(
      like.layout(), is_blocked(like.layout()) ? OptionalIntArrayRef(block) : OptionalIntArrayRef(),
      compressed_impl(like)->dense_dim());
}

Tensor _to_dense_compressed(const Tensor& self, std::optional<ScalarType> dtype, std::optional<bool> masked_grad) {
  const int64_t batch = compressed_impl(self)->batch_dim();
  if (batch == 0) {
    return compressed_to_coo(self).to_dense(dtype, masked_grad);
  }
  const int64_t count = count_of_batch(self);
  if (count == 0) {
    return at::zeros(self.sizes(), self.options().layout(kStrided).dtype(dtype.value_or(self.scalar_type())));
  }
  std::vector<Tensor> matrices;
  for (int64_t i = 0; i < count; ++i) {
    matrices.push_back(compressed_to_coo(matrix_of_batch(self, i)).to_dense(dtype, masked_grad));
  }
  return at::stack(matrices).view(self.sizes());
}

// ---- operators -------------------------------------------------------------------------

Tensor _to_sparse_dim_compressed(const Tensor& self, int64_t sparse_dim) {
  TORCH_CHECK(
      sparse_dim == 2, "sparse dim argument for sparse_compressed_to_sparse must not be different than 2, but got ", sparse_dim);
  return compressed_to_coo(self);
}

Tensor _to_sparse_any(
    const Tensor& self, std::optional<Layout> layout, OptionalIntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  const Layout wanted = layout.value_or(kSparse);
  if (wanted != kSparse) {
    TORCH_CHECK(is_compressed_layout(wanted), "to_sparse: conversion from ", self.layout(), " to ", wanted, " is not supported");
    return to_compressed(self, wanted, blocksize, dense_dim);
  }
  TORCH_CHECK(!blocksize.has_value(), "to_sparse: conversion from ", self.layout(), " to Sparse with blocksize argument given is not supported");
  if (self.layout() == kStrided) {
    const int64_t dense = dense_dim.value_or(0);
    TORCH_CHECK(dense >= 0 && dense <= self.dim(), "to_sparse: dense_dim must be in [0, ", self.dim(), "], but got ", dense);
    return self._to_sparse(self.dim() - dense);
  }
  return self.is_sparse() ? self : compressed_to_coo(self);
}

Tensor _to_sparse_csr_any(const Tensor& self, std::optional<int64_t> dense_dim) {
  return to_compressed(self, kSparseCsr, std::nullopt, dense_dim);
}
Tensor _to_sparse_csc_any(const Tensor& self, std::optional<int64_t> dense_dim) {
  return to_compressed(self, kSparseCsc, std::nullopt, dense_dim);
}
Tensor _to_sparse_bsr_any(const Tensor& self, IntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  return to_compressed(self, kSparseBsr, blocksize, dense_dim);
}
Tensor _to_sparse_bsc_any(const Tensor& self, IntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  return to_compressed(self, kSparseBsc, blocksize, dense_dim);
}

Tensor to_sparse(const Tensor& self, std::optional<Layout> layout, OptionalIntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  const Layout wanted = layout.value_or(kSparse);
  TORCH_CHECK(wanted != kStrided, "to_sparse: conversion from ", self.layout(), " to Strided is not supported; use to_dense");
  if (self.layout() == wanted && (!blocksize.has_value() || *blocksize == IntArrayRef(block_sizes(self)))) {
    return self;
  }
  return self._to_sparse(layout, blocksize, dense_dim);
}

Tensor to_sparse_csr(const Tensor& self, std::optional<int64_t> dense_dim) {
  return self.layout() == kSparseCsr ? self : self._to_sparse_csr(dense_dim);
}
Tensor to_sparse_csc(const Tensor& self, std::optional<int64_t> dense_dim) {
  return self.layout() == kSparseCsc ? self : self._to_sparse_csc(dense_dim);
}
Tensor to_sparse_bsr(const Tensor& self, IntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  return self.layout() == kSparseBsr && blocksize == IntArrayRef(block_sizes(self)) ? self : self._to_sparse_bsr(blocksize, dense_dim);
}
Tensor to_sparse_bsc(const Tensor& self, IntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  return self.layout() == kSparseBsc && blocksize == IntArrayRef(block_sizes(self)) ? self : self._to_sparse_bsc(blocksize, dense_dim);
}

Tensor sparse_mask_compressed(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(is_compressed_layout(mask.layout()), "sparse_mask: expected a mask of a compressed layout, but got ", mask.layout());
  TORCH_CHECK(
      self.sizes() == mask.sizes(), "sparse_mask(): operands have incompatible sizes; self has size ", self.sizes(), " but mask has size ",
      mask.sizes());
  const int64_t batch = compressed_impl(mask)->batch_dim();
  if (batch > 0 && !self.is_sparse()) {
    if (count_of_batch(mask) == 0) {
      return with_compressed_values(mask, compressed_impl(mask)->values().to(self.scalar_type()));
    }
    TORCH_CHECK(
        self.layout() == kStrided || compressed_impl(self)->batch_dim() == batch, "sparse_mask(): a mask that is a batch of matrices of size ",
        mask.sizes(), " does not fit a sparse tensor without that batch");
    std::vector<Tensor> masked;
    for (int64_t i = 0; i < count_of_batch(mask); ++i) {
      const Tensor one = self.layout() == kStrided ? self.flatten(0, batch - 1).select(0, i) : matrix_of_batch(self, i);
      masked.push_back(at::native::sparse_mask_compressed(one, matrix_of_batch(mask, i)));
    }
    return batch_of_matrices(mask.layout(), mask.sizes(), mask.sizes().slice(0, batch), masked);
  }
  const Tensor coo_mask = compressed_to_coo(mask);
  const Tensor coo = is_compressed_layout(self.layout()) ? compressed_to_coo(self) : self;
  const std::array<int64_t, 2> block = block_sizes(mask);
  return coo_to_compressed(
      coo.sparse_mask(coo_mask), mask.layout(), is_blocked(mask.layout()) ? OptionalIntArrayRef(block) : OptionalIntArrayRef());
}

} // namespace at::native
