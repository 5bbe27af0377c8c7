// Allocators and groups by name, and what is the same on all devices.
#include <csrc/distributed/symmetric/SymmetricMemory.h>

#include <aten/core/from_blob.h>
#include <csrc/distributed/c10d/GroupRegistry.h>
#include <csrc/distributed/symmetric/ShmSymmetricMemory.h>

#include <map>
#include <mutex>

namespace c10d::symmetric_memory {

namespace {

using AllocatorPtr = c10::intrusive_ptr<SymmetricMemoryAllocator>;

bool finalizing = false;

struct Persistent {
  void* memory = nullptr;
  size_t bytes = 0;
  c10::weak_intrusive_ptr<c10::StorageImpl> storage{c10::intrusive_ptr<c10::StorageImpl>()};
};

struct Registry {
  Registry() {
    const auto cpu = c10::make_intrusive<ShmSymmetricMemoryAllocator>();
    by_device[c10::kCPU] = cpu;
    by_name[cpu->name()] = cpu;
  }
  ~Registry() {
    finalizing = true;
  }

  std::mutex mutex;
  std::map<c10::DeviceType, AllocatorPtr> by_device;
  std::map<std::string, AllocatorPtr> by_name;
  std::map<c10::DeviceType, std::shared_ptr<c10::Allocator>> of_pools;
  std::map<std::string, GroupInfo> groups; // whose elements stay where they are
  std::map<uint64_t, Persistent> persistent; // by alloc_id
  size_t signal_pad_bytes = 9216;
  bool signal_pads_exist = false;
  std::mutex persistent_mutex;
};

Registry& registry() {
  static Registry all;
  return all;
}

// The elements of the sizes, from an element on, must lie within the memory.
void check_within(
    const char* what, c10::IntArrayRef sizes, c10::ScalarType dtype, int64_t storage_offset, size_t available) {
  int64_t numel = 1;
  for (const int64_t size : sizes) {
    TORCH_CHECK_VALUE(size >= 0, what, ": sizes must not be negative, but got ", sizes);
    TORCH_CHECK_VALUE(!__builtin_mul_overflow(numel, size, &numel), what, ": sizes ", sizes, " have too many elements");
  }
  const size_t elements = available / c10::elementSize(dtype);
  TORCH_CHECK_VALUE(
      storage_offset >= 0 && static_cast<size_t>(storage_offset) <= elements &&
          static_cast<size_t>(numel) <= elements - static_cast<size_t>(storage_offset),
      what, ": ", numel, " elements of ", dtype, " from element ", storage_offset, " on must lie within ", available,
      " bytes");
}

} // namespace

size_t SymmetricMemory::get_signal_pad_size() {
  return symmetric_memory::get_signal_pad_size();
}

at::Tensor SymmetricMemory::get_buffer(
    int rank, c10::IntArrayRef sizes, c10::ScalarType dtype, int64_t storage_offset) {
  check_rank(rank, get_world_size());
  check_within("get_buffer", sizes, dtype, storage_offset, get_buffer_size());
  auto* begin = static_cast<char*>(get_buffer_ptrs()[static_cast<size_t>(rank)]);
  const auto keep = c10::intrusive_ptr<SymmetricMemory>::reclaim_copy(this);
  return at::from_blob(
      begin + static_cast<size_t>(storage_offset) * c10::elementSize(dtype), sizes, [keep](void*) {},
      at::TensorOptions(dtype).device(get_device()));
}

at::Tensor SymmetricMemory::get_signal_pad(
    int rank, c10::IntArrayRef sizes, std::optional<c10::ScalarType> dtype, int64_t storage_offset) {
  check_rank(rank, get_world_size());
  const auto type = dtype.value_or(c10::ScalarType::UInt32);
  const std::vector<int64_t> all = {static_cast<int64_t>(get_signal_pad_size() / c10::elementSize(type))};
  const c10::IntArrayRef shape = sizes.empty() ? c10::IntArrayRef(all) : sizes;
  check_within("get_signal_pad", shape, type, storage_offset, get_signal_pad_size());
  auto* begin = static_cast<char*>(get_signal_pad_ptrs()[static_cast<size_t>(rank)]);
  const auto keep = c10::intrusive_ptr<SymmetricMemory>::reclaim_copy(this);
  return at::from_blob(
      begin + static_cast<size_t>(storage_offset) * c10::elementSize(type), shape, [keep](void*) {},
      at::TensorOptions(type).device(get_device()));
}

at::Tensor SymmetricMemory::get_remote_tensor(int peer, c10::IntArrayRef sizes, c10::ScalarType dtype) {
  TORCH_CHECK(
      get_offset() % c10::elementSize(dtype) == 0, "get_remote_tensor: the tensor begins at byte ", get_offset(),
      " of its memory, which is no multiple of the ", c10::elementSize(dtype), " bytes of ", dtype);
  return get_buffer(peer, sizes, dtype, static_cast<int64_t>(get_offset() / c10::elementSize(dtype)));
}

const std::vector<int>& SymmetricMemory::get_rank_to_global_rank() {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "get_rank_to_global_rank: this kind of symmetric memory does not know it");
}

