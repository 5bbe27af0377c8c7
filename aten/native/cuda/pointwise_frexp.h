// Launch of frexp.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Mantissas and exponents of dense floating elements; the exponent of infinities and NaN is 0.
void launch_frexp(
    c10::ScalarType dtype, const void* in, std::int64_t n, void* mantissa, std::int32_t* exponent, cudaStream_t stream);

} // namespace at::native::cuda
