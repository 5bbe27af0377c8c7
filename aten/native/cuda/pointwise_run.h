// Runs a pointwise kernel of the plugin over an iterator: the CUDA counterpart of aten/iterator/pointwise_run.h.
#pragma once

#include <aten/native/cuda/pointwise_plan.h>

#include <cstdint>

namespace at::native::cuda {

/// Dtypes as a mask, for run_pointwise.
template <class... Ts>
inline constexpr std::uint64_t dtype_bits =
    ((std::uint64_t{1} << static_cast<unsigned>(c10::CppTypeToScalarType<Ts>::value)) | ... | 0);

/// Calls `launch` for each part of the iteration, on the current stream. The common dtype must be one of `dtypes`, else
/// NotImplementedError names the operator and what it supports.
void run_pointwise(
    const char* op,
    TensorIteratorBase& iter,
    std::uint64_t dtypes,
    c10::function_ref<void(const PointwisePlan&)> launch);

/// The same for kernels that choose by the size of an element or check dtypes themselves.
void run_pointwise(TensorIteratorBase& iter, c10::function_ref<void(const PointwisePlan&)> launch);

} // namespace at::native::cuda
