#include <aten/sparse/SparseTensorUtils.h>

#include <aten/parallel/Parallel.h>
#include <aten/native/sparse/device_kernels.h>
#include <aten/core/TensorOperators.h>
#include <c10/core/Contiguity.h>
#include <c10/util/DimVector.h>
#include <c10/util/safe_numerics.h>

#include <aten/ops/any.h>
#include <aten/ops/arange.h>
#include <aten/ops/empty.h>
#include <aten/ops/zeros.h>
#include <aten/ops/zeros_like.h>

namespace at::sparse {

namespace {

/// Step of each of the sizes in a row-major numbering.
c10::DimVector steps_of(c10::IntArrayRef sizes) {
  c10::DimVector steps(sizes.size());
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    steps[d] = step;
    TORCH_CHECK(
        !c10::mul_overflows(step, sizes[d], &step), "flatten_indices: the places of a sparse tensor with sparse sizes ",
        sizes, " cannot be numbered with int64; give it fewer or smaller sparse dimensions");
  }
  return steps;
}

void add_dimension(const int64_t* index, int64_t nnz, int64_t dim, int64_t size, int64_t step, int64_t* out) {
  at::parallel_for(0, nnz, at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      TORCH_CHECK_INDEX(
          index[i] >= 0 && index[i] < size, "a sparse tensor of size ", size, " in dimension ", dim,
          " cannot have an element at ", index[i]);
      out[i] += index[i] * step;
    }
  });
}

} // namespace

void copy_into_sparse(const SparseTensor& self, const Tensor& indices, const Tensor& values, bool non_blocking) {
  SparseTensorImpl* impl = get_sparse_impl(self);
  impl->set_indices_and_values_unsafe(
      indices.to(self.device(), kLong, non_blocking, /*copy=*/true),
      values.to(self.device(), self.scalar_type(), non_blocking, /*copy=*/true));
}

Tensor flatten_indices_by_dims(
    const Tensor& indices, const c10::IntArrayRef& sizes, const c10::IntArrayRef& dims_to_flatten) {
  c10::DimVector chosen;
  for (const int64_t dim : dims_to_flatten) {
    chosen.push_back(sizes[c10::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()))]);
  }
  const c10::DimVector steps = steps_of(chosen);
  const Tensor places = indices.contiguous();
  const int64_t nnz = places.size(1);
  Tensor result = at::zeros({nnz}, indices.options());
  if (native::sparse_kernels(indices) != nullptr) {
    Tensor outside = at::zeros({nnz}, indices.options().dtype(kBool));
    for (size_t i = 0; i < chosen.size(); ++i) {
      const Tensor row = places.select(0, c10::maybe_wrap_dim(dims_to_flatten[i], static_cast<int64_t>(sizes.size())));
      outside.logical_or_(row.lt(0)).logical_or_(row.ge(chosen[i]));
      result.add_(row, steps[i]);
    }
    TORCH_CHECK_INDEX(
        nnz == 0 || !outside.any().item<bool>(), "a sparse tensor of sizes ", sizes, " has an element outside of them");
    return result;
  }
  const int64_t* from = places.const_data_ptr<int64_t>();
  for (size_t i = 0; i < chosen.size(); ++i) {
    const int64_t dim = c10::maybe_wrap_dim(dims_to_flatten[i], static_cast<int64_t>(sizes.size()));
    add_dimension(from + dim * nnz, nnz, dim, chosen[i], steps[i], result.mutable_data_ptr<int64_t>());
  }
  return result;
}

Tensor flatten_indices(const Tensor& indices, c10::IntArrayRef full_size, bool /*force_clone*/) {
  TORCH_CHECK(
      indices.dim() == 2 && indices.scalar_type() == kLong && indices.size(0) <= static_cast<int64_t>(full_size.size()),
      "flatten_indices: indices must be int64 of shape [sparse_dim, nnz] with at most ", full_size.size(),
      " dimensions, got ", indices.sizes(), " of ", indices.scalar_type());
  c10::DimVector dims(indices.size(0));
  for (size_t d = 0; d < dims.size(); ++d) {
    dims[d] = static_cast<int64_t>(d);
  }
  return flatten_indices_by_dims(indices, full_size.slice(0, dims.size()), dims);
}

Tensor coo_to_csr(const int64_t* indices, int64_t dim, int64_t nnz) {
  Tensor result = at::zeros({dim + 1}, c10::TensorOptions(kLong));
  int64_t* starts = result.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < nnz; ++i) {
    TORCH_CHECK_INDEX(indices[i] >= 0 && indices[i] < dim, "coo_to_csr: row ", indices[i], " of ", dim);
    ++starts[indices[i] + 1];
  }
  for (int64_t row = 0; row < dim; ++row) {
    starts[row + 1] += starts[row];
  }
  return result;
}

Tensor zeros_like_with_indices(const Tensor& t) {
  const SparseTensorImpl* impl = get_sparse_impl(t);
  Tensor result = at::zeros_like(t);
  SparseTensorImpl* made = get_sparse_impl(result);
  made->set_indices_and_values_unsafe(impl->indices().clone(), at::zeros_like(impl->values()));
  made->set_coalesced(impl->coalesced());
  return result;
}

Tensor full_coo_indices(c10::IntArrayRef sizes, c10::TensorOptions options) {
  const c10::DimVector steps = steps_of(sizes);
  const int64_t count = c10::checked_numel(sizes);
  const Tensor result = at::empty({static_cast<int64_t>(sizes.size()), count}, at::kLong);
  int64_t* out = result.mutable_data_ptr<int64_t>();
  for (size_t d = 0; d < sizes.size(); ++d) {
    for (int64_t i = 0; i < count; ++i) {
      *out++ = i / steps[d] % sizes[d];
    }
  }
  return result.to(options.device());
}

} // namespace at::sparse
