// Tensors whose memory is an object of a library's own: a backend's buffer, a compressed block, a handle of a driver.
#pragma once

#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <utility>

namespace at {

/// Has sizes, but neither strides nor a storage: asking for them throws. Kernels of the backend whose key it has take
/// the handle out by unsafe_opaque_handle(); copies of the tensor copy the handle.
template <typename OpaqueHandle>
struct OpaqueTensorImpl : public TensorImpl {
  OpaqueTensorImpl(
      DispatchKeySet key_set,
      const caffe2::TypeMeta data_type,
      c10::Device device,
      OpaqueHandle opaque_handle,
      c10::IntArrayRef sizes,
      bool is_non_overlapping_and_dense = true)
      : TensorImpl(key_set, data_type, device),
        opaque_handle_(std::move(opaque_handle)),
        is_dense_(is_non_overlapping_and_dense) {
    set_storage_access_should_throw();
    set_custom_sizes_strides(SizesStridesPolicy::CustomStrides);
    sizes_and_strides_.set_sizes(sizes);
    refresh_numel();
  }

  void release_resources() override {
    TensorImpl::release_resources();
    opaque_handle_ = {};
  }

  void set_size(int64_t, int64_t) override {
    TORCH_CHECK(false, "opaque tensors do not have set_size");
  }
  void set_stride(int64_t, int64_t) override {
    TORCH_CHECK(false, "opaque tensors do not have set_stride");
  }
  void set_storage_offset(int64_t) override {
    TORCH_CHECK(false, "opaque tensors do not have set_storage_offset");
  }

  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      const c10::VariableVersion& version_counter, bool allow_tensor_metadata_change) const override {
    return copy_with(version_counter, allow_tensor_metadata_change);
  }
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      c10::VariableVersion&& version_counter, bool allow_tensor_metadata_change) const override {
    return copy_with(std::move(version_counter), allow_tensor_metadata_change);
  }
  void shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& impl) override {
    const auto* from = dynamic_cast<const OpaqueTensorImpl*>(impl.get());
    TORCH_CHECK(
        from && has_compatible_shallow_copy_type(impl->key_set()),
        "shallow_copy_from: a tensor with an opaque handle takes over only those with handles of its type, got ",
        impl->key_set());
    copy_tensor_metadata(from, this, version_counter(), allow_tensor_metadata_change());
    opaque_handle_ = from->opaque_handle_;
    is_dense_ = from->is_dense_;
  }

  const OpaqueHandle& opaque_handle() const {
    return opaque_handle_;
  }
  OpaqueHandle& unsafe_opaque_handle() {
    return opaque_handle_;
  }

 protected:
  bool is_contiguous_custom(MemoryFormat) const override {
    return refuse_strides<bool>();
  }
  bool is_strides_like_custom(MemoryFormat) const override {
    return refuse_strides<bool>();
  }
  bool is_non_overlapping_and_dense_custom() const override {
    return is_dense_;
  }
  c10::IntArrayRef strides_custom() const override {
    return refuse_strides<c10::IntArrayRef>();
  }
  const char* tensorimpl_type_name() const override {
    return "OpaqueTensorImpl";
  }

 private:
  template <class Result>
  Result refuse_strides() const {
    TORCH_CHECK(false, "Tensors of type ", tensorimpl_type_name(), " do not have strides");
  }
  template <class Version>
  c10::intrusive_ptr<TensorImpl> copy_with(Version&& version_counter, bool allow_tensor_metadata_change) const {
    auto copy = c10::make_intrusive<OpaqueTensorImpl>(key_set(), dtype(), device(), opaque_handle_, sizes(), is_dense_);
    copy_tensor_metadata(this, copy.get(), std::forward<Version>(version_counter), allow_tensor_metadata_change);
    return copy;
  }

  OpaqueHandle opaque_handle_;
  bool is_dense_;
};

} // namespace at
