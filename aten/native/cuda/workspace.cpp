#include <aten/native/cuda/workspace.h>

#include <c10/cuda/CUDACachingAllocator.h>

namespace at::native::cuda {

Workspace::Workspace(std::size_t bytes, cudaStream_t stream)
    : data_(c10::cuda::CUDACachingAllocator::raw_alloc_with_stream(bytes, stream)) {}

Workspace::~Workspace() {
  c10::cuda::CUDACachingAllocator::raw_delete(data_);
}

} // namespace at::native::cuda
