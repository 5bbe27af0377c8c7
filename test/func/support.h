// What the tests of transforms share.
#pragma once

#include <torch/func.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace func_test {

using at::Tensor;

/// Equal sizes and dtype, and elements that differ by rounding alone.
inline void check_close(const Tensor& got, const Tensor& wanted) {
  REQUIRE(got.defined());
  REQUIRE(got.sizes() == wanted.sizes());
  REQUIRE(got.scalar_type() == wanted.scalar_type());
  CAPTURE(got, wanted);
  CHECK(at::allclose(got, wanted, 1e-6, 1e-8, /*equal_nan=*/true));
}

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

inline Tensor randn(at::IntArrayRef sizes) {
  return at::randn(sizes, at::kDouble);
}

} // namespace func_test
