// Between compressed sparse tensors, coordinates and strided tensors.
#include <aten/native/sparse/compressed.h>
#include <aten/native/sparse/coo.h>
#include <aten/native/sparse/device_kernels.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/util/DimVector.h>
#include <c10/util/accumulate.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <vector>

namespace at::native {

using c10::DimVector;

namespace {

int64_t count_of_batch(const Tensor& self) {
  int64_t count = 1;
  for (const int64_t size : self.sizes().slice(0, compressed_impl(self)->batch_dim())) {
    count *= size;
  }
  return count;
}

/// Sizes of the matrices of a batch combined into one: below each other where rows are compressed, side by side where
/// columns are.
DimVector joined_sizes(IntArrayRef matrix, int64_t count, Layout layout) {
  DimVector sizes(matrix.begin(), matrix.end());
  int64_t& lines = sizes[is_row_compressed(layout) ? 0 : 1];
  TORCH_CHECK(
      !c10::mul_overflows(count, lines, &lines), "to_sparse: a batch of ", count, " matrices of size ", matrix,
      " is too big");
  return sizes;
}

/// The matrices of a batch that is not empty, combined into one.
Tensor joined(const Tensor& self) {
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  const int64_t batch = impl->batch_dim();
  const int64_t count = count_of_batch(self);
  const Tensor each = impl->compressed_indices().to(kCPU, kLong).contiguous();
  const int64_t lines = each.size(-1) - 1;
  const int64_t nnz = impl->plain_indices().size(-1);
  const Tensor starts = at::empty({count * lines + 1}, each.options());
  const int64_t* from = each.const_data_ptr<int64_t>();
  int64_t* to = starts.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i, from += lines + 1) {
    TORCH_CHECK(
        from[0] == 0 && from[lines] == nnz,
        "the compressed indices of a sparse tensor were changed: they do not cover its elements");
    for (int64_t k = 0; k < lines; ++k) {
      TORCH_CHECK(
          from[k] >= 0 && from[k] <= nnz, "the compressed indices of a sparse tensor were changed: ", from[k],
          " is out of range");
      *to++ = i * nnz + from[k];
    }
  }
  *to = count * nnz;
  return make_compressed(
      self.layout(), joined_sizes(self.sizes().slice(batch), count, self.layout()), starts.to(self.device()),
      impl->plain_indices().flatten(0, batch), impl->values().flatten(0, batch));
}

/// Numbers of the matrices that indices in combined ones belong to, and the indices there.
std::array<Tensor, 2> number_and_place(const Tensor& lines, int64_t size) {
  size = std::max<int64_t>(size, 1); // no line, no place
  return {lines.div(size, "floor"), lines.remainder(size)};
}

/// The matrices of a batch that is not empty, combined into one in coordinates as `layout` combines them.
Tensor joined_coo(const Tensor& self, Layout layout) {
  const Tensor coo = compressed_to_coo(joined(self));
  if (is_row_compressed(layout) == is_row_compressed(self.layout())) {
    return coo;
  }
  const IntArrayRef matrix = self.sizes().slice(compressed_impl(self)->batch_dim());
  const int64_t by = is_row_compressed(self.layout()) ? 0 : 1;
  const SparseTensorImpl* places = get_sparse_impl(coo);
  const auto [number, line] = number_and_place(places->indices().select(0, by), matrix[by]);
  const Tensor other = number * matrix[1 - by] + places->indices().select(0, 1 - by);
  return make_coo(
      joined_sizes(matrix, count_of_batch(self), layout), by == 0 ? at::stack({line, other}) : at::stack({other, line}),
      places->values(), false);
}

/// The matrices after the first `batch` dimensions, combined into one as `layout` combines them.
Tensor joined_strided(const Tensor& self, int64_t batch, Layout layout) {
  const Tensor matrices = self.flatten(0, batch - 1);
  joined_sizes(matrices.sizes().slice(1), matrices.size(0), layout);
  return is_row_compressed(layout) ? matrices.flatten(0, 1) : matrices.transpose(0, 1).flatten(1, 2);
}

/// The other way round: a batch, whose matrices must have as many elements each.
Tensor cut_apart(const Tensor& one, IntArrayRef sizes, IntArrayRef batch) {
  const SparseCsrTensorImpl* impl = compressed_impl(one);
  const int64_t count = c10::multiply_integers(batch);
  const Tensor starts = impl->compressed_indices().to(kCPU).contiguous();
  const int64_t lines = (starts.numel() - 1) / count;
  const int64_t nnz = impl->nnz() / count;
  const Tensor each = at::empty({count, lines + 1}, starts.options());
  const int64_t* from = starts.const_data_ptr<int64_t>();
  int64_t* to = each.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i, from += lines) {
    TORCH_CHECK(
        from[0] == i * nnz && from[lines] == (i + 1) * nnz, "Expect the same number of specified elements per batch.");
    to = std::transform(from, from + lines + 1, to, [&](int64_t start) { return start - i * nnz; });
  }
  const auto cut = [&](const Tensor& t, int64_t size) {
    DimVector shape(batch.begin(), batch.end());
    shape.push_back(size);
    shape.append(t.sizes().begin() + 1, t.sizes().end());
    return t.reshape(shape);
  };
  return make_compressed(
      one.layout(), sizes, each.unflatten(0, batch).to(one.device()), cut(impl->plain_indices(), nnz),
      cut(impl->values(), nnz));
}

