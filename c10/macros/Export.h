#pragma once

// Symbol visibility. The library is one shared object built with hidden visibility, so every name a user may link to
// carries one of these; they all mean the same.

#define C10_EXPORT __attribute__((__visibility__("default")))
#define C10_HIDDEN __attribute__((__visibility__("hidden")))
#define C10_IMPORT C10_EXPORT

#define C10_API C10_EXPORT
#define C10_API_ENUM C10_EXPORT
#define C10_CUDA_API C10_EXPORT
#define TORCH_API C10_EXPORT
#define TORCH_API_ENUM C10_EXPORT
#define TORCH_CUDA_API C10_EXPORT
#define TORCH_CUDA_CPP_API C10_EXPORT
#define TORCH_CUDA_CU_API C10_EXPORT
#define TORCH_PYTHON_API C10_EXPORT
#define TORCH_XPU_API C10_EXPORT
#define CAFFE2_API C10_EXPORT
