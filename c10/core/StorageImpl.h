#pragma once

#include <c10/util/Indirect.h>
#include <c10/util/SwapValues.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>
#include <c10/core/SmallPool.h>
#include <c10/core/SymInt.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/OwnedPtr.h>
#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

extern template class C10_API c10::Indirect<std::optional<std::string>>;

namespace c10 {

namespace impl {
struct RecycledTensors;
}

/// What few storages have.
struct C10_API StorageExtraMeta {
  Indirect<std::optional<std::string>> custom_data_ptr_error_msg_;
};

/// A block of bytes on a device, shared by the tensors that are views of it. It may be resizable, then it knows its
/// allocator. Not synchronised, except for the reference count.
struct C10_API StorageImpl : public c10::intrusive_ptr_target, public PoolAllocated {
 public:
  struct use_byte_size_t {};

  /// Takes ownership of memory.
  StorageImpl(use_byte_size_t, SymInt size_bytes, at::DataPtr data_ptr, at::Allocator* allocator, bool resizable)
      : data_ptr_(std::move(data_ptr)),
        size_bytes_(std::move(size_bytes)),
        allocator_(allocator),
        resizable_(resizable) {
    if (C10_UNLIKELY(resizable && allocator == nullptr)) {
      throw_no_allocator();
    }
  }
  /// Allocates. A symbolic size gets no memory.
  StorageImpl(use_byte_size_t, const SymInt& size_bytes, at::Allocator* allocator, bool resizable)
      : data_ptr_(allocator->allocate(
            size_bytes.is_heap_allocated() ? 0 : static_cast<size_t>(size_bytes.as_int_unchecked()))),
        size_bytes_(size_bytes),
        allocator_(allocator),
        resizable_(resizable) {}
  StorageImpl(const StorageImpl&) = delete;
  StorageImpl& operator=(const StorageImpl&) = delete;
  // Inline, so that the deleting destructor is one function.
  ~StorageImpl() override {}

  /// Drops the memory.
  void reset() {
    as_made_ = false;
    data_ptr_.clear();
    size_bytes_ = 0;
  }
  void release_resources() override;

  /// Throws if the size is symbolic.
  size_t nbytes() const {
    return static_cast<size_t>(size_bytes_.expect_int());
  }
  SymInt sym_nbytes() const {
    return size_bytes_;
  }
  void set_nbytes(size_t size_bytes) {
    size_bytes_ = static_cast<int64_t>(size_bytes);
  }
  void set_nbytes(c10::SymInt size_bytes) {
    as_made_ = false;
    size_bytes_ = std::move(size_bytes);
  }
  void unsafe_set_nbytes(size_t size_bytes) {
    size_bytes_.unsafe_set_data(size_bytes);
  }

  bool resizable() const {
    return resizable_;
  }
  /// Throws if there is no allocator to resize with.
  void set_resizable(bool resizable) {
    if (C10_UNLIKELY(resizable && allocator_ == nullptr)) {
      throw_no_allocator();
    }
    as_made_ = false;
    resizable_ = resizable;
  }

  const at::DataPtr& data_ptr() const {
    check_readable();
    return data_ptr_;
  }
  at::DataPtr& mutable_data_ptr() {
    check_writable();
    as_made_ = false;
    return data_ptr_;
  }
  at::DataPtr& _mutable_data_ptr_no_checks() {
    as_made_ = false;
    return data_ptr_;
  }
  const at::DataPtr& _data_ptr_no_checks() const {
    return data_ptr_;
  }
  /// Resizable, of plain size and without anything that few storages have.
  bool is_plain() const {
    return resizable_ &&
        !(received_cuda_ | throw_on_immutable_data_ptr_ | throw_on_mutable_data_ptr_ |
          warn_deprecated_on_mutable_data_ptr_) &&
        extra_meta_ == nullptr && !size_bytes_.is_heap_allocated();
  }
  /// Gives the old memory back.
  at::DataPtr set_data_ptr(at::DataPtr&& data_ptr) {
    as_made_ = false;
    return detail::exchange_value(data_ptr_, std::move(data_ptr));
  }
  void set_data_ptr_noswap(at::DataPtr&& data_ptr) {
    as_made_ = false;
    data_ptr_ = std::move(data_ptr);
  }
  /// Exchanges memory, size, allocator and the access flags.
  void swap_data_ptr(StorageImpl& other);

  const void* data() const {
    check_readable();
    return data_ptr_.get();
  }
  void* mutable_data() {
    check_writable();
    return data_ptr_.mutable_get();
  }

