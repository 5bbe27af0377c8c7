// Compares tensors in plain C++ and says where they differ.
#pragma once

#include <ATen/core/Tensor.h>

#include <complex>
#include <string>

namespace test {

struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

/// How far a result of this dtype may be from the exact one: a few roundings of the dtype, and an absolute part for
/// results near zero. Exact for integers and bool. A test that needs more says why.
Tolerance tolerance_for(c10::ScalarType dtype);

/// |got - want| <= atol + rtol * |want|; NaN equals NaN, infinities must match.
bool close(std::complex<double> got, std::complex<double> want, Tolerance tolerance);

/// "[2, 3] float32 cpu"
std::string describe(const at::Tensor& tensor);

/// Empty when shape, dtype and all elements agree within `tolerance`, else the first difference:
/// both descriptions, or the first index with both values and the number of elements that differ.
std::string first_difference(const at::Tensor& got, const at::Tensor& want, Tolerance tolerance);

} // namespace test
