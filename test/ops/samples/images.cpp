// Batch normalization, resizing, sampling, attention, recurrent cells.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

const SampleSet kNativeBatchNorm(
    "native_batch_norm",
    [](ScalarType dtype, Random& random) -> Arguments {
      const auto t = [&](std::vector<int64_t> sizes) { return random.tensor(dtype, sizes); };
      const at::Tensor variance = random.tensor(dtype, {3}, 0.5, 2);
      return {
          {t({4, 3}), t({3}), t({3}), none(), none(), true, 0.1, 1e-3},
          {t({2, 3, 2, 3}), t({3}), t({3}), t({3}), variance, false, 0.1, 1e-3},
          {t({2, 3, 3}), none(), none(), none(), none(), true, 0.1, 1e-3}};
    },
    {.constants = {3, 4}});

Arguments resized_2d(ScalarType dtype, Random& random) {
  return {
      {random.tensor(dtype, {2, 2, 4, 3}), ints({7, 5}), false},
      {random.tensor(dtype, {1, 3, 5, 4}), ints({3, 6}), true},
      {random.tensor(dtype, {1, 2, 4, 5}), ints({8, 10}), false, 2.0, 2.0}};
}
const SampleSet kBilinear2d("upsample_bilinear2d", resized_2d);
const SampleSet kBicubic2d("upsample_bicubic2d", resized_2d);
const SampleSet kSmoothBilinear2d("_upsample_bilinear2d_aa", resized_2d);
const SampleSet kSmoothBicubic2d("_upsample_bicubic2d_aa", resized_2d);
const SampleSet kSmoothLanczos2d("_upsample_lanczos2d_aa", resized_2d);
const SampleSet kNearest2d("upsample_nearest2d", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {2, 2, 4, 3}), ints({7, 5})}, {random.tensor(dtype, {1, 3, 5, 4}), ints({3, 8}), 0.6, 2.0}};
});
const SampleSet kNearestExact3d("_upsample_nearest_exact3d", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {1, 2, 2, 4, 3}), ints({3, 7, 5})}};
});
const SampleSet kLinear1d("upsample_linear1d", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {2, 2, 4}), ints({7}), false}, {random.tensor(dtype, {2, 2, 4}), ints({1}), true}};
});
const SampleSet kTrilinear3d("upsample_trilinear3d", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {1, 2, 2, 3, 4}), ints({3, 5, 3}), false}};
});

// Places between elements: the derivative jumps at the elements themselves.
const SampleSet kGridSampler2d("grid_sampler_2d", [](ScalarType dtype, Random& random) -> Arguments {
  Arguments arguments;
  for (const int64_t mode : {0, 1, 2}) {
    for (const int64_t padding : {0, 1, 2}) {
      arguments.push_back(
          {random.tensor(dtype, {2, 2, 4, 5}), random.tensor(dtype, {2, 3, 2, 2}, -1.4, 1.4), mode, padding, false});
    }
  }
  return arguments;
});
const SampleSet kGridSampler3d("grid_sampler_3d", [](ScalarType dtype, Random& random) -> Arguments {
  Arguments arguments;
  for (const int64_t padding : {0, 1, 2}) {
    arguments.push_back(
        {random.tensor(dtype, {1, 2, 2, 3, 4}), random.tensor(dtype, {1, 2, 1, 2, 3}, -1.4, 1.4), 0, padding,
         padding == 1});
  }
  arguments.push_back(
      {random.tensor(dtype, {1, 2, 3, 4, 5}), random.tensor(dtype, {1, 2, 1, 2, 3}, -1.4, 1.4), 2, 1, false});
  return arguments;
});

const SampleSet kFlashAttention(
    "_scaled_dot_product_flash_attention_for_cpu", [](ScalarType dtype, Random& random) -> Arguments {
      const auto t = [&](std::vector<int64_t> sizes) { return random.tensor(dtype, sizes); };
      return {
          {t({2, 2, 3, 4}), t({2, 2, 5, 4}), t({2, 2, 5, 4})},
          {t({1, 2, 4, 3}), t({1, 2, 4, 3}), t({1, 2, 4, 3}), 0.0, true},
          // Two heads that share keys, and a scale.
          {t({1, 4, 3, 2}), t({1, 2, 3, 2}), t({1, 2, 3, 2}), 0.0, false, none(), 0.3}};
    });

