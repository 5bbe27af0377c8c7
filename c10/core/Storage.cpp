#include <c10/core/Storage.h>

namespace c10 {

bool isSharedStorageAlias(const Storage& storage0, const Storage& storage1) {
  // Only memory with a reference-counted context can have two StorageImpls, and then both share deleter and context.
  if (!storage0 || !storage1) {
    return false;
  }
  const DataPtr& a = storage0.unsafeGetStorageImpl()->_data_ptr_no_checks();
  const DataPtr& b = storage1.unsafeGetStorageImpl()->_data_ptr_no_checks();
  return a.get_context() != nullptr && a.get_context() == b.get_context() && a.get_deleter() == b.get_deleter();
}

Storage Storage::create_legacy(at::Device device) {
  Allocator* allocator = GetAllocator(device.type());
  // Allocating nothing still tells which device it is.
  return Storage(c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(), SymInt(0), allocator->allocate(0), allocator, /*resizable=*/true));
}

void Storage::reset_legacy() {
  TORCH_CHECK(resizable() && allocator() != nullptr, "only a resizable storage can be reset");
  set_nbytes(size_t{0});
  set_data_ptr_noswap(allocator()->allocate(0));
}

namespace {

void check_unique(const Storage& storage) {
  TORCH_CHECK(storage.unique(), "UniqueStorageShareExternalPointer can only be called when use_count == 1");
}

} // namespace

void Storage::UniqueStorageShareExternalPointer(void* src, size_t capacity, DeleterFnPtr d) {
  check_unique(*this);
  storage_impl_->UniqueStorageShareExternalPointer(src, capacity, d);
}

void Storage::UniqueStorageShareExternalPointer(at::DataPtr&& data_ptr, size_t capacity) {
  check_unique(*this);
  storage_impl_->UniqueStorageShareExternalPointer(std::move(data_ptr), capacity);
}

} // namespace c10
