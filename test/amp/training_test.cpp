// Networks trained under autocast: losses against PyTorch's, see reference.py.
#include <catch2/catch.hpp>

#include <torch/torch.h>

#include "test/amp/expected.h"
#include "test/amp/support.h"

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using at::Tensor;
using torch::amp::AutocastGuard;
using torch::amp::AutocastOptions;
namespace F = torch::nn::functional;

namespace {

Tensor wave(at::IntArrayRef sizes) {
  const Tensor place = torch::empty(sizes, at::kDouble);
  return (torch::arange(place.numel(), at::kDouble) * 0.7 + 0.3).sin().to(at::kFloat).view(sizes);
}

Tensor weight(at::IntArrayRef sizes) {
  return (wave(sizes) * 0.5).requires_grad_();
}

// Without dtype in float32.
AutocastOptions region(std::optional<at::ScalarType> dtype) {
  return AutocastOptions().dtype(dtype).enabled(dtype.has_value());
}

std::vector<double> train(
    const std::vector<Tensor>& weights,
    double rate,
    int steps,
    std::optional<at::ScalarType> dtype,
    const std::function<Tensor()>& loss_of) {
  torch::optim::SGD optimizer(weights, rate);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const AutocastGuard autocast(at::kCPU, region(dtype));
      loss = loss_of();
    }
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

std::vector<double> dense_losses(std::optional<at::ScalarType> dtype) {
  const Tensor x = wave({16, 8}), labels = torch::arange(16).remainder(4);
  const Tensor w1 = weight({32, 8}), b1 = weight({32}), w2 = weight({4, 32}), b2 = weight({4});
  return train({w1, b1, w2, b2}, 0.1, 30, dtype, [&] {
    return F::cross_entropy(F::linear(F::relu(F::linear(x, w1, b1)), w2, b2), labels);
  });
}

std::vector<double> image_losses(std::optional<at::ScalarType> dtype) {
  const Tensor labels = torch::arange(8).remainder(2);
  const Tensor x = wave({8, 1, 8, 8}) * (1 + labels).view({8, 1, 1, 1});
  const Tensor kernel = weight({4, 1, 3, 3}), scale = torch::ones({4}, torch::requires_grad()), shift = weight({4}),
               w = weight({2, 36});
  return train({kernel, scale, shift, w}, 0.05, 20, dtype, [&] {
    const Tensor y = F::batch_norm(
        F::conv2d(x, kernel), Tensor(), Tensor(), F::BatchNormFuncOptions().weight(scale).bias(shift).training(true));
    return F::cross_entropy(F::linear(F::max_pool2d(F::relu(y), F::MaxPool2dFuncOptions(2)).flatten(1), w), labels);
  });
}

// A step rounds, and later steps carry on from there: a few units of the dtype.
double tolerance(std::optional<at::ScalarType> dtype) {
  return !dtype.has_value() ? 2e-6 : *dtype == at::kHalf ? 2e-3 : 1e-2;
}

} // namespace

TEST_CASE("losses under autocast are PyTorch's", "[amp]") {
  using Network = std::vector<double> (*)(std::optional<at::ScalarType>);
  const std::vector<std::pair<std::string, Network>> networks = {{"dense", &dense_losses}, {"image", &image_losses}};
  const std::vector<std::pair<std::string, std::optional<at::ScalarType>>> dtypes = {
      {"float32", std::nullopt}, {"bfloat16", at::kBFloat16}, {"float16", at::kHalf}};
  for (const auto& [network, run] : networks) {
    for (const auto& [name, dtype] : dtypes) {
      const std::vector<double> losses = run(dtype);
      const std::vector<double>& want = test::expected_losses.at(network + "/" + name);
      REQUIRE(losses.size() == want.size());
      for (size_t i = 0; i < want.size(); ++i) {
        INFO(network << " in " << name << ", step " << i);
        CHECK(losses[i] == Approx(want[i]).epsilon(tolerance(dtype)));
      }
    }
  }
}

TEST_CASE("autocast and GradScaler train in half", "[amp]") {
  const Tensor x = wave({16, 8}), labels = torch::arange(16).remainder(4);
  torch::manual_seed(1);
  torch::nn::Sequential model(
      torch::nn::Linear(8, 32), torch::nn::LayerNorm(torch::nn::LayerNormOptions({32})), torch::nn::GELU(),
      torch::nn::Linear(32, 4));
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(0.03));
  torch::amp::GradScaler scaler(torch::amp::GradScalerOptions().init_scale(1024));
  double first = 0, last = 0;
  for (int step = 0; step < 40; ++step) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const AutocastGuard autocast(at::kCPU, at::kHalf);
      loss = F::cross_entropy(model->forward(x), labels);
    }
    scaler.scale(loss).backward();
    CHECK(scaler.step(optimizer));
    scaler.update();
    last = loss.item<double>();
    if (step == 0) {
      first = last;
    }
  }
  CHECK(last < 0.7 * first);
  for (const Tensor& parameter : model->parameters()) {
    CHECK(parameter.scalar_type() == at::kFloat);
  }
}

TEST_CASE("networks of all kinds run under autocast, forward and back", "[amp]") {
  torch::manual_seed(1);
  const Tensor sequence = wave({5, 2, 8});
  torch::nn::LSTM lstm(8, 6);
  torch::nn::GRU gru(8, 6);
  torch::nn::MultiheadAttention attention(8, 2);
  torch::nn::TransformerEncoderLayer encoder(
      torch::nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0));
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    const auto check = [&](torch::nn::Module& module, const std::function<Tensor()>& output) {
      INFO(module.name());
      module.zero_grad();
      Tensor y;
      {
        const AutocastGuard autocast(at::kCPU, dtype);
        y = output();
      }
      y.to(at::kFloat).square().sum().backward();
      for (const auto& parameter : module.named_parameters()) {
        INFO(parameter.key());
        REQUIRE(parameter.value().grad().defined());
        CHECK(parameter.value().grad().scalar_type() == at::kFloat);
        CHECK(parameter.value().grad().isfinite().all().item<bool>());
      }
    };
    check(*lstm, [&] { return std::get<0>(lstm->forward(sequence)); });
    check(*gru, [&] { return std::get<0>(gru->forward(sequence)); });
    check(*attention, [&] { return std::get<0>(attention->forward(sequence, sequence, sequence)); });
    check(*encoder, [&] { return encoder->forward(sequence); });
  }
}

TEST_CASE("the backward pass runs in the settings of its caller", "[amp]") {
  struct Look : torch::autograd::Function<Look> {
    static Tensor forward(torch::autograd::AutogradContext*, const Tensor& x) {
      return x * 1;
    }
    static torch::autograd::variable_list backward(
        torch::autograd::AutogradContext*, torch::autograd::variable_list grads) {
      const Tensor a = torch::ones({2, 2});
      CHECK(torch::mm(a, a).scalar_type() == (at::autocast::is_autocast_enabled(at::kCPU) ? at::kHalf : at::kFloat));
      enabled() = at::autocast::is_autocast_enabled(at::kCPU);
      return grads;
    }
    static bool& enabled() {
      static bool it = false;
      return it;
    }
  };
  const Tensor x = torch::ones({2}).requires_grad_();
  const Tensor y = Look::apply(x).sum();
  {
    const AutocastGuard on(at::kCPU, at::kHalf);
    y.backward({}, /*retain_graph=*/true);
    CHECK(Look::enabled());
  }
  y.backward();
  CHECK_FALSE(Look::enabled());
}
