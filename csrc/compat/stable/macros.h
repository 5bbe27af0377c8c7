#pragma once
#include <csrc/cuda/stable_shim.h>
#include <csrc/stable/tensor.h>
#include <csrc/stable/version.h>

#include <stdexcept>
#include <string>

// Checks of CUDA calls, for programs that include cuda_runtime.h.
#define STD_CUDA_CHECK(EXPR)                                                                                     \
  do {                                                                                                           \
    char* std_cuda_text_ = nullptr;                                                                              \
    torch_c10_cuda_check_msg(                                                                                    \
        static_cast<int32_t>(EXPR), __FILE__, __func__, static_cast<uint32_t>(__LINE__), true, &std_cuda_text_); \
    if (std_cuda_text_ != nullptr) {                                                                             \
      const std::string std_cuda_what_(std_cuda_text_);                                                          \
      torch_c10_cuda_free_error_msg(std_cuda_text_);                                                             \
      throw std::runtime_error(std_cuda_what_);                                                                  \
    }                                                                                                            \
  } while (0)
#define STD_CUDA_KERNEL_LAUNCH_CHECK() STD_CUDA_CHECK(cudaGetLastError())
