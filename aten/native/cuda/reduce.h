// Launches of reductions.
#pragma once

#include <aten/native/cuda/reduce_plan.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// How a reduction runs: its launches, more than one only where 32-bit offsets do not reach.
struct ReducePart {
  ReducePlan plan;
  ReduceLaunch launch;
};
struct ReduceRun {
  c10::SmallVector<ReducePart, 1> parts;
  cudaStream_t stream;
};

struct ReduceInput {
  c10::ScalarType dtype;
  const void* data;
};
struct ReduceOutput {
  c10::ScalarType dtype;
  void* data;
};

// Inputs are bool, integers, floating or, except for extrema, complex; results of arithmetic have the input's dtype, or
// are any integer for an integer, float for half and bfloat16.

enum class Arithmetic { Sum, NanSum, Prod };
/// Results are divided by `divisor`.
void launch_arithmetic(
    const ReduceRun& run, Arithmetic kind, const ReduceInput& in, const ReduceOutput& out, double divisor);
void launch_extremum(const ReduceRun& run, bool greatest, const ReduceInput& in, void* out);
/// The first of equal elements; NaN is beyond all. `values` (in the input's dtype) or `indices` may be null.
void launch_arg_extremum(
    const ReduceRun& run, bool greatest, const ReduceInput& in, void* values, std::int64_t* indices);
/// Is some element true, or are all? The result is a byte.
void launch_any(const ReduceRun& run, bool all, const ReduceInput& in, void* out);
void launch_count_nonzero(const ReduceRun& run, const ReduceInput& in, std::int64_t* out);
/// Words of 64 bits, whatever they mean, combined by exclusive or.
void launch_exclusive_or(const ReduceRun& run, const std::int64_t* in, std::int64_t* out);
/// (sum |x|^p)^(1/p), with the limits for p = 0, inf, -inf. The result has the input's dtype, or its real part's.
void launch_norm(const ReduceRun& run, double p, const ReduceInput& in, void* out);
/// Variance, or its root, of floating elements with `correction` degrees of freedom less; `mean` may be null.
void launch_moments(const ReduceRun& run, bool root, double correction, const ReduceInput& in, void* out, void* mean);

} // namespace at::native::cuda
