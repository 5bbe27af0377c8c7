// Sums, norms and softmax of coordinate tensors.
#include <aten/native/sparse/coo.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/WrapDimUtilsMulti.h>
#include <c10/util/DimVector.h>

#include <algorithm>

namespace at::native {

using c10::DimVector;

Tensor sum_coo(const Tensor& self, std::optional<ScalarType> dtype) {
  return get_sparse_impl(self)->values().sum(dtype);
}

Tensor _sparse_sum(const Tensor& self) {
  return self.coalesce().values().sum();
}

Tensor _sparse_sum_dtype(const Tensor& self, ScalarType dtype) {
  return self.coalesce().values().sum(dtype);
}

Tensor _sparse_sum_dim_dtype(const Tensor& self, IntArrayRef dim, ScalarType dtype) {
  return at::_sparse_sum(self.to(dtype), dim);
}

Tensor _sparse_sum_dim(const Tensor& self, IntArrayRef dims) {
  check_coo("_sparse_sum", "input", self);
  const SparseTensorImpl* impl = get_sparse_impl(self);
  TORCH_CHECK(
      impl->nnz() > 0, "_sparse_sum: sparse tensor input._nnz() == 0, please call torch.sparse.sum(input) instead.");
  const auto summed = at::dim_list_to_bitset(dims, static_cast<size_t>(self.dim()));
  DimVector dense_dims, kept, sizes;
  int64_t sparse_summed = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < impl->sparse_dim()) {
      sparse_summed += summed[d];
      if (!summed[d]) {
        kept.push_back(d);
      }
    } else if (summed[d]) {
      dense_dims.push_back(d - impl->sparse_dim() + 1);
    }
    if (!summed[d]) {
      sizes.push_back(self.size(d));
    }
  }
  const Tensor values = dense_dims.empty() ? impl->values() : impl->values().sum(dense_dims);
  if (sparse_summed == impl->sparse_dim()) {
    return values.sum(IntArrayRef{0});
  }
  const Tensor indices =
      sparse_summed == 0 ? impl->indices().clone() : impl->indices().index_select(0, int64_tensor(kept, self.device()));
  return coalesced(make_coo(sizes, indices, dense_dims.empty() ? values.clone() : values, /*coalesced=*/false));
}

Tensor sum_dim_coo(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const Tensor input = dtype ? self.to(*dtype) : c10::isIntegralType(self.scalar_type(), true) ? self.to(kLong) : self;
  DimVector all;
  if (dim.has_value() && !dim->empty()) {
    all.append(dim->begin(), dim->end());
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) {
      all.push_back(d);
    }
  }
  const auto summed = at::dim_list_to_bitset(all, static_cast<size_t>(self.dim()));
  Tensor result;
  if (get_sparse_impl(self)->nnz() > 0) {
    result = _sparse_sum_dim(input, all);
  } else {
    DimVector sizes;
    int64_t sparse = 0;
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (!summed[d]) {
        sizes.push_back(self.size(d));
        sparse += d < get_sparse_impl(self)->sparse_dim();
      }
    }
    result = sparse == 0
        ? at::zeros(sizes, input.options().layout(kStrided))
        : at::_sparse_coo_tensor_with_dims(sparse, static_cast<int64_t>(sizes.size()) - sparse, sizes, input.options());
  }
  if (keepdim) {
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (summed[d]) {
        result = result.unsqueeze(d);
      }
    }
  }
  return result;
}

