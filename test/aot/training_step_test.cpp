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
  net->parameters()[0].register_hook([](const Tensor& grad) { return grad * 2; });
  const auto hooked = torch::compile(step, options);
  CHECK_THROWS_WITH(hooked(x), Contains("there is a hook"));
}

namespace {

/// Names of the backends that run graphs; empty for the code itself.
constexpr const char* kBackends[] = {"eager", "aot_eager", "fused"};

torch::CompileOptions options_of(const std::string& backend, std::vector<torch::optim::Optimizer*> optimizers) {
  torch::CompileOptions options;
  options.backend = backend.empty() ? "eager" : backend;
  options.fullgraph = true;
  options.optimizers = std::move(optimizers);
  return options;
}

void check_equal(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO(i);
    CHECK(bit_difference(got[i], wanted[i]) == "");
  }
}

/// Two nets that train against each other: the generator's graph goes through a discriminator that has just stepped.
std::vector<Tensor> train_adversaries(const std::string& backend) {
  torch::manual_seed(3);
  torch::nn::Sequential generator(torch::nn::Linear(4, 8), torch::nn::ReLU(), torch::nn::Linear(8, 6));
  torch::nn::Sequential critic(torch::nn::Linear(6, 8), torch::nn::GELU(), torch::nn::Linear(8, 1));
  torch::optim::Adam generator_adam(generator->parameters(), torch::optim::AdamOptions(0.02));
  torch::optim::SGD critic_sgd(
      critic->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(0.01).nesterov(true));
  const auto step = [&](const Tensor& noise, const Tensor& real) {
    const Tensor fake = generator->forward(noise);
    critic_sgd.zero_grad();
    const Tensor critic_loss =
        torch::softplus(critic->forward(fake.detach())).mean() + torch::softplus(-critic->forward(real)).mean();
    critic_loss.backward();
    critic_sgd.step();
    generator_adam.zero_grad();
    const Tensor generator_loss = torch::softplus(-critic->forward(fake)).mean();
    generator_loss.backward(); // adds to the critic's gradients, which its step has used
    generator_adam.step();
    return std::vector<Tensor>{critic_loss.detach(), generator_loss.detach()};
  };
  const auto compiled = torch::compile(step, options_of(backend, {&generator_adam, &critic_sgd}));
  std::vector<Tensor> outcome;
  for (int i = 0; i < 7; ++i) {
    const Tensor noise = torch::randn({5, 4}), real = torch::randn({5, 6});
    for (const Tensor& loss : backend.empty() ? step(noise, real) : compiled(noise, real)) {
      outcome.push_back(loss);
    }
  }
  if (!backend.empty()) {
    CHECK(compiled.core().num_replays() == 4);
    CHECK(compiled.core().last_not_compiled() == "");
  }
  for (const auto& net : {generator, critic}) {
    for (const Tensor& param : net->parameters()) {
      outcome.push_back(param);
      outcome.push_back(param.grad());
    }
  }
  return outcome;
}

/// A moving average of the parameters behind the step, a result that the new parameters give, and no gradients left.
std::vector<Tensor> train_with_average(const std::string& backend, int64_t* recordings) {
  torch::manual_seed(5);
  torch::nn::Linear net(4, 3);
  torch::optim::AdamW adam(net->parameters(), torch::optim::AdamWOptions(0.1).amsgrad(true));
  std::vector<Tensor> averages;
  for (const Tensor& param : net->parameters()) {
    averages.push_back(param.detach().clone());
  }
  const auto step = [&](const Tensor& x) {
    net->forward(x).square().mean().backward();
    for (Tensor& param : adam.param_groups()[0].params()) {
      param.mutable_grad().mul_(0.5 / param.grad().norm().clamp_min(0.5)); // no longer than a half
    }
    adam.step();
    adam.zero_grad();
    const torch::NoGradGuard no_grad;
    const auto params = net->parameters();
    for (size_t i = 0; i < params.size(); ++i) {
      averages[i].lerp_(params[i], 0.25);
    }
    return net->forward(x).sum() + params[1].sum();
  };
  const auto compiled = torch::compile(step, options_of(backend, {&adam}));
  std::vector<Tensor> outcome;
  for (int i = 0; i < 8; ++i) {
    for (auto& group : adam.param_groups()) {
      group.options().set_lr(0.1 / (1 + i)); // a schedule: nothing is recorded anew
    }
    const Tensor x = torch::randn({6, 4});
    outcome.push_back(backend.empty() ? step(x) : compiled(x));
  }
  if (recordings) {
    *recordings = static_cast<int64_t>(compiled.core().num_entries());
    CHECK(compiled.core().num_replays() == 5);
    CHECK(compiled.core().last_not_compiled() == "");
    CHECK_THAT(compiled.core().last_graph(), Contains("optimizer_step -> 0(0, %"));
  }
  for (size_t i = 0; i < averages.size(); ++i) {
    CHECK(!net->parameters()[i].grad().defined());
    outcome.push_back(averages[i]);
    outcome.push_back(net->parameters()[i]);
  }
  return outcome;
}

} // namespace

TEST_CASE("Steps of several optimizers stand anywhere in a compiled function", "[aot][training]") {
  const std::vector<Tensor> wanted = train_adversaries("");
  for (const char* const backend : kBackends) {
    INFO(backend);
    check_equal(train_adversaries(backend), wanted);
  }
}

TEST_CASE("What follows a step in a compiled function sees the new parameters", "[aot][training]") {
  const std::vector<Tensor> wanted = train_with_average("", nullptr);
  for (const char* const backend : kBackends) {
    INFO(backend);
    int64_t recordings = 0;
    check_equal(train_with_average(backend, &recordings), wanted);
    CHECK(recordings == 1);
  }
}

TEST_CASE("Each optimizer of a compiled function must be named", "[aot][training]") {
  torch::nn::Linear first(4, 3), second(3, 2);
  torch::optim::SGD sgd(first->parameters(), 0.1), other(second->parameters(), 0.1);
  const auto step = [&](const Tensor& x) {
    sgd.zero_grad();
    other.zero_grad();
    second->forward(first->forward(x)).square().mean().backward();
    other.step();
    sgd.step();
  };
  const auto compiled = torch::compile(step, options_of("fused", {&sgd}));
  CHECK_THROWS_WITH(compiled(torch::randn({2, 4})), Contains("name the optimizer"));
}

} // namespace test
