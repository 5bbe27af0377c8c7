#pragma once

#include <aten/cuda/Exceptions.h>

// For programs that call the driver and are linked to it (-lcuda).
#define AT_CUDA_DRIVER_CHECK(EXPR)                                                                               \
  do {                                                                                                           \
    const CUresult at_driver_err_ = (EXPR);                                                                      \
    if (at_driver_err_ != CUDA_SUCCESS) {                                                                        \
      const char* at_driver_text_ = nullptr;                                                                     \
      static_cast<void>(cuGetErrorString(at_driver_err_, &at_driver_text_));                                     \
      TORCH_CHECK(false, "CUDA driver error: ", at_driver_text_ != nullptr ? at_driver_text_ : "unknown error"); \
    }                                                                                                            \
  } while (0)

// For programs that include <nvrtc.h> and are linked to it.
#define AT_CUDA_NVRTC_CHECK(EXPR)                                                                          \
  do {                                                                                                     \
    const nvrtcResult at_nvrtc_err_ = (EXPR);                                                              \
    TORCH_CHECK(at_nvrtc_err_ == NVRTC_SUCCESS, "CUDA NVRTC error: ", nvrtcGetErrorString(at_nvrtc_err_)); \
  } while (0)
