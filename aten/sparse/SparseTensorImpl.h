// Sparse tensors of coordinates (COO).
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/TensorImpl.h>

namespace at {

/// A tensor given by the indices and values of some of its elements; all others are zero. The first `sparse_dim`
/// dimensions are listed in `indices`, int64 of shape [sparse_dim, nnz]; `values`, of shape [nnz, the last dense_dim
/// sizes...], holds what is at each index. Indices may repeat, and their values then add up, unless the tensor is
/// `coalesced`: each index once, in row-major order.
///
/// It has neither storage nor strides of its own: strides() are zero, and access to storage or data throws.
struct TORCH_API SparseTensorImpl : public c10::TensorImpl {
  /// Of shape [0] with one sparse dimension and no elements. Takes SparseCPU and the like as its key.
  explicit SparseTensorImpl(c10::DispatchKeySet key_set, const caffe2::TypeMeta data_type);

  int64_t nnz() const {
    return values_.size(0);
  }
  int64_t sparse_dim() const {
    return sparse_dim_;
  }
  int64_t dense_dim() const {
    return dense_dim_;
  }
  bool coalesced() const {
    return coalesced_;
  }
  const Tensor& indices() const {
    return indices_;
  }
  const Tensor& values() const {
    return values_;
  }

  /// Changes the shape and nothing else: the members must fit it before the tensor is used.
  void raw_resize_(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size);
  /// Changes the shape of a tensor that keeps its elements: dimensions may be added and sizes grow. A tensor without
  /// elements takes any shape. Throws where elements would be lost.
  void resize_(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size);
  /// The shape, without elements.
  void resize_and_clear_(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size);
  void set_coalesced(bool coalesced) {
    coalesced_ = coalesced;
  }
  /// Keeps the first `new_nnz` indices.
  void set_nnz_and_narrow(int64_t new_nnz);
  /// Throws when the shapes of the two do not fit this tensor's; whether the indices are inside of it is not checked.
  void set_indices_and_values_unsafe(const Tensor& indices, const Tensor& values);

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

 private:
  /// Without members, which the caller fills in.
  SparseTensorImpl(c10::DispatchKeySet key_set, const caffe2::TypeMeta data_type, c10::Device device);
  void copy_members(const SparseTensorImpl& from);
  void set_shape(int64_t sparse_dim, int64_t dense_dim, c10::IntArrayRef size);

  int64_t sparse_dim_ = 1;
  int64_t dense_dim_ = 0;
  Tensor indices_;
  Tensor values_;
  bool coalesced_ = false;
};

} // namespace at
