// What programs asked of the idle CUDA libraries so far, and what they shall not get. A program finds both by
// dlsym(RTLD_DEFAULT, "idle_cuda_counts") and "idle_cuda_failures".
#pragma once

#include <cstdint>

struct IdleCudaCounts {
  std::int64_t launches = 0; ///< of kernels
  std::int64_t library_calls = 0; ///< products by cuBLAS and cuBLASLt: a kernel or two each, on a real device
  std::int64_t copies = 0;
  std::int64_t memsets = 0;
  std::int64_t memory_calls = 0; ///< cudaMalloc, cudaFree and the like
  std::int64_t waits = 0; ///< of the host for a stream, an event or the device
  std::int64_t other_calls = 0; ///< what else was asked of the runtime: the device, the last error, events, attributes
};

/// Zeros: nothing fails.
struct IdleCudaFailures {
  int launch = 0; ///< cudaError_t that each launch leaves as the last error
  int device = 0; ///< cudaError_t of whatever is asked of the device, as after the failure of a kernel
  bool memory = false; ///< there is no more
  int product = 0; ///< cublasStatus_t of products
};

extern "C" IdleCudaCounts idle_cuda_counts;
extern "C" IdleCudaFailures idle_cuda_failures;
