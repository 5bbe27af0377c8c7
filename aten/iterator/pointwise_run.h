// The walk of a pointwise operator over its tensors, apart from the operator: one compute kernel for dense runs, and
// everything else (scalars, broadcast, strides) brought into that form block by block in the first-level cache.
//
// So an operator costs one small loop for each dtype and instruction set, and strided operands cost one more pass
// through L1, which is less than the memory traffic they cause.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace at {

struct PointwiseCall;
struct TensorIteratorBase;

namespace native {

/// What a compute kernel gets beside its data.
struct BlockContext {
  const void* functor;
  /// Bit i: input i holds floats though the dtype is a 16-bit one (a scalar that must not be rounded to it first).
  std::uint32_t wide_inputs;
};

/// Computes n elements of dense runs. `out` may be one of the inputs.
using BlockKernel = void (*)(const BlockContext& context, char* out, const char* const* inputs, std::int64_t n);

/// What a kernel finds behind BlockContext::functor.
struct BlockFunctor {
  const void* data = nullptr;
  /// Bytes of it, which may be copied.
  std::uint32_t size = 0;
  /// Scalars with 16-bit tensors are given to the kernel as floats.
  bool wide_scalars = false;
};

/// Runs a kernel over a call of the fast path, or an iterator with one output and up to 8 inputs, on several threads
/// when that pays.
TORCH_API void run_pointwise(PointwiseCall& call, BlockKernel kernel, BlockFunctor functor);

/// While it lives, what this thread asks run_pointwise() for is told to `hear` instead of being computed, where the
/// operands are not dense: so a compiler learns the kernel of an operator, which it then runs on blocks of its own.
class TORCH_API PointwiseListener {
 public:
  using Hear = c10::function_ref<void(TensorIteratorBase& iter, BlockKernel kernel, BlockFunctor functor)>;

  explicit PointwiseListener(Hear hear);
  ~PointwiseListener();
  PointwiseListener(const PointwiseListener&) = delete;
  PointwiseListener& operator=(const PointwiseListener&) = delete;

 private:
  friend struct PointwiseListening;
  Hear hear_;
  PointwiseListener* outer_;
};

} // namespace native
} // namespace at
