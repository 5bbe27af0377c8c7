// Recurrent layers inside of vmap and forward mode: weights for all samples or for each, packed sequences, gradients.
#include "support.h"

#include <functional>
#include <optional>
#include <tuple>
#include <vector>

using namespace func_test;
using namespace torch::func;

namespace {

constexpr int64_t kFeatures = 3, kSize = 4, kSamples = 3, kSequences = 2, kSteps = 5;

/// A layer with `gates` gates, of one direction, as a function of its input and its four weights.
struct Layer {
  int64_t gates;
  std::function<Tensor(const Tensor& input, const std::vector<Tensor>& weights)> call;
};

Tensor first_state() {
  return at::zeros({1, kSequences, kSize}, at::kDouble);
}

std::vector<Layer> layers() {
  const auto joined = [](const Tensor& a, const Tensor& b, const Tensor& c) {
    return at::cat({a.flatten(), b.flatten(), c.flatten()});
  };
  return {
      {4,
       [joined](const Tensor& x, const std::vector<Tensor>& w) {
         const auto [y, h, c] = at::lstm(x, {first_state(), first_state()}, w, true, 1, 0, false, false, false);
         return joined(y, h, c);
       }},
      {3,
       [](const Tensor& x, const std::vector<Tensor>& w) {
         return std::get<0>(at::gru(x, first_state(), w, true, 1, 0, false, false, false));
       }},
      {1,
       [](const Tensor& x, const std::vector<Tensor>& w) {
         return std::get<0>(at::rnn_tanh(x, first_state(), w, true, 1, 0, false, false, false));
       }},
      {4,
       [joined](const Tensor& x, const std::vector<Tensor>& w) { // packed: sequences of five steps and of three
         const Tensor rows = at::cat({x.narrow(0, 0, 3).flatten(0, 1), x.narrow(0, 3, 2).select(1, 0)});
         const Tensor sizes = at::tensor({2, 2, 2, 1, 1}, at::kLong);
         const auto [y, h, c] = at::lstm(rows, sizes, {first_state(), first_state()}, w, true, 1, 0, false, false);
         return joined(y, h, c);
       }},
  };
}

std::vector<Tensor> weights_of(const Layer& layer, at::IntArrayRef batch) {
  std::vector<Tensor> weights;
  const int64_t rows = layer.gates * kSize;
  for (const std::vector<int64_t>& own : {std::vector<int64_t>{rows, kFeatures}, {rows, kSize}, {rows}, {rows}}) {
    std::vector<int64_t> sizes = batch.vec();
    sizes.insert(sizes.end(), own.begin(), own.end());
    weights.push_back(randn(sizes) * 0.5);
  }
  return weights;
}

std::vector<Tensor> of_sample(const std::vector<Tensor>& weights, int64_t b) {
  std::vector<Tensor> own;
  for (const Tensor& weight : weights) {
    own.push_back(weight.select(0, b));
  }
  return own;
}

} // namespace

TEST_CASE("recurrent layers of each sample, with one set of weights and with many") {
  for (const Layer& layer : layers()) {
    CAPTURE(layer.gates);
    const Tensor x = randn({kSamples, kSteps, kSequences, kFeatures});
    const std::vector<Tensor> shared = weights_of(layer, {}), own = weights_of(layer, {kSamples});
    std::vector<Tensor> with_shared, with_own, of_one_input;
    for (int64_t b = 0; b < kSamples; ++b) {
      with_shared.push_back(layer.call(x[b], shared));
      with_own.push_back(layer.call(x[b], of_sample(own, b)));
      of_one_input.push_back(layer.call(x[0], of_sample(own, b)));
    }
    check_close(vmap(layer.call, {0, std::nullopt})(x, shared), at::stack(with_shared));
    check_close(vmap(layer.call, {0, 0})(x, own), at::stack(with_own));
    check_close(vmap(layer.call, {std::nullopt, 0})(x[0], own), at::stack(of_one_input));
  }
}

TEST_CASE("gradients of the weights of recurrent layers for each sample") {
  for (const Layer& layer : layers()) {
    CAPTURE(layer.gates);
    const Tensor x = randn({kSamples, kSteps, kSequences, kFeatures});
    const std::vector<Tensor> weights = weights_of(layer, {});
    const auto loss = [&](const std::vector<Tensor>& w, const Tensor& input) {
      return layer.call(input, w).square().sum();
    };
    const std::vector<Tensor> got = vmap(grad(loss), {std::nullopt, 0})(weights, x);
    for (int64_t b = 0; b < kSamples; ++b) {
      const std::vector<Tensor> wanted = grad(loss)(weights, x[b]);
      for (size_t i = 0; i < weights.size(); ++i) {
        check_close(got[i][b], wanted[i]);
      }
    }
  }
}

TEST_CASE("the jacobian of a recurrent layer is the same by rows and by columns") {
  for (const Layer& layer : layers()) {
    CAPTURE(layer.gates);
    const std::vector<Tensor> weights = weights_of(layer, {});
    const Tensor x = randn({kSteps, kSequences, kFeatures});
    const auto f = [&](const Tensor& input) { return layer.call(input, weights); };
    check_close(jacrev(f)(x), jacfwd(f)(x));
  }
}
