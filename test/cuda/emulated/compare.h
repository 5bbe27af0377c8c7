// What the tests of emulated kernels share.
#pragma once

#include <aten/Functions.h>

namespace emulated {

inline bool near(const at::Tensor& a, const at::Tensor& b, double rtol = 1e-5, double atol = 1e-5) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) {
    return false;
  }
  const auto wide = a.is_complex() ? at::kComplexDouble : at::kDouble;
  return at::allclose(a.to(wide), b.to(wide), rtol, atol, /*equal_nan=*/true);
}

/// What the kernel writes into an empty tensor like `like`.
template <class Kernel>
at::Tensor filled(const at::Tensor& like, Kernel kernel) {
  at::Tensor out = at::empty_like(like);
  kernel(out);
  return out;
}

} // namespace emulated
