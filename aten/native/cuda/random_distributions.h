// Launches of samplers with a parameter for each element.
#pragma once

#include <aten/cuda/PhiloxCudaState.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Dense elements of a floating dtype. Element i draws from subsequence i of the generator, as it does in PyTorch where
/// no thread has two elements; there a thread begins each with the same numbers.
struct SampleEach {
  c10::ScalarType dtype;
  const void* parameter;
  void* out;
  std::int64_t n;
  PhiloxCudaState philox;
  cudaStream_t stream;
};

/// The parameter is a rate; NaN where that is NaN.
void launch_poisson(const SampleEach& p);
/// Of scale 1; not below the least positive normal number of the dtype.
void launch_gamma(const SampleEach& p);
/// The parameter is the number of trials.
void launch_binomial(const SampleEach& p, const void* prob);

} // namespace at::native::cuda
