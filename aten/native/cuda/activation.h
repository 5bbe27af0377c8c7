// Launches of what glu and prelu are made of; operand 0 of the plans is the result.
#pragma once

#include <aten/native/cuda/pointwise_plan.h>

namespace at::native::cuda {

/// value * sigmoid(gate), of (value, gate).
void launch_gated(const PointwisePlan& plan);
/// The derivative by gate, of (grad, value, gate).
void launch_gated_backward(const PointwisePlan& plan);
/// The derivative of prelu by self, of (grad, self, weight).
void launch_prelu_backward_self(const PointwisePlan& plan);
/// The derivative of prelu by weight, of (grad, self).
void launch_prelu_backward_weight(const PointwisePlan& plan);

} // namespace at::native::cuda
