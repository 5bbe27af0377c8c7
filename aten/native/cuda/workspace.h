// Device memory for the length of a call.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace at::native::cuda {

/// From the caching allocator. It goes back when this object does; kernels already launched on the stream may still use
/// it.
class Workspace {
 public:
  Workspace(std::size_t bytes, cudaStream_t stream);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  void* data() const {
    return data_;
  }

 private:
  void* data_;
};

} // namespace at::native::cuda
