#include <c10/core/impl/SmallRuns.h>

#include <sys/mman.h>

#include <new>
#include <utility>

namespace c10::impl {

struct alignas(kSmallPoolGrain) SmallRuns::Run {
  Run* next; // among the open runs of the class, or among the waiting ones
  Run* previous;
  SmallPoolBlock* returned;
  size_t block_bytes;
  size_t index;
  size_t capacity;
  size_t cut; // blocks handed out at least once
  size_t free; // blocks returned or never cut

  static Run* of(SmallPoolBlock* block) {
    return reinterpret_cast<Run*>(reinterpret_cast<uintptr_t>(block) & ~(uintptr_t{kRunBytes} - 1));
  }

  void begin(size_t class_index) {
    index = class_index;
    block_bytes = (class_index + 1) * kSmallPoolGrain;
    capacity = (kRunBytes - sizeof(Run)) / block_bytes;
    returned = nullptr;
    cut = 0;
    free = capacity;
  }

  SmallPoolBlock* pop() {
    --free;
    if (returned != nullptr) {
      return std::exchange(returned, returned->next);
    }
    char* const first = reinterpret_cast<char*>(this + 1);
    return reinterpret_cast<SmallPoolBlock*>(first + block_bytes * cut++);
  }

  void link(Run*& list) {
    previous = nullptr;
    next = list;
    if (list != nullptr) {
      list->previous = this;
    }
    list = this;
  }

  void unlink(Run*& list) {
    (previous != nullptr ? previous->next : list) = next;
    if (next != nullptr) {
      next->previous = previous;
    }
  }
};

SmallRuns::Run* SmallRuns::map_run() {
  constexpr int kProtection = PROT_READ | PROT_WRITE;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  const auto aligned = [](void* p) { return reinterpret_cast<uintptr_t>(p) % kRunBytes == 0; };
  // Below the run that was mapped last, most often.
  void* memory = ::mmap(nullptr, kRunBytes, kProtection, kFlags, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  if (!aligned(memory)) {
    ::munmap(memory, kRunBytes);
    memory = ::mmap(nullptr, 2 * kRunBytes, kProtection, kFlags, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    char* const begin = static_cast<char*>(memory);
    const size_t before = (kRunBytes - reinterpret_cast<uintptr_t>(begin) % kRunBytes) % kRunBytes;
    if (before != 0) {
      ::munmap(begin, before);
    }
    ::munmap(begin + before + kRunBytes, kRunBytes - before);
    memory = begin + before;
  }
  return static_cast<Run*>(memory);
}

SmallRuns::Run* SmallRuns::fresh_run(size_t index) {
  Run* run = spare_;
  if (run != nullptr) {
    spare_ = run->next;
    --spare_count_;
  } else {
    run = map_run();
  }
  run->begin(index);
  run->link(open_[index]);
  return run;
}

SmallPoolBlock* SmallRuns::take(size_t index, size_t count) {
  std::lock_guard lock(mutex_);
  Run* const run = open_[index] != nullptr ? open_[index] : fresh_run(index);
  SmallPoolBlock* chain = nullptr;
  for (; count != 0 && run->free != 0; --count) {
    SmallPoolBlock* const block = run->pop();
    block->next = chain;
    chain = block;
  }
  if (run->free == 0) {
    run->unlink(open_[index]);
  }
  return chain;
}

void SmallRuns::put_block(SmallPoolBlock* block, Run*& dropped) noexcept {
  Run* const run = Run::of(block);
  block->next = run->returned;
  run->returned = block;
  if (run->free++ == 0) {
    run->link(open_[run->index]);
  }
  if (run->free == run->capacity) {
    run->unlink(open_[run->index]);
    if (spare_count_ < kSpareRuns) {
      run->next = std::exchange(spare_, run);
      ++spare_count_;
    } else {
      run->next = std::exchange(dropped, run);
    }
  }
}

void SmallRuns::put(SmallPoolBlock* chain) noexcept {
  Run* dropped = nullptr;
  {
    std::lock_guard lock(mutex_);
    while (chain != nullptr) {
      put_block(std::exchange(chain, chain->next), dropped);
    }
  }
  while (dropped != nullptr) {
    ::munmap(std::exchange(dropped, dropped->next), kRunBytes);
  }
}

size_t SmallRuns::release() noexcept {
  Run* waiting = nullptr;
  {
    std::lock_guard lock(mutex_);
    waiting = std::exchange(spare_, nullptr);
    spare_count_ = 0;
  }
  size_t bytes = 0;
  while (waiting != nullptr) {
    ::munmap(std::exchange(waiting, waiting->next), kRunBytes);
    bytes += kRunBytes;
  }
  return bytes;
}

} // namespace c10::impl
