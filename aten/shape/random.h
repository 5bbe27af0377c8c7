// Argument checks of samplers and their derivatives.
#pragma once

#include <c10/macros/Macros.h>

namespace at {

class TensorBase;

namespace shape {

TORCH_API void dirichlet_grad_check(const char* op, const TensorBase& x, const TensorBase& alpha, const TensorBase& total);
TORCH_API void standard_gamma_grad_check(const char* op, const TensorBase& self, const TensorBase& output);

} // namespace shape
} // namespace at