Tensor _sparse_sum_backward_coo(const Tensor& grad, const Tensor& self, IntArrayRef dims) {
  check_coo("_sparse_sum_backward", "self", self);
  const Tensor input = coalesced(self);
  const SparseTensorImpl* impl = get_sparse_impl(input);
  const auto summed = at::dim_list_to_bitset(dims, static_cast<size_t>(self.dim()));
  DimVector kept, kept_sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!summed[d]) {
      kept_sizes.push_back(self.size(d));
      if (d < impl->sparse_dim()) {
        kept.push_back(d);
      }
    }
  }
  TORCH_CHECK(
      grad.sizes() == IntArrayRef(kept_sizes), "_sparse_sum_backward: expected a gradient of size ",
      IntArrayRef(kept_sizes), ", got ", grad.sizes());
  // The block of the gradient that each element of the input went to.
  Tensor blocks;
  if (kept.empty()) {
    TORCH_CHECK(
        !grad.is_sparse(), "_sparse_sum_backward: expected a strided gradient when all sparse dimensions are summed");
    DimVector sizes{impl->nnz()};
    sizes.append(grad.sizes().begin(), grad.sizes().end());
    blocks = grad.unsqueeze(0).expand(sizes);
  } else {
    const Tensor places = impl->indices().index_select(0, int64_tensor(kept, self.device()));
    DimVector value_sizes{impl->nnz()};
    value_sizes.append(kept_sizes.begin() + static_cast<int64_t>(kept.size()), kept_sizes.end());
    const Tensor mask = make_coo(kept_sizes, places, at::zeros(value_sizes, grad.options().layout(kStrided)), false);
    blocks = get_sparse_impl(grad.sparse_mask(mask))->values();
  }
  for (int64_t d = impl->sparse_dim(); d < self.dim(); ++d) {
    if (summed[d]) {
      blocks = blocks.unsqueeze(d - impl->sparse_dim() + 1);
    }
  }
  return make_coo(
      self.sizes(), impl->indices().clone(), blocks.expand(impl->values().sizes()).contiguous(), /*coalesced=*/false);
}

Tensor any_coo(const Tensor& self) {
  return get_sparse_impl(coalesced(self))->values().any();
}

Tensor linalg_vector_norm_coo(
    const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const size_t dims = dim.has_value() ? dim->size() : 0;
  TORCH_CHECK(
      dims == 0 || static_cast<int64_t>(dims) == self.dim(),
      "linalg_vector_norm: of a sparse tensor only the norm over all dimensions can be taken, got dim ",
      dim.value_or(IntArrayRef()));
  TORCH_CHECK(
      ord.toDouble() > 0, "linalg_vector_norm: of a sparse tensor only norms of positive order can be taken, got ",
      ord);
  const Tensor values = get_sparse_impl(coalesced(self))->values();
  Tensor result = at::linalg_vector_norm(values.reshape({-1}), ord, std::nullopt, false, dtype);
  return keepdim ? result.view(DimVector(self.dim(), 1)) : result;
}

Tensor native_norm(const Tensor& self, const Scalar& p) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_sparse(), "native_norm: expected a sparse tensor, got layout ", self.layout());
  return at::norm(self, p);
}

Tensor native_norm_dim(
    const Tensor& self,
    const std::optional<Scalar>& p,
    IntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype) {
  TORCH_CHECK(
      dim.empty() || static_cast<int64_t>(dim.size()) == self.dim(),
      "native_norm only supports full reductions, so 'dim' must either be empty or contain all dimensions of the "
      "input, got dim ",
      dim);
  TORCH_CHECK(!keepdim, "native_norm does not support keepdim=True");
  TORCH_CHECK(!dtype.has_value(), "native_norm does not support 'dtype' argument");
  for (const int64_t d : dim) {
    c10::maybe_wrap_dim(d, self.dim());
  }
  return at::native_norm(self, p.value_or(2));
}

// ---- softmax ---------------------------------------------------------------------------
// Indices that are missing count as minus infinity: each line along `dim` is normalised over the elements it has.

