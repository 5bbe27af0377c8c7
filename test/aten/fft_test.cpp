// Fourier transforms against the definition, over many lengths, layouts and kinds.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "test/support/compare.h"
#include "test/support/host_view.h"
#include "test/support/matchers.h"
#include "test/support/random.h"

using at::Tensor;
using test::AllClose;
using test::Random;

namespace {

/// The matrix of the transform, so that a transform is a product.
Tensor transform_matrix(int64_t n, bool forward) {
  return test::tensor_of(at::kComplexDouble, {n, n}, [=](int64_t i) {
    const double angle = 2 * M_PI * double((i / n) * (i % n) % n) / double(n);
    return std::polar(1.0, forward ? -angle : angle);
  });
}

Tensor slow_transform(const Tensor& x, int64_t dim, bool forward) {
  const Tensor moved = x.to(at::kComplexDouble).movedim(dim, -1);
  return moved.matmul(transform_matrix(moved.size(-1), forward)).movedim(-1, dim);
}

test::Tolerance slack(c10::ScalarType dtype, int64_t n) {
  const double epsilon = c10::toRealValueType(dtype) == at::kDouble ? 2e-15 : 1e-6;
  return {epsilon * 10, epsilon * 10 * double(n)};
}

void check_equal(const Tensor& got, const Tensor& want, int64_t n) {
  CHECK_THAT(
      got.resolve_conj().contiguous(), AllClose(want.to(got.scalar_type()).contiguous(), slack(got.scalar_type(), n)));
}

} // namespace

TEST_CASE("transforms of every kind of length agree with the definition", "[fft]") {
  // Powers of two, products of small primes, primes with a pass of their own, and primes that need a convolution. Long
  // lines of the last kinds go by columns.
  const auto n = GENERATE(
      1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 25, 31, 37, 49, 60, 64, 74, 97, 100, 128, 243, 256, 331, 343, 400, 1000,
      1024, 1030);
  const auto dtype = GENERATE(at::kFloat, at::kDouble);
  Random random(n);
  const auto complex = c10::toComplexType(dtype);
  for (const int64_t lines : {1, 3, 40}) {
    const Tensor x = random.tensor(complex, {lines, n}), real = random.tensor(dtype, {lines, n});
    check_equal(at::fft_fft(x), slow_transform(x, 1, true), n);
    check_equal(at::fft_ifft(x) * double(n), slow_transform(x, 1, false), n);
    check_equal(at::fft_fft(x.t(), std::nullopt, 0), slow_transform(x.t(), 0, true), n);
    check_equal(at::fft_fft(real), slow_transform(real, 1, true), n);
    const Tensor half = at::fft_rfft(real);
    check_equal(half, slow_transform(real, 1, true).narrow(1, 0, n / 2 + 1), n);
    check_equal(at::fft_irfft(half, n), real, n);
    check_equal(at::fft_hfft(half.conj(), n) / double(n), real, n);
  }
}

TEST_CASE("a transform reads any layout and lazy conjugates", "[fft]") {
  Random random(1);
  const Tensor x = random.tensor(at::kComplexDouble, {3, 4, 5});
  for (const Tensor& view :
       {x.permute({2, 0, 1}), x.slice(2, 0, 5, 2), x.conj(), x[0].unsqueeze(0).expand({2, 4, 5})}) {
    for (int64_t d = 0; d < 3; ++d) {
      check_equal(at::fft_fft(view, std::nullopt, d), slow_transform(view, d, true), 5);
    }
    check_equal(
        at::fft_fftn(view), slow_transform(slow_transform(slow_transform(view, 0, true), 1, true), 2, true), 60);
    check_equal(
        at::fft_ifftn(at::fft_fftn(view, std::nullopt, std::nullopt, "ortho"), std::nullopt, std::nullopt, "ortho"),
        view, 60);
  }
  const Tensor real = random.tensor(at::kDouble, {3, 4, 6});
  check_equal(at::fft_irfftn(at::fft_rfftn(real)), real, 60);
  check_equal(at::fft_hfftn(at::fft_ihfftn(real)), real, 60);
}

TEST_CASE("a transform reads one real number for a whole line", "[fft]") {
  Random random(2);
  const Tensor numbers = random.tensor(at::kDouble, {3, 1, 5});
  for (const int64_t n : {2, 3, 8, 12, 37}) {
    const Tensor view = numbers.expand({3, n, 5});
    check_equal(at::fft_rfft(view, std::nullopt, 1), slow_transform(view, 1, true).narrow(1, 0, n / 2 + 1), n);
    check_equal(at::fft_fft(view, std::nullopt, 1), slow_transform(view, 1, true), n);
    check_equal(
        at::fft_fftn(view), slow_transform(slow_transform(slow_transform(view, 0, true), 1, true), 2, true), 15 * n);
    check_equal(at::fft_rfft(numbers[0][0][0].expand({n})), at::fft_rfft(numbers[0][0][0].expand({n}).contiguous()), n);
  }
}

TEST_CASE("long transforms keep their precision", "[fft]") {
  const int64_t n = GENERATE(1 << 16, 3 * 5 * 7 * 11 * 13, 65537);
  Random random(2);
  const Tensor x = random.tensor(at::kComplexDouble, {n});
  const Tensor y = at::fft_fft(x);
  check_equal(at::fft_ifft(y), x, 10);
  // Parseval.
  CHECK(y.abs().pow(2).sum().item<double>() == Approx(double(n) * x.abs().pow(2).sum().item<double>()).epsilon(1e-12));
  CHECK(at::view_as_real(y)[0][0].item<double>() == Approx(at::real(x).sum().item<double>()).epsilon(1e-9));
}

TEST_CASE("lines of real numbers do not disturb each other", "[fft]") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Random random(4);
  for (const double other : {1e9, 1e-9, 1e30, 0.0, kNan, std::numeric_limits<double>::infinity()}) {
    for (const int64_t n : {8, 15}) {
      CAPTURE(other, n);
      Tensor lines = random.tensor(at::kFloat, {2, n});
      lines[1].mul_(other);
      const Tensor spectrum = at::fft_rfft(lines), alone = at::fft_rfft(lines[0]);
      CHECK(at::allclose(spectrum[0], alone, 1e-5, 1e-5));
      CHECK(at::allclose(
          spectrum[1], at::fft_rfft(lines[1]), 1e-5, 1e-5 * (std::isfinite(other) ? other : 1), /*equal_nan=*/true));
      CHECK(at::allclose(at::fft_irfft(spectrum, n)[0], lines[0], 1e-5, 1e-5));
      CHECK(at::imag(spectrum).select(1, 0).eq(0).all().item<bool>());
    }
  }
}

TEST_CASE("istft undoes stft", "[fft]") {
  Random random(3);
  const Tensor x = random.tensor(at::kDouble, {2, 64});
  const Tensor window = random.tensor(at::kDouble, {12}, 0.5, 1.5);
  for (const char* mode : {"reflect", "constant", "replicate", "circular"}) {
    const Tensor spectrum = at::stft(
        x, 16, 4, 12, window, /*center=*/true, mode, /*normalized=*/true, std::nullopt, /*return_complex=*/true);
    check_equal(at::istft(spectrum, 16, 4, 12, window, true, true, std::nullopt, 64), x, 16);
  }
}
