// Argument checks of samplers and their derivatives.
#pragma once

#include <c10/macros/Macros.h>

namespace at {

class TensorBase;

namespace shape {

TORCH_API void dirichlet_grad_check(const char* op, const TensorBase& x, const TensorBase& alpha, const TensorBase& total);

} // namespace shape
} // namespace at
