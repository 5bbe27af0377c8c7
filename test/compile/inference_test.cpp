// Graphs of inference: convolutions and products with what is behind them, and weights that are taken ahead.
#include <catch2/catch.hpp>

#include <csrc/compile/runner.h>
#include <aten/core/Version.h>
#include <torch/compile.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

namespace nn = torch::nn;
using torch::Tensor;

nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t groups = 1, bool has_bias = false) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).padding(kernel / 2).groups(groups).bias(has_bias));
}

/// Statistics as training leaves them.
nn::BatchNorm2d norm(int64_t channels, bool is_affine = true) {
  nn::BatchNorm2d made(nn::BatchNorm2dOptions(channels).affine(is_affine));
  const torch::NoGradGuard no_grad;
  made->running_mean.normal_(0, 0.5);
  made->running_var.uniform_(0.5, 2);
  if (is_affine) {
    made->weight.uniform_(0.5, 1.5);
    made->bias.normal_();
  }
  return made;
}

struct BlockImpl : nn::Module {
  explicit BlockImpl(int64_t channels)
      : first(register_module("first", conv(channels, channels, 3))),
        second(register_module("second", conv(channels, channels, 3, 1, true))),
        norm1(register_module("norm1", norm(channels))),
        norm2(register_module("norm2", norm(channels, false))) {}
  Tensor forward(const Tensor& x) {
    return (x + norm2(second(norm1(first(x)).relu()))).relu();
  }
  nn::Conv2d first, second;
  nn::BatchNorm2d norm1, norm2;
};
TORCH_MODULE(Block);

torch::CompileOptions options_for(const nn::Sequential& net, bool freeze) {
  torch::CompileOptions options;
  options.fullgraph = true;
  options.check_calls = 0;
  options.freeze = freeze;
  options.modules = {net.ptr()};
  return options;
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

/// Compares a compiled net with itself, three calls each; gives what it was compiled to.
std::string compare(nn::Sequential net, const Tensor& x, bool freeze, double tolerance = 1e-4) {
  net->eval();
  const torch::NoGradGuard no_grad;
  const auto compiled =
      torch::compile([net](const Tensor& in) mutable { return net->forward(in); }, options_for(net, freeze));
  const Tensor wanted = net->forward(x);
  for (int call = 0; call < 3; ++call) {
    const Tensor got = compiled(x);
    CHECK(got.sizes().equals(wanted.sizes()));
    CHECK(got.strides().equals(wanted.strides()));
    CHECK(torch::allclose(got, wanted, tolerance, tolerance));
  }
  const std::string text = torch::explain(compiled);
  return text.substr(std::min(text.size(), text.find("compiled to")));
}

} // namespace

TEST_CASE("Normalizations, residuals and activations become part of convolutions", "[compile][inference]") {
  torch::manual_seed(3);
  for (const bool freeze : {false, true}) {
    nn::Sequential net(conv(3, 32, 3), norm(32), nn::SiLU(), Block(32), Block(32), nn::MaxPool2d(2), conv(32, 64, 1));
    const std::string text = compare(net, torch::randn({2, 3, 24, 24}), freeze);
    CHECK(count(text, "call fused::convolution") == 6);
    CHECK(count(text, "native_batch_norm(") == 0);
    CHECK(count(text, "call aten::relu") == 0);
    CHECK(count(text, "silu)") == 1);
    CHECK(count(text, "relu)") == 4);
    CHECK((text.find("ahead program") != std::string::npos) == freeze);
  }
}

TEST_CASE("Of two convolutions that are added the first takes the sum", "[compile][inference]") {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(8);
  const bool has_norm = GENERATE(false, true), has_activation = GENERATE(false, true), freeze = GENERATE(false, true);
  CAPTURE(has_norm, has_activation, freeze);
  nn::Sequential net(conv(16, 32, 3), norm(32), conv(16, 32, 3), norm(32));
  net->eval();
  auto f = [=](const Tensor& x) mutable {
    const auto branch = [&](size_t i) {
      const Tensor y = net[i]->as<nn::Conv2d>()->forward(x);
      return has_norm ? net[i + 1]->as<nn::BatchNorm2d>()->forward(y) : y;
    };
    const Tensor sum = branch(0) + branch(2);
    return has_activation ? sum.relu() : sum;
  };
  auto eager = f;
  const auto compiled = torch::compile(f, options_for(net, freeze));
  const Tensor x = torch::randn({2, 16, 18, 18});
  CHECK(torch::allclose(compiled(x), eager(x), 1e-4, 1e-4));
  CHECK(count(torch::explain(compiled), "call fused::convolution") == 2);
}

