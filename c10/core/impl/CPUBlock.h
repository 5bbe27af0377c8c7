#pragma once

#include <cstddef>
#include <cstdint>

namespace c10::impl {

constexpr size_t kCpuBlockAlignment = 64;
/// Requests up to here are served by per-thread lists.
constexpr size_t kCpuSmallMax = 64 * 1024;

/// Header in front of every block of CPU memory. Its size keeps the data aligned. The links are in use while the block
/// is free.
struct alignas(kCpuBlockAlignment) CPUBlock {
  uint32_t size_class; // of the per-thread lists; kCpuLargeClass for blocks of the shared cache
  size_t bytes; // capacity, without the header
  CPUBlock* next;
  CPUBlock* previous;
  CPUBlock* newer;
  CPUBlock* older;

  void* data() {
    return this + 1;
  }
  static CPUBlock* of(void* data) {
    return static_cast<CPUBlock*>(data) - 1;
  }
};
static_assert(sizeof(CPUBlock) == kCpuBlockAlignment, "the header must not move the data off its alignment");

constexpr uint32_t kCpuLargeClass = UINT32_MAX;

/// A block with the given capacity straight from the system; null if there is no memory.
CPUBlock* cpu_system_block(size_t bytes, uint32_t size_class);
void cpu_system_free(CPUBlock* block);

} // namespace c10::impl
