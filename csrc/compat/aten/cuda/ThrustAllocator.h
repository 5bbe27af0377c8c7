#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>

namespace at::cuda {

/// Gives Thrust's algorithms their temporary memory: `thrust::cuda::par(allocator).on(stream)`.
class ThrustAllocator {
 public:
  using value_type = char;

  char* allocate(std::ptrdiff_t size) {
    return static_cast<char*>(c10::cuda::CUDACachingAllocator::raw_alloc(static_cast<size_t>(size)));
  }
  void deallocate(char* p, size_t /*size*/) {
    c10::cuda::CUDACachingAllocator::raw_delete(p);
  }
};

} // namespace at::cuda