TEST_CASE("Depthwise convolutions and what follows them stay channels-last", "[compile][inference]") {
  nn::Sequential net(
      conv(16, 64, 1), norm(64), nn::SiLU(), conv(64, 64, 3, 64), norm(64), nn::SiLU(), conv(64, 16, 1), norm(16),
      nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(16, 10));
  const std::string text = compare(net, torch::randn({3, 16, 17, 19}), false);
  CHECK(count(text, "call fused::convolution") == 3);
  CHECK(count(text, "aten::clone") <= 2);
}

TEST_CASE("Results of convolutions have the strides of the code where others see them", "[compile][inference]") {
  nn::Sequential direct(conv(16, 32, 3));
  CHECK(count(compare(direct, torch::randn({2, 16, 16, 16}), false), "call fused::convolution") == 1);
  // A view of the plain layout, a pool, a sum over other dimensions, a concatenation.
  struct ViewsImpl : nn::Module {
    Tensor forward(const Tensor& x) {
      const Tensor y = first(x), flat = y.view({y.size(0), -1}).slice(1, 0, 100);
      return torch::cat({flat, y.sum({2}).flatten(1), torch::cat({y, x}, 1).amax({2, 3})}, 1);
    }
    nn::Conv2d first = register_module("first", conv(16, 32, 3));
  };
  nn::Sequential views;
  views->push_back(std::make_shared<ViewsImpl>());
  CHECK(count(compare(views, torch::randn({2, 16, 16, 16}), true), "call fused::convolution") == 1);
}

TEST_CASE("Other convolutions are called as they are", "[compile][inference]") {
  const auto fused = [](nn::Sequential net, const Tensor& x) {
    return count(compare(std::move(net), x, false, 1e-5), "fused::convolution");
  };
  CHECK(fused(nn::Sequential(conv(16, 32, 3, 2), nn::ReLU()), torch::randn({2, 16, 16, 16})) == 0);
  CHECK(fused(nn::Sequential(conv(16, 10, 3), nn::ReLU()), torch::randn({2, 16, 16, 16})) == 0);
  CHECK(fused(nn::Sequential(conv(16, 32, 3), nn::ReLU()), torch::randn({1, 16, 4, 4})) == 0);
  nn::Sequential wide(conv(16, 32, 3), nn::ReLU());
  wide->to(torch::kDouble);
  CHECK(fused(wide, torch::randn({2, 16, 16, 16}, torch::kDouble)) == 0);
  CHECK(fused(nn::Sequential(nn::ConvTranspose2d(16, 32, 3), nn::ReLU()), torch::randn({2, 16, 16, 16})) == 0);
}

TEST_CASE("Statistics of the batch are not folded", "[compile][inference]") {
  nn::Sequential net(conv(16, 32, 3), norm(32), nn::ReLU());
  net->train();
  const torch::NoGradGuard no_grad;
  const auto compiled =
      torch::compile([net](const Tensor& in) mutable { return net->forward(in); }, options_for(net, /*freeze=*/true));
  for (int call = 0; call < 3; ++call) {
    const Tensor x = torch::randn({2, 16, 16, 16}), before = net[1]->as<nn::BatchNorm2d>()->running_mean.clone();
    const Tensor got = compiled(x);
    CHECK_FALSE(net[1]->as<nn::BatchNorm2d>()->running_mean.equal(before));
    CHECK(torch::allclose(got, net->forward(x), 1e-4, 1e-4));
  }
}

