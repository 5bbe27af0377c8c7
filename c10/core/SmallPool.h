#pragma once

#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>

#include <cstddef>
#include <cstdint>
#include <new>

// Note [Small pool]
// Tensors, storages and autograd nodes are made and dropped at every operator call. They come from free lists that each
// thread owns, one per multiple of 64 bytes, so that making one is a handful of instructions without locks. A block
// goes to the list of the thread that frees it. Lists are bounded; a full list hands a batch to the shared runs (Note
// [Small runs]), where an empty list gets its blocks, so a thread that only makes and one that only drops feed each
// other. Builds with the address sanitizer allocate each block alone. A program may be built so and the library not, or
// the other way round: what the inline functions cannot serve from the lists goes through the library.

namespace c10 {

/// Largest request the pool serves; larger ones go to the system allocator.
constexpr size_t kSmallPoolMaxBytes = 1024;

namespace impl {

struct SmallPoolBlock {
  SmallPoolBlock* next;
};

struct SmallPoolList {
  SmallPoolBlock* head;
  uint32_t room; // how many more blocks the list takes
};

constexpr size_t kSmallPoolGrain = 64;
constexpr size_t kSmallPoolClasses = kSmallPoolMaxBytes / kSmallPoolGrain;

struct SmallPoolCache {
  SmallPoolList lists[kSmallPoolClasses];
};

// Points to a shared cache that is always empty and full at once, until the thread's first use and after its end.
extern C10_API __thread SmallPoolCache* small_pool_cache __attribute__((tls_model("initial-exec")));

C10_API void* small_alloc_slow(size_t bytes);
C10_API void small_free_slow(void* block, size_t bytes) noexcept;

} // namespace impl

#if defined(__SANITIZE_ADDRESS__)
#define C10_SMALL_POOL_BYPASS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define C10_SMALL_POOL_BYPASS 1
#endif
#endif

/// Returns at least `bytes` bytes, aligned to 64 if bytes <= kSmallPoolMaxBytes. Throws std::bad_alloc.
inline void* small_alloc(size_t bytes) {
#ifndef C10_SMALL_POOL_BYPASS
  const size_t index = (bytes - 1) / impl::kSmallPoolGrain; // zero bytes wrap around to the slow path
  if (C10_LIKELY(index < impl::kSmallPoolClasses)) {
    impl::SmallPoolList& list = impl::small_pool_cache->lists[index];
    impl::SmallPoolBlock* block = list.head;
    if (C10_LIKELY(block != nullptr)) {
      list.head = block->next;
      ++list.room;
      return block;
    }
  }
#endif
  return impl::small_alloc_slow(bytes);
}

/// Gives back what small_alloc returned for the same number of bytes. Any thread may do so, at any time, during thread
/// exit and static destruction too.
inline void small_free(void* block, size_t bytes) noexcept {
#ifndef C10_SMALL_POOL_BYPASS
  const size_t index = (bytes - 1) / impl::kSmallPoolGrain;
  if (C10_LIKELY(index < impl::kSmallPoolClasses && block != nullptr)) {
    impl::SmallPoolList& list = impl::small_pool_cache->lists[index];
    if (C10_LIKELY(list.room != 0)) {
      auto* freed = static_cast<impl::SmallPoolBlock*>(block);
      freed->next = list.head;
      list.head = freed;
      --list.room;
      return;
    }
  }
#endif
  impl::small_free_slow(block, bytes);
}

/// Returns the calling thread's free blocks, and runs of blocks that nobody uses, to the system; gives the number of
/// bytes.
C10_API size_t small_pool_release();

/// Allocator over the pool for standard containers and std::allocate_shared. Meant for single small objects; arrays
/// above kSmallPoolMaxBytes work as with std::allocator.
template <class T>
struct PoolAllocator {
  using value_type = T;

  PoolAllocator() noexcept = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) noexcept {}

  T* allocate(size_t n) {
    static_assert(alignof(T) <= 64, "the pool aligns to 64 bytes");
    if (C10_UNLIKELY(n > static_cast<size_t>(-1) / 2 / sizeof(T))) {
      throw std::bad_array_new_length();
    }
    return static_cast<T*>(small_alloc(n * sizeof(T)));
  }
  void deallocate(T* p, size_t n) noexcept {
    small_free(p, n * sizeof(T));
  }

  template <class U>
  bool operator==(const PoolAllocator<U>&) const noexcept {
    return true;
  }
  template <class U>
  bool operator!=(const PoolAllocator<U>&) const noexcept {
    return false;
  }
};

/// Base that makes `new` and `delete` of a class and of classes derived from it use the pool. A class meant to be
/// deleted through a base needs a virtual destructor, which also tells delete the true size.
struct PoolAllocated {
  static void* operator new(size_t bytes) {
    return small_alloc(bytes);
  }
  static void* operator new(size_t, void* place) noexcept {
    return place;
  }
  static void operator delete(void* p, size_t bytes) noexcept {
    small_free(p, bytes);
  }
  static void operator delete(void*, void*) noexcept {}
};

} // namespace c10
