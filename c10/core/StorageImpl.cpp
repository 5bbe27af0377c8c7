#include <c10/core/StorageImpl.h>

#include <c10/core/DeferredStorage.h>
#include <c10/core/Storage.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>

template class c10::Indirect<std::optional<std::string>>;

namespace c10 {

namespace {

std::atomic<ComputeStorage> compute_deferred{nullptr};

bool is_computed(const StorageImpl& storage) {
  const ComputeStorage compute = compute_deferred;
  return compute != nullptr && compute(storage);
}

} // namespace

void set_compute_storage(ComputeStorage compute) {
  compute_deferred = compute;
}

void compute_storage(const Storage& storage) {
  const StorageImpl& impl = *storage.unsafeGetStorageImpl();
  if (C10_UNLIKELY(impl.throw_on_immutable_data_ptr())) {
    is_computed(impl);
  }
}

void StorageImpl::release_resources() {
  as_made_ = false;
  data_ptr_.clear();
}

void StorageImpl::swap_data_ptr(StorageImpl& other) {
  as_made_ = other.as_made_ = false;
  std::swap(data_ptr_, other.data_ptr_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(allocator_, other.allocator_);
  std::swap(resizable_, other.resizable_);
  std::swap(throw_on_immutable_data_ptr_, other.throw_on_immutable_data_ptr_);
  std::swap(throw_on_mutable_data_ptr_, other.throw_on_mutable_data_ptr_);
  std::swap(warn_deprecated_on_mutable_data_ptr_, other.warn_deprecated_on_mutable_data_ptr_);
}

void StorageImpl::UniqueStorageShareExternalPointer(at::DataPtr&& data_ptr, size_t size_bytes) {
  as_made_ = false;
  data_ptr_ = std::move(data_ptr);
  size_bytes_ = static_cast<int64_t>(size_bytes);
  allocator_ = nullptr;
  resizable_ = false;
}

void StorageImpl::release_data_and_set_meta_custom_data_ptr_error_msg_(std::optional<std::string> message) {
  as_made_ = false;
  throw_on_immutable_data_ptr_ = true;
  get_extra_meta().custom_data_ptr_error_msg_ = std::move(message);
}

void StorageImpl::clear_data_ptr_access_error_msg_() {
  throw_on_immutable_data_ptr_ = false;
  if (extra_meta_) {
    extra_meta_->custom_data_ptr_error_msg_->reset();
  }
}

void StorageImpl::throw_data_ptr_access_error() const {
  TORCH_CHECK(
      !is_computed(*this),
      "The values of a tensor are read through const_data_ptr() before they are computed, in a function of compile() "
      "in mode lazy. Call data_ptr() or accessor(), or an operator that reads values, such as item().");
  if (extra_meta_ && extra_meta_->custom_data_ptr_error_msg_->has_value()) {
    TORCH_CHECK(false, **extra_meta_->custom_data_ptr_error_msg_);
  }
  TORCH_CHECK(false, "Cannot access data pointer of Storage that is invalid.");
}

void StorageImpl::complain_about_write() const {
  if (throw_on_immutable_data_ptr_ && is_computed(*this)) {
    return;
  }
  check_readable();
  if (throw_on_mutable_data_ptr_) {
    throwNullDataPtrError();
  }
  warnDeprecatedDataPtr();
}

void StorageImpl::throw_no_allocator() {
  TORCH_CHECK(false, "For resizable storage, allocator must be provided");
}

void throwNullDataPtrError() {
  TORCH_CHECK(
      false,
      "Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor): it has no memory of its own, so its "
      "values can be neither read nor written.");
}

void warnDeprecatedDataPtr() {
  TORCH_WARN_ONCE(
      "Accessing the data pointer of a tensor that has no memory of its own (e.g. FakeTensor, FunctionalTensor) is "
      "deprecated and will throw.");
}

void resize_storage_bytes(StorageImpl& storage, size_t size_bytes) {
  TORCH_CHECK(storage.resizable(), "Trying to resize storage that is not resizable");
  TORCH_CHECK(
      size_bytes <= static_cast<size_t>(std::numeric_limits<int64_t>::max()),
      "Storage size calculation overflowed: ", size_bytes, " bytes do not fit into 63 bits");
  Allocator* allocator = storage.allocator();
  DataPtr data = allocator->allocate(size_bytes);
  const size_t kept = std::min(size_bytes, storage.nbytes());
  if (kept != 0 && storage.data() != nullptr) {
    allocator->copy_data(data.mutable_get(), storage.data(), kept);
  }
  storage.set_data_ptr_noswap(std::move(data));
  storage.set_nbytes(size_bytes);
}

namespace {

StorageImplCreateHelper create_helpers[COMPILE_TIME_MAX_DEVICE_TYPES];

StorageImplCreateHelper& create_helper(DeviceType t) {
  const auto index = static_cast<size_t>(t);
  TORCH_CHECK(index < std::size(create_helpers), "device type ", static_cast<int>(t), " does not exist");
  return create_helpers[index];
}

} // namespace

void SetStorageImplCreate(DeviceType t, StorageImplCreateHelper fptr) {
  create_helper(t) = fptr;
}

StorageImplCreateHelper GetStorageImplCreate(DeviceType t) {
  return create_helper(t);
}

c10::intrusive_ptr<c10::StorageImpl> make_storage_impl(
    c10::StorageImpl::use_byte_size_t use_byte_size,
    c10::SymInt size_bytes,
    c10::DataPtr data_ptr,
    c10::Allocator* allocator,
    bool resizable,
    std::optional<at::Device> device_opt) {
  if (device_opt) {
    if (const StorageImplCreateHelper create = create_helper(device_opt->type())) {
      return create(use_byte_size, std::move(size_bytes), std::move(data_ptr), allocator, resizable);
    }
  }
  if (data_ptr == nullptr && allocator != nullptr) {
    return c10::make_intrusive<StorageImpl>(use_byte_size, size_bytes, allocator, resizable);
  }
  return c10::make_intrusive<StorageImpl>(
      use_byte_size, std::move(size_bytes), std::move(data_ptr), allocator, resizable);
}

} // namespace c10
