#pragma once

#include <c10/core/AutogradMetaInterface.h>
#include <c10/core/Contiguity.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/SmallPool.h>
#include <c10/core/Storage.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/core/VariableVersion.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/core/impl/PyObjectSlot.h>
#include <c10/core/impl/SizesAndStrides.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/OwnedPtr.h>
#include <c10/util/accumulate.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/core/TypeMeta.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace c10 {

struct SymbolicShapeMeta;
struct TensorImpl;

namespace impl {
struct RecycledTensors;
}

/// Products of the sizes from dimension k on, of those before it, and of those between two.
inline int64_t size_from_dim_(int k, IntArrayRef dims) {
  return c10::multiply_integers(dims.slice(k));
}
inline int64_t size_to_dim_(int k, IntArrayRef dims) {
  TORCH_CHECK(
      k >= 0 && static_cast<size_t>(k) <= dims.size(), "size_to_dim_: got ", k, " for ", dims.size(), " dimensions");
  return c10::multiply_integers(dims.slice(0, k));
}
inline int64_t size_between_dim_(int k, int l, IntArrayRef dims) {
  TORCH_CHECK(
      k >= 0 && l >= 0 && static_cast<size_t>(std::max(k, l)) < dims.size(), "size_between_dim_: got ", k, " and ", l,
      " for ", dims.size(), " dimensions");
  const int first = std::min(k, l) + 1;
  return c10::multiply_integers(dims.slice(first, std::max(std::max(k, l) - first, 0)));
}
inline int canonical_axis_index_(int axis_index, int ndims) {
  TORCH_CHECK(
      axis_index >= -ndims && axis_index < ndims, "canonical_axis_index_: got ", axis_index, " for ", ndims,
      " dimensions");
  return axis_index < 0 ? axis_index + ndims : axis_index;
}

/// Data that an out-of-tree backend hangs on its tensors.
struct C10_API BackendMeta : intrusive_ptr_target {
  ~BackendMeta() override;
  /// Called when a tensor's metadata is copied.
  virtual intrusive_ptr<BackendMeta> clone(const intrusive_ptr<BackendMeta>& ptr) const {
    return ptr;
  }
};

/// The names of a tensor's dimensions: what they are is known to at::NamedTensorMeta.
struct C10_API NamedTensorMetaInterface {
  virtual ~NamedTensorMetaInterface();
  virtual std::unique_ptr<NamedTensorMetaInterface> clone() const = 0;
  /// How many dimensions are named.
  virtual int64_t slow_dim() const = 0;
};

/// What few tensors have.
struct C10_API ExtraMeta {
  OwnedPtr<c10::SymbolicShapeMeta> symbolic_shape_meta_;
  OwnedPtr<c10::NamedTensorMetaInterface> named_tensor_meta_;
  intrusive_ptr<c10::BackendMeta> backend_meta_;
  Indirect<std::optional<std::string>> custom_data_ptr_error_msg_;
  Indirect<std::optional<std::string>> custom_storage_error_msg_;
  impl::PyObjectSlot pyobj_slot_;

  ExtraMeta();
  /// Everything but the other language's object, which belongs to one tensor.
  ExtraMeta(const ExtraMeta& other);
  ExtraMeta& operator=(const ExtraMeta&) = delete;
  ~ExtraMeta();
  std::unique_ptr<ExtraMeta> clone() const;
};

// Note [TensorImpl]
// The object behind at::Tensor: a view (sizes, strides, offset, dtype) of a storage, and the keys by which calls with
// the tensor are routed. Questions about the shape are answered inline from fields that are kept up to date eagerly;
// kinds of tensors that have no such fields (nested, wrapped, symbolic) raise the policy below and answer by virtual
// functions. Metadata is changed by one thread at a time; reading it is safe from many.

/// See Note [TensorImpl].
struct C10_API TensorImpl : public c10::intrusive_ptr_target, public PoolAllocated {
 public:
  enum ImplType { VIEW };

