// Pinned host memory: memory that a device copies from and to by itself while the host goes on.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/macros/Export.h>

#include <cstddef>
#include <optional>

namespace at::cuda {

/// Pinning takes the driver long, so blocks are kept and used again, once the copies recorded on them are done.
TORCH_CUDA_CPP_API c10::Allocator* getCachingHostAllocator();
inline c10::Allocator* getPinnedMemoryAllocator() {
  return getCachingHostAllocator();
}
inline c10::DataPtr HostAlloc(size_t size) {
  return getCachingHostAllocator()->allocate(size);
}

/// The block that `ptr` lies in is not used again before the work that the stream has now is done. `ctx` is the context
/// of its DataPtr. False if this allocator did not give the memory.
TORCH_CUDA_CPP_API bool CachingHostAllocator_recordEvent(void* ptr, void* ctx, c10::cuda::CUDAStream stream);
/// Memory that the graph of this capture copies from or to is its own no more. `last_replay`: the stream of it, if
/// there was one.
TORCH_CUDA_CPP_API void CachingHostAllocator_releaseCapture(
    c10::CaptureId_t id, std::optional<c10::cuda::CUDAStream> last_replay);
/// Gives unused blocks back to the system.
TORCH_CUDA_CPP_API void CachingHostAllocator_emptyCache();

/// Is it pinned, by this allocator or otherwise?
TORCH_CUDA_CPP_API bool isPinnedPtr(const void* data);

} // namespace at::cuda
