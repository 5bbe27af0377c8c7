// Losses over pairs of tensors and over classes, and activations made of other operators.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

// ---- pairs --------------------------------------------------------------------

/// self, target, reduction; then `more`.
Arguments pairs(ScalarType dtype, Random& random, const Stack& more, double low = -2, double high = 2) {
  Arguments arguments;
  for (const int64_t reduction : {0, 1, 2}) {
    Stack args = {random.tensor(dtype, {3, 4}, low, high), random.tensor(dtype, {3, 4}, low, high), reduction};
    args.insert(args.end(), more.begin(), more.end());
    arguments.push_back(std::move(args));
  }
  return arguments;
}

const SampleSet kL1Loss("l1_loss", [](ScalarType dtype, Random& random) { return pairs(dtype, random, {}); });
const SampleSet kSmoothL1("smooth_l1_loss", [](ScalarType dtype, Random& random) {
  return pairs(dtype, random, {0.75});
});
const SampleSet kHuber("huber_loss", [](ScalarType dtype, Random& random) { return pairs(dtype, random, {0.75}); });
const SampleSet kSoftMargin(
    "soft_margin_loss", [](ScalarType dtype, Random& random) { return pairs(dtype, random, {}); }, {.constants = {1}});
const SampleSet kKlDiv("kl_div", [](ScalarType dtype, Random& random) {
  Arguments arguments = pairs(dtype, random, {false}, 0.1, 0.9);
  for (Stack& args : pairs(dtype, random, {true}, -2, -0.1)) {
    arguments.push_back(std::move(args));
  }
  return arguments;
});

const SampleSet kBce("binary_cross_entropy", [](ScalarType dtype, Random& random) -> Arguments {
  const auto p = [&] { return random.tensor(dtype, {3, 4}, 0.1, 0.9); };
  return {{p(), p()}, {p(), p(), none(), 0}, {p(), p(), none(), 2}};
});
const SampleSet kBceLogits("binary_cross_entropy_with_logits", [](ScalarType dtype, Random& random) -> Arguments {
  const auto x = [&] { return random.tensor(dtype, {3, 4}); };
  const auto p = [&] { return random.tensor(dtype, {3, 4}, 0.1, 0.9); };
  return {{x(), p()}, {x(), p(), none(), none(), 0}, {x(), p(), none(), none(), 2}};
});
const SampleSet kPoissonNll("poisson_nll_loss", [](ScalarType dtype, Random& random) -> Arguments {
  const auto x = [&] { return random.tensor(dtype, {3, 4}, 0.5, 2); };
  return {{x(), x(), true, false, 1e-8, 1}, {x(), x(), false, false, 1e-8, 0}};
});

at::Tensor signs(ScalarType dtype) {
  return tensor_of(dtype, {3, 4}, [](int64_t i) { return i % 3 == 0 ? -1.0 : 1.0; });
}

// The targets are signs: the loss jumps between them.
const SampleSet kHinge(
    "hinge_embedding_loss",
    [](ScalarType dtype, Random& random) -> Arguments {
      const at::Tensor x = random.tensor(dtype, {3, 4});
      return {{x, signs(dtype)}, {x, signs(dtype), 0.5, 0}};
    },
    {.constants = {1}});
const SampleSet kRanking(
    "margin_ranking_loss",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {3, 4}), random.tensor(dtype, {3, 4}), signs(dtype), 0.25, 1}};
    },
    {.constants = {2}});

// ---- classes --------------------------------------------------------------------

const SampleSet kMultiMargin(
    "multi_margin_loss",
    [](ScalarType dtype, Random& random) -> Arguments {
      const at::Tensor x = random.tensor(dtype, {4, 3});
      const at::Tensor target = random.indices({4}, 3);
      return {{x, target}, {x, target, 2, 0.5, none(), 0}, {x, target, 1, 1, random.tensor(dtype, {3}, 0.5, 2), 2}};
    },
    {.constants = {4}});
const SampleSet kMultilabelMargin("multilabel_margin_loss", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  const double targets[] = {1, 3, -1, 0, 0, -1, -1, -1, 2, 1, 0, -1};
  const at::Tensor target = tensor_of(ScalarType::Long, {3, 4}, [&](int64_t i) { return targets[i]; });
  return {{x, target}, {x, target, 0}, {x, target, 2}};
});

// ---- activations --------------------------------------------------------------

Arguments one(ScalarType dtype, Random& random) {
  return {{random.tensor(dtype, {3, 4}, -4, 4)}, {random.tensor(dtype, {})}, {random.tensor(dtype, {0, 2})}};
}

const SampleSet kLogSigmoid("log_sigmoid", one);
const SampleSet kSelu("selu", one);
const SampleSet kRelu6("relu6", one);
const SampleSet kCelu("celu", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 4}, -4, 4)}, {random.tensor(dtype, {3, 4}, -4, 4), 1.5}};
});
const SampleSet kPrelu("prelu", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {3, 4}, -4, 4), random.tensor(dtype, {4})},
      {random.tensor(dtype, {2, 3, 2}, -4, 4), random.tensor(dtype, {3})},
      {random.tensor(dtype, {3, 4}, -4, 4), random.tensor(dtype, {1})}};
});
const SampleTraits kRandom{.random = true, .gradient = false, .layouts = false};
const SampleSet kRrelu(
    "rrelu",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {3, 4}), 0.125, 0.25, true}, {random.tensor(dtype, {3, 4})}};
    },
    kRandom);

// ---- complex numbers ------------------------------------------------------------------

Arguments two(ScalarType dtype, Random& random) {
  return {
      {random.tensor(dtype, {3, 4}), random.tensor(dtype, {3, 4})},
      {random.tensor(dtype, {3, 1}), random.tensor(dtype, {4})},
      {random.tensor(dtype, {}), random.tensor(dtype, {})}};
}

const SampleSet kComplex("complex", two);
// Where abs is not positive, PyTorch's derivative is another than that of the function.
const SampleSet kPolar("polar", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {3, 4}, 0.3, 2), random.tensor(dtype, {3, 4})},
      {random.tensor(dtype, {3, 1}, 0.3, 2), random.tensor(dtype, {4})},
      {random.tensor(dtype, {}, 0.3, 2), random.tensor(dtype, {})}};
});

} // namespace

} // namespace test