int* SymmetricMemory::get_rank_to_global_rank_dev() {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "get_rank_to_global_rank_dev: this kind of symmetric memory does not know it");
}

bool SymmetricMemory::world_within_direct_access() {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "world_within_direct_access: this kind of symmetric memory does not know it");
}

bool is_finalizing() {
  return finalizing;
}

void register_allocator(c10::DeviceType device_type, AllocatorPtr allocator) {
  const std::lock_guard lock(registry().mutex);
  registry().by_device[device_type] = std::move(allocator);
}

void register_availability(const std::string& name, AllocatorPtr allocator) {
  const std::lock_guard lock(registry().mutex);
  registry().by_name[name] = std::move(allocator);
}

bool has_allocator(c10::DeviceType device_type) {
  const std::lock_guard lock(registry().mutex);
  return registry().by_device.count(device_type) != 0;
}

AllocatorPtr get_allocator(c10::DeviceType device_type) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().by_device.find(device_type);
  TORCH_CHECK(
      found != registry().by_device.end(), "SymmetricMemory does not support device type ", device_type,
      "; register_allocator() adds one");
  return found->second;
}

void set_backend(const std::string& name) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().by_name.find(name);
  TORCH_CHECK(
      found != registry().by_name.end(), "SymmetricMemory does not find allocation backend ", name,
      "; register_availability() adds one");
  registry().by_device[found->second->supported_device_type()] = found->second;
}

std::optional<std::string> get_backend(c10::Device device) {
  if (!has_allocator(device.type())) {
    return std::nullopt;
  }
  return get_allocator(device.type())->name();
}

void set_group_info(const std::string& group_name, int rank, int world_size, c10::intrusive_ptr<Store> store) {
  check_rank(rank, world_size);
  const std::lock_guard lock(registry().mutex);
  const bool added = registry().groups.emplace(group_name, GroupInfo{rank, world_size, std::move(store)}).second;
  TORCH_CHECK(added, "set_group_info: the group ", group_name, " is known already");
}

GroupInfo& get_group_info(const std::string& group_name) {
  {
    const std::lock_guard lock(registry().mutex);
    const auto found = registry().groups.find(group_name);
    if (found != registry().groups.end()) {
      return found->second;
    }
  }
  const auto group = resolve_process_group(group_name);
  const std::lock_guard lock(registry().mutex);
  return registry()
      .groups.emplace(group_name, GroupInfo{group->getRank(), group->getSize(), group->getStore()})
      .first->second;
}

