// The walk of a pointwise operator over its tensors, apart from the operator: one compute kernel for dense runs, and
// everything else (scalars, broadcast, strides) brought into that form block by block in the first-level cache.
//
// So an operator costs one small loop for each dtype and instruction set, and strided operands cost one more pass
// through L1, which is less than the memory traffic they cause.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace at {

struct PointwiseCall;

namespace native {

/// What a compute kernel gets beside its data.
struct BlockContext {
  const void* functor;
  /// Bit i: input i holds floats though the dtype is a 16-bit one (a scalar that must not be rounded to it first).
  std::uint32_t wide_inputs;
};

/// Computes n elements of dense runs. `out` may be one of the inputs.
using BlockKernel = void (*)(const BlockContext& context, char* out, const char* const* inputs, std::int64_t n);

/// Runs a kernel over a call of the fast path, or an iterator with one output and up to 8 inputs, on several threads
/// when that pays. `wide_scalars`: scalars with 16-bit tensors are given to the kernel as floats.
TORCH_API void run_pointwise(PointwiseCall& call, BlockKernel kernel, const void* functor, bool wide_scalars = false);

} // namespace native
} // namespace at
