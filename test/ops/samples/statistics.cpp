// Scans, selection, counting, searching, differences and moments.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

// Results that only count or compare have no gradient.
const SampleTraits kNoGradient{.gradient = false};

// ---- scans --------------------------------------------------------------------

Arguments scans(ScalarType dtype, Random& random) {
  const at::Tensor x = random.distinct(dtype, {3, 4, 2});
  return {{x, 0}, {x, 1}, {x, -1}, {random.distinct(dtype, {}), 0}, {random.distinct(dtype, {2, 0}), 1}};
}

const SampleSet kCumprod("cumprod", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2}, 0.5, 2);
  return {{x, 0}, {x, 1}, {x, -1}, {random.tensor(dtype, {}, 0.5, 2), 0}};
});
const SampleSet kLogcumsumexp("logcumsumexp", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {{x, 0}, {x, 1}, {x, -1}, {random.tensor(dtype, {}), 0}};
});
const SampleSet kCummax("cummax", scans);
const SampleSet kCummin("cummin", scans);

// ---- counts and extremes ------------------------------------------------------------

const SampleSet kCountNonzero("count_nonzero", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  return {{x}, {x, 1}, {random.tensor(dtype, {})}, {random.tensor(dtype, {0, 3}), 0}};
});
const SampleSet kCountNonzeroDims("count_nonzero.dim_IntList", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {{x, ints({0, 2})}, {x, ints({1})}};
});
const SampleSet kHashTensor("hash_tensor", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {
      {x},
      {x, ints({1})},
      {x, ints({0, 2}), true},
      {random.tensor(dtype, {}), ints({0})},
      {random.tensor(dtype, {0, 3}), ints({1})}};
});
const SampleSet kNansum("nansum", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {{x}, {x, ints({0, 2})}, {x, ints({1}), true}};
});
const SampleSet kAminmax("aminmax", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.distinct(dtype, {3, 4});
  return {{x}, {x, 1}, {x, 0, true}, {random.distinct(dtype, {})}};
});

Arguments moments(ScalarType dtype, Random& random) {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {{x, ints({1}), 1}, {x, ints({0, 2}), 0, true}, {x, none(), 1}};
}

const SampleSet kVarMean("var_mean.correction", moments);
const SampleSet kStdMean("std_mean.correction", moments);

// ---- selection ----------------------------------------------------------------

Arguments medians(ScalarType dtype, Random& random) {
  return {{random.distinct(dtype, {3, 5})}, {random.distinct(dtype, {4})}, {random.distinct(dtype, {})}};
}

Arguments medians_along(ScalarType dtype, Random& random) {
  const at::Tensor x = random.distinct(dtype, {3, 5, 2});
  return {{x, 0}, {x, 1, true}, {x, -1}, {random.distinct(dtype, {}), 0}};
}

const SampleSet kMedian("median", medians);
const SampleSet kNanmedian("nanmedian", medians);
const SampleSet kMedianDim("median.dim", medians_along);
const SampleSet kNanmedianDim("nanmedian.dim", medians_along);
const SampleSet kMode(
    "mode",
    [](ScalarType dtype, Random& random) -> Arguments {
      const at::Tensor x = tensor_of(dtype, {3, 7}, [&](int64_t) { return static_cast<double>(random.integer(0, 2)); });
      return {{x}, {x, 0}, {x, 1, true}};
    },
    kNoGradient);
const SampleSet kKthvalue("kthvalue", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.distinct(dtype, {3, 5});
  return {{x, 1}, {x, 3, 0}, {x, 4, 1, true}};
});

// ---- searching and counting ---------------------------------------------------------

at::Tensor ramp(ScalarType dtype, const std::vector<int64_t>& sizes) {
  return tensor_of(dtype, sizes, [&](int64_t i) { return static_cast<double>(i % sizes.back()); });
}

const SampleSet kSearchsorted(
    "searchsorted.Tensor",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {
          {ramp(dtype, {2, 5}), random.tensor(dtype, {2, 3}, 0, 5)},
          {ramp(dtype, {5}), random.tensor(dtype, {4}, 0, 5), false, true},
          {ramp(dtype, {2, 5}), random.tensor(dtype, {2, 3}, 0, 5), true, false}};
    },
    kNoGradient);
const SampleSet kBucketize(
    "bucketize.Tensor",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {
          {random.tensor(dtype, {3, 4}, 0, 5), ramp(dtype, {5})},
          {random.tensor(dtype, {3, 4}, 0, 5), ramp(dtype, {5}), true, true}};
    },
    kNoGradient);
const SampleSet kBincount(
    "bincount",
    [](ScalarType dtype, Random& random) -> Arguments {
      const at::Tensor x = tensor_of(dtype, {7}, [&](int64_t) { return static_cast<double>(random.integer(0, 4)); });
      return {{x}, {x, none(), 9}, {x, random.tensor(ScalarType::Double, {7})}};
    },
    kNoGradient);
const SampleSet kHistc(
    "histc",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {40}, -3, 3), 5, -2, 2}, {random.tensor(dtype, {3, 4}), 4, 0, 1}};
    },
    kNoGradient);
const SampleSet kIsin(
    "isin.Tensor_Tensor",
    [](ScalarType dtype, Random& random) -> Arguments {
      const auto few = [&](std::vector<int64_t> sizes) {
        return tensor_of(dtype, sizes, [&](int64_t) { return static_cast<double>(random.integer(0, 9)); });
      };
      return {{few({3, 4}), few({4})}, {few({3, 4}), few({2}), false, true}, {few({3, 4}), few({50})}};
    },
    kNoGradient);

// ---- differences and moments ------------------------------------------------------------

const SampleSet kDiff("diff", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 5}), 1}, {random.tensor(dtype, {3, 5}), 3}, {random.tensor(dtype, {4}), 0}};
});

Arguments integrals(ScalarType dtype, Random& random) {
  return {{random.tensor(dtype, {3, 5}), 1.0}, {random.tensor(dtype, {4}), 0.5}};
}

const SampleSet kTrapezoid("trapezoid.dx", integrals);
const SampleSet kCumulativeTrapezoid("cumulative_trapezoid.dx", integrals);
const SampleSet kTrapezoidX("trapezoid.x", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 5}), random.tensor(dtype, {5})}};
});
const SampleSet kCov("cov", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 5}), 1}, {random.tensor(dtype, {2, 4}), 0}};
});
const SampleSet kDist("dist", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  const at::Tensor y = random.tensor(dtype, {3, 4});
  return {{x, y, 2}, {x, y, 1}, {x, y, 3}};
});
const SampleSet kRenorm("renorm", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {{x, 2, 0, 1}, {x, 2, 1, 100}, {x, 3, -1, 1.5}, {x, 1, 0, 2}};
});
const SampleSet kGradient("gradient.scalarint", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {4, 5}), 0.5, 1, 1}, {random.tensor(dtype, {4, 5}), 2.0, none(), 2}};
});
const SampleSet kGradientTensors("gradient.tensorarray", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {4, 5}), tensors({random.distinct(dtype, {5})}), ints({1}), 1},
      {random.tensor(dtype, {4, 5}), tensors({random.distinct(dtype, {4}), random.distinct(dtype, {5})}), ints({0, 1}),
       2}};
});
const SampleSet kFrexp("frexp.Tensor", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 4}, -40, 40)}, {random.tensor(dtype, {})}, {random.tensor(dtype, {0})}};
});

} // namespace

} // namespace test
