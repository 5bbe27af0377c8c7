#pragma once

#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <c10/util/UniqueVoidPtr.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace c10 {

using CaptureId_t = unsigned long long;
/// Names a private pool of a caching allocator: (id of a graph capture, id given by the user).
using MempoolId_t = std::pair<CaptureId_t, CaptureId_t>;

struct MempoolIdHash {
  C10_API std::size_t operator()(const MempoolId_t& id) const noexcept;
};

/// Owns data on a device: a pointer to the data, and a context with the function that deletes it. The two pointers
/// differ when the data is a part of something larger (a tensor of another library, a file mapping...).
class C10_API DataPtr {
 public:
  /// Null, on the CPU.
  DataPtr() : device_(DeviceType::CPU) {}
  /// Data that somebody else deletes.
  DataPtr(void* data, Device device) : ptr_(data), device_(device) {}
  /// `ctx_deleter(ctx)` is called at the end, if `ctx` is not null.
  DataPtr(void* data, void* ctx, DeleterFnPtr ctx_deleter, Device device)
      : ptr_(data, ctx, ctx_deleter), device_(device) {}

  void* operator->() const {
    return ptr_.get();
  }
  void clear() {
    ptr_.clear();
  }
  void* get() const {
    return ptr_.get();
  }
  void* mutable_get() {
    return ptr_.get();
  }
  void* get_context() const {
    return ptr_.get_context();
  }
  /// The caller becomes the owner of the context.
  void* release_context() {
    return ptr_.release_context();
  }
  std::unique_ptr<void, DeleterFnPtr> move_context();
  operator bool() const {
    return static_cast<bool>(ptr_);
  }
  /// The context, if its deleter is the expected one (and so its type the expected one); else null.
  template <typename T>
  T* cast_context(DeleterFnPtr expected_deleter) const {
    return ptr_.cast_context<T>(expected_deleter);
  }
  DeleterFnPtr get_deleter() const {
    return ptr_.get_deleter();
  }
  /// Replaces the deleter if it is the expected one; tells whether it was. The new one gets the old context.
  [[nodiscard]] bool compare_exchange_deleter(DeleterFnPtr expected_deleter, DeleterFnPtr new_deleter) {
    return ptr_.compare_exchange_deleter(expected_deleter, new_deleter);
  }
  Device device() const {
    return device_;
  }
  /// For data that is reachable from several devices under one pointer.
  void unsafe_set_device(Device device) {
    device_ = device;
  }

 private:
  c10::detail::UniqueVoidPtr ptr_;
  Device device_;
};

inline bool operator==(const DataPtr& p, std::nullptr_t) noexcept {
  return !p;
}
inline bool operator==(std::nullptr_t, const DataPtr& p) noexcept {
  return !p;
}
inline bool operator!=(const DataPtr& p, std::nullptr_t) noexcept {
  return p;
}
inline bool operator!=(std::nullptr_t, const DataPtr& p) noexcept {
  return p;
}

/// Source of memory on one kind of device. Implementations are thread-safe.
struct C10_API Allocator {
  virtual ~Allocator();

  /// `n` bytes on the current device; zero bytes give a null pointer with the device set. Throws OutOfMemoryError.
  virtual DataPtr allocate(size_t n) = 0;

  /// A copy of `n` bytes at `data`, which this allocator gave.
  DataPtr clone(const void* data, std::size_t n);

  /// Whether data and context are one pointer, so that deleting the context is all there is to deleting the data.
  virtual bool is_simple_data_ptr(const DataPtr& data_ptr) const;

  /// The deleter of every pointer of this allocator, if there is only one; else null. Then contexts are data pointers.
  virtual DeleterFnPtr raw_deleter() const;

  /// malloc and free for C libraries. Throw if raw_deleter() is null.
  void* raw_allocate(size_t n);
  void raw_deallocate(void* ptr);

  /// Copies between two blocks of this allocator. The default is memcpy; devices override it.
  virtual void copy_data(void* dest, const void* src, std::size_t count) const;

 protected:
  void default_copy_data(void* dest, const void* src, std::size_t count) const;
};