/// A batch in coordinates, those of the batch first.
Tensor batch_to_coo(const Tensor& self) {
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  const int64_t batch = impl->batch_dim();
  if (count_of_batch(self) == 0) {
    DimVector none{0};
    const IntArrayRef dense = self.sizes().slice(batch + 2);
    none.append(dense.begin(), dense.end());
    return make_coo(
        self.sizes(), at::empty({batch + 2, 0}, impl->plain_indices().options().dtype(kLong)),
        at::empty(none, impl->values().options()),
        /*coalesced=*/true);
  }
  const Tensor coo = compressed_to_coo(joined(self));
  const SparseTensorImpl* places = get_sparse_impl(coo);
  const int64_t by = is_row_compressed(self.layout()) ? 0 : 1;
  auto [rest, line] = number_and_place(places->indices().select(0, by), self.size(batch + by));
  std::vector<Tensor> indices(batch + 2);
  for (int64_t d = batch - 1; d >= 0; --d) {
    indices[d] = rest.remainder(self.size(d));
    rest = rest.div(self.size(d), "floor");
  }
  indices[batch + by] = line;
  indices[batch + 1 - by] = places->indices().select(0, 1 - by);
  // Matrices below each other are in order as one.
  const bool in_order = by == 0 && coo.is_coalesced();
  return coalesced(make_coo(self.sizes(), at::stack(indices), places->values(), in_order));
}

