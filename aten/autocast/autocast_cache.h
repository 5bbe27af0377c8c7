// Casts of several arguments at once, beside the cache of casts of weights.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <array>
#include <span>

namespace at::autocast {

/// Float tensors on CUDA, at least two and at most three, in half or bfloat16. Recorded by autograd, which sets it.
using CastTogether = std::array<Tensor, 3> (*)(TensorList args, c10::ScalarType to_type);
void set_cast_together(CastTogether function);

/// Whether it is an ordinary float tensor on CUDA.
bool can_be_cast_together(const Tensor& arg);

/// Such tensors, at most three, as half or bfloat16: weights from the cache where it has them, the others of the first
/// one's device by one launch. False where fewer than two are to be cast; then nothing has happened.
bool cast_together(c10::ScalarType to_type, std::span<Tensor> args);

} // namespace at::autocast
