// Quasi-random points, groups of products, observers of ranges: what writes to, or goes on from, a state it is given.

#include "test/ops/samples.h"
#include "test/support/random.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

const SampleTraits kNoGradient{.gradient = false};
// A second call goes on from what the first has written.
const SampleTraits kInPlace{.gradient = false, .layouts = false};

/// Direction numbers of three dimensions: powers of two, as the first dimension has them.
at::Tensor directions() {
  return tensor_of(
      ScalarType::Long, {3, 30}, [](int64_t i) { return static_cast<double>(int64_t{1} << (29 - i % 30)); });
}

at::Tensor int32(const std::vector<int64_t>& sizes, const std::vector<int64_t>& values) {
  return tensor_of(ScalarType::Int, sizes, [&](int64_t i) { return static_cast<double>(values.at(i)); });
}

const SampleSet kSobolDraw(
    "_sobol_engine_draw",
    [](ScalarType dtype, Random& random) -> Arguments {
      const auto number = static_cast<int64_t>(dtype);
      return {
          {random.indices({3}, 1 << 29), 4, directions(), 3, 0, number},
          {random.indices({3}, 1 << 29), 3, directions(), 3, 9, none()},
          {random.indices({3}, 1 << 29), 1, directions(), 3, 5, number}};
    },
    kNoGradient);
const SampleSet kSobolForward(
    "_sobol_engine_ff_",
    [](ScalarType dtype, Random& random) -> Arguments {
      const auto point = [&] { return random.tensor(dtype, {3}, 0, 100); };
      return {{point(), 5, directions(), 3, 9}, {point(), 0, directions(), 3, 0}};
    },
    kInPlace);
const SampleSet kSobolScramble(
    "_sobol_engine_scramble_",
    [](ScalarType dtype, Random& random) -> Arguments {
      const at::Tensor lower =
          tensor_of(ScalarType::Long, {3, 30, 30}, [](int64_t i) { return i % 30 <= i / 30 % 30 ? 1.0 : 0.0; });
      return {{random.tensor(dtype, {3, 30}, 0, 100), lower, 3}};
    },
    kInPlace);
const SampleSet kSobolInitialize(
    "_sobol_engine_initialize_state_",
    [](ScalarType dtype, Random&) -> Arguments {
      return {{tensor_of(dtype, {3, 30}, [](int64_t) { return 0.0; }), 3}};
    },
    kInPlace);

const SampleSet kGroupedMm(
    "_grouped_mm",
    [](ScalarType, Random& random) -> Arguments {
      const auto matrix = [&](const std::vector<int64_t>& sizes) { return random.tensor(ScalarType::Float, sizes); };
      const at::Tensor ends = int32({4}, {1, 4, 4, 6}), wide = int32({4}, {1, 4, 4, 8});
      return {
          {matrix({6, 8}), matrix({4, 8, 4}), ends},
          {matrix({4, 6, 8}), matrix({4, 8, 4})},
          {matrix({4, 4, 8}), matrix({8, 8}), wide},
          {matrix({4, 8}), matrix({8, 4}), wide}};
    },
    {.gradient = false, .layouts = false}); // strides are bound to multiples of 16 bytes

Arguments observed(ScalarType, Random& random) {
  Arguments all;
  for (const bool per_row : {false, true}) {
    for (const int64_t quantize : {1, 0}) {
      const std::vector<int64_t> size{per_row ? 3 : 1};
      const auto filled = [&](double value) {
        return tensor_of(ScalarType::Float, size, [=](int64_t) { return value; });
      };
      all.push_back(
          {random.tensor(ScalarType::Float, {3, 4}), int32({1}, {1}), int32({1}, {quantize}), filled(-0.5), filled(1.5),
           filled(1), int32(size, std::vector<int64_t>(3, 0)), 0.25, -8, 7, 0, per_row, false});
    }
  }
  return all;
}

const SampleSet kMovingAverage(
    "_fused_moving_avg_obs_fq_helper", observed, {.gradient = false, .layouts = false, .meta = false});
const SampleSet kMovingAverageFunctional(
    "_fused_moving_avg_obs_fq_helper_functional", observed, {.gradient = false, .meta = false});
const SampleSet kMovingAverageQuantized(
    "fused_moving_avg_obs_fake_quant", observed, {.gradient = false, .layouts = false, .meta = false});

} // namespace

} // namespace test
