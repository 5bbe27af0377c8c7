#include <c10/core/SmallPool.h>

#include <c10/core/impl/SmallRuns.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace c10 {

namespace impl {

namespace {

// Blocks a thread keeps per class, and how many move at a time between a thread and the runs.
constexpr uint32_t kListLimit = 128;
constexpr uint32_t kBatch = 32;

constinit SmallPoolCache empty_cache{};

size_t class_of(size_t bytes) {
  return bytes == 0 ? 0 : (bytes - 1) / kSmallPoolGrain;
}

constinit SmallRuns runs;

// Splits the first `count` blocks off a list.
[[maybe_unused]] SmallPoolBlock* detach(SmallPoolList& list, uint32_t count) {
  SmallPoolBlock* first = list.head;
  SmallPoolBlock* last = first;
  for (uint32_t i = 1; i < count; ++i) {
    last = last->next;
  }
  list.head = last->next;
  list.room += count;
  last->next = nullptr;
  return first;
}

[[maybe_unused]] void attach(SmallPoolList& list, SmallPoolBlock* chain) {
  while (chain != nullptr) {
    SmallPoolBlock* block = std::exchange(chain, chain->next);
    block->next = list.head;
    list.head = block;
    --list.room;
  }
}

enum class ThreadPhase : uint8_t { New, Live, Ended };
__thread ThreadPhase phase = ThreadPhase::New;

// Owns a thread's cache. Its destructor may run before those of other thread-local objects that still hold pool
// blocks: from then on the thread works on the runs directly.
class ThreadCacheOwner {
 public:
  ThreadCacheOwner() : cache_(new(std::nothrow) SmallPoolCache{}) {
    if (cache_ == nullptr) {
      phase = ThreadPhase::Ended; // no memory: the thread lives without a cache
      return;
    }
    for (SmallPoolList& list : cache_->lists) {
      list.room = kListLimit;
    }
    small_pool_cache = cache_.get();
    phase = ThreadPhase::Live;
  }
  ThreadCacheOwner(const ThreadCacheOwner&) = delete;
  ThreadCacheOwner& operator=(const ThreadCacheOwner&) = delete;
  ~ThreadCacheOwner() {
    phase = ThreadPhase::Ended;
    small_pool_cache = &empty_cache;
    if (cache_ == nullptr) {
      return;
    }
    for (SmallPoolList& list : cache_->lists) {
      runs.put(list.head);
    }
  }

 private:
  const std::unique_ptr<SmallPoolCache> cache_; // few thread-local bytes, as in CPUAllocator.cpp
};

// The thread's cache, made on first use; null once the thread is ending.
SmallPoolCache* thread_cache() {
  if (phase == ThreadPhase::New) {
    thread_local ThreadCacheOwner owner;
  }
  return phase == ThreadPhase::Live ? small_pool_cache : nullptr;
}

} // namespace

__thread SmallPoolCache* small_pool_cache __attribute__((tls_model("initial-exec"))) = &empty_cache;

void* small_alloc_slow(size_t bytes) {
  if (bytes > kSmallPoolMaxBytes) {
    return ::operator new(bytes);
  }
#ifdef C10_SMALL_POOL_BYPASS
  void* const block = std::aligned_alloc(kSmallPoolGrain, (class_of(bytes) + 1) * kSmallPoolGrain);
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  return block;
#else
  const size_t index = class_of(bytes);
  SmallPoolCache* cache = thread_cache();
  if (cache == nullptr) {
    return runs.take(index, 1);
  }
  SmallPoolList& list = cache->lists[index];
  if (list.head == nullptr) {
    attach(list, runs.take(index, kBatch));
  }
  return detach(list, 1);
#endif
}

void small_free_slow(void* block, size_t bytes) noexcept {
  if (block == nullptr) {
    return;
  }
  if (bytes > kSmallPoolMaxBytes) {
    ::operator delete(block);
    return;
  }
#ifdef C10_SMALL_POOL_BYPASS
  std::free(block);
#else
  const size_t index = class_of(bytes);
  SmallPoolCache* cache = thread_cache();
  auto* freed = static_cast<SmallPoolBlock*>(block);
  freed->next = nullptr;
  if (cache == nullptr) {
    runs.put(freed);
    return;
  }
  SmallPoolList& list = cache->lists[index];
  if (list.room == 0) {
    runs.put(detach(list, kBatch));
  }
  attach(list, freed);
#endif
}

} // namespace impl

size_t small_pool_release() {
  if (impl::SmallPoolCache* cache = impl::thread_cache()) {
    for (impl::SmallPoolList& list : cache->lists) {
      list.room = impl::kListLimit;
      impl::runs.put(std::exchange(list.head, nullptr));
    }
  }
  return impl::runs.release();
}

} // namespace c10