TEST_CASE("Frozen weights are packed, and packed again when they were written to", "[compile][inference]") {
  torch::manual_seed(4);
  nn::Sequential net(nn::Linear(96, 160), nn::ReLU(), nn::Linear(nn::LinearOptions(160, 64).bias(false)), nn::GELU());
  const Tensor x = torch::randn({70, 96});
  const std::string text = compare(net, x, true);
  const size_t packed = at::get_cpu_capability() == "AVX512" ? 2 : 0;
  CHECK(count(text, "call fused::linear") == packed);
  CHECK(count(text, "call fused::pack_weight") == packed);
  const auto compiled =
      torch::compile([net](const Tensor& in) mutable { return net->forward(in); }, options_for(net, true));
  const auto check = [&](const Tensor& in) {
    const torch::NoGradGuard no_grad;
    const Tensor got = compiled(in), wanted = net->forward(in);
    INFO(
        in.size(0) << " rows: off by " << (got - wanted).abs().max().item<float>() << " of "
                   << wanted.abs().max().item<float>());
    CHECK(torch::allclose(got, wanted, 1e-4, 1e-4));
  };
  const auto weight = [&]() -> Tensor& { return net[0]->as<nn::Linear>()->weight; };
  check(x);
  check(x);
  {
    const torch::NoGradGuard no_grad;
    weight().mul_(2);
    net[0]->as<nn::Linear>()->bias.add_(1);
  }
  check(x);
  torch::optim::SGD sgd(net->parameters(), 0.1);
  net->forward(x).square().mean().backward();
  sgd.step();
  check(x);
  weight().set_data(torch::randn({160, 96}) * 0.1);
  check(x);
  check(torch::randn({9, 96})); // other sizes share what is packed
  check(torch::randn({9, 96}));
  check(torch::randn({2, 96})); // too few rows
  check(torch::randn({2, 96}));
}

TEST_CASE("Several threads give the bits of one in graphs of inference", "[compile][inference]") {
  nn::Sequential net(conv(16, 64, 3), norm(64), nn::ReLU(), Block(64), nn::Flatten(), nn::Linear(64 * 12 * 12, 256));
  net->eval();
  const torch::NoGradGuard no_grad;
  const auto compiled =
      torch::compile([net](const Tensor& in) mutable { return net->forward(in); }, options_for(net, true));
  const Tensor x = torch::randn({40, 16, 12, 12});
  const int before = torch::get_num_threads();
  compiled(x);
  torch::set_num_threads(1);
  const Tensor one = compiled(x);
  torch::set_num_threads(4);
  const Tensor four = compiled(x);
  torch::set_num_threads(before);
  CHECK(torch::allclose(one, four, 1e-5, 1e-5));
  const auto product = torch::compile(
      [net](const Tensor& in) mutable { return net[5]->as<nn::Linear>()->forward(in); }, options_for(net, true));
  const Tensor rows = torch::randn({100, 64 * 12 * 12});
  product(rows);
  torch::set_num_threads(1);
  const Tensor alone = product(rows);
  torch::set_num_threads(3);
  const Tensor together = product(rows);
  torch::set_num_threads(before);
  CHECK(alone.equal(together));
}

namespace {

/// A net of random layers over images, as steps on a growing list of values.
struct RandomNetImpl : nn::Module {
  explicit RandomNetImpl(uint32_t seed) : random_(seed) {
    const int64_t count = 5 + pick(20);
    for (int64_t i = 0; i < count; ++i) {
      add_step("layer" + std::to_string(i));
    }
  }
  std::vector<Tensor> forward(const Tensor& x) {
    Values values{x};
    for (const auto& step : steps_) {
      values.push_back(step(values));
    }
    return {values.back(), values[values.size() / 2], values[values.size() - 2].flatten(1).slice(1, 0, 7)};
  }

 private:
  using Values = std::vector<Tensor>;
  struct Shape {
    int64_t channels, square;
    bool operator==(const Shape&) const = default;
  };

