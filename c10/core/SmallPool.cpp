#include <c10/core/SmallPool.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace c10 {

namespace impl {

namespace {

// Blocks a thread keeps per class, and how many move at a time between a thread and the shared store.
constexpr uint32_t kListLimit = 128;
constexpr uint32_t kBatch = 32;
// Batches the shared store keeps per class; further ones go back to the system.
constexpr uint32_t kStoreLimit = 64;

constinit SmallPoolCache empty_cache{};

constexpr size_t class_bytes(size_t index) {
  return (index + 1) * kSmallPoolGrain;
}

size_t class_of(size_t bytes) {
  return bytes == 0 ? 0 : (bytes - 1) / kSmallPoolGrain;
}

SmallPoolBlock* system_block(size_t index) {
  void* block = std::aligned_alloc(kSmallPoolGrain, class_bytes(index));
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  return static_cast<SmallPoolBlock*>(block);
}

size_t free_chain(SmallPoolBlock* chain) {
  size_t count = 0;
  while (chain != nullptr) {
    std::free(std::exchange(chain, chain->next));
    ++count;
  }
  return count;
}

// Chains of blocks that no thread owns. Trivially destructible, so it outlives every static and thread-local object.
class Store {
 public:
  // Gives a chain of at most kBatch blocks, or null.
  SmallPoolBlock* take(size_t index) {
    std::lock_guard lock(mutex_);
    Shelf& shelf = shelves_[index];
    return shelf.count == 0 ? nullptr : shelf.chains[--shelf.count];
  }

  void put(size_t index, SmallPoolBlock* chain) noexcept {
    {
      std::lock_guard lock(mutex_);
      Shelf& shelf = shelves_[index];
      if (shelf.count < kStoreLimit) {
        shelf.chains[shelf.count++] = chain;
        return;
      }
    }
    free_chain(chain);
  }

 private:
  struct Shelf {
    SmallPoolBlock* chains[kStoreLimit] = {};
    uint32_t count = 0;
  };
  std::mutex mutex_;
  Shelf shelves_[kSmallPoolClasses];
};

constinit Store store;

// Splits the first `count` blocks off a list.
SmallPoolBlock* detach(SmallPoolList& list, uint32_t count) {
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

void attach(SmallPoolList& list, SmallPoolBlock* chain) {
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
// blocks: from then on the thread works on the shared store directly.
struct ThreadCacheOwner {
  SmallPoolCache cache{};

  ThreadCacheOwner() {
    for (SmallPoolList& list : cache.lists) {
      list.room = kListLimit;
    }
    small_pool_cache = &cache;
    phase = ThreadPhase::Live;
  }
  ThreadCacheOwner(const ThreadCacheOwner&) = delete;
  ThreadCacheOwner& operator=(const ThreadCacheOwner&) = delete;
  ~ThreadCacheOwner() {
    phase = ThreadPhase::Ended;
    small_pool_cache = &empty_cache;
    for (size_t index = 0; index < kSmallPoolClasses; ++index) {
      SmallPoolList& list = cache.lists[index];
      while (list.head != nullptr) {
        store.put(index, detach(list, std::min(kBatch, kListLimit - list.room)));
      }
    }
  }
};

// The thread's cache, made on first use; null once the thread is ending.
SmallPoolCache* thread_cache() {
  if (phase == ThreadPhase::New) {
    thread_local ThreadCacheOwner owner;
    return &owner.cache;
  }
  return phase == ThreadPhase::Live ? small_pool_cache : nullptr;
}

} // namespace

__thread SmallPoolCache* small_pool_cache __attribute__((tls_model("initial-exec"))) = &empty_cache;

void* small_alloc_slow(size_t bytes) {
  if (bytes > kSmallPoolMaxBytes) {
    return ::operator new(bytes);
  }
  const size_t index = class_of(bytes);
#ifdef C10_SMALL_POOL_BYPASS
  return system_block(index);
#else
  SmallPoolCache* cache = thread_cache();
  if (cache == nullptr) {
    return system_block(index);
  }
  SmallPoolList& list = cache->lists[index];
  if (list.head == nullptr) {
    attach(list, store.take(index));
  }
  if (list.head == nullptr) {
    return system_block(index);
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
    std::free(freed);
    return;
  }
  SmallPoolList& list = cache->lists[index];
  if (list.room == 0) {
    store.put(index, detach(list, kBatch));
  }
  attach(list, freed);
#endif
}

} // namespace impl

size_t small_pool_release() {
  size_t bytes = 0;
  for (size_t index = 0; index < impl::kSmallPoolClasses; ++index) {
    size_t blocks = 0;
    while (impl::SmallPoolBlock* chain = impl::store.take(index)) {
      blocks += impl::free_chain(chain);
    }
    if (impl::SmallPoolCache* cache = impl::thread_cache()) {
      impl::SmallPoolList& list = cache->lists[index];
      list.room = impl::kListLimit;
      blocks += impl::free_chain(std::exchange(list.head, nullptr));
    }
    bytes += blocks * impl::class_bytes(index);
  }
  return bytes;
}

} // namespace c10
