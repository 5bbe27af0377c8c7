#include <c10/core/impl/CPULargeCache.h>

#include <c10/core/SmallPool.h>
#include <c10/macros/Macros.h>

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

namespace c10::impl {

namespace {

// From here on blocks are mappings of their own: freeing them returns the memory at once, and the kernel is asked for
// huge pages, which take a five-hundredth of the page faults.
constexpr size_t kMapFrom = size_t{1} << 20;
constexpr size_t kHugePagesFrom = size_t{4} << 20;

constexpr size_t kSmallestClassBits = 17;

struct LargeClass {
  size_t index;
  size_t bytes;
};

LargeClass large_class(size_t bytes) {
  const size_t bits = static_cast<size_t>(std::bit_width(bytes - 1));
  const size_t step_bits = bits - 4;
  const size_t steps = ((bytes - 1) >> step_bits) + 1; // 9..16
  return {(bits - kSmallestClassBits) * 8 + steps - 9, steps << step_bits};
}

struct Memory {
  uint64_t ram;
  uint64_t total; // with swap
};

Memory system_memory() {
  struct sysinfo info {};
  if (::sysinfo(&info) != 0) {
    constexpr auto unknown = std::numeric_limits<uint64_t>::max();
    return {unknown, unknown};
  }
  const uint64_t unit = info.mem_unit;
  return {info.totalram * unit, (info.totalram + info.totalswap) * unit};
}

size_t default_limit() {
  if (const char* text = std::getenv("LIBTENSOR_CPU_CACHE_BYTES")) {
    char* end = nullptr;
    errno = 0;
    const unsigned long long bytes = std::strtoull(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0) {
      return bytes;
    }
  }
  return static_cast<size_t>(std::min<uint64_t>(uint64_t{1} << 30, system_memory().ram / 8));
}

void free_chain(CPUBlock* chain) {
  while (chain != nullptr) {
    cpu_system_free(std::exchange(chain, chain->next));
  }
}

} // namespace

CPUBlock* cpu_system_block(size_t bytes, uint32_t size_class) {
  const size_t total = bytes + sizeof(CPUBlock);
  void* memory = nullptr;
  if (total <= kSmallPoolMaxBytes) {
    try {
      memory = small_alloc(total);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  } else if (bytes < kMapFrom) {
    memory = std::aligned_alloc(kCpuBlockAlignment, total);
  } else {
    // A kernel that overcommits would say yes and kill the process when the pages are touched.
    static const uint64_t all_memory = system_memory().total;
    if (total > all_memory) {
      return nullptr;
    }
    memory = ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return nullptr;
    }
    if (bytes >= kHugePagesFrom) {
      ::madvise(memory, total, MADV_HUGEPAGE);
    }
  }
  if (memory == nullptr) {
    return nullptr;
  }
  auto* block = static_cast<CPUBlock*>(memory);
  block->size_class = size_class;
  block->bytes = bytes;
  return block;
}

void cpu_system_free(CPUBlock* block) {
  const size_t total = block->bytes + sizeof(CPUBlock);
  if (total <= kSmallPoolMaxBytes) {
    small_free(block, total);
  } else if (block->bytes < kMapFrom) {
    std::free(block);
  } else {
    ::munmap(block, total);
  }
}

CPUBlock* CPULargeCache::take(size_t bytes) {
  constexpr size_t kLargest = size_t{1} << 47;
  if (bytes > kLargest) {
    return nullptr;
  }
  const LargeClass wanted = large_class(bytes);
  {
    std::lock_guard lock(mutex_);
    if (CPUBlock* block = by_class_[wanted.index]) {
      unlink(block);
      stats_.bytes_cached -= static_cast<int64_t>(block->bytes);
      stats_.bytes_in_use += static_cast<int64_t>(block->bytes);
      ++stats_.allocations;
      return block;
    }
  }
  CPUBlock* block = cpu_system_block(wanted.bytes, kCpuLargeClass);
  if (block == nullptr && release() != 0) {
    block = cpu_system_block(wanted.bytes, kCpuLargeClass);
  }
  if (block != nullptr) {
    std::lock_guard lock(mutex_);
    stats_.bytes_in_use += static_cast<int64_t>(block->bytes);
    ++stats_.allocations;
    ++stats_.system_allocations;
  }
  return block;
}

void CPULargeCache::put(CPUBlock* block) {
  CPUBlock* dropped = nullptr;
  {
    std::lock_guard lock(mutex_);
    stats_.bytes_in_use -= static_cast<int64_t>(block->bytes);
    ++stats_.releases;
    const size_t limit = limit_locked();
    if (C10_ASAN_ENABLED || block->bytes > limit) {
      block->next = nullptr;
      dropped = block;
    } else {
      dropped = trim(limit - block->bytes);
      CPUBlock*& head = by_class_[large_class(block->bytes).index];
      block->previous = nullptr;
      block->next = head;
      if (head != nullptr) {
        head->previous = block;
      }
      head = block;
      block->newer = nullptr;
      block->older = newest_;
      (newest_ != nullptr ? newest_->newer : oldest_) = block;
      newest_ = block;
      stats_.bytes_cached += static_cast<int64_t>(block->bytes);
    }
  }
  free_chain(dropped);
}

void CPULargeCache::unlink(CPUBlock* block) {
  (block->previous != nullptr ? block->previous->next : by_class_[large_class(block->bytes).index]) = block->next;
  if (block->next != nullptr) {
    block->next->previous = block->previous;
  }
  (block->older != nullptr ? block->older->newer : oldest_) = block->newer;
  (block->newer != nullptr ? block->newer->older : newest_) = block->older;
}

CPUBlock* CPULargeCache::trim(size_t bytes) {
  CPUBlock* chain = nullptr;
  while (oldest_ != nullptr && static_cast<size_t>(stats_.bytes_cached) > bytes) {
    CPUBlock* block = oldest_;
    unlink(block);
    stats_.bytes_cached -= static_cast<int64_t>(block->bytes);
    block->next = chain;
    chain = block;
  }
  return chain;
}

size_t CPULargeCache::release() {
  CPUBlock* chain = nullptr;
  size_t bytes = 0;
  {
    std::lock_guard lock(mutex_);
    bytes = static_cast<size_t>(stats_.bytes_cached);
    chain = trim(0);
  }
  free_chain(chain);
  return bytes;
}

size_t CPULargeCache::limit_locked() {
  if (!limit_known_) {
    limit_ = default_limit();
    limit_known_ = true;
  }
  return limit_;
}

size_t CPULargeCache::limit() {
  std::lock_guard lock(mutex_);
  return limit_locked();
}

void CPULargeCache::set_limit(size_t bytes) {
  CPUBlock* chain = nullptr;
  {
    std::lock_guard lock(mutex_);
    limit_ = bytes;
    limit_known_ = true;
    chain = trim(bytes);
  }
  free_chain(chain);
}

CPULargeCache::Stats CPULargeCache::stats() {
  std::lock_guard lock(mutex_);
  return stats_;
}

} // namespace c10::impl
