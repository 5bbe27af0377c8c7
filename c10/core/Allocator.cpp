#include <c10/core/Allocator.h>

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/MemoryReporters.h>
#include <c10/core/impl/RecycledTensors.h>

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <limits>

namespace c10 {

std::size_t MempoolIdHash::operator()(const MempoolId_t& id) const noexcept {
  return id.first != 0 ? id.first : id.second;
}

Allocator::~Allocator() = default;
GatheredContext::~GatheredContext() = default;

std::unique_ptr<void, DeleterFnPtr> DataPtr::move_context() {
  return ptr_.move_context();
}

DataPtr Allocator::clone(const void* data, std::size_t n) {
  DataPtr copy = allocate(n);
  copy_data(copy.mutable_get(), data, n);
  return copy;
}

bool Allocator::is_simple_data_ptr(const DataPtr& data_ptr) const {
  return data_ptr.get() == data_ptr.get_context();
}

DeleterFnPtr Allocator::raw_deleter() const {
  return nullptr;
}

void* Allocator::raw_allocate(size_t n) {
  DataPtr data = allocate(n);
  TORCH_CHECK(
      data.get() == data.get_context(),
      "raw_allocate: the pointers of this allocator come with a context, so they cannot be handed out bare");
  return data.release_context();
}

void Allocator::raw_deallocate(void* ptr) {
  const DeleterFnPtr deleter = raw_deleter();
  TORCH_CHECK(deleter != nullptr, "raw_deallocate: this allocator has no single deleter for its pointers");
  deleter(ptr);
}

void Allocator::copy_data(void* dest, const void* src, std::size_t count) const {
  default_copy_data(dest, src, count);
}

void Allocator::default_copy_data(void* dest, const void* src, std::size_t count) const {
  if (count != 0) {
    std::memcpy(dest, src, count);
  }
}

namespace impl {
constinit std::atomic<int> memory_reporters{0};
} // namespace impl

namespace {

void delete_std_function_context(void* context) {
  delete static_cast<InefficientStdFunctionContext*>(context);
}

struct AllocatorSlot {
  std::atomic<Allocator*> allocator{nullptr};
  uint8_t priority = 0;
};

// Constant-initialised: allocators register from static constructors of any file.
constinit AllocatorSlot allocator_slots[COMPILE_TIME_MAX_DEVICE_TYPES];

AllocatorSlot& slot_of(DeviceType t) {
  const auto index = static_cast<size_t>(t);
  TORCH_CHECK(index < std::size(allocator_slots), "device type ", static_cast<int>(t), " does not exist");
  return allocator_slots[index];
}

MemoryReportingInfoBase* reporter() {
  if (C10_LIKELY(impl::memory_reporters.load(std::memory_order_relaxed) == 0)) {
    return nullptr;
  }
  auto* info = static_cast<MemoryReportingInfoBase*>(ThreadLocalDebugInfo::get(DebugInfoKind::PROFILER_STATE));
  return info != nullptr && info->memoryProfilingEnabled() ? info : nullptr;
}

} // namespace

DataPtr InefficientStdFunctionContext::makeDataPtr(void* ptr, std::function<void(void*)> deleter, Device device) {
  return {ptr, new InefficientStdFunctionContext(ptr, std::move(deleter)), &delete_std_function_context, device};
}

void SetAllocator(DeviceType t, Allocator* alloc, uint8_t priority) {
  AllocatorSlot& slot = slot_of(t);
  if (priority >= slot.priority) {
    slot.allocator.store(alloc, std::memory_order_release);
    slot.priority = priority;
    if (t == DeviceType::CPU) {
      if (GetAllocator(t) != GetDefaultCPUAllocator()) {
        impl::recycled_tensors_off.fetch_or(impl::kOtherCpuAllocator, std::memory_order_relaxed);
      } else {
        impl::recycled_tensors_off.fetch_and(~impl::kOtherCpuAllocator, std::memory_order_relaxed);
      }
    }
  }
}

Allocator* GetAllocator(const DeviceType& t) {
  Allocator* allocator = slot_of(t).allocator.load(std::memory_order_acquire);
  if (allocator == nullptr && t == DeviceType::CPU) {
    return GetDefaultCPUAllocator();
  }
  TORCH_CHECK(allocator != nullptr, "Allocator for ", t, " is not set.");
  return allocator;
}

MemoryReportingInfoBase::MemoryReportingInfoBase() {
  if (impl::memory_reporters.fetch_add(1, std::memory_order_relaxed) == 0) {
    impl::forget_reported_sizes();
  }
  impl::recycled_tensors_off.fetch_add(1, std::memory_order_relaxed);
}

MemoryReportingInfoBase::~MemoryReportingInfoBase() {
  impl::recycled_tensors_off.fetch_sub(1, std::memory_order_relaxed);
  impl::memory_reporters.fetch_sub(1, std::memory_order_relaxed);
}

void MemoryReportingInfoBase::reportOutOfMemory(int64_t, size_t, size_t, Device) {}

bool memoryProfilingEnabled() {
  return reporter() != nullptr;
}

void reportMemoryUsageToProfiler(
    void* ptr, int64_t alloc_size, size_t total_allocated, size_t total_reserved, Device device) {
  if (MemoryReportingInfoBase* info = reporter()) {
    info->reportMemoryUsage(ptr, alloc_size, total_allocated, total_reserved, device);
  }
}

void reportOutOfMemoryToProfiler(int64_t alloc_size, size_t total_allocated, size_t total_reserved, Device device) {
  if (MemoryReportingInfoBase* info = reporter()) {
    info->reportOutOfMemory(alloc_size, total_allocated, total_reserved, device);
  }
}

namespace CachingAllocator {

std::string format_size(uint64_t size) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB"};
  if (size <= 1024) {
    return fmt::format("{} bytes", size);
  }
  double scaled = static_cast<double>(size) / 1024;
  size_t unit = 0;
  for (; scaled > 1024 && unit < 2; ++unit) {
    scaled /= 1024;
  }
  return fmt::format("{:.2f} {}", scaled, kUnits[unit]);
}

} // namespace CachingAllocator

} // namespace c10
