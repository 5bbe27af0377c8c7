// Launches of optimizers' steps and of what loss scaling needs.
#pragma once

#include <aten/native/support/fused_step.h>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace at::native::cuda {

/// One step for `count` parameters, all of one floating dtype and with the same settings.
template <class Settings>
void launch_fused_step(
    const StepArrays* first, std::size_t count, const Settings& settings, const StepScale& by, cudaStream_t stream);

/// Multiplies array 0 of `count` tensors of one floating dtype by `factor`; `found_inf` becomes 1 where an element is
/// not finite. Both numbers are in device memory.
void launch_unscale(
    const StepArrays* first, std::size_t count, const float* factor, float* found_inf, cudaStream_t stream);

} // namespace at::native::cuda