namespace {

/// The line that each element of a coalesced tensor lies in: indices without `dim`, numbered one after the other.
Tensor lines_of(const Tensor& self, int64_t dim, int64_t* count) {
  const SparseTensorImpl* impl = get_sparse_impl(self);
  DimVector rest;
  for (int64_t d = 0; d < impl->sparse_dim(); ++d) {
    if (d != dim) {
      rest.push_back(d);
    }
  }
  const Tensor places =
      at::sparse::flatten_indices_by_dims(impl->indices(), self.sizes().slice(0, impl->sparse_dim()), rest);
  const auto [unique, number] = at::_unique(places, /*sorted=*/true, /*return_inverse=*/true);
  *count = unique.numel();
  return number;
}

Tensor sums_of(const Tensor& blocks, const Tensor& lines, int64_t count) {
  return at::zeros({count, blocks.size(1)}, blocks.options()).index_add_(0, lines, blocks);
}

Tensor softmax_of(const char* op, const Tensor& self, int64_t dim_, bool half_to_float, bool logarithm) {
  TORCH_CHECK(!half_to_float, op, ": with half to float conversion is not supported on CPU");
  TORCH_CHECK(
      c10::isFloatingType(self.scalar_type()), op, ": expected a floating point tensor, got ", self.scalar_type());
  const int64_t dim = c10::maybe_wrap_dim(dim_, self.dim());
  const Tensor input = coalesced(self);
  const SparseTensorImpl* impl = get_sparse_impl(input);
  if (impl->nnz() == 0) {
    return at::clone(input);
  }
  if (dim >= impl->sparse_dim()) {
    const int64_t inner = dim - impl->sparse_dim() + 1;
    return with_values(input, logarithm ? at::log_softmax(impl->values(), inner) : at::softmax(impl->values(), inner));
  }
  int64_t count = 0;
  const Tensor lines = lines_of(input, dim, &count);
  const Tensor blocks = impl->values().reshape({impl->nnz(), -1});
  const Tensor index = lines.unsqueeze(1).expand(blocks.sizes());
  const Tensor greatest = at::full({count, blocks.size(1)}, -std::numeric_limits<double>::infinity(), blocks.options())
                              .scatter_reduce(0, index, blocks, "amax");
  const Tensor shifted = blocks - greatest.index_select(0, lines);
  const Tensor powers = shifted.exp();
  const Tensor sums = sums_of(powers, lines, count).index_select(0, lines);
  const Tensor values = logarithm ? shifted - sums.log() : powers / sums;
  return make_coo(self.sizes(), impl->indices().clone(), values.reshape(impl->values().sizes()), /*coalesced=*/true);
}

Tensor softmax_backward_of(
    const char* op, const Tensor& grad_, const Tensor& output_, int64_t dim_, const Tensor& self, bool logarithm) {
  check_coo(op, "output", output_);
  TORCH_CHECK(
      grad_.sizes() == output_.sizes() && self.sizes() == output_.sizes(), op, ": expected tensors of one size, got ",
      grad_.sizes(), ", ", output_.sizes(), " and ", self.sizes());
  const int64_t dim = c10::maybe_wrap_dim(dim_, self.dim());
  const Tensor output = coalesced(output_);
  const SparseTensorImpl* impl = get_sparse_impl(output);
  const Tensor grad = grad_.sparse_mask(output);
  if (impl->nnz() == 0) {
    return at::clone(output);
  }
  const Tensor y = impl->values();
  const Tensor g = get_sparse_impl(grad)->values();
  const Tensor weighted = logarithm ? g : g * y;
  Tensor sums;
  if (dim >= impl->sparse_dim()) {
    sums = weighted.sum(IntArrayRef{dim - impl->sparse_dim() + 1}, /*keepdim=*/true);
  } else {
    int64_t count = 0;
    const Tensor lines = lines_of(output, dim, &count);
    sums = sums_of(weighted.reshape({impl->nnz(), -1}), lines, count).index_select(0, lines).reshape(y.sizes());
  }
  const Tensor values = logarithm ? g - y.exp() * sums : weighted - y * sums;
  return make_coo(self.sizes(), impl->indices().clone(), values, /*coalesced=*/true);
}

} // namespace

Tensor _sparse_softmax_coo(const Tensor& self, int64_t dim, bool half_to_float) {
  return softmax_of("softmax", self, dim, half_to_float, false);
}
Tensor _sparse_log_softmax_coo(const Tensor& self, int64_t dim, bool half_to_float) {
  return softmax_of("log_softmax", self, dim, half_to_float, true);
}
Tensor _sparse_softmax_backward_coo(const Tensor& grad_output, const Tensor& output, int64_t dim, const Tensor& self) {
  return softmax_backward_of("_sparse_softmax_backward_data", grad_output, output, dim, self, false);
}
Tensor _sparse_log_softmax_backward_coo(
    const Tensor& grad_output, const Tensor& output, int64_t dim, const Tensor& self) {
  return softmax_backward_of("_sparse_log_softmax_backward_data", grad_output, output, dim, self, true);
}
Tensor _sparse_softmax_int(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::_sparse_softmax(dtype ? self.to(*dtype) : self, dim, /*half_to_float=*/false);
}
Tensor _sparse_log_softmax_int(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::_sparse_log_softmax(dtype ? self.to(*dtype) : self, dim, /*half_to_float=*/false);
}

} // namespace at::native