  Device device() const {
    return data_ptr_.device();
  }
  at::DeviceType device_type() const {
    return data_ptr_.device().type();
  }
  at::Allocator* allocator() {
    return allocator_;
  }
  const at::Allocator* allocator() const {
    return allocator_;
  }
  void set_allocator(at::Allocator* allocator) {
    as_made_ = false;
    allocator_ = allocator;
  }

  /// Replaces the memory by somebody else's. Only while the caller is the only owner.
  void UniqueStorageShareExternalPointer(void* src, size_t size_bytes, DeleterFnPtr d = nullptr) {
    UniqueStorageShareExternalPointer(at::DataPtr(src, src, d, data_ptr_.device()), size_bytes);
  }
  void UniqueStorageShareExternalPointer(at::DataPtr&& data_ptr, size_t size_bytes);

  /// Whether the memory came from another process by CUDA IPC.
  void set_received_cuda(bool received_cuda) {
    as_made_ = false;
    received_cuda_ = received_cuda;
  }
  bool received_cuda() const {
    return received_cuda_;
  }

  StorageExtraMeta& get_extra_meta() {
    as_made_ = false;
    if (!extra_meta_) {
      extra_meta_.reset(new StorageExtraMeta());
    }
    return *extra_meta_;
  }

  // Storages of tensors that have no data to show: each kind of access can be made to throw, with a message.
  void release_data_and_set_meta_custom_data_ptr_error_msg_(std::optional<std::string> message);
  void clear_data_ptr_access_error_msg_();
  void set_throw_on_mutable_data_ptr() {
    as_made_ = false;
    throw_on_mutable_data_ptr_ = true;
  }
  void set_warn_deprecated_on_mutable_data_ptr() {
    as_made_ = false;
    warn_deprecated_on_mutable_data_ptr_ = true;
  }
  bool throw_on_immutable_data_ptr() const {
    return throw_on_immutable_data_ptr_;
  }
  bool throw_on_mutable_data_ptr() const {
    return throw_on_mutable_data_ptr_;
  }
  [[noreturn]] void throw_data_ptr_access_error() const;

 private:
  friend struct impl::RecycledTensors;

  void check_readable() const {
    if (C10_UNLIKELY(throw_on_immutable_data_ptr_)) {
      throw_data_ptr_access_error();
    }
  }
  void check_writable() const {
    if (C10_UNLIKELY(
            throw_on_immutable_data_ptr_ || throw_on_mutable_data_ptr_ || warn_deprecated_on_mutable_data_ptr_)) {
      complain_about_write();
    }
  }
  void complain_about_write() const;
  [[noreturn]] static void throw_no_allocator();

  DataPtr data_ptr_;
  SymInt size_bytes_;
  Allocator* allocator_;
  OwnedPtr<StorageExtraMeta> extra_meta_;
  bool resizable_;
  bool received_cuda_ = false;
  bool throw_on_immutable_data_ptr_ = false;
  bool throw_on_mutable_data_ptr_ = false;
  bool warn_deprecated_on_mutable_data_ptr_ = false;
  // Made by RecycledTensors, and nobody could have changed anything but the size since; see Note [Recycled tensors].
  bool as_made_ = false;
};

[[noreturn]] C10_API void throwNullDataPtrError();
C10_API void warnDeprecatedDataPtr();

/// Changes the size of a resizable storage on any device, keeping the bytes that fit. Throws if it is not resizable;
/// then, or when there is no memory, it stays as it was.
C10_API void resize_storage_bytes(StorageImpl& storage, size_t size_bytes);

/// Lets a device have its own class of storage.
using StorageImplCreateHelper = intrusive_ptr<StorageImpl> (*)(
    StorageImpl::use_byte_size_t, SymInt size_bytes, DataPtr data_ptr, Allocator* allocator, bool resizable);
C10_API void SetStorageImplCreate(DeviceType t, StorageImplCreateHelper fptr);
C10_API StorageImplCreateHelper GetStorageImplCreate(DeviceType t);

/// A storage for the device, of the class set for it. A null `data_ptr` is allocated.
C10_API c10::intrusive_ptr<c10::StorageImpl> make_storage_impl(
    c10::StorageImpl::use_byte_size_t use_byte_size,
    c10::SymInt size_bytes,
    c10::DataPtr data_ptr,
    c10::Allocator* allocator,
    bool resizable,
    std::optional<at::Device> device_opt);

} // namespace c10
