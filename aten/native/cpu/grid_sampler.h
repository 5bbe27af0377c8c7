#pragma once
// Backward pass of grid sampling, behind its operators in aten/native/composite/upsample.cpp.

#include <aten/core/TensorBase.h>

#include <cstdint>

namespace at::native {

/// Arguments of a backward pass. Tensors are contiguous; gradients that are not defined are not wanted.
struct GridSampler {
  TensorBase input, grid, grad_output, grad_input, grad_grid;
  int64_t interpolation = 0, padding = 0;
  bool align_corners = false;
};

#define LT_DECLARE_GRID_SAMPLER(level)                     \
  namespace level {                                        \
  void grid_sampler_backward_kernel(const GridSampler& p); \
  }
#ifndef CPU_CAPABILITY
LT_DECLARE_GRID_SAMPLER(v2)
LT_DECLARE_GRID_SAMPLER(v3)
LT_DECLARE_GRID_SAMPLER(v4)
#endif
#undef LT_DECLARE_GRID_SAMPLER

} // namespace at::native
