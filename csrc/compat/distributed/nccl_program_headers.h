// What libtorch's header of ProcessGroupNCCL includes along the way and programs therefore use without naming it.
#pragma once

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime_api.h>)
#include <aten/cuda/CUDAContext.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <csrc/compat/aten/cuda/CUDAEvent.h>
#endif
