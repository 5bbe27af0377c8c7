#include <c10/core/CPUAllocator.h>

#include <c10/core/SmallPool.h>
#include <c10/core/impl/CPUBlock.h>
#include <c10/core/impl/CPULargeCache.h>
#include <c10/core/impl/MemoryReporters.h>
#include <c10/core/impl/RecycledTensors.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

namespace c10 {

namespace {

using impl::CPUBlock;

// -- Size classes ------------------------------------------------------------

// Multiples of 64 bytes up to 512, then four sizes per power of two up to kCpuSmallMax.
constexpr size_t kFineClasses = 8;
constexpr size_t kFineBits = 9;
constexpr size_t kSmallClasses = kFineClasses + 4 * (16 - kFineBits);

constexpr uint32_t small_class(size_t bytes) {
  if (C10_LIKELY(bytes <= (size_t{1} << kFineBits))) {
    return static_cast<uint32_t>((bytes - 1) / impl::kCpuBlockAlignment);
  }
  const auto bits = static_cast<size_t>(std::bit_width(bytes - 1));
  return static_cast<uint32_t>(kFineClasses + (bits - kFineBits - 1) * 4 + (((bytes - 1) >> (bits - 3)) & 3));
}

constexpr size_t small_class_bytes(size_t index) {
  if (index < kFineClasses) {
    return (index + 1) * impl::kCpuBlockAlignment;
  }
  const size_t coarse = index - kFineClasses;
  return (5 + coarse % 4) << (kFineBits - 2 + coarse / 4);
}
static_assert(small_class_bytes(kSmallClasses - 1) == impl::kCpuSmallMax);
static_assert(small_class(impl::kCpuSmallMax) == kSmallClasses - 1);

// Blocks that a thread keeps of a class: 128 KiB, but at least a few and not thousands.
constexpr uint32_t list_limit(size_t index) {
  return static_cast<uint32_t>(std::clamp<size_t>((size_t{128} << 10) / small_class_bytes(index), 4, 128));
}

// Classes of memory that tensors are kept with, and how many of each.
constexpr size_t kSpareMax = 4096;
constexpr size_t kRecycledClasses = small_class(kSpareMax) + 1;
static_assert(small_class_bytes(kFineClasses - 1) == impl::kRecycledFineMax);

// -- Per-thread lists ----------------------------------------------------------

// Written by one thread, read by those that ask for statistics.
class Counter {
 public:
  void increment() {
    value_.store(value_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  uint64_t get() const {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> value_{0};
};

struct List {
  CPUBlock* head = nullptr;
  uint32_t room = 0; // how many more blocks the list takes
  Counter allocations;
  Counter releases;
};

struct ThreadCache {
  std::array<List, kSmallClasses> lists{};
  std::array<impl::RecycledList, kRecycledClasses> recycled{};
  ThreadCache* next = nullptr; // in the registry

  // Of blocks of a class, alone and with recycled tensors.
  uint64_t allocations(size_t size_class) const {
    return lists[size_class].allocations.get() + (size_class < kRecycledClasses ? recycled[size_class].taken() : 0);
  }
  uint64_t releases(size_t size_class) const {
    return lists[size_class].releases.get() + (size_class < kRecycledClasses ? recycled[size_class].kept() : 0);
  }
};

// Neither has blocks nor takes any, so that the fast paths need not ask whether the thread has a cache of its own.
constinit ThreadCache empty_cache;

// Deletes all that a list holds; the memory goes to the list of blocks.
void clear(impl::RecycledList& list) {
  while (TensorImpl* const tensor = list.take()) {
    delete tensor;
  }
}

enum class ThreadPhase : uint8_t { New, Live, Ended };

__thread ThreadCache* thread_cache __attribute__((tls_model("initial-exec"))) = &empty_cache;
__thread ThreadPhase thread_phase __attribute__((tls_model("initial-exec"))) = ThreadPhase::New;

// -- Global state ------------------------------------------------------------------

// Lives for ever: tensors in static variables are freed last of all.
template <class T>
union Immortal {
  T value;
  constexpr Immortal() : value() {}
  ~Immortal() {}
};

struct Global {
  impl::CPULargeCache large;

  std::mutex mutex;
  ThreadCache* caches = nullptr;
  // What ended threads did, and threads without a cache.
  std::array<uint64_t, kSmallClasses> past_allocations{};
  std::array<uint64_t, kSmallClasses> past_releases{};

  // Bytes of small blocks taken from the system and not given back.
  std::atomic<int64_t> small_reserved{0};
  std::atomic<uint64_t> small_system_allocations{0};
  std::atomic<int64_t> large_in_use{0};
  std::atomic<int64_t> peak{0};

  void raise_peak() {
    const int64_t now = small_reserved.load(std::memory_order_relaxed) + large_in_use.load(std::memory_order_relaxed);
    int64_t seen = peak.load(std::memory_order_relaxed);
    while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
    }
  }
};

constinit Immortal<Global> global_state;

Global& global() {
  return global_state.value;
}

void free_small_to_system(CPUBlock* block) {
  global().small_reserved.fetch_sub(static_cast<int64_t>(block->bytes), std::memory_order_relaxed);
  impl::cpu_system_free(block);
}

// Frees the first `count` blocks of a list; gives the number of bytes.
size_t shrink(List& list, uint32_t count) {
  size_t bytes = 0;
  for (; count > 0 && list.head != nullptr; --count) {
    CPUBlock* block = list.head;
    list.head = block->next;
    ++list.room;
    bytes += block->bytes;
    free_small_to_system(block);
  }
  return bytes;
}

// The cache is no thread-local object itself: those of a library that a program opens while it runs share some 1,600
// bytes with all other libraries opened so.
class ThreadCacheOwner {
 public:
  ThreadCacheOwner() : cache_(new(std::nothrow) ThreadCache) {
    if (cache_ == nullptr) {
      thread_phase = ThreadPhase::Ended; // no memory: the thread lives without a cache
      return;
    }
    for (size_t i = 0; i < kSmallClasses; ++i) {
      cache_->lists[i].room = list_limit(i);
    }
    for (impl::RecycledList& list : cache_->recycled) {
      list.set_limit(impl::RecycledList::kLimit);
    }
    std::lock_guard lock(global().mutex);
    cache_->next = global().caches;
    global().caches = cache_.get();
    thread_cache = cache_.get();
    impl::recycled_lists = cache_->recycled.data();
    thread_phase = ThreadPhase::Live;
  }
  ThreadCacheOwner(const ThreadCacheOwner&) = delete;
  ThreadCacheOwner& operator=(const ThreadCacheOwner&) = delete;
  ~ThreadCacheOwner() {
    thread_phase = ThreadPhase::Ended;
    if (cache_ != nullptr) {
      end(*cache_);
    }
  }

 private:
  static void end(ThreadCache& cache) {
    thread_cache = &empty_cache;
    impl::recycled_lists = empty_cache.recycled.data();
    for (impl::RecycledList& list : cache.recycled) {
      clear(list);
    }
    for (List& list : cache.lists) {
      shrink(list, UINT32_MAX);
    }
    Global& g = global();
    std::lock_guard lock(g.mutex);
    for (size_t i = 0; i < kSmallClasses; ++i) {
      g.past_allocations[i] += cache.allocations(i);
      g.past_releases[i] += cache.releases(i);
    }
    ThreadCache** link = &g.caches;
    while (*link != &cache) {
      link = &(*link)->next;
    }
    *link = cache.next;
  }

  const std::unique_ptr<ThreadCache> cache_;
};

// The calling thread's own cache, made on first use; null while the thread ends, and under the address sanitizer, which
// sees errors only if blocks really go.
ThreadCache* own_cache() {
  if (C10_ASAN_ENABLED) {
    return nullptr;
  }
  if (thread_phase == ThreadPhase::New) {
    thread_local ThreadCacheOwner owner;
  }
  return thread_phase == ThreadPhase::Live ? thread_cache : nullptr;
}

// -- Allocation and release -------------------------------------------------------

[[noreturn]] C10_NOINLINE void throw_out_of_memory(size_t bytes) {
  const CPUAllocatorStats stats = cpu_allocator_stats();
  reportOutOfMemoryToProfiler(
      static_cast<int64_t>(bytes), static_cast<size_t>(stats.bytes_in_use),
      static_cast<size_t>(stats.bytes_in_use + stats.bytes_cached), Device(DeviceType::CPU));
  TORCH_CHECK_WITH(
      OutOfMemoryError, false, "DefaultCPUAllocator: not enough memory: you tried to allocate ", bytes,
      " bytes. In use: ", stats.bytes_in_use, " bytes, highest so far: ", stats.peak_bytes_in_use, " bytes.");
}

C10_NOINLINE void* allocate_small_slow(size_t bytes) {
  Global& g = global();
  const uint32_t index = small_class(bytes);
  CPUBlock* block = impl::cpu_system_block(small_class_bytes(index), index);
  if (block == nullptr) {
    g.large.release();
    block = impl::cpu_system_block(small_class_bytes(index), index);
  }
  if (block == nullptr) {
    throw_out_of_memory(bytes);
  }
  g.small_reserved.fetch_add(static_cast<int64_t>(block->bytes), std::memory_order_relaxed);
  g.small_system_allocations.fetch_add(1, std::memory_order_relaxed);
  g.raise_peak();
  if (ThreadCache* cache = own_cache()) {
    cache->lists[index].allocations.increment();
  } else {
    std::lock_guard lock(g.mutex);
    ++g.past_allocations[index];
  }
  return block->data();
}

C10_NOINLINE void* allocate_large(size_t bytes) {
  if (bytes == 0) {
    return nullptr;
  }
  Global& g = global();
  CPUBlock* block = g.large.take(bytes);
  if (block == nullptr) {
    throw_out_of_memory(bytes);
  }
  g.large_in_use.fetch_add(static_cast<int64_t>(block->bytes), std::memory_order_relaxed);
  g.raise_peak();
  return block->data();
}

C10_ALWAYS_INLINE void* allocate_block(size_t bytes) {
  if (C10_LIKELY(bytes - 1 < impl::kCpuSmallMax)) {
    List& list = thread_cache->lists[small_class(bytes)];
    CPUBlock* block = list.head;
    if (C10_LIKELY(block != nullptr)) {
      list.head = block->next;
      ++list.room;
      list.allocations.increment();
      return block->data();
    }
    return allocate_small_slow(bytes);
  }
  return allocate_large(bytes);
}

C10_NOINLINE void release_slow(CPUBlock* block) {
  Global& g = global();
  if (block->size_class == impl::kCpuLargeClass) {
    g.large_in_use.fetch_sub(static_cast<int64_t>(block->bytes), std::memory_order_relaxed);
    g.large.put(block);
    return;
  }
  ThreadCache* cache = own_cache();
  if (cache == nullptr) {
    {
      std::lock_guard lock(g.mutex);
      ++g.past_releases[block->size_class];
    }
    free_small_to_system(block);
    return;
  }
  List& list = cache->lists[block->size_class];
  if (list.room == 0) {
    shrink(list, (list_limit(block->size_class) + 1) / 2);
  }
  block->next = list.head;
  list.head = block;
  --list.room;
  list.releases.increment();
}

C10_ALWAYS_INLINE void release_block(CPUBlock* block) {
  if (C10_LIKELY(block->size_class < kSmallClasses)) {
    List& list = thread_cache->lists[block->size_class];
    if (C10_LIKELY(list.room != 0)) {
      block->next = list.head;
      list.head = block;
      --list.room;
      list.releases.increment();
      return;
    }
  }
  release_slow(block);
}

// -- Reports to a profiler ----------------------------------------------------------

inline bool somebody_listens() {
  return C10_UNLIKELY(impl::memory_reporters.load(std::memory_order_relaxed) != 0);
}

// The sizes that were asked for, which blocks exceed, of what was allocated while a profiler listens.
class ReportedSizes {
 public:
  void add(void* data, size_t bytes) {
    std::unique_lock lock(mutex_);
    sizes_[data] = bytes;
    total_ += bytes;
    tell(data, static_cast<int64_t>(bytes), total_, lock);
  }
  // Of memory from before, the size of its block.
  void remove(void* data) {
    std::unique_lock lock(mutex_);
    size_t bytes = CPUBlock::of(data)->bytes;
    if (const auto place = sizes_.find(data); place != sizes_.end()) {
      bytes = place->second;
      total_ -= bytes;
      sizes_.erase(place);
    }
    tell(data, -static_cast<int64_t>(bytes), total_, lock);
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    sizes_.clear();
    total_ = 0;
  }

 private:
  // Outside of the lock, because a profiler allocates.
  static void tell(void* data, int64_t bytes, size_t total, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    reportMemoryUsageToProfiler(data, bytes, total, /*total_reserved=*/0, Device(DeviceType::CPU));
  }

  std::mutex mutex_;
  std::unordered_map<void*, size_t> sizes_;
  size_t total_ = 0;
};

// Never destroyed: memory is released until the very end of the program.
ReportedSizes& reported_sizes() {
  static ReportedSizes& sizes = *new ReportedSizes();
  return sizes;
}

C10_NOINLINE void* allocate_and_report(size_t bytes) {
  void* data = allocate_block(bytes);
  if (data != nullptr && memoryProfilingEnabled()) {
    reported_sizes().add(data, bytes);
  }
  return data;
}

C10_NOINLINE void release_and_report(void* data) {
  reported_sizes().remove(data);
  release_block(CPUBlock::of(data));
}

C10_ALWAYS_INLINE void* allocate_data(size_t bytes) {
  return somebody_listens() ? allocate_and_report(bytes) : allocate_block(bytes);
}

void release_data(void* data) {
  if (C10_UNLIKELY(data == nullptr)) {
    return;
  }
  if (somebody_listens()) {
    return release_and_report(data);
  }
  release_block(CPUBlock::of(data));
}

class DefaultCPUAllocator final : public Allocator {
 public:
  constexpr DefaultCPUAllocator() = default;

  DataPtr allocate(size_t bytes) override {
    void* data = allocate_data(bytes);
    return {data, data, &release_data, Device(DeviceType::CPU)};
  }
  bool is_simple_data_ptr(const DataPtr& data_ptr) const override {
    return data_ptr.get() == data_ptr.get_context();
  }
  DeleterFnPtr raw_deleter() const override {
    return &release_data;
  }
};

constinit Immortal<DefaultCPUAllocator> default_allocator;

} // namespace

namespace impl {

void forget_reported_sizes() {
  reported_sizes().forget();
}

constinit std::atomic<uint32_t> recycled_tensors_off{0};
__thread RecycledList* recycled_lists __attribute__((tls_model("initial-exec"))) = empty_cache.recycled.data();

namespace {

inline bool is_recycling_off() {
  return (recycled_tensors_off.load(std::memory_order_relaxed) & ~kKnownValues) != 0;
}

} // namespace

C10_NOINLINE void RecycledTensors::become_inference_tensor(TensorImpl* tensor) noexcept {
  tensor->key_set_ = tensor->key_set_ - autograd_dispatch_keyset_with_ADInplaceOrView;
  tensor->version_counter_ = VariableVersion();
}

// The rest of a take() that is not the usual one.
C10_NOINLINE TensorImpl* RecycledTensors::take_unusual(TensorImpl* tensor) noexcept {
  tensor->set_contiguous_flags();
  if (InferenceMode::is_enabled()) {
    become_inference_tensor(tensor);
  }
  return tensor;
}

// These and drop_last() are on the way of every small result: what they call, they call last, so that they need no
// frame.

// For at most kMaxInline sizes, whose products do not overflow.
C10_ALWAYS_INLINE TensorImpl* RecycledTensors::take_class(
    const int64_t* sizes, size_t dim, size_t numel, size_t bytes, caffe2::TypeMeta type) noexcept {
  TensorImpl* const tensor = recycled_lists[small_class(bytes)].take();
  if (C10_UNLIKELY(tensor == nullptr)) {
    return nullptr;
  }
  SizesAndStrides& shape = tensor->sizes_and_strides_;
  shape.resize_in_place(dim);
  int64_t* const own_sizes = shape.sizes_data();
  int64_t* const own_strides = shape.strides_data();
  int64_t stride = 1;
  for (size_t d = dim; d-- > 0;) {
    const int64_t size = sizes[d];
    own_sizes[d] = size;
    own_strides[d] = stride;
    stride *= size;
  }
  tensor->numel_ = static_cast<int64_t>(numel);
  renew(tensor, bytes, type);
  if (C10_UNLIKELY(dim >= 4 || InferenceMode::is_enabled())) {
    return take_unusual(tensor);
  }
  return tensor;
}

TensorImpl* RecycledTensors::take(IntArrayRef sizes, caffe2::TypeMeta type) noexcept {
  const size_t dim = sizes.size();
  if (C10_UNLIKELY(dim > SizesAndStrides::kMaxInline || !type.isScalarType() || is_recycling_off())) {
    return nullptr;
  }
  // Less than 2^12 each and at most five, so that no product overflows.
  uint64_t ones = 0, numel = 1;
  for (size_t d = 0; d < dim; ++d) {
    ones |= static_cast<uint64_t>(sizes[d]);
    numel *= static_cast<uint64_t>(sizes[d]);
  }
  const size_t bytes = numel * type.itemsize();
  if (C10_UNLIKELY(ones >= kSpareMax || bytes - 1 >= kSpareMax)) {
    return nullptr;
  }
  return take_class(sizes.data(), dim, numel, bytes, type);
}

TensorImpl* RecycledTensors::take_like(const TensorImpl& lead, caffe2::TypeMeta type, size_t itemsize) noexcept {
  const size_t numel = static_cast<size_t>(lead.numel_);
  const size_t bytes = numel * itemsize;
  if (C10_LIKELY(lead.sizes_and_strides_.size() == 1 && bytes - 1 < kRecycledFineMax && !is_recycling_off())) {
    TensorImpl* const tensor = take_fine(numel, bytes, type);
    return C10_UNLIKELY(InferenceMode::is_enabled()) && tensor != nullptr ? take_unusual(tensor) : tensor;
  }
  return take_like_any(lead, type, bytes);
}

C10_NOINLINE TensorImpl* RecycledTensors::take_like_any(
    const TensorImpl& lead, caffe2::TypeMeta type, size_t bytes) noexcept {
  const IntArrayRef sizes = lead.sizes_and_strides_.sizes_arrayref();
  if (C10_UNLIKELY(bytes - 1 >= kSpareMax || sizes.size() > SizesAndStrides::kMaxInline || is_recycling_off())) {
    return nullptr;
  }
  return take_class(sizes.data(), sizes.size(), static_cast<size_t>(lead.numel_), bytes, type);
}

intrusive_ptr<TensorImpl, UndefinedTensorImpl> RecycledTensors::make(size_t bytes, caffe2::TypeMeta type) {
  const bool small = bytes - 1 < kSpareMax && C10_LIKELY(!is_recycling_off());
  if (C10_LIKELY(small)) {
    if (TensorImpl* const tensor = recycled_lists[small_class(bytes)].take(); C10_LIKELY(tensor != nullptr)) {
      renew(tensor, bytes, type);
      if (C10_UNLIKELY(InferenceMode::is_enabled())) {
        become_inference_tensor(tensor);
      }
      return intrusive_ptr<TensorImpl, UndefinedTensorImpl>::reclaim(tensor);
    }
  }
  Allocator* const allocator = GetCPUAllocator();
  auto storage = make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(), static_cast<int64_t>(bytes), allocator->allocate(bytes), allocator,
      /*resizable=*/true);
  storage->as_made_ = small;
  auto tensor = make_intrusive<TensorImpl, UndefinedTensorImpl>(
      Storage(std::move(storage)), DispatchKeySet(DispatchKey::CPU), type);
  tensor->traits_.may_be_recycled = small;
  return tensor;
}

C10_ALWAYS_INLINE bool RecycledTensors::keep(TensorImpl* tensor) noexcept {
  const StorageImpl* const memory = tensor->storage_.unsafeGetStorageImpl();
  if (memory == nullptr) {
    __builtin_unreachable(); // who takes the storage away says that the tensor cannot be a spare one
  }
  if (C10_UNLIKELY(
          !tensor->storage_.is_uniquely_owned() || !memory->as_made_ ||
          tensor->sizes_and_strides_.size() > SizesAndStrides::kMaxInline || is_recycling_off())) {
    return false;
  }
  if (C10_UNLIKELY(!recycled_lists[CPUBlock::of(const_cast<void*>(memory->data_ptr_.get()))->size_class].put(tensor))) {
    return false;
  }
  tensor->key_set_ = plain_cpu_keys;
  tensor->traits_.is_wrapped_number = false;
  return true;
}

namespace {

// By the count, as destructors of derived classes see no strong reference.
C10_NOINLINE void delete_tensor(TensorImpl* tensor) noexcept {
  raw::intrusive_ptr::decref(tensor);
}

} // namespace

C10_NOINLINE void RecycledTensors::keep_or_delete(TensorImpl* tensor) noexcept {
  if (C10_LIKELY(tensor->traits_.may_be_recycled)) {
    // Gradients and history may hold tensors that come to the same list in turn, hence before it is looked at.
    tensor->autograd_meta_.reset();
    tensor->version_counter_.restart();
    if (C10_LIKELY(tensor->extra_meta_ == nullptr && keep(tensor))) {
      return;
    }
  }
  delete_tensor(tensor);
}

} // namespace impl

// Here, so that the fate of every small result is one function.
void TensorImpl::drop_last(TensorImpl* self) noexcept {
  const bool has_more = (reinterpret_cast<uintptr_t>(self->autograd_meta_.get()) |
                         reinterpret_cast<uintptr_t>(self->extra_meta_.get())) != 0;
  if (C10_UNLIKELY(
          !self->traits_.may_be_recycled || has_more || !self->version_counter_.restart_in_place() ||
          !impl::RecycledTensors::keep(self))) {
    impl::RecycledTensors::keep_or_delete(self);
  }
}

void* alloc_cpu(size_t nbytes) {
  return allocate_data(nbytes);
}

void free_cpu(void* data) {
  release_data(data);
}

Allocator* GetDefaultCPUAllocator() {
  return &default_allocator.value;
}

Allocator* GetCPUAllocator() {
  return GetAllocator(DeviceType::CPU);
}

void SetCPUAllocator(Allocator* alloc, uint8_t priority) {
  SetAllocator(DeviceType::CPU, alloc, priority);
}

CPUAllocatorStats cpu_allocator_stats() {
  Global& g = global();
  CPUAllocatorStats stats;
  int64_t small_in_use = 0;
  {
    std::lock_guard lock(g.mutex);
    for (size_t i = 0; i < kSmallClasses; ++i) {
      uint64_t allocations = g.past_allocations[i];
      uint64_t releases = g.past_releases[i];
      for (const ThreadCache* cache = g.caches; cache != nullptr; cache = cache->next) {
        allocations += cache->allocations(i);
        releases += cache->releases(i);
      }
      stats.allocations += allocations;
      stats.releases += releases;
      small_in_use += static_cast<int64_t>(allocations - releases) * static_cast<int64_t>(small_class_bytes(i));
    }
  }
  const impl::CPULargeCache::Stats large = g.large.stats();
  stats.bytes_in_use = small_in_use + large.bytes_in_use;
  stats.bytes_cached = g.small_reserved.load(std::memory_order_relaxed) - small_in_use + large.bytes_cached;
  stats.peak_bytes_in_use = g.peak.load(std::memory_order_relaxed);
  stats.allocations += large.allocations;
  stats.releases += large.releases;
  stats.system_allocations = g.small_system_allocations.load(std::memory_order_relaxed) + large.system_allocations;
  return stats;
}

void cpu_allocator_reset_peak() {
  global().peak.store(0, std::memory_order_relaxed);
  global().raise_peak();
}

size_t cpu_allocator_release_cached() {
  size_t bytes = global().large.release();
  if (ThreadCache* cache = own_cache()) {
    for (impl::RecycledList& list : cache->recycled) {
      clear(list);
    }
    for (List& list : cache->lists) {
      bytes += shrink(list, UINT32_MAX);
    }
  }
  small_pool_release(); // among it the small blocks, counted above
  return bytes;
}

void cpu_allocator_set_cache_limit(size_t bytes) {
  global().large.set_limit(bytes);
}

size_t cpu_allocator_cache_limit() {
  return global().large.limit();
}

} // namespace c10
