#include <c10/core/TensorImpl.h>

#include <c10/core/SymbolicShapeMeta.h>

#include <algorithm>
#include <atomic>

namespace c10 {

AutogradMetaInterface::~AutogradMetaInterface() = default;
BackendMeta::~BackendMeta() = default;
NamedTensorMetaInterface::~NamedTensorMetaInterface() = default;

ExtraMeta::ExtraMeta() = default;
ExtraMeta::~ExtraMeta() = default;

ExtraMeta::ExtraMeta(const ExtraMeta& other)
    : symbolic_shape_meta_(
          other.symbolic_shape_meta_ ? std::make_unique<SymbolicShapeMeta>(*other.symbolic_shape_meta_) : nullptr),
      named_tensor_meta_(other.named_tensor_meta_ ? other.named_tensor_meta_->clone() : nullptr),
      backend_meta_(other.backend_meta_ ? other.backend_meta_->clone(other.backend_meta_) : nullptr),
      custom_data_ptr_error_msg_(other.custom_data_ptr_error_msg_),
      custom_storage_error_msg_(other.custom_storage_error_msg_) {}

std::unique_ptr<ExtraMeta> ExtraMeta::clone() const {
  return std::make_unique<ExtraMeta>(*this);
}

// -- Construction ------------------------------------------------------------------

namespace {

// What a tensor has for itself: another one with its keys has no Python object and no tangents.
constexpr DispatchKeySet kOwnKeys = python_ks | DispatchKeySet(DispatchKey::ForwardAD);

inline DispatchKeySet with_related_keys(DispatchKeySet ks) {
  const auto backend = static_cast<uint8_t>(ks.highestBackendKey());
  if (C10_UNLIKELY(InferenceMode::is_enabled())) {
    return (ks | impl::kRelatedKeys.autocast[backend]) - autograd_dispatch_keyset_with_ADInplaceOrView - kOwnKeys;
  }
  return (ks | impl::kRelatedKeys.both[backend]) - kOwnKeys;
}

} // namespace

C10_ALWAYS_INLINE TensorImpl::TensorImpl(
    Storage&& storage, DispatchKeySet ks, const caffe2::TypeMeta data_type, std::optional<c10::Device> device)
    : storage_(std::move(storage)),
      version_counter_(VariableVersion::new_or_disabled(ks.has_any(autograd_dispatch_keyset_with_ADInplaceOrView))),
      key_set_(ks),
      data_type_(data_type),
      device_opt_(device) {}

TensorImpl::TensorImpl(Storage&& storage, DispatchKeySet ks, const caffe2::TypeMeta data_type)
    : TensorImpl(std::move(storage), with_related_keys(ks), data_type, storage.device()) {}

TensorImpl::TensorImpl(ImplType, Storage&& storage, DispatchKeySet ks, const caffe2::TypeMeta data_type)
    : TensorImpl(
          std::move(storage), ks - (kOwnKeys | DispatchKeySet(DispatchKey::Named)), data_type, storage.device()) {}

TensorImpl::TensorImpl(DispatchKeySet ks, const caffe2::TypeMeta data_type, std::optional<c10::Device> device_opt)
    : TensorImpl(Storage(), with_related_keys(ks), data_type, device_opt) {
  TORCH_CHECK(ks.empty() || !dtype_initialized() || device_opt.has_value(), "a tensor with a dtype needs a device");
}

void TensorImpl::release_resources() {
  autograd_meta_.reset();
  storage_ = {};
  traits_.may_be_recycled = false;
}

// -- Default answers ---------------------------------------------------------------

void TensorImpl::throw_cannot_call_with_symbolic(const char* method) const {
  TORCH_CHECK(false, "Cannot call ", method, "() on tensor with symbolic sizes/strides");
}

#define THROW_IF_SYMBOLIC(method)                         \
  if (C10_UNLIKELY(traits_.has_symbolic_sizes_strides)) { \
    throw_cannot_call_with_symbolic(method);              \
  }

IntArrayRef TensorImpl::sizes_default() const {
  THROW_IF_SYMBOLIC("sizes")
  return sizes_and_strides_.sizes_arrayref();
}

IntArrayRef TensorImpl::strides_default() const {
  THROW_IF_SYMBOLIC("strides")
  return sizes_and_strides_.strides_arrayref();
}

int64_t TensorImpl::numel_default() const {
  THROW_IF_SYMBOLIC("numel")
  return numel_;
}

int64_t TensorImpl::storage_offset_default() const {
  THROW_IF_SYMBOLIC("storage_offset")
  return storage_offset_;
}

#undef THROW_IF_SYMBOLIC

int64_t TensorImpl::dim_default() const {
  return static_cast<int64_t>(
      traits_.has_symbolic_sizes_strides ? symbolic_shape_meta().sizes_.size() : sizes_and_strides_.size());
}

SymIntArrayRef TensorImpl::sym_sizes_default() const {
  return traits_.has_symbolic_sizes_strides ? SymIntArrayRef(symbolic_shape_meta().sizes_)
                                            : fromIntArrayRefKnownNonNegative(sizes_default());
}

SymIntArrayRef TensorImpl::sym_strides_default() const {
  return traits_.has_symbolic_sizes_strides ? SymIntArrayRef(symbolic_shape_meta().strides_)
                                            : fromIntArrayRefKnownNonNegative(strides_default());
}

SymInt TensorImpl::sym_numel_default() const {
  return traits_.has_symbolic_sizes_strides ? symbolic_shape_meta().numel() : SymInt(SymInt::UNCHECKED, numel_);
}

SymInt TensorImpl::sym_storage_offset_default() const {
  return traits_.has_symbolic_sizes_strides ? symbolic_shape_meta().storage_offset_
                                            : SymInt(SymInt::UNCHECKED, storage_offset_);
}

SymBool TensorImpl::sym_is_contiguous_default(at::MemoryFormat memory_format) const {
  return traits_.has_symbolic_sizes_strides ? symbolic_shape_meta().is_contiguous(memory_format)
                                            : SymBool(is_contiguous_flag(memory_format));
}

bool TensorImpl::is_contiguous_default(at::MemoryFormat memory_format) const {
  return sym_is_contiguous_default(memory_format).guard_bool(__FILE__, __LINE__);
}

bool TensorImpl::is_strides_like_default(at::MemoryFormat memory_format) const {
  return traits_.has_symbolic_sizes_strides
      ? symbolic_shape_meta().is_strides_like(memory_format).guard_bool(__FILE__, __LINE__)
      : is_strides_like_flag(memory_format);
}

bool TensorImpl::is_non_overlapping_and_dense_default() const {
  return traits_.has_symbolic_sizes_strides
      ? symbolic_shape_meta().is_non_overlapping_and_dense().guard_bool(__FILE__, __LINE__)
      : flags_.non_overlapping_and_dense;
}

SymBool TensorImpl::sym_is_non_overlapping_and_dense() const {
  return traits_.has_symbolic_sizes_strides ? symbolic_shape_meta().is_non_overlapping_and_dense()
                                            : SymBool(is_non_overlapping_and_dense());
}

c10::SymbolicShapeMeta& TensorImpl::symbolic_shape_meta() {
  TORCH_INTERNAL_ASSERT(extra_meta_ && extra_meta_->symbolic_shape_meta_, "the tensor's shape is not symbolic");
  return *extra_meta_->symbolic_shape_meta_;
}

const c10::SymbolicShapeMeta& TensorImpl::symbolic_shape_meta() const {
  return const_cast<TensorImpl*>(this)->symbolic_shape_meta();
}

// -- Customisation points ------------------------------------------------------------

bool TensorImpl::is_contiguous_custom(at::MemoryFormat memory_format) const {
  return is_contiguous_default(memory_format);
}
SymBool TensorImpl::sym_is_contiguous_custom(at::MemoryFormat memory_format) const {
  return traits_.has_symbolic_sizes_strides ? sym_is_contiguous_default(memory_format)
                                            : SymBool(is_contiguous_custom(memory_format));
}
bool TensorImpl::is_strides_like_custom(at::MemoryFormat memory_format) const {
  return is_strides_like_default(memory_format);
}
bool TensorImpl::is_non_overlapping_and_dense_custom() const {
  return is_non_overlapping_and_dense_default();
}
int64_t TensorImpl::size_unusual(int64_t d) const {
  if (matches_policy(SizesStridesPolicy::CustomSizes)) {
    return size_custom(d);
  }
  return sizes_and_strides_.size_at_unchecked(static_cast<size_t>(maybe_wrap_dim(d, dim(), /*wrap_scalar=*/false)));
}
int64_t TensorImpl::stride_unusual(int64_t d) const {
  return strides()[static_cast<size_t>(maybe_wrap_dim(d, dim(), /*wrap_scalar=*/false))];
}
int64_t TensorImpl::size_custom(int64_t d) const {
  return sizes_custom()[static_cast<size_t>(maybe_wrap_dim(d, dim(), /*wrap_scalar=*/false))];
}
SymInt TensorImpl::sym_size_custom(int64_t d) const {
  return sym_sizes_custom()[static_cast<size_t>(maybe_wrap_dim(d, dim(), /*wrap_scalar=*/false))];
}
IntArrayRef TensorImpl::sizes_custom() const {
  return sizes_default();
}
IntArrayRef TensorImpl::strides_custom() const {
  return strides_default();
}
int64_t TensorImpl::numel_custom() const {
  return numel_default();
}
int64_t TensorImpl::storage_offset_custom() const {
  return storage_offset_default();
}
int64_t TensorImpl::dim_custom() const {
  return dim_default();
}
SymIntArrayRef TensorImpl::sym_sizes_custom() const {
  return traits_.has_symbolic_sizes_strides ? sym_sizes_default() : fromIntArrayRefSlow(sizes_custom());
}
SymIntArrayRef TensorImpl::sym_strides_custom() const {
  return traits_.has_symbolic_sizes_strides ? sym_strides_default() : fromIntArrayRefSlow(strides_custom());
}
SymInt TensorImpl::sym_numel_custom() const {
  return traits_.has_symbolic_sizes_strides ? sym_numel_default() : SymInt(numel_custom());
}
SymInt TensorImpl::sym_storage_offset_custom() const {
  return traits_.has_symbolic_sizes_strides ? sym_storage_offset_default() : SymInt(storage_offset_custom());
}
Device TensorImpl::device_custom() const {
  return device_default();
}
Layout TensorImpl::layout_custom() const {
  TORCH_CHECK(false, "layout_custom is not implemented by ", tensorimpl_type_name());
}
Layout TensorImpl::layout_impl() const {
  TORCH_CHECK(false, "layout_impl is only implemented for TensorImpl subclasses.");
}
bool TensorImpl::support_as_strided_custom() const {
  return !is_nested() && device().supports_as_strided();
}

Layout TensorImpl::layout_slow() const {
  if (traits_.custom_layout) {
    return layout_custom();
  }
  if (is_sparse()) {
    return kSparse;
  }
  return is_sparse_compressed() ? layout_impl() : kMkldnn;
}

const char* TensorImpl::tensorimpl_type_name() const {
  return "TensorImpl";
}

// -- Errors of data access -------------------------------------------------------------

namespace {

const char* why_no_memory(DispatchKeySet keys) {
  return keys.has(DispatchKey::FuncTorchBatched)
      ? ": inside of vmap a tensor stands for one sample of a batch, and has no memory of its own. Use operators "
        "instead, or call this code for each sample"
      : "";
}

} // namespace

void TensorImpl::throw_storage_access_error() const {
  if (extra_meta_ && extra_meta_->custom_storage_error_msg_->has_value()) {
    TORCH_CHECK(false, **extra_meta_->custom_storage_error_msg_);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Cannot access storage of ", tensorimpl_type_name(), why_no_memory(key_set_));
}

void TensorImpl::throw_data_ptr_access_error() const {
  if (extra_meta_ && extra_meta_->custom_data_ptr_error_msg_->has_value()) {
    TORCH_CHECK(false, **extra_meta_->custom_data_ptr_error_msg_);
  }
  TORCH_CHECK(false, "Cannot access data pointer of Tensor that doesn't have storage", why_no_memory(key_set_));
}

void TensorImpl::throw_not_allocated() const {
  TORCH_CHECK(
      false, "The tensor has a non-zero number of elements, but its data is not allocated yet: it is on device ",
      device_opt_ ? device_opt_->str() : "(none)", ", or its storage was released.");
}

void TensorImpl::throw_type_mismatch(std::string_view wanted) const {
  TORCH_CHECK(
      false, "Tensor type mismatch, caller expects elements to be ", wanted, ", while tensor contains ",
      data_type_.name(), ". ");
}

// -- Autograd ------------------------------------------------------------------------------

namespace impl {

AutogradMetaFactory::~AutogradMetaFactory() = default;

namespace {
constinit std::atomic<AutogradMetaFactory*> autograd_meta_factory{nullptr};
} // namespace

void SetAutogradMetaFactory(AutogradMetaFactory* factory) {
  autograd_meta_factory.store(factory, std::memory_order_release);
}

AutogradMetaFactory* GetAutogradMetaFactory() {
  AutogradMetaFactory* factory = autograd_meta_factory.load(std::memory_order_acquire);
  TORCH_CHECK(factory != nullptr, "Support for autograd has not been loaded; is the whole library linked?");
  return factory;
}

} // namespace impl

void TensorImpl::set_autograd_meta(std::unique_ptr<c10::AutogradMetaInterface> autograd_meta) {
  autograd_meta_ = std::move(autograd_meta);
}

void TensorImpl::set_requires_grad(bool requires_grad) {
  TORCH_CHECK(
      !(requires_grad && is_inference() && !InferenceMode::is_enabled()),
      "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (!requires_grad && !autograd_meta_) {
    return;
  }
  if (!autograd_meta_) {
    autograd_meta_ = impl::GetAutogradMetaFactory()->make();
  }
  autograd_meta_->set_requires_grad(requires_grad, this);
}

at::Tensor& TensorImpl::mutable_grad() {
  if (!autograd_meta_) {
    autograd_meta_ = impl::GetAutogradMetaFactory()->make();
  }
  return autograd_meta_->mutable_grad();
}

const at::Tensor& TensorImpl::grad() const {
  return autograd_meta_ ? autograd_meta_->grad() : impl::GetAutogradMetaFactory()->undefined_tensor();
}

const at::Tensor& TensorImpl::_fw_grad(uint64_t level, const at::TensorBase& self) const {
  return autograd_meta_ ? autograd_meta_->fw_grad(level, self) : impl::GetAutogradMetaFactory()->undefined_tensor();
}

void TensorImpl::_set_fw_grad(
    const at::TensorBase& new_grad, const at::TensorBase& self, uint64_t level, bool is_inplace_op) {
  if (!autograd_meta_) {
    autograd_meta_ = impl::GetAutogradMetaFactory()->make();
  }
  autograd_meta_->set_fw_grad(new_grad, self, level, is_inplace_op);
  // The highest level there can be stands for any, see autograd/forward/forward_grad.h.
  const at::Tensor& any = autograd_meta_->fw_grad(~uint64_t{0}, self);
  if (const bool is_dual = &any != &impl::GetAutogradMetaFactory()->undefined_tensor();
      is_dual != key_set_.has(DispatchKey::ForwardAD)) {
    set_key(DispatchKey::ForwardAD, is_dual);
  }
}

void TensorImpl::set_backend_meta(intrusive_ptr<c10::BackendMeta> backend_meta) {
  get_extra_meta().backend_meta_ = std::move(backend_meta);
}

void TensorImpl::set_named_tensor_meta(std::unique_ptr<c10::NamedTensorMetaInterface> named_tensor_meta) {
  set_key(DispatchKey::Named, named_tensor_meta != nullptr);
  if (named_tensor_meta != nullptr || extra_meta_) {
    get_extra_meta().named_tensor_meta_ = std::move(named_tensor_meta);
  }
}

void TensorImpl::set_version_counter(const c10::VariableVersion& version_counter) {
  set_version_counter(VariableVersion(version_counter));
}

void TensorImpl::set_version_counter(c10::VariableVersion&& version_counter) {
  TORCH_CHECK(!(is_inference() && version_counter.enabled()), "Cannot set version_counter for inference tensor");
  version_counter_ = std::move(version_counter);
}

void TensorImpl::_change_backend_component_keys(c10::Device device) {
  const BackendComponent old_backend = key_set_.highestBackendKey();
  const BackendComponent new_backend = toBackendComponent(device.type());
  DispatchKeySet ks = key_set_.remove_backend(old_backend) - getAutocastRelatedKeySetFromBackend(old_backend);
  key_set_ = ks | DispatchKeySet(new_backend) | getAutocastRelatedKeySetFromBackend(new_backend);
  device_opt_ = device;
  traits_.may_be_recycled = false;
}

// -- Copies of the whole object --------------------------------------------------------------

bool TensorImpl::has_compatible_shallow_copy_type(DispatchKeySet from) const {
  const auto both = [&](DispatchKey functionality) { return key_set_.has(functionality) && from.has(functionality); };
  return key_set_ == from || both(DispatchKey::Dense) || both(DispatchKey::Sparse) || both(DispatchKey::SparseCsr);
}

c10::intrusive_ptr<TensorImpl> TensorImpl::shallow_copy_and_detach(
    const c10::VariableVersion& version_counter, bool allow_tensor_metadata_change) const {
  return shallow_copy_and_detach(VariableVersion(version_counter), allow_tensor_metadata_change);
}

c10::intrusive_ptr<TensorImpl> TensorImpl::shallow_copy_and_detach(
    c10::VariableVersion&& version_counter, bool allow_tensor_metadata_change) const {
  auto copy = c10::intrusive_ptr<TensorImpl>::unsafe_steal_from_new(
      new TensorImpl(Storage(), key_set_ - kOwnKeys, data_type_, device_opt_));
  copy_tensor_metadata(this, copy.get(), std::move(version_counter), allow_tensor_metadata_change);
  return copy;
}

void TensorImpl::shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& impl) {
  copy_tensor_metadata(impl.get(), this, version_counter(), allow_tensor_metadata_change());
}

void TensorImpl::copy_tensor_metadata_except_version_counter(
    const TensorImpl* src_impl, TensorImpl* dest_impl, bool /*allow_tensor_metadata_change*/) {
  dest_impl->storage_ = src_impl->storage_;
  dest_impl->sizes_and_strides_ = src_impl->sizes_and_strides_;
  dest_impl->storage_offset_ = src_impl->storage_offset_;
  dest_impl->numel_ = src_impl->numel_;
  // Tangents are part of the autograd data, which the destination keeps.
  const DispatchKeySet kept = dest_impl->key_set_ & DispatchKeySet(DispatchKey::ForwardAD);
  dest_impl->key_set_ = (src_impl->key_set_ - kOwnKeys) | kept;
  dest_impl->data_type_ = src_impl->data_type_;
  dest_impl->device_opt_ = src_impl->device_opt_;
  dest_impl->traits_.may_be_recycled = false;
  dest_impl->flags_ = src_impl->flags_;
  dest_impl->traits_.custom_policy = src_impl->traits_.custom_policy;
  dest_impl->traits_.has_symbolic_sizes_strides = src_impl->traits_.has_symbolic_sizes_strides;
  dest_impl->traits_.storage_access_should_throw = src_impl->traits_.storage_access_should_throw;
  dest_impl->traits_.is_wrapped_number = src_impl->traits_.is_wrapped_number;
  dest_impl->refresh_policy();
  if (C10_UNLIKELY(src_impl->extra_meta_ != nullptr)) {
    dest_impl->extra_meta_ = src_impl->extra_meta_->clone();
  } else if (C10_UNLIKELY(dest_impl->extra_meta_ != nullptr)) {
    dest_impl->extra_meta_.reset();
  }
}

void TensorImpl::copy_tensor_metadata(
    const TensorImpl* src_impl,
    TensorImpl* dest_impl,
    const c10::VariableVersion& version_counter,
    bool allow_tensor_metadata_change) {
  copy_tensor_metadata(src_impl, dest_impl, VariableVersion(version_counter), allow_tensor_metadata_change);
}

void TensorImpl::copy_tensor_metadata(
    const TensorImpl* src_impl,
    TensorImpl* dest_impl,
    c10::VariableVersion&& version_counter,
    bool allow_tensor_metadata_change) {
  copy_tensor_metadata_except_version_counter(src_impl, dest_impl, allow_tensor_metadata_change);
  if (!dest_impl->is_inference()) {
    dest_impl->set_version_counter(std::move(version_counter));
  }
}

} // namespace c10
