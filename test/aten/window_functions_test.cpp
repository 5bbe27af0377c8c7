// Windows for spectra, and the indices at which a condition holds. Values from PyTorch.
#include <torch/torch.h>

#include "test/support/matchers.h"

using namespace test;
using at::Tensor;

namespace {

Tensor doubles(std::initializer_list<double> values) {
  return at::tensor(values, at::kDouble);
}

} // namespace

TEST_CASE("windows", "[windows]") {
  CHECK_THAT(
      at::bartlett_window(5, at::kDouble), AllClose(doubles({0.0, 0.4, 0.8, 0.7999999999999998, 0.3999999999999999})));
  CHECK_THAT(at::bartlett_window(5, false, at::kDouble), AllClose(doubles({0.0, 0.5, 1.0, 0.5, 0.0})));
  CHECK_THAT(
      at::bartlett_window(4, false, at::kDouble),
      AllClose(doubles({0.0, 0.6666666666666666, 0.6666666666666667, 0.0})));
  CHECK_THAT(
      at::blackman_window(5, at::kDouble),
      AllClose(doubles({0.0, 0.20077014326253045, 0.8492298567374694, 0.8492298567374696, 0.20077014326253056})));
  CHECK_THAT(
      at::blackman_window(5, false, at::kDouble),
      AllClose(doubles({0.0, 0.33999999999999997, 1.0, 0.3400000000000001, 0.0})));
  CHECK_THAT(
      at::blackman_window(4, false, at::kDouble),
      AllClose(doubles({0.0, 0.6299999999999999, 0.6300000000000003, 0.0})));
  CHECK(at::blackman_window(5, at::kDouble)[0].item<double>() == 0);
  CHECK_THAT(
      at::hann_window(5, at::kDouble),
      AllClose(doubles({0.0, 0.3454915028125263, 0.9045084971874737, 0.9045084971874737, 0.3454915028125264})));
  CHECK_THAT(
      at::hann_window(5, false, at::kDouble),
      AllClose(doubles({0.0, 0.49999999999999994, 1.0, 0.5000000000000001, 0.0})));
  CHECK_THAT(
      at::hann_window(4, false, at::kDouble), AllClose(doubles({0.0, 0.7499999999999999, 0.7500000000000002, 0.0})));
  CHECK_THAT(
      at::hamming_window(5, at::kDouble),
      AllClose(doubles(
          {0.08000000000000002, 0.3978521825875242, 0.9121478174124757, 0.912147817412476, 0.3978521825875243})));
  CHECK_THAT(
      at::hamming_window(5, false, at::kDouble),
      AllClose(doubles({0.08000000000000002, 0.54, 1.0, 0.5400000000000001, 0.08000000000000002})));
  CHECK_THAT(
      at::hamming_window(4, false, at::kDouble),
      AllClose(doubles({0.08000000000000002, 0.7699999999999999, 0.7700000000000002, 0.08000000000000002})));
  CHECK_THAT(
      at::kaiser_window(5, at::kDouble),
      AllClose(doubles(
          {5.2773441320097665e-05, 0.10171968770956323, 0.7929398341014605, 0.7929398341014605, 0.10171968770956323})));
  CHECK_THAT(
      at::kaiser_window(5, false, at::kDouble),
      AllClose(doubles({5.2773441320097665e-05, 0.2156727447589671, 1.0, 0.2156727447589671, 5.2773441320097665e-05})));
  CHECK_THAT(
      at::kaiser_window(4, false, at::kDouble),
      AllClose(doubles({5.2773441320097665e-05, 0.5188447216723606, 0.5188447216723606, 5.2773441320097665e-05})));
  CHECK_THAT(
      at::hamming_window(4, true, 0.3, at::kDouble),
      AllClose(doubles({-0.16000000000000003, 0.29999999999999993, 0.76, 0.3000000000000001})));
  CHECK_THAT(
      at::hamming_window(4, true, 0.3, 0.2, at::kDouble),
      AllClose(doubles({0.09999999999999998, 0.3, 0.5, 0.30000000000000004})));
  CHECK_THAT(
      at::kaiser_window(4, true, 5.0, at::kDouble),
      AllClose(doubles({0.036710892271286676, 0.5528517696991324, 1.0, 0.5528517696991324})));
}

TEST_CASE("windows of few elements and other dtypes", "[windows]") {
  CHECK(at::hann_window(0).sizes() == at::IntArrayRef({0}));
  CHECK_THAT(at::hann_window(1, at::kHalf), EqualsTensor(at::ones({1}, at::kHalf)));
  CHECK(at::hann_window(3).scalar_type() == at::kFloat);
  CHECK_THAT(at::kaiser_window(3, at::kHalf), EqualsTensor(at::kaiser_window(3, at::kFloat).to(at::kHalf)));
  CHECK(at::blackman_window(3, at::TensorOptions(at::kMeta)).is_meta());
  Tensor out = at::empty({0}, at::kDouble);
  at::hann_window_out(out, 4, false);
  CHECK_THAT(out, EqualsTensor(at::hann_window(4, false, at::kDouble)));
}

TEST_CASE("windows of wrong arguments", "[windows][errors]") {
  CHECK_THROWS_MATCHES(
      at::hann_window(-1), c10::Error, Says("hann_window requires non-negative window_length, got window_length=-1"));
  CHECK_THROWS_MATCHES(
      at::hamming_window(3, at::kLong), c10::Error,
      Says("hamming_window expects floating point dtypes, got: TensorOptions(dtype=long int"));
  CHECK_THROWS_AS(at::kaiser_window(3, at::TensorOptions().layout(at::kSparse)), c10::NotImplementedError);
  CHECK_THROWS_AS(at::hann_window(INT64_MAX), c10::Error);
}

TEST_CASE("where with a condition alone", "[windows]") {
  const std::vector<Tensor> found = at::where(torch::tensor({{1, 0, 2}, {0, 3, 0}}) > 0);
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[0], EqualsTensor({0, 0, 1}));
  CHECK_THAT(found[1], EqualsTensor({0, 2, 1}));
  CHECK(at::where(torch::tensor(5)).size() == 1);
  CHECK(at::where(at::zeros({2, 2}))[1].numel() == 0);
}
