#include "test/support/strict_allocator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#if C10_ASAN_ENABLED
#include <sanitizer/asan_interface.h>
#endif

namespace test {

namespace {

constexpr size_t kGuard = 64; // also the alignment
constexpr unsigned char kGuardByte = 0xC3;
constexpr unsigned char kReleasedByte = 0xDD;

/// Stands before the front guard.
struct alignas(kGuard) Header {
  Header* previous;
  Header* next;
  size_t bytes;

  unsigned char* front() {
    return reinterpret_cast<unsigned char*>(this) + sizeof(Header);
  }
  unsigned char* data() {
    return front() + kGuard;
  }
  unsigned char* back() {
    return data() + bytes;
  }
  static Header* of(void* data) {
    return reinterpret_cast<Header*>(static_cast<unsigned char*>(data) - kGuard - sizeof(Header));
  }
};

struct State {
  std::mutex mutex;
  Header* blocks = nullptr;
  size_t live_blocks = 0;
  size_t live_bytes = 0;
  size_t block_limit = SIZE_MAX;
  size_t total_limit = SIZE_MAX;
  unsigned char fill = 0xFF; // NaN in every floating dtype
  int64_t allocations = 0;
  int64_t fail_at = 0;
  bool refused = false;
  std::string damage;
};

State& state() {
  static State* const kept = new State; // tensors in static variables are released last of all
  return *kept;
}

#if C10_ASAN_ENABLED
// The sanitizer watches the guards and tells who touched them.
void close_guards(Header* block) {
  __asan_poison_memory_region(block->front(), kGuard);
  __asan_poison_memory_region(block->back(), kGuard);
}
void open_guards(Header* block) {
  __asan_unpoison_memory_region(block->front(), kGuard);
  __asan_unpoison_memory_region(block->back(), kGuard);
}
std::string damage_of(Header*) {
  return {};
}
#else
void close_guards(Header* block) {
  std::memset(block->front(), kGuardByte, kGuard);
  std::memset(block->back(), kGuardByte, kGuard);
}
void open_guards(Header*) {}
std::string damage_of(Header* block) {
  for (size_t i = 0; i < kGuard; ++i) {
    if (block->front()[i] != kGuardByte) {
      return "wrote " + std::to_string(kGuard - i) + " bytes before a block of " + std::to_string(block->bytes);
    }
    if (block->back()[i] != kGuardByte) {
      return "wrote " + std::to_string(i) + " bytes behind a block of " + std::to_string(block->bytes);
    }
  }
  return {};
}
#endif

void release(void* data) {
  if (data == nullptr) {
    return;
  }
  Header* block = Header::of(data);
  {
    State& s = state();
    std::lock_guard lock(s.mutex);
    if (s.damage.empty()) {
      s.damage = damage_of(block);
    }
    (block->previous != nullptr ? block->previous->next : s.blocks) = block->next;
    if (block->next != nullptr) {
      block->next->previous = block->previous;
    }
    --s.live_blocks;
    s.live_bytes -= block->bytes;
  }
  open_guards(block);
  std::memset(block->data(), kReleasedByte, block->bytes);
  std::free(block);
}

[[noreturn]] void refuse(size_t bytes) {
  TORCH_CHECK_WITH(
      OutOfMemoryError, false, "StrictAllocator: not enough memory: you tried to allocate ", bytes, " bytes.");
}

} // namespace

StrictAllocator& StrictAllocator::install() {
  static StrictAllocator* const allocator = new StrictAllocator;
  c10::SetCPUAllocator(allocator, /*priority=*/100);
  return *allocator;
}

void StrictAllocator::uninstall() {
  c10::SetCPUAllocator(c10::GetDefaultCPUAllocator(), /*priority=*/100);
}

c10::DataPtr StrictAllocator::allocate(size_t bytes) {
  const c10::Device cpu(c10::DeviceType::CPU);
  if (bytes == 0) {
    return {nullptr, nullptr, &release, cpu};
  }
  State& s = state();
  unsigned char fill;
  {
    std::lock_guard lock(s.mutex);
    fill = s.fill;
    const bool chosen = ++s.allocations == s.fail_at;
    s.refused |= chosen;
    if (chosen || bytes > SIZE_MAX / 2 || bytes > s.block_limit || bytes > s.total_limit ||
        s.live_bytes > s.total_limit - bytes) {
      refuse(bytes);
    }
  }
  const size_t rounded = (sizeof(Header) + kGuard + bytes + 2 * kGuard - 1) / kGuard * kGuard;
  auto* block = static_cast<Header*>(std::aligned_alloc(kGuard, rounded));
  if (block == nullptr) {
    refuse(bytes);
  }
  block->bytes = bytes;
  std::memset(block->data(), fill, bytes);
  close_guards(block);
  std::lock_guard lock(s.mutex);
  block->previous = nullptr;
  block->next = s.blocks;
  if (s.blocks != nullptr) {
    s.blocks->previous = block;
  }
  s.blocks = block;
  ++s.live_blocks;
  s.live_bytes += bytes;
  return {block->data(), block->data(), &release, cpu};
}

c10::DeleterFnPtr StrictAllocator::raw_deleter() const {
  return &release;
}

void StrictAllocator::set_limits(size_t block, size_t total) {
  std::lock_guard lock(state().mutex);
  state().block_limit = block;
  state().total_limit = total;
}

void StrictAllocator::set_fill(uint8_t fill) {
  std::lock_guard lock(state().mutex);
  state().fill = fill;
}

void StrictAllocator::fail_at(int64_t k) {
  std::lock_guard lock(state().mutex);
  state().allocations = 0;
  state().refused = false;
  state().fail_at = k;
}

int64_t StrictAllocator::allocations() const {
  std::lock_guard lock(state().mutex);
  return state().allocations;
}

bool StrictAllocator::refused() const {
  std::lock_guard lock(state().mutex);
  return state().refused;
}

size_t StrictAllocator::live_blocks() const {
  std::lock_guard lock(state().mutex);
  return state().live_blocks;
}

size_t StrictAllocator::live_bytes() const {
  std::lock_guard lock(state().mutex);
  return state().live_bytes;
}

std::string StrictAllocator::find_damage() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  std::string found = std::move(s.damage);
  s.damage.clear();
  for (Header* block = s.blocks; block != nullptr && found.empty(); block = block->next) {
    found = damage_of(block);
  }
  return found;
}

} // namespace test
