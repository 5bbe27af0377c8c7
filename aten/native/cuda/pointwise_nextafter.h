// Launches of pointwise kernels whose parameters depend on the dtype itself.
#pragma once

#include <aten/native/cuda/pointwise_plan.h>

#include <optional>

namespace at::native::cuda {

void launch_nextafter(const PointwisePlan& plan);
void launch_nan_to_num(
    const PointwisePlan& plan, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf);

} // namespace at::native::cuda