  int64_t pick(int64_t count) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(count));
  }
  void push(Shape shape, std::function<Tensor(Values&)> step) {
    shapes_.push_back(shape);
    steps_.push_back(std::move(step));
  }
  void add_convolution(size_t from, const std::string& name) {
    const int64_t in = shapes_[from].channels, kernel = 1 + 2 * pick(2), outs[] = {16, 32, 48, 10};
    const bool is_depthwise = in % 16 == 0 && pick(3) == 0;
    const int64_t out = is_depthwise ? in : outs[pick(4)];
    auto layer = register_module(name, conv(in, out, kernel, is_depthwise ? in : 1, pick(2) == 0));
    push({out, shapes_[from].square}, [=](Values& v) { return layer->forward(v[from]); });
  }
  void add_step(const std::string& name) {
    const int64_t last = static_cast<int64_t>(shapes_.size()) - 1;
    const auto from = static_cast<size_t>(pick(3) == 0 ? pick(last + 1) : last);
    const Shape shape = shapes_[from];
    const auto [c, square] = shape;
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
        return add_convolution(from, name);
      case 3: {
        auto layer = register_module(name, norm(c, pick(2) == 0));
        return push(shape, [=](Values& v) { return layer->forward(v[from]); });
      }
      case 4:
        return push(shape, [=](Values& v) { return v[from].relu(); });
      case 5:
        return push(shape, [=](Values& v) { return torch::silu(v[from]); });
      case 6: {
        for (size_t other = 0; other < shapes_.size(); ++other) {
          if (other != from && shapes_[other] == shape) {
            return push(shape, [=](Values& v) { return v[from] + v[other]; });
          }
        }
        return push(shape, [=](Values& v) { return torch::gelu(v[from]) * 0.5; });
      }
      case 7:
        if (square < 8) {
          return push(shape, [=](Values& v) { return v[from].transpose(2, 3); });
        }
        return push({c, square / 2}, [=](Values& v) { return torch::max_pool2d(v[from], 2); });
      case 8:
        return push(shape, [=](Values& v) { return v[from] * torch::sigmoid(v[from].mean({2, 3}, true)); });
      case 9:
        return c > 64 ? push(shape, [=](Values& v) { return v[from].tanh(); }) : push({2 * c, square}, [=](Values& v) {
          return torch::cat({v[from], v[from].neg()}, 1);
        });
      case 10:
        return push(shape, [=](Values& v) { return v[from].reshape({v[from].size(0), -1}).view(v[from].sizes()) + 1; });
      default:
        return c < 2 ? push(shape, [=](Values& v) { return v[from].abs(); })
                     : push({c / 2, square}, [=](Values& v) { return v[from].slice(1, 0, c / 2); });
    }
  }

  std::mt19937 random_;
  std::vector<Shape> shapes_{{16, 18}}; // by value
  std::vector<std::function<Tensor(Values&)>> steps_;
};
TORCH_MODULE(RandomNet);

void compare_random_nets(uint32_t first, uint32_t count) {
  const torch::NoGradGuard no_grad;
  size_t rewritten = 0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    INFO("seed " << seed);
    torch::manual_seed(seed);
    RandomNet net(seed);
    net->eval();
    torch::CompileOptions options;
    options.fullgraph = true;
    options.check_calls = 0;
    options.freeze = seed % 2 == 0;
    options.modules = {net.ptr()};
    const auto compiled = torch::compile([net](const Tensor& in) mutable { return net->forward(in); }, options);
    const Tensor x = torch::randn({2, 16, 18, 18});
    const std::vector<Tensor> wanted = net->forward(x);
    for (int call = 0; call < 3; ++call) {
      const std::vector<Tensor> got = compiled(x);
      for (size_t i = 0; i < wanted.size(); ++i) {
        REQUIRE(got[i].strides().equals(wanted[i].strides()));
        const double scale = std::max(1.0, wanted[i].abs().max().item<double>());
        REQUIRE(torch::allclose(got[i], wanted[i], 1e-3, 1e-4 * scale));
      }
    }
    rewritten += torch::explain(compiled).find("call fused::convolution") != std::string::npos ? 1 : 0;
  }
  CHECK(rewritten > count / 3);
}

} // namespace

TEST_CASE("Random nets of convolutions give what eager gives", "[compile][inference][fuzz]") {
  compare_random_nets(1, 60);
}

TEST_CASE("Very many random nets of convolutions give what eager gives", "[slow][compile][inference][fuzz]") {
  compare_random_nets(1000, 20000);
}