void check_blocks(Layout layout, OptionalIntArrayRef blocksize, IntArrayRef sizes) {
  TORCH_CHECK(
      is_blocked(layout) == blocksize.has_value(),
      "to_sparse: a blocksize must be given for blocked layouts, and for these only; got layout ", layout);
  if (!blocksize.has_value()) {
    return;
  }
  const char* op = layout == kSparseBsr ? "dense_to_sparse_bsr" : "dense_to_sparse_bsc";
  const IntArrayRef block = *blocksize;
  TORCH_CHECK(
      block.size() == 2 && block[0] > 0 && block[1] > 0, op,
      ": blocksize needs to be a tuple of size 2, of positive numbers, but got ", block);
  TORCH_CHECK(
      sizes[0] % block[0] == 0 && sizes[1] % block[1] == 0, op, ": tensor sparse size (", sizes[0], ",", sizes[1],
      ") must be divisible by given blocksize (", block[0], ",", block[1], ")");
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
  const Tensor starts = row_starts(unique.div(std::max<int64_t>(blocks[1 - by], 1), "floor"), blocks[by]);
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
  if (sparse_kernels(starts) != nullptr) {
    const Tensor lengths = starts.diff();
    const Tensor whole = at::logical_and(starts[0].eq(0), starts[lines].eq(nnz));
    TORCH_CHECK(
        at::logical_and(whole, lengths.ge(0).all()).item<bool>(),
        "the compressed indices of a sparse tensor were changed: they do not cover its elements, or decrease");
    check_places(plain, count, by == 0 ? "columns" : "rows");
    const Tensor line = at::arange(lines, starts.options()).repeat_interleave(lengths);
    return by == 0 ? at::stack({line, plain}) : at::stack({plain, line});
  }
  const Tensor result = at::empty({2, nnz}, plain.options());
  int64_t* line = result.mutable_data_ptr<int64_t>() + by * nnz;
  int64_t* other = result.mutable_data_ptr<int64_t>() + (1 - by) * nnz;
  const int64_t* start = starts.const_data_ptr<int64_t>();
  const int64_t* index = plain.const_data_ptr<int64_t>();
  TORCH_CHECK(
      start[0] == 0 && start[lines] == nnz,
      "the compressed indices of a sparse tensor were changed: they do not cover its elements");
  for (int64_t i = 0; i < lines; ++i) {
    TORCH_CHECK(
        start[i] <= start[i + 1] && start[i + 1] <= nnz,
        "the compressed indices of a sparse tensor were changed: they decrease at ", i);
    for (int64_t k = start[i]; k < start[i + 1]; ++k) {
      TORCH_CHECK(
          index[k] >= 0 && index[k] < count, "the plain indices of a sparse tensor were changed: ", index[k],
          " is out of range");
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
    return (indices.select(0, d).view({nnz, 1, 1}) * block[d] +
            (d == 0 ? inside.view({1, -1, 1}) : inside.view({1, 1, -1})))
        .expand({nnz, block[0], block[1]})
        .reshape({-1});
  };
  return coalesced(make_coo(self.sizes(), at::stack({spread(0), spread(1)}), impl->values().flatten(0, 2), false));
}

Tensor coo_to_compressed(const Tensor& self, Layout layout, OptionalIntArrayRef blocksize) {
  const SparseTensorImpl* given = get_sparse_impl(self);
  TORCH_CHECK(
      given->sparse_dim() == 2, "Only tensors with two sparse dimensions can be converted to the ", layout,
      " layout, got self with ", given->sparse_dim(), " sparse dimensions.");
  check_blocks(layout, blocksize, self.sizes());
  if (is_blocked(layout)) {
    return blocked(coalesced(self), layout, {(*blocksize)[0], (*blocksize)[1]});
  }
  const Tensor sorted = coalesced(layout == kSparseCsr ? self : self.transpose(0, 1));
  const SparseTensorImpl* impl = get_sparse_impl(sorted);
  // Checks the other coordinate too.
  at::sparse::flatten_indices(impl->indices(), sorted.sizes());
  return make_compressed(
      layout, self.sizes(), row_starts(impl->indices().select(0, 0), sorted.size(0)),
      impl->indices().select(0, 1).clone(), impl->values().clone());
}

namespace {

Tensor strided_to_compressed(
    const Tensor& self, Layout layout, OptionalIntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  const int64_t dense = dense_dim.value_or(0);
  TORCH_CHECK(
      dense >= 0 && dense <= self.dim(), "to_sparse: dense_dim must be in [0, ", self.dim(), "], but got ", dense);
  const int64_t batch = self.dim() - 2 - dense;
  TORCH_CHECK(
      batch >= 0, "to_sparse for Strided to ", layout, " conversion does not support tensors with ", self.dim() - dense,
      " batch and sparse dimensions; it needs at least two");
  if (batch == 0) {
    return coo_to_compressed(self._to_sparse(2), layout, blocksize);
  }
  const IntArrayRef leading = self.sizes().slice(0, batch);
  TORCH_CHECK(
      c10::multiply_integers(leading) > 0, "to_sparse: a batch without matrices cannot be converted to the ", layout,
      " layout");
  check_blocks(layout, blocksize, self.sizes().slice(batch));
  return cut_apart(
      coo_to_compressed(joined_strided(self, batch, layout)._to_sparse(2), layout, blocksize), self.sizes(), leading);
}

/// The same for a batch that is compressed another way. Blocks may differ in number from matrix to matrix.
Tensor batch_to_compressed(const Tensor& self, Layout layout, OptionalIntArrayRef blocksize) {
  const int64_t batch = compressed_impl(self)->batch_dim();
  TORCH_CHECK(
      count_of_batch(self) > 0, "to_sparse: a batch without matrices cannot be converted to the ", layout, " layout");
  check_blocks(layout, blocksize, self.sizes().slice(batch));
  return cut_apart(
      coo_to_compressed(joined_coo(self, layout), layout, blocksize), self.sizes(), self.sizes().slice(0, batch));
}

Tensor to_compressed(
    const Tensor& self, Layout layout, OptionalIntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  if (self.layout() == kStrided) {
    return strided_to_compressed(self, layout, blocksize, dense_dim);
  }
  TORCH_CHECK(
      !dense_dim.has_value(), "to_sparse: conversion from ", self.layout(), " to ", layout,
      " with dense_dim argument is not supported");
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
  const Tensor one = compressed_to_coo(joined(self)).to_dense(dtype, masked_grad);
  if (is_row_compressed(self.layout())) {
    return one.view(self.sizes());
  }
  return one.unflatten(1, {count, self.size(batch + 1)}).transpose(0, 1).reshape(self.sizes());
}

// ---- operators -------------------------------------------------------------------------

Tensor _to_sparse_dim_compressed(const Tensor& self, int64_t sparse_dim) {
  TORCH_CHECK(
      sparse_dim == 2, "sparse dim argument for sparse_compressed_to_sparse must not be different than 2, but got ",
      sparse_dim);
  return compressed_to_coo(self);
}

Tensor _to_sparse_any(
    const Tensor& self, std::optional<Layout> layout, OptionalIntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  const Layout wanted = layout.value_or(kSparse);
  if (wanted != kSparse) {
    TORCH_CHECK(
        is_compressed_layout(wanted), "to_sparse: conversion from ", self.layout(), " to ", wanted,
        " is not supported");
    return to_compressed(self, wanted, blocksize, dense_dim);
  }
  TORCH_CHECK(
      !blocksize.has_value(), "to_sparse: conversion from ", self.layout(),
      " to Sparse with blocksize argument given is not supported");
  if (self.layout() == kStrided) {
    const int64_t dense = dense_dim.value_or(0);
    TORCH_CHECK(
        dense >= 0 && dense <= self.dim(), "to_sparse: dense_dim must be in [0, ", self.dim(), "], but got ", dense);
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

Tensor to_sparse(
    const Tensor& self, std::optional<Layout> layout, OptionalIntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  const Layout wanted = layout.value_or(kSparse);
  TORCH_CHECK(
      wanted != kStrided, "to_sparse: conversion from ", self.layout(), " to Strided is not supported; use to_dense");
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
  return self.layout() == kSparseBsr && blocksize == IntArrayRef(block_sizes(self))
      ? self
      : self._to_sparse_bsr(blocksize, dense_dim);
}
Tensor to_sparse_bsc(const Tensor& self, IntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  return self.layout() == kSparseBsc && blocksize == IntArrayRef(block_sizes(self))
      ? self
      : self._to_sparse_bsc(blocksize, dense_dim);
}

Tensor sparse_mask_compressed(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(
      is_compressed_layout(mask.layout()), "sparse_mask: expected a mask of a compressed layout, but got ",
      mask.layout());
  TORCH_CHECK(
      self.sizes() == mask.sizes(), "sparse_mask(): operands have incompatible sizes; self has size ", self.sizes(),
      " but mask has size ", mask.sizes());
  const int64_t batch = compressed_impl(mask)->batch_dim();
  if (batch > 0 && !self.is_sparse()) {
    if (count_of_batch(mask) == 0) {
      return with_compressed_values(mask, compressed_impl(mask)->values().to(self.scalar_type()));
    }
    TORCH_CHECK(
        self.layout() == kStrided || compressed_impl(self)->batch_dim() == batch,
        "sparse_mask(): a mask that is a batch of matrices of size ", mask.sizes(),
        " does not fit a sparse tensor without that batch");
    const Tensor one =
        self.layout() == kStrided ? joined_strided(self, batch, mask.layout()) : joined_coo(self, mask.layout());
    return cut_apart(sparse_mask_compressed(one, joined(mask)), mask.sizes(), mask.sizes().slice(0, batch));
  }
  const Tensor coo_mask = compressed_to_coo(mask);
  const Tensor coo = is_compressed_layout(self.layout()) ? compressed_to_coo(self) : self;
  const std::array<int64_t, 2> block = block_sizes(mask);
  return coo_to_compressed(
      coo.sparse_mask(coo_mask), mask.layout(),
      is_blocked(mask.layout()) ? OptionalIntArrayRef(block) : OptionalIntArrayRef());
}

} // namespace at::native
