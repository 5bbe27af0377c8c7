// Between strided tensors and coordinates.
#include <aten/native/sparse/compressed.h>
#include <aten/native/sparse/coo.h>

#include <aten/Functions.h>
#include <aten/core/TensorIndexing.h>
#include <aten/core/ivalue.h>

#include <algorithm>
#include <vector>

namespace at::native {

using c10::DimVector;

Tensor to_dense(const Tensor& self, std::optional<ScalarType> dtype, std::optional<bool> masked_grad) {
  if (self.layout() == kStrided) {
    return dtype ? self.to(*dtype) : self;
  }
  return self._to_dense(dtype, masked_grad);
}

Tensor _to_dense_coo(const Tensor& self, std::optional<ScalarType> dtype, std::optional<bool>) {
  const SparseTensorImpl* impl = get_sparse_impl(self);
  const ScalarType type = dtype.value_or(self.scalar_type());
  const Tensor result = at::zeros(self.sizes(), self.options().layout(kStrided).dtype(type));
  if (impl->nnz() > 0 && result.numel() > 0) {
    // Values of one index add up in self's dtype.
    const bool direct = type == self.scalar_type();
    const Tensor source = direct ? self : coalesced(self);
    const SparseTensorImpl* from = get_sparse_impl(source);
    add_blocks(result, at::sparse::flatten_indices(from->indices(), self.sizes()), from->values().to(type), 1);
  }
  return result;
}

Tensor to_dense_backward(const Tensor& grad, const Tensor& input, std::optional<bool> masked_grad) {
  if (input.layout() == kStrided) {
    return grad.to(input.scalar_type());
  }
  const Tensor cast = grad.to(input.scalar_type());
  if (masked_grad.value_or(true)) {
    return cast.sparse_mask(input.is_sparse() ? input.coalesce() : input);
  }
  return input.is_sparse() ? cast.to_sparse(get_sparse_impl(input)->sparse_dim())
                           : at::native::compressed_like(cast, input);
}

// ---- to sparse -------------------------------------------------------------------------

Tensor _to_sparse_dim_strided(const Tensor& self, int64_t sparse_dim) {
  const int64_t dims = self.dim();
  TORCH_CHECK(
      sparse_dim >= 0 && sparse_dim <= dims, "dense_to_sparse: sparse_dim argument must be in [0,", dims,
      "] range, but ", sparse_dim, " is given");
  TORCH_CHECK(sparse_dim > 0 || dims == 0, "dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0");
  Tensor indices;
  if (sparse_dim == dims) {
    indices = dims == 0 ? at::empty({0, self.item().toComplexDouble() == 0. ? 0 : 1}, self.options().dtype(kLong))
                        : self.nonzero().t().contiguous();
  } else {
    // An index counts when anything in its block does.
    DimVector rest;
    for (int64_t dim = sparse_dim; dim < dims; ++dim) {
      rest.push_back(dim);
    }
    indices = self.ne(0).sum(rest).nonzero().t().contiguous();
  }
  Tensor values;
  if (dims == 0) {
    values = self.reshape({1}).narrow(0, 0, indices.size(1)).clone();
  } else {
    c10::List<std::optional<Tensor>> places;
    for (int64_t dim = 0; dim < sparse_dim; ++dim) {
      places.push_back(indices.select(0, dim));
    }
    values = self.index(places);
  }
  return make_coo(self.sizes(), indices, values, /*coalesced=*/true);
}

Tensor _to_sparse_dim_coo(const Tensor& self, int64_t sparse_dim) {
  TORCH_CHECK(
      sparse_dim == get_sparse_impl(self)->sparse_dim(),
      "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not supported");
  return self;
}

Tensor to_sparse_dim(const Tensor& self, int64_t sparse_dim) {
  if (self.is_sparse() && sparse_dim == get_sparse_impl(self)->sparse_dim()) {
    return self;
  }
  return self._to_sparse(sparse_dim);
}

// ---- masks -----------------------------------------------------------------------------

namespace {

/// The blocks of `t`, a strided tensor of the size of a sparse one, at the indices of that.
Tensor blocks_at(const Tensor& t, const Tensor& indices) {
  const int64_t sparse_dim = indices.size(0);
  if (sparse_dim == 0) {
    return t.unsqueeze(0).index_select(0, at::zeros({indices.size(1)}, indices.options()));
  }
  DimVector sizes{-1};
  sizes.append(t.sizes().begin() + sparse_dim, t.sizes().end());
  if (t.numel() == 0) {
    sizes[0] = indices.size(1);
    return at::empty(sizes, t.options());
  }
  return t.contiguous().view(sizes).index_select(0, at::sparse::flatten_indices(indices, t.sizes()));
}

} // namespace

Tensor element_numbers(const Tensor& places, const Tensor& wanted) {
  const auto [sorted, order] = places.sort(/*stable=*/true, 0, false);
  const Tensor found = at::searchsorted(sorted, wanted).clamp_max(places.numel() - 1);
  return at::where(sorted.index_select(0, found).eq(wanted), order.index_select(0, found), -1);
}

Tensor _sparse_mask_projection(const Tensor& self, const Tensor& mask, bool /*accumulate_matches*/) {
  check_coo("_sparse_mask_projection", "self", self);
  check_coo("_sparse_mask_projection", "mask", mask);
  TORCH_CHECK(
      self.sizes() == mask.sizes(), "sparse_mask(): operands have incompatible sizes; self has size ", self.sizes(),
      " but mask has size ", mask.sizes());
  const SparseTensorImpl* places = get_sparse_impl(mask);
  TORCH_CHECK(
      places->sparse_dim() == get_sparse_impl(self)->sparse_dim(), "sparse_mask(): self has ",
      get_sparse_impl(self)->sparse_dim(), " sparse dimensions and mask has ", places->sparse_dim());
  const Tensor source = coalesced(self);
  const SparseTensorImpl* from = get_sparse_impl(source);
  DimVector sizes(places->values().sizes().begin(), places->values().sizes().end());
  Tensor values = at::zeros(sizes, from->values().options());
  if (from->nnz() > 0 && places->nnz() > 0) {
    const Tensor found = element_numbers(
        at::sparse::flatten_indices(from->indices(), self.sizes()),
        at::sparse::flatten_indices(places->indices(), self.sizes()));
    const Tensor hits = found.ge(0).nonzero().squeeze(1);
    values.index_copy_(0, hits, from->values().index_select(0, found.index_select(0, hits)));
  }
  return make_coo(self.sizes(), places->indices().clone(), values, places->coalesced());
}

Tensor sparse_mask_coo(const Tensor& self, const Tensor& mask) {
  check_coo("sparse_mask", "mask", mask);
  TORCH_CHECK(
      self.sizes() == mask.sizes(), "sparse_mask(): operands have incompatible sizes; self has size ", self.sizes(),
      " but mask has size ", mask.sizes());
  const SparseTensorImpl* places = get_sparse_impl(mask);
  if (self.layout() == kStrided) {
    return make_coo(self.sizes(), places->indices().clone(), blocks_at(self, places->indices()), places->coalesced());
  }
  return at::native::_sparse_mask_projection(self, mask, /*accumulate_matches=*/true);
}

Tensor _sparse_broadcast_to(const Tensor& self, IntArrayRef size) {
  const SparseTensorImpl* impl = get_sparse_impl(self);
  const int64_t dims = static_cast<int64_t>(size.size());
  const int64_t more = dims - self.dim();
  TORCH_CHECK(more >= 0, "input not broadcastable to size with smaller dimensionality: ", self.sizes(), " to ", size);
  // Sparse dimensions that grow are repeated index by index.
  DimVector repeated;
  for (int64_t dim = 0; dim < more + impl->sparse_dim(); ++dim) {
    const int64_t old = dim < more ? 1 : self.size(dim - more);
    TORCH_CHECK(
        size[dim] >= 0 && (old == size[dim] || old == 1), "The expanded size of the tensor (", size[dim],
        ") must match the existing size (", old, ") at non-singleton dimension ", dim, ".  Target sizes: ", size,
        ".  Tensor sizes: ", self.sizes());
    repeated.push_back(old == size[dim] && dim >= more ? 1 : size[dim]);
  }
  const Tensor copies = at::sparse::full_coo_indices(repeated, impl->indices().options());
  const int64_t times = copies.size(1);
  const int64_t nnz = impl->nnz();
  const int64_t sparse_dim = more + impl->sparse_dim();
  Tensor own = impl->indices();
  if (more > 0) {
    own = at::cat({at::zeros({more, nnz}, own.options()), own}, 0);
  }
  const Tensor indices = own.unsqueeze(1).add(copies.unsqueeze(2)).reshape({sparse_dim, times * nnz});
  DimVector value_sizes{nnz};
  value_sizes.append(size.begin() + sparse_dim, size.end());
  DimVector repeats(value_sizes.size(), 1);
  repeats[0] = times;
  return make_coo(
      size, indices, impl->values().expand(value_sizes).repeat(repeats), impl->coalesced() && (times == 1 || nnz < 2));
}

Tensor _spdiags(const Tensor& diagonals, const Tensor& offsets, IntArrayRef shape, std::optional<Layout> layout) {
  TORCH_CHECK(
      diagonals.layout() == kStrided && offsets.layout() == kStrided,
      "_spdiags: diagonals and offsets must be strided tensors, got ", diagonals.layout(), " and ", offsets.layout());
  TORCH_CHECK(
      diagonals.dim() == 1 || diagonals.dim() == 2, "Diagonals must be vector or matrix, got sizes ",
      diagonals.sizes());
  TORCH_CHECK(shape.size() == 2, "Output shape must be 2d, got ", shape);
  TORCH_CHECK(shape[0] >= 0 && shape[1] >= 0, "_spdiags: the shape must not be negative, got ", shape);
  TORCH_CHECK(offsets.dim() <= 1, "Offsets must be scalar or vector, got sizes ", offsets.sizes());
  TORCH_CHECK(offsets.scalar_type() == kLong, "Offset Tensor must have dtype Long but got ", offsets.scalar_type());
  const Tensor rows_of_values = diagonals.dim() == 1 ? diagonals.unsqueeze(0) : diagonals;
  const Tensor starts = offsets.contiguous();
  const int64_t count = rows_of_values.size(0), width = std::min(rows_of_values.size(1), shape[1]);
  TORCH_CHECK(
      starts.numel() == count, "Number of diagonals (", count, ") does not match the number of offsets (",
      starts.numel(), ")");
  const Layout wanted = layout.value_or(kSparse);
  TORCH_CHECK(
      wanted == kSparse || wanted == kSparseCsc || wanted == kSparseCsr,
      "Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got ", wanted);
  const int64_t* offset = starts.const_data_ptr<int64_t>();
  std::vector<int64_t> sorted(offset, offset + count);
  std::sort(sorted.begin(), sorted.end());
  TORCH_CHECK(
      std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "Offset tensor contains duplicate values");

  std::vector<int64_t> rows, cols;
  std::vector<Tensor> values{rows_of_values.narrow(0, 0, 0).flatten()};
  for (int64_t k = 0; k < count; ++k) {
    // Beyond these no diagonal meets the matrix.
    const int64_t shift = std::clamp(offset[k], -shape[0], shape[1]);
    const int64_t begin = std::max<int64_t>(shift, 0), end = std::min(width, shape[0] + shift);
    for (int64_t col = begin; col < end; ++col) {
      rows.push_back(col - shift);
      cols.push_back(col);
    }
    if (begin < end) {
      values.push_back(rows_of_values.select(0, k).narrow(0, begin, end - begin));
    }
  }
  const Tensor places = at::stack({int64_tensor(rows, kCPU), int64_tensor(cols, kCPU)});
  const Tensor result = make_coo(shape, places, at::cat(values), /*coalesced=*/false);
  return wanted == kSparse ? result : wanted == kSparseCsr ? result.to_sparse_csr() : result.to_sparse_csc();
}

} // namespace at::native