  /// Which questions virtual functions answer: none, those on strides and contiguity, or also those on sizes.
  enum class SizesStridesPolicy : uint8_t { Default = 0, CustomStrides = 1, CustomSizes = 2 };

  TensorImpl() = delete;
  /// A tensor of shape [0] on a storage. Autograd, ADInplaceOrView and autocast keys of the backend are added to `ks`,
  /// in inference mode only autocast.
  TensorImpl(Storage&& storage, DispatchKeySet ks, const caffe2::TypeMeta data_type);
  /// A view for the result of a view operator: takes the key set as it is, but for names, which are no part of it.
  TensorImpl(ImplType, Storage&& storage, DispatchKeySet ks, const caffe2::TypeMeta data_type);
  /// A tensor without storage.
  TensorImpl(DispatchKeySet ks, const caffe2::TypeMeta data_type, std::optional<c10::Device> device_opt);
  TensorImpl(Storage&& storage, DispatchKey key, const caffe2::TypeMeta data_type)
      : TensorImpl(std::move(storage), DispatchKeySet(key), data_type) {}
  TensorImpl(DispatchKey key, const caffe2::TypeMeta data_type, std::optional<c10::Device> device_opt)
      : TensorImpl(DispatchKeySet(key), data_type, device_opt) {}
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;
  // Inline, so that the deleting destructor is one function.
  ~TensorImpl() override {}

  /// Drops storage and autograd data when only weak references are left.
  void release_resources() override;
  /// Deletes the tensor or keeps it for reuse, see Note [Recycled tensors].
  static void drop_last(TensorImpl* self) noexcept;

  DispatchKeySet key_set() const {
    return key_set_;
  }

  // -- Sizes, strides, offset ----------------------------------------------------
  // sizes() and the like throw for symbolic shapes, sym_sizes() and the like do not.

