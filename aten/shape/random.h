// Argument checks of samplers and their derivatives.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>
#include <optional>

namespace at {

struct Generator;
class TensorBase;

namespace shape {

/// The output is of dtype Long.
TORCH_API void multinomial_out(
    const char* op, const TensorBase& self, int64_t num_samples, bool replacement, const std::optional<Generator>& generator,
    const TensorBase& out);

TORCH_API void dirichlet_grad_check(const char* op, const TensorBase& x, const TensorBase& alpha, const TensorBase& total);
TORCH_API void standard_gamma_grad_check(const char* op, const TensorBase& self, const TensorBase& output);

} // namespace shape
} // namespace at
