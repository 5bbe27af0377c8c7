// Reductions, scans and softmax.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

Arguments whole(ScalarType dtype, Random& random) {
  return {{random.tensor(dtype, {3, 4})}, {random.tensor(dtype, {})}, {random.tensor(dtype, {2, 1, 3})}};
}

Arguments whole_distinct(ScalarType dtype, Random& random) {
  return {{random.distinct(dtype, {3, 4})}, {random.distinct(dtype, {})}, {random.distinct(dtype, {2, 1, 3})}};
}

Arguments with_empty(Arguments arguments, ScalarType dtype, Random& random) {
  arguments.push_back({random.tensor(dtype, {0, 3})});
  return arguments;
}

const SampleSet kSum("sum", [](ScalarType dtype, Random& random) {
  return with_empty(whole(dtype, random), dtype, random);
});
const SampleSet kProd("prod", [](ScalarType dtype, Random& random) {
  return with_empty(whole(dtype, random), dtype, random);
});
const SampleSet kMean("mean", whole);
const SampleSet kMax("max", whole_distinct);
const SampleSet kMin("min", whole_distinct);
const SampleSet kAny("any", whole);
const SampleSet kAll_("all", whole);
// One element has no variance.
Arguments two_or_more(ScalarType dtype, Random& random) {
  return {{random.tensor(dtype, {3, 4})}, {random.tensor(dtype, {2, 1, 3})}};
}

const SampleSet kVar("var", two_or_more);
const SampleSet kStd("std", two_or_more);

/// Lists of dimensions and keepdim.
Arguments over_dims(ScalarType dtype, Random& random) {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {
      {x, ints({0})},
      {x, ints({1})},
      {x, ints({-1}), true},
      {x, ints({0, 2})},
      {x, ints({2, 0}), true},
      {random.tensor(dtype, {}), ints({0})},
      {random.tensor(dtype, {5, 1}), ints({1})},
      {random.tensor(dtype, {2, 0}), ints({0})},
      {random.tensor(dtype, {37}), ints({0})}};
}

Arguments over_dims_distinct(ScalarType dtype, Random& random) {
  Arguments arguments = over_dims(dtype, random);
  for (Stack& args : arguments) {
    args[0] = random.distinct(dtype, args[0].toTensor().sizes().vec());
  }
  return arguments;
}

Arguments over_all_or_dims(ScalarType dtype, Random& random) {
  Arguments arguments = over_dims(dtype, random);
  arguments.push_back({random.tensor(dtype, {3, 4}), none()});
  arguments.push_back({random.tensor(dtype, {3, 4}), none(), true});
  return arguments;
}

const SampleSet kSumDim("sum.dim_IntList", over_all_or_dims);
const SampleSet kMeanDim("mean.dim", over_all_or_dims);
const SampleSet kAmax("amax", over_dims_distinct);
const SampleSet kAmin("amin", over_dims_distinct);
const SampleSet kLogsumexp("logsumexp", over_dims);

/// One dimension and keepdim.
Arguments over_dim(ScalarType dtype, Random& random) {
  const at::Tensor x = random.distinct(dtype, {3, 4, 2});
  return {{x, 0}, {x, 1, true}, {x, -1}, {random.distinct(dtype, {}), 0}, {random.distinct(dtype, {37}), 0, true}};
}

const SampleSet kMaxDim("max.dim", over_dim);
const SampleSet kMinDim("min.dim", over_dim);
const SampleSet kProdDim("prod.dim_int", [](ScalarType dtype, Random& random) {
  Arguments arguments = over_dim(dtype, random);
  for (Stack& args : arguments) {
    args[0] = random.tensor(dtype, args[0].toTensor().sizes().vec(), 0.5, 2);
  }
  return arguments;
});
const SampleSet kAnyDim("any.dim", over_dim);
const SampleSet kAllDim("all.dim", over_dim);
const SampleSet kCumsum("cumsum", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {{x, 0}, {x, 1}, {x, -1}, {random.tensor(dtype, {}), 0}, {random.tensor(dtype, {2, 0}), 1}};
});

Arguments arg_reduce(ScalarType dtype, Random& random) {
  Arguments arguments = over_dim(dtype, random);
  arguments.push_back({random.distinct(dtype, {3, 4}), none()});
  return arguments;
}

const SampleSet kArgmax("argmax", arg_reduce);
const SampleSet kArgmin("argmin", arg_reduce);

Arguments variances(ScalarType dtype, Random& random) {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {{x, ints({1}), 1}, {x, ints({0, 2}), 0, true}, {x, none(), 1}, {x, ints({0}), 0.5}};
}

const SampleSet kVarCorrection("var.correction", variances);
const SampleSet kStdCorrection("std.correction", variances);
const SampleSet kVarDim("var.dim", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  return {{x, ints({1}), true}, {x, ints({0}), false, true}};
});
const SampleSet kStdDim("std.dim", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  return {{x, ints({1}), true}, {x, ints({0}), false, true}};
});

Arguments norms(ScalarType dtype, Random& random) {
  const at::Tensor x = random.tensor(dtype, {3, 4}, 0.5, 2); // |x| has a kink at 0
  return {{x, 2, ints({1}), true}, {x, 1, ints({0})}, {x, 3, ints({0, 1})}, {x, 2.5, ints({1})}};
}

const SampleSet kNormScalar("norm.Scalar", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 4})}, {random.tensor(dtype, {3, 4}), 3}};
});
const SampleSet kNormDim("norm.ScalarOpt_dim", norms);
const SampleSet kVectorNorm("linalg_vector_norm", norms);

Arguments softmaxes(ScalarType dtype, Random& random) {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {{x, 0}, {x, 1}, {x, -1}, {random.tensor(dtype, {}), 0}, {random.tensor(dtype, {2, 67}), 1}};
}

Arguments raw_softmaxes(ScalarType dtype, Random& random) {
  Arguments arguments = softmaxes(dtype, random);
  for (Stack& args : arguments) {
    args.emplace_back(false);
  }
  return arguments;
}

const SampleSet kSoftmax("softmax.int", softmaxes);
const SampleSet kLogSoftmax("log_softmax.int", softmaxes);
const SampleSet kRawSoftmax("_softmax", raw_softmaxes);
const SampleSet kRawLogSoftmax("_log_softmax", raw_softmaxes);

} // namespace

} // namespace test
