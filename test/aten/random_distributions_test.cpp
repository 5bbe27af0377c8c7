// Samplers of further distributions: the figures are those of PyTorch 2 on the CPU for the same seed, in float64.

#include <ATen/ATen.h>

#include <catch2/catch.hpp>

namespace {

at::Tensor row(std::vector<double> values) {
  return at::tensor(values, at::kDouble);
}

void check_close(const at::Tensor& got, const at::Tensor& want, double rtol = 1e-14) {
  CHECK(at::allclose(got, want, rtol, 0));
}

} // namespace

TEST_CASE("gamma, binomial and Dirichlet samples are PyTorch's for the same seed", "[aten][random]") {
  at::manual_seed(3);
  check_close(
      at::_standard_gamma(row({0.5, 2.0, 30.0})),
      row({0.73774988894279514, 4.90229480590251487, 26.93614053723895552}));
  at::manual_seed(3);
  check_close(at::binomial(row({5, 100, 40}), row({0.3, 0.4, 0.9})), row({0, 37, 37}));
  at::manual_seed(3);
  check_close(
      at::_sample_dirichlet(row({0.5, 2.0, 3.0})),
      row({0.09774477331095491, 0.64950696935119145, 0.25274825733785367}));
}

TEST_CASE("rrelu in training draws PyTorch's slopes", "[aten][random]") {
  at::manual_seed(3);
  const at::Tensor x = at::tensor(std::vector<float>{-1, 2, -3}, at::kFloat);
  const at::Tensor want =
      at::tensor(std::vector<float>{-0.10682164132595062f, 2.0f, -0.47204416990280151f}, at::kFloat);
  CHECK(at::allclose(at::rrelu(x, 0.1, 0.3, /*training=*/true), want, 1e-6, 0));
}

// PyTorch approximates this derivative by rational functions with some four digits.
TEST_CASE("gamma samples move with their shape parameter as their quantile asks", "[aten][random]") {
  check_close(
      at::_standard_gamma_grad(row({0.5, 2.0, 30.0}), row({0.3, 1.5, 33.0})),
      row({1.00980198273692556, 0.93661983456541564, 1.05417535526423900}), 2e-4);
}

TEST_CASE("samples of impossible parameters are the ends of their range", "[aten][random]") {
  CHECK(at::binomial(row({7, 7, 0}), row({0, 1, 0.5})).equal(row({0, 7, 0})));
  CHECK(at::_standard_gamma(at::zeros({2}, at::kDouble)).lt(1e-300).all().item<bool>());
  CHECK_THROWS_WITH(at::binomial(row({1}), row({1, 2})), Catch::Contains("doesn't match the broadcast shape [2]"));
}
