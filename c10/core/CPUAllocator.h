#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/alignment.h>
#include <c10/macros/Export.h>

#include <cstddef>
#include <cstdint>

// Note [CPU memory]
// Results of operators are made and dropped at a high rate, and a fresh page from the system costs more than most
// kernels that fill it. Blocks of up to 64 KiB come from free lists of the calling thread, by size class; larger ones
// from a cache that all threads share, keyed by rounded size, bounded in bytes, the longest unused dropped first.
// A block may be freed on any thread and goes to that thread's list.

namespace c10 {

/// The allocator of CPU tensors: the one set with SetCPUAllocator, or the default.
C10_API Allocator* GetCPUAllocator();
/// Replaces the CPU allocator, see SetAllocator.
C10_API void SetCPUAllocator(Allocator* alloc, uint8_t priority = 0);
/// The pooled allocator described in Note [CPU memory].
C10_API Allocator* GetDefaultCPUAllocator();

/// State of the default CPU allocator, in bytes of block capacity (requests are rounded up).
struct C10_API CPUAllocatorStats {
  int64_t bytes_in_use = 0;
  /// Kept for later requests, in the shared cache and in the threads' lists.
  int64_t bytes_cached = 0;
  /// Highest number of bytes in use; small blocks that threads keep count as used here.
  int64_t peak_bytes_in_use = 0;
  uint64_t allocations = 0;
  uint64_t releases = 0;
  /// How many allocations had to ask the system.
  uint64_t system_allocations = 0;
};

/// A snapshot. Other threads' counts of this very moment may be missing.
C10_API CPUAllocatorStats cpu_allocator_stats();
/// The peak starts again from what is in use now.
C10_API void cpu_allocator_reset_peak();

/// Gives the shared cache and the calling thread's lists back to the system; returns the number of bytes.
C10_API size_t cpu_allocator_release_cached();

/// Bound of the shared cache in bytes. It begins as the environment's LIBTENSOR_CPU_CACHE_BYTES, or else as an eighth
/// of the memory, at most 1 GiB. Zero turns the cache off. Lowering it frees what is too much.
C10_API void cpu_allocator_set_cache_limit(size_t bytes);
C10_API size_t cpu_allocator_cache_limit();

} // namespace c10
