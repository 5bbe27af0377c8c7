#include <aten/sparse/SparseTensorImpl.h>

#include <aten/core/TensorSpec.h>
#include <c10/util/DimVector.h>

#include <utility>

#include <aten/ops/empty.h>
#include <aten/ops/narrow.h>
#include <aten/ops/zeros.h>

namespace at {

namespace {

constexpr const char* kOptions =
    "You could try the following options:\n1. If you need an empty sparse tensor of this size, call `x = "
    "torch.sparse_coo_tensor(size)`.\n2. If you need to resize this tensor, you have the following options:\n\t1. For "
    "both "
    "sparse and dense dimensions, keep the number of them constant and the size of them non-shrinking, and then try "
    "the same "
    "call again.\n\t2. Or, create a new sparse tensor with the correct indices and values from this sparse tensor.";

c10::DimVector values_shape(int64_t nnz, int64_t sparse_dim, c10::IntArrayRef size) {
  c10::DimVector shape{nnz};
  shape.append(size.begin() + sparse_dim, size.end());
  return shape;
}

void check_dims(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size) {
  TORCH_CHECK(
      sparse_dim >= 0 && dense_dim >= 0,
      "the numbers of sparse and dense dimensions must not be negative, got sparse_dim = ", sparse_dim,
      ", dense_dim = ", dense_dim);
  TORCH_CHECK(
      dense_dim == static_cast<int64_t>(size.size()) - sparse_dim,
      "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
      ", sparse_dim = ", sparse_dim, ", dense_dim = ", dense_dim);
}

/// A device with its number: the current one where none is given.
c10::Device with_number(c10::Device device) {
  return device.is_cpu() || device.has_index() ? device : empty_contiguous({0}, kLong, device).device();
}

} // namespace

SparseTensorImpl::SparseTensorImpl(c10::DispatchKeySet key_set, const caffe2::TypeMeta data_type, c10::Device device)
    : TensorImpl(key_set, data_type, device) {
  set_storage_access_should_throw();
}

SparseTensorImpl::SparseTensorImpl(c10::DispatchKeySet key_set, const caffe2::TypeMeta data_type)
    : SparseTensorImpl(
          key_set, data_type, with_number(c10::Device(c10::dispatchKeyToDeviceType(key_set.highestPriorityTypeId())))) {
  indices_ = empty_contiguous({1, 0}, kLong, device());
  values_ = empty_contiguous({0}, c10::typeMetaToScalarType(data_type), device());
  set_shape(1, 0, {0});
}

void SparseTensorImpl::set_shape(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size) {
  for (const int64_t s : size) {
    TORCH_CHECK(s >= 0, "a sparse tensor cannot have a negative size, got ", size);
  }
  // Zero strides, as a libtorch program sees them.
  const c10::DimVector zeros(size.size(), 0);
  set_sizes_and_strides(size, zeros);
  sparse_dim_ = sparse_dim;
  dense_dim_ = dense_dim;
  flags_ = {};
}

void SparseTensorImpl::raw_resize_(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size) {
  check_dims(sparse_dim, dense_dim, size);
  set_shape(sparse_dim, dense_dim, size);
}

void SparseTensorImpl::resize_(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size) {
  check_dims(sparse_dim, dense_dim, size);
  if (nnz() > 0) {
    TORCH_CHECK(
        sparse_dim == sparse_dim_, "changing the number of sparse dimensions (from ", sparse_dim_, " to ", sparse_dim,
        ") on a non-empty sparse tensor is not supported.\n", kOptions);
    TORCH_CHECK(
        dense_dim == dense_dim_, "changing the number of dense dimensions (from ", dense_dim_, " to ", dense_dim,
        ") on a non-empty sparse tensor is not supported.\n", kOptions);
    const c10::IntArrayRef old = sizes();
    for (int64_t d = 0; d < sparse_dim + dense_dim; ++d) {
      const bool sparse = d < sparse_dim;
      TORCH_CHECK(
          size[d] >= old[d], "shrinking the size of ", sparse ? "sparse" : "dense", " dimensions (from ",
          sparse ? old.slice(0, sparse_dim) : old.slice(sparse_dim), " to ",
          sparse ? size.slice(0, sparse_dim) : size.slice(sparse_dim),
          ") on a non-empty sparse tensor is not supported.\n", kOptions);
    }
  }
  if (size == sizes() && sparse_dim == sparse_dim_) {
    return;
  }
  const int64_t count = nnz();
  const c10::DimVector shape = values_shape(count, sparse_dim, size);
  Tensor values = values_;
  if (values.sizes() != c10::IntArrayRef(shape)) {
    // New elements of the dense dimensions are zeros.
    values = at::zeros(shape, values_.options());
    if (count > 0) {
      Tensor kept = values;
      for (int64_t d = 1; d < kept.dim(); ++d) {
        kept = kept.narrow(d, 0, values_.size(d));
      }
      kept.copy_(values_);
    }
  }
  const Tensor indices = sparse_dim == sparse_dim_ ? indices_ : at::empty({sparse_dim, count}, indices_.options());
  set_shape(sparse_dim, dense_dim, size);
  indices_ = indices;
  values_ = values;
}

void SparseTensorImpl::resize_and_clear_(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size) {
  check_dims(sparse_dim, dense_dim, size);
  const c10::DimVector sizes(size.begin(), size.end()); // `size` may be our own
  const Tensor indices = at::empty({sparse_dim, 0}, indices_.options());
  const Tensor values = at::empty(values_shape(0, sparse_dim, sizes), values_.options());
  set_shape(sparse_dim, dense_dim, sizes);
  indices_ = indices;
  values_ = values;
}

void SparseTensorImpl::set_nnz_and_narrow(int64_t new_nnz) {
  TORCH_CHECK(
      new_nnz >= 0 && new_nnz <= nnz(), "set_nnz_and_narrow: ", new_nnz, " of ", nnz(), " elements cannot be kept");
  indices_ = indices_.narrow(1, 0, new_nnz);
  values_ = values_.narrow(0, 0, new_nnz);
  if (new_nnz < 2) {
    coalesced_ = true;
  }
}

void SparseTensorImpl::set_indices_and_values_unsafe(const Tensor& indices, const Tensor& values) {
  TORCH_CHECK(
      indices.layout() == kStrided, "expected indices to be a dense tensor, but got indices of layout ",
      indices.layout());
  TORCH_CHECK(
      values.layout() == kStrided, "expected values to be a dense tensor, but got values of layout ", values.layout());
  TORCH_CHECK(
      values.device().type() == device().type(), "device type of values (", values.device().type(),
      ") must match device type of device().type()", device().type(), ")");
  TORCH_CHECK(
      values.scalar_type() == c10::typeMetaToScalarType(dtype()), "dtype of values (", values.scalar_type(),
      ") must match dtype of sparse tensor (", c10::typeMetaToScalarType(dtype()), ")");
  TORCH_CHECK(indices.scalar_type() == kLong, "indices must be an int64 tensor, but got ", indices.scalar_type());
  TORCH_CHECK(
      indices.options().backend() == values.options().backend(), "backend of indices (", indices.options().backend(),
      ") must match backend of values (", values.options().backend(), ")");
  TORCH_CHECK(indices.dim() == 2, "indices must be sparse_dim x nnz, but got: ", indices.sizes());
  TORCH_CHECK(values.dim() >= 1, "values must have a dimension for the elements, but got a tensor without dimensions");
  TORCH_CHECK(
      indices.size(1) == values.size(0),
      "indices and values must have same nnz, but got nnz from indices: ", indices.size(1),
      ", nnz from values: ", values.size(0));
  TORCH_CHECK(
      indices.size(0) == sparse_dim_, "indices has incorrect first dimension, expected ", sparse_dim_, ", got ",
      indices.size(0));
  TORCH_CHECK(
      values.dim() == dense_dim_ + 1, "values has incorrect number of dimensions, expected ", dense_dim_ + 1, ", got ",
      values.dim());
  const c10::DimVector expected = values_shape(values.size(0), sparse_dim_, sizes());
  TORCH_CHECK(
      values.sizes() == c10::IntArrayRef(expected), "values has incorrect size, expected ", c10::IntArrayRef(expected),
      ", got ", values.sizes());
  indices_ = indices;
  values_ = values;
  coalesced_ = values.size(0) < 2;
}

void SparseTensorImpl::release_resources() {
  TensorImpl::release_resources();
  values_.reset();
  indices_.reset();
}

void SparseTensorImpl::set_size(int64_t, int64_t) {
  TORCH_CHECK(false, "sparse tensors do not have set_size");
}
void SparseTensorImpl::set_stride(int64_t, int64_t) {
  TORCH_CHECK(false, "sparse tensors do not have set_stride");
}
void SparseTensorImpl::set_storage_offset(int64_t) {
  TORCH_CHECK(false, "sparse tensors do not have set_storage_offset");
}

void SparseTensorImpl::copy_members(const SparseTensorImpl& from) {
  sparse_dim_ = from.sparse_dim_;
  dense_dim_ = from.dense_dim_;
  indices_ = from.indices_;
  values_ = from.values_;
  coalesced_ = from.coalesced_;
}

c10::intrusive_ptr<c10::TensorImpl> SparseTensorImpl::shallow_copy_and_detach(
    const c10::VariableVersion& version_counter, bool allow_tensor_metadata_change) const {
  return shallow_copy_and_detach(c10::VariableVersion(version_counter), allow_tensor_metadata_change);
}

c10::intrusive_ptr<c10::TensorImpl> SparseTensorImpl::shallow_copy_and_detach(
    c10::VariableVersion&& version_counter, bool allow_tensor_metadata_change) const {
  auto copy =
      c10::intrusive_ptr<SparseTensorImpl>::unsafe_steal_from_new(new SparseTensorImpl(key_set(), dtype(), device()));
  copy_tensor_metadata(this, copy.get(), std::move(version_counter), allow_tensor_metadata_change);
  copy->copy_members(*this);
  return copy;
}

void SparseTensorImpl::shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& impl) {
  TORCH_CHECK(impl->is_sparse(), "a sparse tensor cannot take over the data of a tensor that is not sparse");
  copy_tensor_metadata(impl.get(), this, version_counter(), allow_tensor_metadata_change());
  copy_members(static_cast<const SparseTensorImpl&>(*impl));
}

const char* SparseTensorImpl::tensorimpl_type_name() const {
  return "SparseTensorImpl";
}

} // namespace at
