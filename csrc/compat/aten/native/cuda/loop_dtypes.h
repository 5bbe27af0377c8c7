// Loops over operands of other dtypes than their function takes.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <c10/core/ScalarType.h>
#include <c10/cuda/CUDAMacros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/FunctionRef.h>

namespace at::native::gpu_loop {

/// Calls `loop` with an iterator whose operands have these dtypes: `iter`, or one over converted copies, whose outputs
/// are copied to those of `iter` afterwards.
C10_CUDA_API void with_dtypes(
    TensorIteratorBase& iter, c10::ArrayRef<c10::ScalarType> dtypes, c10::function_ref<void(TensorIteratorBase&)> loop);

} // namespace at::native::gpu_loop
