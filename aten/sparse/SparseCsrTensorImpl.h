// Sparse matrices with compressed rows or columns: CSR, CSC and their blocked forms BSR and BSC.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/TensorImpl.h>

namespace at {

/// A batch of sparse matrices, [batch..., rows, cols, dense...]. The row (CSR, BSR) or column (CSC, BSC) number of the
/// elements is compressed: `compressed_indices`, of shape [batch..., rows or cols + 1], says where the elements of each
/// begin; `plain_indices`, [batch..., nnz], holds the other coordinate, sorted within each row or column; `values` is
/// [batch..., nnz, dense...]. In BSR and BSC an element is a block: coordinates count blocks, and values have two more
/// dimensions after nnz. Indices are int32 or int64.
///
/// It has neither strides nor storage of its own: strides(), is_contiguous() and access to storage or data throw.
struct TORCH_API SparseCsrTensorImpl : public c10::TensorImpl {
  /// Of shape [0, 0] without elements.
  SparseCsrTensorImpl(
      c10::DispatchKeySet key_set, c10::Device device, c10::Layout layout, const caffe2::TypeMeta data_type);

  const Tensor& compressed_indices() const {
    return crow_indices_;
  }
  const Tensor& plain_indices() const {
    return col_indices_;
  }
  const Tensor& values() const {
    return values_;
  }
  int64_t nnz() const {
    return col_indices_.size(-1);
  }
  int64_t batch_dim() const noexcept {
    return crow_indices_.dim() - 1;
  }
  int64_t sparse_dim() const noexcept {
    return 2;
  }
  int64_t dense_dim() const noexcept {
    return values_.dim() - batch_dim() - block_dim() - 1;
  }

  /// Takes the members as they are; they must fit `size`.
  void set_member_tensors(
      const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values, c10::IntArrayRef size);
  /// No elements, a matrix of this size.
  void resize_and_clear_(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size);
  void set_layout(c10::Layout layout);

  c10::Layout layout_impl() const override {
    return layout_;
  }
  void release_resources() override;
  void set_size(int64_t dim, int64_t new_size) override;
  void set_stride(int64_t dim, int64_t new_stride) override;
  void set_storage_offset(int64_t storage_offset) override;
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      const c10::VariableVersion& version_counter, bool allow_tensor_metadata_change) const override;
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      c10::VariableVersion&& version_counter, bool allow_tensor_metadata_change) const override;
  void shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& impl) override;
  const char* tensorimpl_type_name() const override;

 protected:
  c10::IntArrayRef strides_custom() const override;
  bool is_contiguous_custom(c10::MemoryFormat memory_format) const override;

 private:
  struct WithoutMembers {};
  SparseCsrTensorImpl(
      WithoutMembers,
      c10::DispatchKeySet key_set,
      c10::Device device,
      c10::Layout layout,
      const caffe2::TypeMeta data_type);
  int64_t block_dim() const noexcept {
    return layout_ == kSparseBsr || layout_ == kSparseBsc ? 2 : 0;
  }
  void copy_members(const SparseCsrTensorImpl& from);

  Tensor crow_indices_;
  Tensor col_indices_;
  Tensor values_;
  c10::Layout layout_;
};

} // namespace at
