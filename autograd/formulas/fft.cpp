// Gradients of Fourier transforms of real numbers.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/types.h>

namespace torch::autograd::formulas {

/// `last_dim_size` is the size of the last transformed dimension before the transform.
Tensor fft_r2c_backward(
    const Tensor& grad, at::IntArrayRef dim, int64_t normalization, bool onesided, int64_t last_dim_size) {
  // A transform of all numbers is symmetric and linear: its adjoint is the backward one, of which a real input keeps
  // the real part. The half that was cut off had gradient zero, so filling up with zeros undoes the cut. (A transform
  // to real numbers would count the gradients of the kept half twice.)
  if (!onesided) {
    return at::real(at::_fft_c2c(grad, dim, normalization, /*forward=*/false));
  }
  const int64_t missing = last_dim_size - grad.size(dim.back());
  Tensor full = grad;
  if (missing > 0) {
    std::vector<int64_t> sizes = grad.sizes().vec();
    sizes[dim.back() < 0 ? dim.back() + grad.dim() : dim.back()] = missing;
    full = at::cat({grad, at::zeros(sizes, grad.options())}, dim.back());
  }
  return at::real(at::_fft_c2c(full, dim, normalization, /*forward=*/false));
}

Tensor fft_c2r_backward(const Tensor& grad, at::IntArrayRef dim, int64_t normalization) {
  // Each number of the half spectrum but the first, and the middle one of an even length, stands for two: itself and
  // its mirror.
  const Tensor half = at::_fft_r2c(grad, dim, normalization, /*onesided=*/true);
  const int64_t doubled = grad.size(dim.back()) - half.size(dim.back());
  if (doubled <= 0) {
    return half;
  }
  const int64_t kept = half.size(dim.back());
  const Tensor place = at::arange(kept, grad.options().dtype(at::kLong));
  Tensor weight = at::where((place >= 1).logical_and(place <= doubled), 2.0, 1.0).to(grad.scalar_type());
  const int64_t last = dim.back() < 0 ? dim.back() + grad.dim() : dim.back();
  for (int64_t d = last + 1; d < grad.dim(); ++d) {
    weight = weight.unsqueeze(-1);
  }
  return half * weight;
}

} // namespace torch::autograd::formulas
