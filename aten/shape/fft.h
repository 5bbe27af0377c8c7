// Shapes and layouts of Fourier transforms. Every function throws on bad arguments.
#pragma once

#include <aten/core/TensorSpec.h>

#include <cstdint>

namespace at::shape {

TensorSpec fft_c2c(const char* op, const TensorBase& self, IntArrayRef dim, int64_t normalization, bool forward);
TensorSpec fft_r2c(const char* op, const TensorBase& self, IntArrayRef dim, int64_t normalization, bool onesided);
TensorSpec fft_c2r(const char* op, const TensorBase& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size);

} // namespace at::shape
