// What this build of the CUDA backend has. For `#if AT_CUDNN_ENABLED()`.
#pragma once

#if __has_include(<cudnn.h>)
#define AT_CUDNN_ENABLED() 1
#else
#define AT_CUDNN_ENABLED() 0
#endif
#define AT_CUSPARSELT_ENABLED() 0
#define AT_MAGMA_ENABLED() 0
#define AT_ROCM_ENABLED() 0