TEST_CASE("Gradients of compiled convolutions are taken channels-last", "[compile][inference]") {
  const auto make = [] {
    torch::manual_seed(6);
    nn::Sequential net(
        conv(3, 32, 3), nn::BatchNorm2d(32), nn::ReLU(), conv(32, 32, 3, 32, true), nn::SiLU(), nn::MaxPool2d(2),
        conv(32, 16, 1), nn::Flatten(), nn::Linear(16 * 256, 10));
    return net;
  };
  for (const double budget : {1.0, 0.4}) {
    nn::Sequential eager = make(), other = make();
    torch::CompileOptions options = options_for(other, false);
    options.memory_budget = budget;
    const auto compiled = torch::compile([&](const Tensor& in) { return other->forward(in); }, options);
    for (int i = 0; i < 3; ++i) {
      const Tensor x = torch::randn({4, 3, 32, 32}).requires_grad_(), y = x.detach().clone().requires_grad_();
      const Tensor got = compiled(y), wanted = eager->forward(x);
      CHECK(got.strides().equals(wanted.strides()));
      CHECK(torch::allclose(got, wanted, 1e-3, 1e-4));
      got.square().mean().backward();
      wanted.square().mean().backward();
      CHECK(y.grad().strides().equals(x.grad().strides()));
      CHECK(torch::allclose(y.grad(), x.grad(), 1e-3, 1e-5));
    }
    const auto wanted = eager->parameters(), got = other->parameters();
    for (size_t i = 0; i < wanted.size(); ++i) {
      CHECK(got[i].grad().strides().equals(wanted[i].grad().strides()));
      CHECK(torch::allclose(got[i].grad(), wanted[i].grad(), 1e-3, 1e-4));
    }
    CHECK(count(torch::explain(compiled), "call fused::convolution") >= 3);
  }
}

TEST_CASE("Whole steps of training run their convolutions channels-last", "[compile][inference]") {
  const auto make = [] {
    torch::manual_seed(5);
    nn::Sequential net(
        conv(3, 32, 3), nn::BatchNorm2d(32), nn::SiLU(), conv(32, 32, 3, 32), nn::BatchNorm2d(32), nn::ReLU(),
        nn::MaxPool2d(2), conv(32, 48, 1, 1, true), nn::LeakyReLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
        nn::Linear(48, 10));
    return net;
  };
  const Tensor x = torch::randn({4, 3, 20, 24}), y = torch::randint(10, {4});
  nn::Sequential eager = make(), other = make();
  torch::optim::SGD sgd(eager->parameters(), 0.1), other_sgd(other->parameters(), 0.1);
  torch::CompileOptions options = options_for(other, false);
  options.optimizers = {&other_sgd};
  const auto step = [](nn::Sequential& net, torch::optim::SGD& optimizer, const Tensor& in, const Tensor& target) {
    optimizer.zero_grad();
    const Tensor loss = torch::cross_entropy_loss(net->forward(in), target);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  const auto compiled = torch::compile(
      [&](const Tensor& in, const Tensor& target) { return step(other, other_sgd, in, target); }, options);
  for (int i = 0; i < 5; ++i) {
    CHECK(torch::allclose(compiled(x, y), step(eager, sgd, x, y), 1e-4, 1e-5));
  }
  const auto wanted = eager->parameters(), got = other->parameters();
  for (size_t i = 0; i < wanted.size(); ++i) {
    CHECK(got[i].strides().equals(wanted[i].strides()));
    CHECK(got[i].grad().strides().equals(wanted[i].grad().strides()));
    CHECK(torch::allclose(got[i], wanted[i], 1e-3, 1e-4));
  }
  const auto statistics = eager->buffers(), own = other->buffers();
  for (size_t i = 0; i < statistics.size(); ++i) {
    CHECK(torch::allclose(own[i], statistics[i], 1e-3, 1e-4));
  }
  const std::string text = torch::explain(compiled);
  CHECK(count(text, "call fused::convolution") == 3);
  CHECK(count(text, "call aten::convolution_backward") == 3);
}