const SampleSet kEfficientAttention(
    "_scaled_dot_product_efficient_attention", [](ScalarType dtype, Random& random) -> Arguments {
      const auto t = [&](std::vector<int64_t> sizes) { return random.tensor(dtype, sizes); };
      return {
          {t({2, 2, 3, 8}), t({2, 2, 5, 8}), t({2, 2, 5, 8}), none(), true},
          {t({1, 2, 4, 8}), t({1, 2, 4, 8}), t({1, 2, 4, 16}), none(), true, 0.0, true},
          {t({1, 4, 3, 8}), t({1, 2, 3, 8}), t({1, 2, 3, 8}), none(), true, 0.0, false, 0.3},
          {t({2, 2, 3, 8}), t({2, 1, 5, 8}), t({2, 1, 5, 8}), t({2, 1, 1, 5}), true},
          {t({1, 2, 3, 8}), t({1, 2, 4, 8}), t({1, 2, 4, 8}), t({3, 4}), true, 0.0, false, 0.3}};
    });

const SampleSet kLstmGates("_thnn_fused_lstm_cell", [](ScalarType dtype, Random& random) -> Arguments {
  const auto t = [&](std::vector<int64_t> sizes) { return random.tensor(dtype, sizes); };
  return {{t({2, 12}), t({2, 12}), t({2, 3})}, {t({2, 12}), t({2, 12}), t({2, 3}), t({12}), t({12})}};
});
const SampleSet kLstmSteps("_lstm_steps", [](ScalarType dtype, Random& random) -> Arguments {
  const auto t = [&](std::vector<int64_t> sizes) { return random.tensor(dtype, sizes); };
  return {
      {t({3, 2, 3}), t({2, 2}), t({2, 2}), t({8, 3}), t({8, 2}), t({8}), false},
      {t({3, 1, 2}), t({1, 2}), t({1, 2}), t({8, 2}), t({8, 2}), none(), true},
      {t({8, 2}), t({3, 2}), t({3, 2}), t({8, 2}), t({8, 2}), t({8}), false, ints({3, 2, 2, 1})},
      {t({6, 2}), t({3, 1}), t({3, 1}), t({4, 2}), t({4, 1}), none(), true, ints({3, 2, 1})},
      {t({1, 2, 1}), t({2, 1}), t({2, 1}), t({4, 1}), t({4, 1}), t({4}), false},
      {t({3, 2, 3}), t({2, 1}), t({2, 2}), t({8, 3}), t({8, 1}), t({8}), false, ints({}), t({1, 2})},
      {t({2, 1, 2}), t({1, 2}), t({1, 3}), t({12, 2}), t({12, 2}), none(), true, ints({}), t({2, 3})}};
});
const SampleSet kGruSteps("_gru_steps", [](ScalarType dtype, Random& random) -> Arguments {
  const auto t = [&](std::vector<int64_t> sizes) { return random.tensor(dtype, sizes); };
  return {
      {t({5, 2, 3}), t({2, 2}), t({6, 3}), t({6, 2}), t({6}), t({6}), false},
      {t({4, 1, 2}), t({1, 2}), t({6, 2}), t({6, 2}), none(), none(), true},
      {t({8, 2}), t({3, 2}), t({6, 2}), t({6, 2}), t({6}), t({6}), true, ints({3, 2, 2, 1})},
      {t({6, 2}), t({3, 1}), t({3, 2}), t({3, 1}), none(), none(), false, ints({3, 2, 1})},
      {t({1, 2, 1}), t({2, 1}), t({3, 1}), t({3, 1}), t({3}), t({3}), false}};
});
const SampleSet kRnnSteps("_rnn_steps", [](ScalarType dtype, Random& random) -> Arguments {
  const auto t = [&](std::vector<int64_t> sizes) { return random.tensor(dtype, sizes); };
  return {
      {t({5, 2, 3}), t({2, 2}), t({2, 3}), t({2, 2}), t({2}), false, false},
      {t({4, 1, 2}), t({1, 2}), t({2, 2}), t({2, 2}), none(), true, true},
      {t({8, 2}), t({3, 2}), t({2, 2}), t({2, 2}), t({2}), false, true, ints({3, 2, 2, 1})},
      {t({6, 2}), t({3, 1}), t({1, 2}), t({1, 1}), none(), false, false, ints({3, 2, 1})},
      {t({1, 2, 1}), t({2, 1}), t({1, 1}), t({1, 1}), t({1}), false, true}};
});
const SampleSet kGruGates("_thnn_fused_gru_cell", [](ScalarType dtype, Random& random) -> Arguments {
  const auto t = [&](std::vector<int64_t> sizes) { return random.tensor(dtype, sizes); };
  return {{t({2, 9}), t({2, 9}), t({2, 3})}, {t({2, 9}), t({2, 9}), t({2, 3}), t({9}), t({9})}};
});

} // namespace

} // namespace test
