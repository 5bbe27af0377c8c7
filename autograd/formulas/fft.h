// Gradients of Fourier transforms of real numbers.
#pragma once

#include <aten/core/Tensor.h>

namespace torch::autograd::formulas {

/// `last_dim_size` is the size of the last transformed dimension before the transform.
at::Tensor fft_r2c_backward(const at::Tensor& grad, at::IntArrayRef dim, int64_t normalization, bool onesided, int64_t last_dim_size);
at::Tensor fft_c2r_backward(const at::Tensor& grad, at::IntArrayRef dim, int64_t normalization);

} // namespace torch::autograd::formulas
