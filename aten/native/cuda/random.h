// Launches of samplers over dense memory.
#pragma once

#include <aten/cuda/PhiloxCudaState.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

// Note [The order of random numbers on CUDA]
// The same seed gives the numbers that PyTorch gives on the same device: thread t of a launch draws subsequence t of
// Philox4x32-10 at the generator's offset, in blocks of 256 threads and no more blocks than fit the device at once.
// With each draw of 128 bits a thread serves 4 elements (2 of 64 bits) that lie a whole grid apart.

/// How many threads draw how often.
struct RandomLaunch {
  unsigned blocks;
  std::uint64_t offset_increment; // of the generator, for this launch
};
/// `per_draw` elements of a thread for each draw: 4, or 2 of 64 bits.
RandomLaunch random_launch(std::int64_t n, int per_draw);

/// Where numbers go.
struct RandomTarget {
  c10::ScalarType dtype;
  void* data;
  std::int64_t n;
  PhiloxCudaState philox;
  unsigned blocks;
  cudaStream_t stream;
};

enum class Distribution { Uniform, Normal, LogNormal, Exponential, Cauchy, Geometric, Bernoulli };
/// Floating elements. Parameters: bounds, mean and deviation, rate, median and scale, probability.
void launch_distribution(const RandomTarget& to, Distribution distribution, double a, double b);
/// Does the distribution draw 64 bits for an element of this dtype?
bool draws_64_bits(Distribution distribution, c10::ScalarType dtype);
/// int64: base + (bits % range), of 32 bits or 64; range 0 is all of 2^64.
void launch_integers(const RandomTarget& to, bool wide, std::uint64_t range, std::int64_t base);
/// float: 1 with the probability of each element of `p`, dense float or double, in the same order.
void launch_bernoulli_each(const RandomTarget& to, bool double_p, const void* p);

} // namespace at::native::cuda