  IntArrayRef sizes() const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomSizes)) ? sizes_custom()
                                                                         : sizes_and_strides_.sizes_arrayref();
  }
  SymIntArrayRef sym_sizes() const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomSizes))
        ? sym_sizes_custom()
        : fromIntArrayRefKnownNonNegative(sizes_and_strides_.sizes_arrayref());
  }
  IntArrayRef strides() const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomStrides)) ? strides_custom()
                                                                           : sizes_and_strides_.strides_arrayref();
  }
  SymIntArrayRef sym_strides() const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomStrides))
        ? sym_strides_custom()
        : fromIntArrayRefKnownNonNegative(sizes_and_strides_.strides_arrayref());
  }
  int64_t numel() const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomSizes)) ? numel_custom() : numel_;
  }
  SymInt sym_numel() const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomSizes)) ? sym_numel_custom()
                                                                         : SymInt(SymInt::UNCHECKED, numel_);
  }
  int64_t dim() const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomSizes))
        ? dim_custom()
        : static_cast<int64_t>(sizes_and_strides_.size());
  }
  int64_t storage_offset() const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomSizes)) ? storage_offset_custom() : storage_offset_;
  }
  SymInt sym_storage_offset() const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomSizes)) ? sym_storage_offset_custom()
                                                                         : SymInt(SymInt::UNCHECKED, storage_offset_);
  }
  /// `d` may count from the end. Throws IndexError if out of range.
  int64_t size(int64_t d) const {
    const size_t place = place_of(d);
    if (C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomSizes) || !is_in_place(place))) {
      return size_unusual(d);
    }
    return sizes_and_strides_.inline_sizes()[place];
  }
  SymInt sym_size(int64_t d) const {
    if (C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomSizes))) {
      return sym_size_custom(d);
    }
    return SymInt(SymInt::UNCHECKED, size(d));
  }
  int64_t stride(int64_t d) const {
    const size_t place = place_of(d);
    if (C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomStrides) || !is_in_place(place))) {
      return stride_unusual(d);
    }
    return sizes_and_strides_.inline_strides()[place];
  }
  bool is_empty() const {
    return numel() == 0;
  }

  template <typename T>
  ArrayRef<T> generic_sizes() {
    if constexpr (std::is_same_v<T, int64_t>) {
      return sizes();
    } else {
      return sym_sizes();
    }
  }
  template <typename T>
  ArrayRef<T> generic_strides() {
    if constexpr (std::is_same_v<T, int64_t>) {
      return strides();
    } else {
      return sym_strides();
    }
  }
  template <typename T>
  T generic_storage_offset() {
    if constexpr (std::is_same_v<T, int64_t>) {
      return storage_offset();
    } else {
      return sym_storage_offset();
    }
  }

  /// Whether the elements lie without gaps in the order of the format. A tensor without elements is contiguous.
  bool is_contiguous(at::MemoryFormat memory_format = at::MemoryFormat::Contiguous) const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomStrides)) ? is_contiguous_custom(memory_format)
                                                                           : is_contiguous_flag(memory_format);
  }
  SymBool sym_is_contiguous(at::MemoryFormat memory_format = at::MemoryFormat::Contiguous) const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomStrides)) ? sym_is_contiguous_custom(memory_format)
                                                                           : SymBool(is_contiguous_flag(memory_format));
  }
  /// Whether the strides have the order of the channels last format, gaps allowed.
  bool is_strides_like(at::MemoryFormat memory_format) const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomStrides)) ? is_strides_like_custom(memory_format)
                                                                           : is_strides_like_flag(memory_format);
  }
  bool is_strides_like_channels_last() const {
    return is_strides_like(at::MemoryFormat::ChannelsLast);
  }
  bool is_strides_like_channels_last_3d() const {
    return is_strides_like(at::MemoryFormat::ChannelsLast3d);
  }
  /// Whether the elements fill their memory once, in whatever order.
  bool is_non_overlapping_and_dense() const {
    return C10_UNLIKELY(matches_policy(SizesStridesPolicy::CustomStrides)) ? is_non_overlapping_and_dense_custom()
                                                                           : flags_.non_overlapping_and_dense;
  }
  SymBool sym_is_non_overlapping_and_dense() const;
  bool has_symbolic_sizes_strides() const {
    return traits_.has_symbolic_sizes_strides;
  }
  c10::SymbolicShapeMeta& symbolic_shape_meta();
  const c10::SymbolicShapeMeta& symbolic_shape_meta() const;

  // The plain answers, for overrides to fall back on.
  IntArrayRef sizes_default() const;
  SymIntArrayRef sym_sizes_default() const;
  IntArrayRef strides_default() const;
  SymIntArrayRef sym_strides_default() const;
  int64_t numel_default() const;
  SymInt sym_numel_default() const;
  int64_t dim_default() const;
  int64_t storage_offset_default() const;
  SymInt sym_storage_offset_default() const;
  bool is_contiguous_default(at::MemoryFormat memory_format) const;
  SymBool sym_is_contiguous_default(at::MemoryFormat memory_format) const;
  bool is_strides_like_default(at::MemoryFormat memory_format) const;
  bool is_non_overlapping_and_dense_default() const;

  // -- Storage and data ------------------------------------------------------------

  bool has_storage() const {
    return static_cast<bool>(storage_);
  }
  /// Throws for kinds of tensors that have none.
  virtual const Storage& storage() const {
    if (C10_UNLIKELY(traits_.storage_access_should_throw)) {
      throw_storage_access_error();
    }
    return storage_;
  }
  /// Without the check; empty if there is none.
  const Storage& unsafe_storage() const {
    return storage_;
  }
  bool storage_initialized() const {
    TORCH_CHECK(has_storage(), "cannot call storage_initialized on tensor that does not have storage");
    return storage_.data() != nullptr || numel_ == 0;
  }
  bool dtype_initialized() const noexcept {
    return data_type_ != caffe2::TypeMeta();
  }

  /// Pointer to the first element; null for an empty tensor. Throws if there is no storage.
  const void* data() const {
    check_has_storage();
    return first_element(static_cast<const char*>(storage_.data()));
  }
  void* mutable_data() {
    check_has_storage();
    return const_cast<void*>(first_element(static_cast<const char*>(storage_.mutable_data())));
  }
  /// As above, typed. T is not compared with the dtype.
  template <typename T>
  const T* data_ptr_impl() const {
    check_has_storage();
    return typed(static_cast<const T*>(storage_.data()));
  }
  template <typename T>
  T* mutable_data_ptr_impl() {
    check_has_storage();
    return typed(static_cast<T*>(storage_.mutable_data()));
  }
  /// As above; throws if T does not fit the dtype.
  template <typename T>
  const T* data_dtype_initialized() const {
    check_type<T>();
    return data_ptr_impl<T>();
  }
  template <typename T>
  T* mutable_data_dtype_initialized() {
    check_type<T>();
    return mutable_data_ptr_impl<T>();
  }

  /// Whether it is a strided CPU tensor with the keys that most have, no number and no kind of its own.
  bool is_plain_cpu() const {
    return key_set_ == plain_cpu_keys && is_of_no_kind();
  }
  /// numel() of such a tensor.
  int64_t plain_numel() const {
    return numel_;
  }
  /// The first element of a strided CPU tensor with nothing unusual about it: row-major without gaps, with the keys
  /// that most tensors have, no number and no kind of its own. Null for all others, and where there are no elements.
  /// For callers that treat such tensors alike; `itemsize` is that of the dtype.
  void* plain_cpu_data(size_t itemsize) const {
    if (C10_UNLIKELY(!is_plain_cpu() || !flags_.contiguous || !storage_)) {
      return nullptr;
    }
    const StorageImpl& storage = *storage_.unsafeGetStorageImpl();
    void* const base = storage._data_ptr_no_checks().get();
    if (C10_UNLIKELY(base == nullptr || storage.throw_on_immutable_data_ptr())) {
      return nullptr;
    }
    return static_cast<char*>(base) + static_cast<size_t>(storage_offset_) * itemsize;
  }

  caffe2::TypeMeta dtype() const {
    return data_type_;
  }
  /// Bytes of an element. Throws if there is no dtype.
  size_t itemsize() const {
    TORCH_CHECK(dtype_initialized(), "Cannot report itemsize of Tensor that doesn't have initialized dtype");
    return data_type_.itemsize();
  }

  // -- Device, layout, kind -----------------------------------------------------------

  Device device() const {
    if (C10_UNLIKELY(traits_.custom_device)) {
      return device_custom();
    }
    return device_default();
  }
  Device device_default() const {
    TORCH_CHECK(device_opt_.has_value(), "tensor does not have a device");
    return *device_opt_;
  }
  std::optional<c10::Device> device_opt() const {
    return device_opt_;
  }
  DeviceType device_type() const {
    TORCH_CHECK(device_opt_.has_value(), "device_type cannot be run on undefined Tensor");
    return device_opt_->type();
  }
  DeviceIndex get_device() const {
    return device().index();
  }
  Layout layout() const {
    constexpr DispatchKeySet special = sparse_ks | sparse_csr_ks | mkldnn_ks;
    if (C10_LIKELY(!traits_.custom_layout && !key_set_.has_any(special))) {
      return kStrided;
    }
    return layout_slow();
  }

