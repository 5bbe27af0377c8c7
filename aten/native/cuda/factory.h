// Launches of kernels that fill tensors by position.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// A dense run of elements to fill.
struct Sequence {
  c10::ScalarType dtype;
  void* data;
  std::int64_t n;
  cudaStream_t stream;
};

// The dtype is an integer or floating one, for linspace also complex.
void launch_arange(const Sequence& out, const c10::Scalar& start, const c10::Scalar& step);
void launch_linspace(const Sequence& out, const c10::Scalar& start, const c10::Scalar& end);
void launch_logspace(const Sequence& out, double start, double end, double base);

} // namespace at::native::cuda