/// Makes a DataPtr whose deleter is any callable. Costs an allocation; a plain function as deleter costs none.
struct C10_API InefficientStdFunctionContext {
  InefficientStdFunctionContext(void* ptr, std::function<void(void*)> deleter)
      : ptr_(ptr), deleter_(std::move(deleter)) {}
  InefficientStdFunctionContext(const InefficientStdFunctionContext&) = delete;
  InefficientStdFunctionContext& operator=(const InefficientStdFunctionContext&) = delete;
  ~InefficientStdFunctionContext() {
    if (deleter_) {
      deleter_(ptr_);
    }
  }

  static DataPtr makeDataPtr(void* ptr, std::function<void(void*)> deleter, Device device);

  void* ptr_;
  std::function<void(void*)> deleter_;
};

/// Makes `alloc` the allocator of a device type unless one of higher priority is set. `alloc` must live for ever. Meant
/// for start-up: it does not wait for allocations in other threads.
C10_API void SetAllocator(DeviceType t, Allocator* alloc, uint8_t priority = 0);
/// Allocator of a device type. Throws if there is none.
C10_API Allocator* GetAllocator(const DeviceType& t);

template <DeviceType t>
struct AllocatorRegisterer {
  explicit AllocatorRegisterer(Allocator* alloc) {
    SetAllocator(t, alloc);
  }
};

#define REGISTER_ALLOCATOR(t, f)                       \
  namespace {                                          \
  static c10::AllocatorRegisterer<t> g_allocator_d(f); \
  }

/// A profiler that wants to hear of every allocation of a thread (it is put in the thread's ThreadLocalDebugInfo under
/// DebugInfoKind::PROFILER_STATE). While any exists, allocators leave their fast paths.
struct C10_API MemoryReportingInfoBase : public c10::DebugInfoBase {
  MemoryReportingInfoBase();
  ~MemoryReportingInfoBase() override;

  /// `alloc_size` is negative for a release; the totals are those of the allocator.
  virtual void reportMemoryUsage(
      void* ptr, int64_t alloc_size, size_t total_allocated, size_t total_reserved, Device device) = 0;
  virtual void reportOutOfMemory(int64_t alloc_size, size_t total_allocated, size_t total_reserved, Device device);
  virtual bool memoryProfilingEnabled() const = 0;
};

/// Whether the calling thread has a profiler that wants memory reports.
C10_API bool memoryProfilingEnabled();
C10_API void reportMemoryUsageToProfiler(
    void* ptr, int64_t alloc_size, size_t total_allocated, size_t total_reserved, Device device);
C10_API void reportOutOfMemoryToProfiler(
    int64_t alloc_size, size_t total_allocated, size_t total_reserved, Device device);

/// What a caching allocator stores beside a block to tell where it was allocated; a stack trace, say.
struct C10_API GatheredContext {
  virtual ~GatheredContext();
};

namespace CachingAllocator {

/// A quantity with its peak and its sums of ups and downs.
struct Stat {
  void increase(size_t amount) {
    current += static_cast<int64_t>(amount);
    peak = std::max(current, peak);
    allocated += static_cast<int64_t>(amount);
  }
  void decrease(size_t amount) {
    current -= static_cast<int64_t>(amount);
    freed += static_cast<int64_t>(amount);
  }
  void reset_accumulated() {
    allocated = 0;
    freed = 0;
  }
  void reset_peak() {
    peak = current;
  }
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;
  int64_t freed = 0;
};

enum struct StatType : uint64_t { AGGREGATE = 0, SMALL_POOL = 1, LARGE_POOL = 2, NUM_TYPES = 3 };

using StatArray = std::array<Stat, static_cast<size_t>(StatType::NUM_TYPES)>;
using StatTypes = std::array<bool, static_cast<size_t>(StatType::NUM_TYPES)>;

template <typename Func>
void for_each_selected_stat_type(const StatTypes& stat_types, Func f) {
  for (size_t i = 0; i < stat_types.size(); ++i) {
    if (stat_types[i]) {
      f(i);
    }
  }
}

/// "512 bytes", "1.50 MiB".
C10_API std::string format_size(uint64_t size);

} // namespace CachingAllocator

} // namespace c10