#define C10_IS_DEVICE(name, Type)        \
  bool name() const {                    \
    return is_on_type(DeviceType::Type); \
  }
  C10_IS_DEVICE(is_cpu, CPU)
  C10_IS_DEVICE(is_cuda, CUDA)
  C10_IS_DEVICE(is_meta, Meta)
  C10_IS_DEVICE(is_xpu, XPU)
  C10_IS_DEVICE(is_ipu, IPU)
  C10_IS_DEVICE(is_xla, XLA)
  C10_IS_DEVICE(is_hpu, HPU)
  C10_IS_DEVICE(is_hip, HIP)
  C10_IS_DEVICE(is_ve, VE)
  C10_IS_DEVICE(is_mps, MPS)
  C10_IS_DEVICE(is_maia, MAIA)
  C10_IS_DEVICE(is_mtia, MTIA)
  C10_IS_DEVICE(is_lazy, Lazy)
  C10_IS_DEVICE(is_vulkan, Vulkan)
  C10_IS_DEVICE(is_metal, Metal)
  C10_IS_DEVICE(is_privateuseone, PrivateUse1)
#undef C10_IS_DEVICE

  bool is_sparse() const {
    return key_set_.has_any(sparse_ks);
  }
  bool is_sparse_csr() const {
    return key_set_.has_any(sparse_csr_ks) && layout() == kSparseCsr;
  }
  bool is_sparse_compressed() const {
    return key_set_.has_any(sparse_csr_ks);
  }
  bool is_quantized() const {
    return key_set_.has_any(DispatchKeySet(DispatchKey::Quantized));
  }
  bool is_mkldnn() const {
    return key_set_.has_any(mkldnn_ks);
  }
  bool is_nested() const {
    return key_set_.has_any(DispatchKeySet(DispatchKey::NestedTensor));
  }
  bool is_python_dispatch() const {
    return key_set_.has_all(python_ks);
  }
  /// Whether it was made in inference mode: it has neither autograd keys nor a version counter.
  /// Takes the autograd keys away; for tests of the dispatcher that want a tensor with the keys given and no others.
  void remove_autograd_key() {
    key_set_ = key_set_ - autograd_dispatch_keyset;
  }
  bool is_inference() const {
    return !key_set_.has_any(autograd_dispatch_keyset_with_ADInplaceOrView);
  }
  bool support_as_strided() const {
    return support_as_strided_custom();
  }

  /// Whether it is a 0-dim tensor made from a number: then it gives way to real tensors in type promotion.
  bool is_wrapped_number() const {
    return traits_.is_wrapped_number;
  }
  void set_wrapped_number(bool value) {
    TORCH_INTERNAL_ASSERT(dim() == 0, "only a tensor without dimensions can stand for a number");
    traits_.is_wrapped_number = value;
  }

  bool is_conj() const {
    return key_set_.has_all(DispatchKeySet(DispatchKey::Conjugate));
  }
  void _set_conj(bool value) {
    set_key(DispatchKey::Conjugate, value);
  }
  bool is_neg() const {
    return key_set_.has_all(DispatchKeySet(DispatchKey::Negative));
  }
  void _set_neg(bool value) {
    set_key(DispatchKey::Negative, value);
  }
  bool _is_zerotensor() const {
    return key_set_.has_all(DispatchKeySet(DispatchKey::ZeroTensor));
  }
  /// A zero tensor has no data, so operators that look at the values must come through its key first.
  void _set_zero(bool value) {
    set_key(DispatchKey::ZeroTensor, value);
  }
  void set_python_dispatch(bool value) {
    key_set_ = value ? key_set_ | python_ks : key_set_ - python_ks;
  }
  /// Makes the tensor one of another backend, keys and device; for tracers that play devices.
  void _change_backend_component_keys(c10::Device device);

  // -- Autograd -------------------------------------------------------------------------

  /// Throws for an inference tensor outside inference mode.
  void set_requires_grad(bool requires_grad);
  bool requires_grad() const {
    return autograd_meta_ != nullptr && autograd_meta_->requires_grad();
  }
  at::Tensor& mutable_grad();
  const at::Tensor& grad() const;
  const at::Tensor& _fw_grad(uint64_t level, const at::TensorBase& self) const;
  void _set_fw_grad(const at::TensorBase& new_grad, const at::TensorBase& self, uint64_t level, bool is_inplace_op);
  void set_autograd_meta(std::unique_ptr<c10::AutogradMetaInterface> autograd_meta);
  c10::AutogradMetaInterface* autograd_meta() const {
    return autograd_meta_.get();
  }

  const c10::VariableVersion& version_counter() const noexcept {
    return version_counter_;
  }
  /// Throws if an inference tensor is given an enabled counter.
  void set_version_counter(const c10::VariableVersion& version_counter);
  void set_version_counter(c10::VariableVersion&& version_counter);
  void bump_version() {
    version_counter_.bump();
  }
  bool unique_version() const {
    return version_counter_.unique();
  }

  // -- Changes of metadata ------------------------------------------------------------------
  // These throw before they change anything, in particular when something does not fit into 64 bits.

  /// Row-major strides for new sizes. Throws for negative sizes.
  void set_sizes_contiguous(IntArrayRef new_size);
  /// A negative stride stands for "contiguous with what follows".
  void set_sizes_and_strides(
      IntArrayRef new_size, IntArrayRef new_stride, std::optional<int64_t> storage_offset = std::nullopt);
  /// Becomes symbolic if an element is, plain otherwise.
  void set_sizes_and_strides(
      SymIntArrayRef sizes, SymIntArrayRef strides, std::optional<c10::SymInt> storage_offset = std::nullopt);
  void generic_set_sizes_contiguous(SymIntArrayRef sizes);
  void generic_set_sizes_contiguous(IntArrayRef sizes) {
    set_sizes_contiguous(sizes);
  }
  virtual void set_size(int64_t dim, int64_t new_size);
  virtual void set_stride(int64_t dim, int64_t new_stride);
  virtual void set_storage_offset(int64_t storage_offset);
  /// Strides of the memory format for the present sizes.
  void empty_tensor_restride(MemoryFormat memory_format);
  const impl::SizesAndStrides& sizes_and_strides() const {
    return sizes_and_strides_;
  }

  void set_storage_keep_dtype(at::Storage storage);
  void set_storage_and_dtype(at::Storage storage, const caffe2::TypeMeta data_type);
  /// Access to data and storage throws from now on, with the message.
  void release_storage_and_set_meta_custom_data_ptr_error_msg_(std::optional<std::string> message);

  // Changing the metadata of a detached tensor is always allowed; kept for programs that ask.
  void set_allow_tensor_metadata_change(bool /*value*/) {}
  bool allow_tensor_metadata_change() const {
    return true;
  }

  /// Whether shallow_copy_from a tensor with these keys works.
  bool has_compatible_shallow_copy_type(DispatchKeySet from) const;
  /// A tensor on the same storage with the same metadata and no autograd history. Subclasses return their own class.
  virtual c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      const c10::VariableVersion& version_counter, bool allow_tensor_metadata_change) const;
  virtual c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      c10::VariableVersion&& version_counter, bool allow_tensor_metadata_change) const;
  /// Takes over storage and metadata of another tensor; version counter and autograd data stay.
  virtual void shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& impl);

  // -- Extras ------------------------------------------------------------------------------------

  ExtraMeta& get_extra_meta() {
    if (!extra_meta_) {
      extra_meta_.reset(new ExtraMeta());
    }
    return *extra_meta_;
  }
  void set_backend_meta(intrusive_ptr<c10::BackendMeta> backend_meta);
  c10::BackendMeta* get_backend_meta() {
    return extra_meta_ ? extra_meta_->backend_meta_.get() : nullptr;
  }
  intrusive_ptr<c10::BackendMeta> get_backend_meta_intrusive_ptr() const {
    return extra_meta_ ? extra_meta_->backend_meta_ : nullptr;
  }
  impl::PyObjectSlot* pyobj_slot() {
    return &get_extra_meta().pyobj_slot_;
  }

  /// Names for the dimensions, or none. The key Named tells calls of them.
  void set_named_tensor_meta(std::unique_ptr<c10::NamedTensorMetaInterface> named_tensor_meta);
  bool has_named_tensor_meta() const {
    return key_set_.has_all(DispatchKeySet(DispatchKey::Named)) && named_tensor_meta() != nullptr;
  }
  const c10::NamedTensorMetaInterface* named_tensor_meta() const {
    return extra_meta_ ? extra_meta_->named_tensor_meta_.get() : nullptr;
  }
  c10::NamedTensorMetaInterface* named_tensor_meta() {
    return extra_meta_ ? extra_meta_->named_tensor_meta_.get() : nullptr;
  }

  /// Name of the class, for messages.
  virtual const char* tensorimpl_type_name() const;

 protected:
  // What kinds of tensors with a raised policy override. The defaults give the plain answers.
  virtual bool is_contiguous_custom(at::MemoryFormat memory_format) const;
  virtual SymBool sym_is_contiguous_custom(at::MemoryFormat memory_format) const;
  virtual bool is_strides_like_custom(at::MemoryFormat memory_format) const;
  virtual bool is_non_overlapping_and_dense_custom() const;
  virtual int64_t size_custom(int64_t d) const;
  virtual SymInt sym_size_custom(int64_t d) const;
  virtual IntArrayRef sizes_custom() const;
  virtual IntArrayRef strides_custom() const;
  virtual int64_t numel_custom() const;
  virtual int64_t storage_offset_custom() const;
  virtual int64_t dim_custom() const;
  virtual SymIntArrayRef sym_sizes_custom() const;
  virtual SymIntArrayRef sym_strides_custom() const;
  virtual SymInt sym_numel_custom() const;
  virtual SymInt sym_storage_offset_custom() const;
  virtual Device device_custom() const;
  virtual Layout layout_custom() const;
  virtual Layout layout_impl() const;
  virtual bool support_as_strided_custom() const;

  bool matches_policy(SizesStridesPolicy policy) const {
    return traits_.sizes_strides_policy >= policy;
  }
  /// Tensors with symbolic sizes never fall below CustomSizes.
  void set_custom_sizes_strides(SizesStridesPolicy policy) {
    traits_.custom_policy = policy;
    refresh_policy();
  }
  void set_custom_device(bool custom_device) {
    traits_.custom_device = custom_device;
  }
  void set_custom_layout(bool custom_layout) {
    traits_.custom_layout = custom_layout;
  }
  void set_storage_access_should_throw() {
    traits_.storage_access_should_throw = true;
  }
  [[noreturn]] void throw_storage_access_error() const;
  [[noreturn]] void throw_data_ptr_access_error() const;

  /// To be called after sizes_and_strides_ was changed directly. Throws if the number of elements overflows.
  void refresh_numel() {
    numel_ = checked_numel(sizes_and_strides_.sizes_arrayref());
  }
  void refresh_contiguous() {
    flags_ = compute_contiguity(sizes_and_strides_.sizes_arrayref(), sizes_and_strides_.strides_arrayref(), numel_);
  }

  /// Everything but the version counter and autograd data; the storage too.
  static void copy_tensor_metadata_except_version_counter(
      const TensorImpl* src_impl, TensorImpl* dest_impl, bool allow_tensor_metadata_change);
  static void copy_tensor_metadata(
      const TensorImpl* src_impl,
      TensorImpl* dest_impl,
      const c10::VariableVersion& version_counter,
      bool allow_tensor_metadata_change);
  static void copy_tensor_metadata(
      const TensorImpl* src_impl,
      TensorImpl* dest_impl,
      c10::VariableVersion&& version_counter,
      bool allow_tensor_metadata_change);

 private:
  friend struct impl::RecycledTensors;

  TensorImpl(Storage&& storage, DispatchKeySet ks, const caffe2::TypeMeta data_type, std::optional<c10::Device> device);

  bool is_contiguous_flag(at::MemoryFormat memory_format) const {
    return memory_format == at::MemoryFormat::ChannelsLast  ? flags_.channels_last_contiguous
        : memory_format == at::MemoryFormat::ChannelsLast3d ? flags_.channels_last_3d_contiguous
                                                            : flags_.contiguous;
  }
  bool is_strides_like_flag(at::MemoryFormat memory_format) const {
    return memory_format == at::MemoryFormat::ChannelsLast  ? flags_.channels_last
        : memory_format == at::MemoryFormat::ChannelsLast3d ? flags_.channels_last_3d
                                                            : false;
  }
  /// What makes a tensor one of a kind of its own, all zero for most.
  struct Traits {
    SizesStridesPolicy sizes_strides_policy = SizesStridesPolicy::Default;
    SizesStridesPolicy custom_policy = SizesStridesPolicy::Default;
    bool has_symbolic_sizes_strides = false;
    bool storage_access_should_throw = false;
    bool is_wrapped_number = false;
    bool custom_device = false;
    bool custom_layout = false;
    bool may_be_recycled = false; // made by RecycledTensors: says nothing of the kind
  };
  static_assert(sizeof(Traits) == sizeof(uint64_t) && offsetof(Traits, may_be_recycled) == 7, "read as one word");
  bool is_of_no_kind() const {
    uint64_t word;
    std::memcpy(&word, &traits_, sizeof(word));
    return word << 8 == 0;
  }
  Layout layout_slow() const;
  bool is_on_type(DeviceType wanted) const {
    return C10_UNLIKELY(traits_.custom_device) ? device_custom().type() == wanted
                                               : device_opt_.has_value() && device_opt_->type() == wanted;
  }
  void set_key(DispatchKey k, bool value) {
    key_set_ = value ? key_set_.add(k) : key_set_.remove(k);
  }
  void refresh_policy() {
    traits_.sizes_strides_policy =
        traits_.has_symbolic_sizes_strides ? SizesStridesPolicy::CustomSizes : traits_.custom_policy;
  }
  // Where size and stride of dimension `d` stand, and whether they do so in the tensor itself.
  size_t place_of(int64_t d) const {
    return static_cast<size_t>(d) + (d < 0 ? sizes_and_strides_.size() : 0);
  }
  bool is_in_place(size_t place) const {
    const size_t dim = sizes_and_strides_.size();
    return dim <= impl::SizesAndStrides::kMaxInline && place < dim;
  }
  int64_t size_unusual(int64_t d) const;
  int64_t stride_unusual(int64_t d) const;
  void set_sizes_contiguous_unusual(IntArrayRef new_size);
  void set_contiguous_flags();
  void make_plain();
  void check_plain(const char* what) const;
  [[noreturn]] void throw_cannot_call_with_symbolic(const char* method) const;
  [[noreturn]] void throw_not_allocated() const;
  [[noreturn]] void throw_type_mismatch(std::string_view wanted) const;

  void check_has_storage() const {
    if (C10_UNLIKELY(!has_storage())) {
      throw_data_ptr_access_error();
    }
  }
  template <typename T>
  void check_type() const {
    if (C10_UNLIKELY(!data_type_.Match<std::remove_const_t<T>>())) {
      throw_type_mismatch(caffe2::TypeMeta::TypeName<std::remove_const_t<T>>());
    }
  }
  const void* first_element(const char* base) const {
    const bool nothing = base == nullptr || is_empty();
    return nothing ? nullptr : base + data_type_.itemsize() * static_cast<size_t>(storage_offset_);
  }
  template <typename T>
  T* typed(T* base) const {
    if (C10_UNLIKELY(base == nullptr)) {
      if (numel_ != 0) {
        throw_not_allocated();
      }
      return nullptr;
    }
    return base + storage_offset_;
  }

 protected:
  Storage storage_;

 private:
  OwnedPtr<c10::AutogradMetaInterface> autograd_meta_;

 protected:
  OwnedPtr<c10::ExtraMeta> extra_meta_;
  c10::VariableVersion version_counter_;
  impl::SizesAndStrides sizes_and_strides_;
  int64_t storage_offset_ = 0;
  int64_t numel_ = 0;
  DispatchKeySet key_set_;
  caffe2::TypeMeta data_type_;
  std::optional<c10::Device> device_opt_;
  // Of shape [0] until sizes are set.
  ContiguityFlags flags_ = {true, false, false, false, false, true};
  Traits traits_;
};

static_assert(sizeof(TensorImpl) <= 192, "a TensorImpl fits into three cache lines");

} // namespace c10
