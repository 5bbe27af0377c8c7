// Fourier transforms.

#include <ATen/ATen.h>

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

const SampleSet kC2c("_fft_c2c", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {2, 4}), ints({1}), 0, true},
      {random.tensor(dtype, {3, 2, 5}), ints({0, 2}), 1, false},
      {random.tensor(dtype, {37}), ints({0}), 2, true},
      {random.tensor(dtype, {2, 3}), ints({}), 0, true},
      {random.tensor(dtype, {0, 3}), ints({1}), 0, true}};
});
const SampleSet kR2c("_fft_r2c", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {3, 5}), ints({1}), 0, true},
      {random.tensor(dtype, {3, 4}), ints({0, 1}), 1, true},
      {random.tensor(dtype, {2, 6}), ints({1}), 2, false},
      {random.tensor(dtype, {1}), ints({0}), 0, true}};
});
const SampleSet kC2r("_fft_c2r", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {3, 3}), ints({1}), 0, 5},
      {random.tensor(dtype, {3, 3}), ints({1}), 2, 4},
      {random.tensor(dtype, {3, 2}), ints({0, 1}), 1, 2},
      {random.tensor(dtype, {2, 1}), ints({1}), 0, 1}};
});

Arguments one_dimension(ScalarType dtype, Random& random) {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  return {{x}, {x, 3}, {x, 6, 0}, {x, none(), -1, "ortho"}, {x, none(), 0, "forward"}};
}
Arguments more_dimensions(ScalarType dtype, Random& random) {
  const at::Tensor x = random.tensor(dtype, {2, 3, 4});
  return {{x}, {x, ints({3, 5})}, {x, none(), ints({0, 2}), "ortho"}, {x, ints({2}), ints({1}), "forward"}};
}

const SampleSet kFft("fft_fft", one_dimension);
const SampleSet kIfft("fft_ifft", one_dimension);
const SampleSet kRfft("fft_rfft", one_dimension);
const SampleSet kIrfft("fft_irfft", one_dimension);
const SampleSet kHfft("fft_hfft", one_dimension);
const SampleSet kIhfft("fft_ihfft", one_dimension);
const SampleSet kFftn("fft_fftn", more_dimensions);
const SampleSet kIfftn("fft_ifftn", more_dimensions);
const SampleSet kRfftn("fft_rfftn", more_dimensions);
const SampleSet kIrfftn("fft_irfftn", more_dimensions);
const SampleSet kHfftn("fft_hfftn", more_dimensions);
const SampleSet kIhfftn("fft_ihfftn", more_dimensions);

const SampleSet kFftshift("fft_fftshift", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 4})}, {random.tensor(dtype, {3, 4}), ints({1})}};
});
const SampleSet kIfftshift("fft_ifftshift", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 4})}, {random.tensor(dtype, {3, 4}), ints({0})}};
});
const SampleSet kStft("stft.center", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {2, 12}), 4, none(), none(), none(), true, "reflect", false, none(), true},
      {random.tensor(dtype, {12}), 5, 2, 3, random.tensor(dtype, {3}), false, "constant", true, none(), true}};
});

} // namespace

} // namespace test
