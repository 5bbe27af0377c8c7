// Handles of the emulated cuBLAS: a stream, and a workspace that each product writes to.
#include "streams.h"
#include "test/cuda/emulated/libraries.h"
#include "test/cuda/emulated/submit.h"

#include <algorithm>
#include <utility>

namespace {

struct Handle {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t bytes = 0;
};

Handle& of(cublasHandle_t handle) {
  return *reinterpret_cast<Handle*>(handle);
}

} // namespace

void emulated::run_blas(cublasHandle_t handle, std::function<void()> work) {
  constexpr std::size_t kTouched = 4096; // of the workspace: enough to be noticed
  const Handle& h = of(handle);
  emulator::submit(h.stream, [workspace = h.workspace, bytes = std::min(h.bytes, kTouched), work = std::move(work)] {
    if (bytes != 0) {
      scribble(workspace, bytes);
    }
    work();
  });
}

extern "C" {

/// Takes memory of the device, which most captures forbid.
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (emulated::refuse_while_capturing() != cudaSuccess) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
  *handle = reinterpret_cast<cublasHandle_t>(new Handle());
  return CUBLAS_STATUS_SUCCESS;
}
/// The workspace is the handle's own again.
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  of(handle) = {stream, nullptr, 0};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = of(handle).stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  of(handle).workspace = workspace;
  of(handle).bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
