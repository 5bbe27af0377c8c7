// Convolution, windows, pooling.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

const SampleSet kConvolution("convolution", [](ScalarType dtype, Random& random) -> Arguments {
  const auto t = [&](std::vector<int64_t> sizes) { return random.tensor(dtype, sizes); };
  return {
      {t({2, 2, 5}), t({3, 2, 2}), t({3}), ints({1}), ints({0}), ints({1}), false, ints({0}), 1},
      {t({1, 2, 4, 5}), t({2, 2, 3, 2}), none(), ints({2, 1}), ints({1, 0}), ints({1, 2}), false, ints({0, 0}), 1},
      // Groups; one channel a group.
      {t({1, 4, 4, 4}), t({4, 2, 2, 2}), t({4}), ints({1, 1}), ints({0, 1}), ints({1, 1}), false, ints({0, 0}), 2},
      {t({2, 3, 3, 3}), t({3, 1, 2, 2}), t({3}), ints({1, 1}), ints({0, 0}), ints({1, 1}), false, ints({0, 0}), 3},
      {t({1, 2, 2, 3, 3}), t({2, 2, 1, 2, 2}), t({2}), ints({1}), ints({1, 0, 0}), ints({1}), false, ints({0}), 1},
      {t({1, 2, 3, 3}), t({2, 3, 2, 2}), t({3}), ints({2, 1}), ints({1, 0}), ints({1, 2}), true, ints({1, 0}), 1},
      {t({2, 4, 3}), t({4, 1, 3}), t({2}), ints({2}), ints({1}), ints({1}), true, ints({1}), 2},
  };
});

const SampleSet kConvolutionMode("_convolution_mode", [](ScalarType dtype, Random& random) -> Arguments {
  const auto t = [&](std::vector<int64_t> sizes) { return random.tensor(dtype, sizes); };
  return {
      {t({2, 2, 5}), t({3, 2, 3}), t({3}), ints({1}), "same", ints({1}), 1},
      {t({1, 2, 4, 3}), t({2, 2, 2, 3}), none(), ints({1, 1}), "same", ints({1, 1}), 1},
      {t({1, 2, 4, 3}), t({2, 2, 2, 3}), none(), ints({1, 1}), "valid", ints({1, 1}), 1},
  };
});

const SampleSet kIm2col("im2col", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {2, 2, 4, 5}), ints({2, 3}), ints({1, 1}), ints({0, 1}), ints({1, 2})},
      {random.tensor(dtype, {1, 5, 4}), ints({2, 2}), ints({2, 1}), ints({1, 0}), ints({1, 1})}};
});

const SampleSet kCol2im("col2im", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {2, 8, 6}), ints({3, 4}), ints({2, 2}), ints({1, 1}), ints({0, 0}), ints({1, 1})}};
});

Arguments max_pools_2d(ScalarType dtype, Random& random) {
  return {
      {random.distinct(dtype, {2, 2, 5, 4}), ints({2, 2})},
      {random.distinct(dtype, {1, 6, 7}), ints({3, 2}), ints({1, 2}), ints({1, 1}), ints({1, 2})},
      {random.distinct(dtype, {1, 2, 5, 5}), ints({2}), ints({2}), ints({0}), ints({1}), true}};
}
const SampleSet kMaxPool2d("max_pool2d_with_indices", max_pools_2d);
const SampleSet kMaxPool3d("max_pool3d_with_indices", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.distinct(dtype, {1, 2, 3, 4, 3}), ints({2, 2, 2}), ints({1, 2, 1}), ints({0, 1, 0})}};
});

const SampleSet kAvgPool2d("avg_pool2d", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {2, 2, 5, 4}), ints({2, 2})},
      {random.tensor(dtype, {1, 2, 5, 6}), ints({3, 2}), ints({1, 2}), ints({1, 1}), false, false},
      {random.tensor(dtype, {2, 5, 5}), ints({2}), ints({2}), ints({1}), true, true, 3}};
});
const SampleSet kAvgPool3d("avg_pool3d", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {1, 2, 3, 4, 3}), ints({2, 2, 2}), ints({1, 2, 1}), ints({0, 1, 1})}};
});

const SampleSet kAdaptiveAvgPool2d("_adaptive_avg_pool2d", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {2, 2, 5, 4}), ints({3, 2})}, {random.tensor(dtype, {2, 3, 4}), ints({5, 1})}};
});
const SampleSet kAdaptiveMaxPool2d("adaptive_max_pool2d", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.distinct(dtype, {2, 2, 5, 4}), ints({3, 2})}};
});
const SampleSet kFractionalMaxPool2d(
    "fractional_max_pool2d",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {
          {random.distinct(dtype, {1, 2, 6, 5}), ints({2, 2}), ints({3, 2}), random.tensor(dtype, {1, 2, 2}, 0, 0.99)}};
    },
    {.constants = {3}});

} // namespace

} // namespace test
