// Losses, normalisation, embedding.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

// The losses have no gradient for the weights of the classes.
const SampleTraits kWeighted{.constants = {2}};
const SampleTraits kRandom{.random = true, .gradient = false, .layouts = false};

const SampleSet kMseLoss("mse_loss", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  const at::Tensor y = random.tensor(dtype, {3, 4});
  return {{x, y}, {x, y, 0}, {x, y, 2}, {x, random.tensor(dtype, {3, 4}), 1}};
});

/// Log-probabilities [5, 3], targets with one ignored, weights or none, each reduction.
Arguments nll_losses(ScalarType dtype, Random& random) {
  const at::Tensor x = random.tensor(dtype, {5, 3}, -3, -0.1);
  const at::Tensor target =
      tensor_of(ScalarType::Long, {5}, [](int64_t i) { return i == 2 ? -100.0 : static_cast<double>(i % 3); });
  const at::Tensor weight = random.tensor(dtype, {3}, 0.5, 2);
  return {
      {x, target, none(), 1, -100},
      {x, target, weight, 1, -100},
      {x, target, weight, 2, -100},
      {x, target, weight, 0, -100}};
}

const SampleSet kNllLoss("nll_loss", nll_losses, kWeighted);
const SampleSet kNllLossForward("nll_loss_forward", nll_losses, kWeighted);
const SampleSet kCrossEntropy(
    "cross_entropy_loss",
    [](ScalarType dtype, Random& random) {
      Arguments arguments = nll_losses(dtype, random);
      arguments.push_back({random.tensor(dtype, {5, 3}), random.tensor(dtype, {5, 3}, 0, 1), none(), 1, -100, 0.1});
      return arguments;
    },
    kWeighted);

const SampleSet kLayerNorm("layer_norm", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 2, 4});
  const at::Tensor weight = random.tensor(dtype, {4});
  const at::Tensor bias = random.tensor(dtype, {4});
  return {{x, ints({4})}, {x, ints({4}), weight, bias}, {x, ints({2, 4})}, {x, ints({4}), weight}};
});

const SampleSet kNativeLayerNorm("native_layer_norm", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 2, 4});
  return {
      {x, ints({4}), random.tensor(dtype, {4}), random.tensor(dtype, {4}), 1e-5},
      {x, ints({2, 4}), none(), none(), 1e-5}};
});

const SampleSet kFusedRmsNorm("_fused_rms_norm", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 2, 4}), weight = random.tensor(dtype, {4});
  return {
      {x, ints({4}), weight, 1e-3},
      {x, ints({2, 4}), none(), 1e-3},
      {random.tensor(dtype, {4}), ints({4}), weight, 1e-3}};
});

const SampleSet kEmbedding("embedding", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor weight = random.tensor(dtype, {5, 3});
  Arguments arguments = {{weight, random.indices({4}, 5)}, {weight, random.indices({2, 3}, 5)}};
  // The gradient of the padding row is zero by decree, not by calculus.
  if (dtype != ScalarType::Double && dtype != ScalarType::ComplexDouble) {
    arguments.push_back({weight, random.indices({4}, 5), 1});
  }
  return arguments;
});

const SampleSet kDropout(
    "dropout",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {3, 4}), 0.5, true}, {random.tensor(dtype, {3, 4}), 0.5, false}};
    },
    kRandom);

const SampleSet kMultinomial(
    "multinomial",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {3, 4}, 0.1, 1), 2}, {random.tensor(dtype, {4}, 0.1, 1), 6, true}};
    },
    kRandom);

const SampleSet kBernoulli(
    "bernoulli",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {3, 4}, 0, 1)}};
    },
    kRandom);

} // namespace

} // namespace test
