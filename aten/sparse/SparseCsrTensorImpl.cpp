#include <aten/sparse/SparseCsrTensorImpl.h>

#include <aten/core/TensorSpec.h>
#include <c10/core/Contiguity.h>
#include <c10/util/DimVector.h>

#include <limits>
#include <utility>

#include <aten/ops/empty.h>
#include <aten/ops/zeros.h>

namespace at {

SparseCsrTensorImpl::SparseCsrTensorImpl(
    WithoutMembers,
    c10::DispatchKeySet key_set,
    c10::Device device,
    c10::Layout layout,
    const caffe2::TypeMeta data_type)
    : TensorImpl(key_set, data_type, device), layout_(layout) {
  set_storage_access_should_throw();
  set_custom_sizes_strides(SizesStridesPolicy::CustomStrides);
}

SparseCsrTensorImpl::SparseCsrTensorImpl(
    c10::DispatchKeySet key_set, c10::Device device, c10::Layout layout, const caffe2::TypeMeta data_type)
    : SparseCsrTensorImpl(WithoutMembers(), key_set, device, layout, data_type) {
  set_layout(layout);
  const Tensor values = block_dim() == 0 ? empty_contiguous({0}, c10::typeMetaToScalarType(data_type), device)
                                         : empty_contiguous({0, 1, 1}, c10::typeMetaToScalarType(data_type), device);
  set_member_tensors(
      at::zeros({1}, c10::TensorOptions(kLong).device(device)), empty_contiguous({0}, kLong, device), values, {0, 0});
}

void SparseCsrTensorImpl::set_layout(c10::Layout layout) {
  TORCH_CHECK(
      layout == kSparseCsr || layout == kSparseCsc || layout == kSparseBsr || layout == kSparseBsc,
      "unsupported layout ", layout);
  layout_ = layout;
}

void SparseCsrTensorImpl::set_member_tensors(
    const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values, c10::IntArrayRef size) {
  TORCH_CHECK(
      values.scalar_type() == c10::typeMetaToScalarType(dtype()), "dtype of values (", values.scalar_type(),
      ") must match dtype of sparse tensor (", c10::typeMetaToScalarType(dtype()), ")");
  c10::checked_numel(size); // the last thing that may throw
  const c10::DimVector zeros(size.size(), 0);
  // Custom strides, which refuse every reader, refuse a new shape too.
  set_custom_sizes_strides(SizesStridesPolicy::Default);
  set_sizes_and_strides(size, zeros);
  set_custom_sizes_strides(SizesStridesPolicy::CustomStrides);
  crow_indices_ = compressed_indices;
  col_indices_ = plain_indices;
  values_ = values;
}

void SparseCsrTensorImpl::resize_and_clear_(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size) {
  TORCH_CHECK(
      sparse_dim >= 2 && dense_dim >= 0 && static_cast<int64_t>(size.size()) - sparse_dim == dense_dim,
      "resize_and_clear_: a compressed sparse tensor of size ", size, " cannot have ", sparse_dim,
      " batch and sparse dimensions and ", dense_dim, " dense ones");
  const c10::DimVector sizes(size.begin(), size.end());
  const bool by_rows = layout_ == kSparseCsr || layout_ == kSparseBsr;
  c10::DimVector block;
  if (block_dim() != 0) {
    block.append(values_.sizes().begin() + batch_dim() + 1, values_.sizes().begin() + batch_dim() + 3);
  }
  const int64_t length = sizes[sparse_dim - (by_rows ? 2 : 1)];
  const int64_t step = block.empty() ? 1 : block[by_rows ? 0 : 1];
  TORCH_CHECK(
      length % step == 0, "resize_and_clear_: a dimension of size ", length, " does not hold whole blocks of ", step);
  TORCH_CHECK(
      length / step < std::numeric_limits<int64_t>::max(), "resize_and_clear_: a dimension of size ", length,
      " is too large to compress");
  c10::DimVector compressed(sizes.begin(), sizes.begin() + sparse_dim - 2);
  c10::DimVector plain = compressed;
  compressed.push_back(length / step + 1);
  plain.push_back(0);
  c10::DimVector value_sizes = plain;
  value_sizes.append(block.begin(), block.end());
  value_sizes.append(sizes.begin() + sparse_dim, sizes.end());
  set_member_tensors(
      at::zeros(compressed, crow_indices_.options()), at::empty(plain, col_indices_.options()),
      at::empty(value_sizes, values_.options()), sizes);
}

void SparseCsrTensorImpl::release_resources() {
  TensorImpl::release_resources();
  crow_indices_.reset();
  col_indices_.reset();
  values_.reset();
}

void SparseCsrTensorImpl::set_size(int64_t, int64_t) {
  TORCH_CHECK(false, "Sparse ", layout_, " tensors do not have set_size.");
}
void SparseCsrTensorImpl::set_stride(int64_t, int64_t) {
  TORCH_CHECK(false, "Sparse ", layout_, " tensors do not have set_stride.");
}
void SparseCsrTensorImpl::set_storage_offset(int64_t) {
  TORCH_CHECK(false, "Sparse ", layout_, " tensors do not have set_storage_offset.");
}
c10::IntArrayRef SparseCsrTensorImpl::strides_custom() const {
  TORCH_CHECK(false, "Sparse ", layout_, " tensors do not have strides");
}
bool SparseCsrTensorImpl::is_contiguous_custom(c10::MemoryFormat) const {
  TORCH_CHECK(false, "Sparse ", layout_, " tensors do not have is_contiguous");
}

void SparseCsrTensorImpl::copy_members(const SparseCsrTensorImpl& from) {
  crow_indices_ = from.crow_indices_;
  col_indices_ = from.col_indices_;
  values_ = from.values_;
  layout_ = from.layout_;
}

c10::intrusive_ptr<c10::TensorImpl> SparseCsrTensorImpl::shallow_copy_and_detach(
    const c10::VariableVersion& version_counter, bool allow_tensor_metadata_change) const {
  return shallow_copy_and_detach(c10::VariableVersion(version_counter), allow_tensor_metadata_change);
}

c10::intrusive_ptr<c10::TensorImpl> SparseCsrTensorImpl::shallow_copy_and_detach(
    c10::VariableVersion&& version_counter, bool allow_tensor_metadata_change) const {
  auto copy = c10::intrusive_ptr<SparseCsrTensorImpl>::unsafe_steal_from_new(
      new SparseCsrTensorImpl(WithoutMembers(), key_set(), device(), layout_, dtype()));
  copy_tensor_metadata(this, copy.get(), std::move(version_counter), allow_tensor_metadata_change);
  copy->copy_members(*this);
  return copy;
}

void SparseCsrTensorImpl::shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& impl) {
  TORCH_CHECK(
      impl->is_sparse_compressed(), "a compressed sparse tensor cannot take over the data of a tensor that is not one");
  copy_tensor_metadata(impl.get(), this, version_counter(), allow_tensor_metadata_change());
  copy_members(static_cast<const SparseCsrTensorImpl&>(*impl));
}

const char* SparseCsrTensorImpl::tensorimpl_type_name() const {
  return "SparseCsrTensorImpl";
}

} // namespace at
