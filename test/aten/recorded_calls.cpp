// Rules that a second recording of PyTorch's calls showed, beside those of the corpus.
#include <catch2/catch.hpp>

#include <ATen/ATen.h>

#include <cmath>
#include <functional>
#include <string>

using at::Tensor;

namespace {

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  }
  return "not refused";
}

} // namespace

TEST_CASE("masked_fill, a power of a number, renorm and roll make results by rows", "[layout]") {
  const Tensor x = at::arange(1, 7, at::kDouble).view({3, 2}).t();
  CHECK(x.masked_fill(x.gt(2), 0).is_contiguous());
  CHECK(x.masked_fill(x.gt(2), at::scalar_tensor(0, at::kDouble)).is_contiguous());
  CHECK(at::pow(2, x).is_contiguous());
  CHECK(at::renorm(x, 2, 0, 1).is_contiguous());
  CHECK(x.roll(3, 1).is_contiguous());
  CHECK(x.roll(3, 1).equal(x));
}

TEST_CASE("lift_fresh gives the tensor itself", "[views]") {
  const Tensor x = at::ones({2});
  CHECK(at::lift_fresh(x).is_same(x));
}

TEST_CASE("logspace runs through complex exponents", "[factories]") {
  const c10::complex<double> end(2, 1);
  const Tensor points = at::logspace(0, end, 3, 2.0);
  REQUIRE(points.scalar_type() == at::kComplexFloat);
  const auto last = points[2].item().toComplexDouble();
  CHECK(last.real() == Approx(4 * std::cos(std::log(2.0))));
  CHECK(last.imag() == Approx(4 * std::sin(std::log(2.0))));
}

TEST_CASE("unique_consecutive returns counts along a dimension given from the end", "[sort]") {
  const Tensor x = at::tensor({1, 1, 2});
  CHECK(std::get<2>(at::unique_consecutive(x, false, false, -1)).equal(at::tensor({2, 1})));
  CHECK(std::get<2>(at::unique_consecutive(x, false, false, 0)).numel() == 0);
}

TEST_CASE("a 0-dim complex number has a conjugate transpose", "[views]") {
  const Tensor z = at::scalar_tensor(c10::complex<double>(1, 2), at::kComplexDouble);
  CHECK(z.matrix_H().item().toComplexDouble().imag() == -2);
}

TEST_CASE("operators say what they refuse in the words that programs match on", "[errors]") {
  using Catch::StartsWith;
  const Tensor f = at::ones({2, 2}), d = at::ones({2, 2}, at::kDouble), i = at::zeros({2}, at::kLong);
  const Tensor j = at::zeros({2, 2}, at::kLong);
  CHECK_THAT(refusal([&] { at::addmm(f, f, d); }), StartsWith("mat1 and mat2 must have the same dtype"));
  CHECK_THAT(refusal([&] { at::ones({2}).addmm_(f, f); }), StartsWith("Bad in-place call: input tensor size [2] and output tensor size [2, 2] should match"));
  CHECK_THAT(refusal([&] { f.index_add(0, i, d); }), StartsWith("index_add_(): self (Float) and source (Double) must have the same scalar type"));
  CHECK_THAT(refusal([&] { f.index_copy(0, i, d); }), StartsWith("index_copy_(): self and source expected to have the same dtype, but got (self) Float and (source) Double"));
  CHECK_THAT(refusal([&] { f.scatter_add(0, j, d); }), StartsWith("scatter(): Expected self.dtype to be equal to src.dtype"));
  CHECK_THAT(refusal([&] { at::scalar_tensor(1).roll(1, 0); }), StartsWith("Dimension specified as 0 but tensor has no dimensions"));
  CHECK_THAT(refusal([&] { at::chain_matmul({at::ones({2})}); }), StartsWith("Tensor dimension is 1, expected 2 instead."));
}