namespace {

at::Tensor tensor_at(
    void* memory,
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    std::function<void(void*)> deleter,
    c10::ScalarType dtype,
    c10::Device device) {
  return at::from_blob(memory, size, stride, std::move(deleter), at::TensorOptions(dtype).device(device));
}

at::Tensor persistent_tensor(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    size_t bytes,
    c10::ScalarType dtype,
    c10::Device device,
    const std::optional<std::string>& group_name,
    uint64_t alloc_id) {
  const auto allocator = get_allocator(device.type());
  const std::lock_guard lock(registry().persistent_mutex);
  Persistent& known = registry().persistent[alloc_id];
  TORCH_CHECK(
      known.storage.expired(), "empty_strided_p2p: the memory with alloc_id ", alloc_id,
      " has a tensor that is still alive; let it go, or take another alloc_id");
  if (known.memory == nullptr) {
    known.memory = allocator->alloc(bytes, device.index(), group_name);
    known.bytes = bytes;
  }
  TORCH_CHECK(
      known.bytes == bytes, "empty_strided_p2p: the memory with alloc_id ", alloc_id, " has ", known.bytes,
      " bytes, but ", bytes, " are asked for");
  at::Tensor tensor = tensor_at(
      known.memory, size, stride, [](void*) {}, dtype, device);
  known.storage = c10::weak_intrusive_ptr<c10::StorageImpl>(tensor.storage().getWeakStorageImpl());
  return tensor;
}

} // namespace

at::Tensor empty_strided_p2p(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    c10::ScalarType dtype,
    c10::Device device,
    const std::optional<std::string>& group_name,
    std::optional<uint64_t> alloc_id) {
  TORCH_CHECK_VALUE(
      size.size() == stride.size(), "empty_strided_p2p: size ", size, " and stride ", stride, " must have one length");
  int64_t last = 0; // the greatest place that an element has
  bool empty = false;
  for (size_t dim = 0; dim < size.size(); ++dim) {
    TORCH_CHECK_VALUE(
        size[dim] >= 0 && stride[dim] >= 0, "empty_strided_p2p: size ", size, " and stride ", stride,
        " must not be negative");
    empty |= size[dim] == 0;
    last += (size[dim] - 1) * stride[dim];
  }
  const size_t bytes = empty ? 0 : static_cast<size_t>(last + 1) * c10::elementSize(dtype);
  if (alloc_id) {
    return persistent_tensor(size, stride, bytes, dtype, device, group_name, *alloc_id);
  }
  const auto allocator = get_allocator(device.type());
  void* const memory = allocator->alloc(bytes, device.index(), group_name);
  return tensor_at(
      memory, size, stride, [allocator](void* ptr) { allocator->free(ptr); }, dtype, device);
}

c10::intrusive_ptr<SymmetricMemory> rendezvous(const at::Tensor& tensor, const std::optional<std::string>& group_name) {
  return get_allocator(tensor.device().type())->rendezvous(tensor.data_ptr(), group_name);
}

bool is_symm_mem_tensor(const at::Tensor& tensor) {
  return has_allocator(tensor.device().type()) &&
      get_allocator(tensor.device().type())->has_allocation(tensor.storage().data_ptr().get());
}

bool has_multicast_support(c10::DeviceType device_type, int device_idx) {
  return has_allocator(device_type) && get_allocator(device_type)->has_multicast_support(device_idx);
}

size_t get_signal_pad_size() {
  const std::lock_guard lock(registry().mutex);
  return registry().signal_pad_bytes;
}

void set_signal_pad_size(size_t size) {
  const std::lock_guard lock(registry().mutex);
  TORCH_CHECK(
      !registry().signal_pads_exist || size == registry().signal_pad_bytes, "set_signal_pad_size: there are pads of ",
      registry().signal_pad_bytes, " bytes already; set the size before the first allocation");
  registry().signal_pad_bytes = size;
}

size_t signal_pad_size_for_good() {
  const std::lock_guard lock(registry().mutex);
  registry().signal_pads_exist = true;
  return registry().signal_pad_bytes;
}

void register_mempool_allocator(c10::DeviceType device_type, std::shared_ptr<c10::Allocator> allocator) {
  const std::lock_guard lock(registry().mutex);
  registry().of_pools[device_type] = std::move(allocator);
}

std::shared_ptr<c10::Allocator> get_mempool_allocator(c10::Device device) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().of_pools.find(device.type());
  TORCH_CHECK(
      found != registry().of_pools.end(), "SymmetricMemory has no allocator for memory pools of device type ",
      device.type(), "; register_mempool_allocator() adds one");
  return found->second;
}

} // namespace c10d::symmetric_memory
