// Counting for DeviceMemoryPool.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/cuda/impl/DeviceMemoryPool.h>

#include <cstddef>

namespace c10::cuda::impl {

using CachingAllocator::Stat;
using CachingAllocator::StatArray;
using CachingAllocator::StatType;

inline Stat& of_pool(StatArray& stat, const MemoryBlock& block) {
  return stat[static_cast<size_t>(block.small ? StatType::SMALL_POOL : StatType::LARGE_POOL)];
}

inline Stat& in_all(StatArray& stat) {
  return stat[static_cast<size_t>(StatType::AGGREGATE)];
}

inline void increase(StatArray& stat, const MemoryBlock& block, size_t amount) {
  in_all(stat).increase(amount);
  of_pool(stat, block).increase(amount);
}

inline void decrease(StatArray& stat, const MemoryBlock& block, size_t amount) {
  in_all(stat).decrease(amount);
  of_pool(stat, block).decrease(amount);
}

inline size_t current(const StatArray& stat) {
  return static_cast<size_t>(stat[static_cast<size_t>(StatType::AGGREGATE)].current);
}

} // namespace c10::cuda::impl
