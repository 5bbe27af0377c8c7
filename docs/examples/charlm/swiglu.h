#pragma once

#include <ATen/ATen.h>

namespace charlm {

/// silu(gate) * up, where gate and up are the two halves of the last dimension of `gate_up`.
/// A custom operator, charlm::swiglu, called through the dispatcher.
at::Tensor swiglu(const at::Tensor& gate_up);

} // namespace charlm
