// Whole training steps in compiled functions: backward() and step() inside.
#include <catch2/catch.hpp>

#include "test/aot/bit_equal.h"

#include <torch/compile.h>
#include <torch/torch.h>

#include <functional>
#include <memory>

using Catch::Matchers::Contains;
using torch::Tensor;

namespace test {

namespace {

torch::nn::Sequential make_net() {
  torch::manual_seed(7);
  return torch::nn::Sequential(
      torch::nn::Linear(6, 16), torch::nn::BatchNorm1d(16), torch::nn::GELU(), torch::nn::Dropout(0.25),
      torch::nn::Linear(16, 3));
}

using MakeOptimizer = std::function<std::unique_ptr<torch::optim::Optimizer>(const torch::nn::Sequential&)>;

/// The losses and parameters of some steps.
std::vector<Tensor> train(const MakeOptimizer& make, const std::string& backend, bool zero_inside, uint64_t* replays) {
  auto net = make_net();
  const auto optimizer = make(net);
  const auto step = [&](const Tensor& x, const Tensor& y) {
    if (zero_inside) {
      optimizer->zero_grad();
    }
    const Tensor loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    optimizer->step();
    return loss.detach();
  };
  torch::CompileOptions options;
  options.backend = backend.empty() ? "eager" : backend;
  options.fullgraph = true;
  options.modules = {net.ptr()};
  options.optimizers = {optimizer.get()};
  const auto compiled = torch::compile(step, options);
  std::vector<Tensor> outcome;
  for (int i = 0; i < 6; ++i) {
    torch::manual_seed(100 + static_cast<uint64_t>(i));
    const Tensor x = torch::randn({8, 6}), y = torch::randn({8, 3});
    if (!zero_inside && i % 2 == 0) {
      optimizer->zero_grad(); // in other calls gradients are added to
    }
    if (i == 4) {
      for (auto& group : optimizer->param_groups()) {
        group.options().set_lr(0.003);
      }
    }
    outcome.push_back(backend.empty() ? step(x, y) : compiled(x, y));
  }
  if (replays) {
    *replays = compiled.core().num_replays();
    CHECK(compiled.core().last_not_compiled() == "");
  }
  for (const auto& list : {net->parameters(), net->buffers()}) {
    for (const Tensor& tensor : list) {
      outcome.push_back(tensor);
      outcome.push_back(tensor.grad());
    }
  }
  return outcome;
}

} // namespace

TEST_CASE("A training step with backward() and step() is compiled", "[aot][training]") {
  const MakeOptimizer optimizers[] = {
      [](auto net) {
        return std::make_unique<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
      },
      [](auto net) { return std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(0.01)); },
      [](auto net) {
        return std::make_unique<torch::optim::AdamW>(net->parameters(), torch::optim::AdamWOptions(0.01));
      },
  };
  for (const MakeOptimizer& make : optimizers) {
    for (const char* const backend : {"eager", "aot_eager", "fused"}) {
      for (const bool zero_inside : {true, false}) {
        INFO(backend << " " << zero_inside);
        uint64_t replays = 0;
        const auto wanted = train(make, "", zero_inside, nullptr);
        const auto got = train(make, backend, zero_inside, &replays);
        CHECK(replays >= (zero_inside ? 3 : 0));
        REQUIRE(got.size() == wanted.size());
        for (size_t i = 0; i < got.size(); ++i) {
          INFO(i);
          CHECK(bit_difference(got[i], wanted[i]) == "");
        }
      }
    }
  }
}

TEST_CASE("What a training step may not do is said", "[aot][training]") {
  auto net = make_net();
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  const auto x = torch::randn({8, 6});
  torch::CompileOptions options;
  options.fullgraph = true;
  const auto step = [&](const Tensor& t) {
    optimizer.zero_grad();
    const Tensor loss = net->forward(t).square().mean();
    loss.backward();
    optimizer.step();
    return loss;
  };
  const auto unnamed = torch::compile(step, options);
  CHECK_THROWS_WITH(unnamed(x), Contains("name the optimizer"));
  options.optimizers = {&optimizer};
  const auto named = torch::compile(step, options);
  Tensor loss;
  for (int i = 0; i < 5; ++i) {
    loss = named(x);
  }
  CHECK(named.core().num_replays() > 0);
  CHECK(loss.requires_grad());
  CHECK_THROWS_WITH(loss.backward(), Contains("a second time"));
  const auto goes_on = torch::compile(
      [&](const Tensor& t) {
        step(t);
        return net->forward(t);
      },
      options);
  CHECK_THROWS_WITH(goes_on(x), Contains("takes what the step changes"));
  net->parameters()[0].register_hook([](const Tensor& grad) { return grad * 2; });
  const auto hooked = torch::compile(step, options);
  CHECK_THROWS_WITH(hooked(x), Contains("there is a hook"));
}

} // namespace test
