// torch::compile: functions recorded, and run as graphs.
#include <catch2/catch.hpp>

#include <torch/compile.h>
#include <torch/torch.h>

using torch::CompileMode;
using torch::CompileOptions;
using torch::Tensor;
using Catch::Matchers::Contains;

namespace {

/// Calls without the comparison after a recording.
CompileOptions plain() {
  CompileOptions options;
  options.check_calls = 0;
  options.fullgraph = true;
  return options;
}

CompileOptions strict() {
  CompileOptions options;
  options.fullgraph = true;
  return options;
}

} // namespace

TEST_CASE("A function is recorded once for each kind of arguments", "[capture]") {
  int runs = 0;
  const auto f = torch::compile(
      [&](const Tensor& x, const Tensor& y) {
        ++runs;
        return (x * y + 0.5).relu() * x;
      },
      plain());
  const auto g = [](const Tensor& x, const Tensor& y) { return (x * y + 0.5).relu() * x; };
  for (int i = 0; i < 4; ++i) {
    const auto x = torch::randn({3, 4}), y = torch::randn({3, 4});
    CHECK(f(x, y).equal(g(x, y)));
  }
  CHECK(runs == 1);
  CHECK(f.core().num_replays() == 3);
  const auto x = torch::randn({5, 4});
  CHECK(f(x, x).equal(g(x, x)));
  CHECK(runs == 2);
  CHECK_THAT(
      f.explain(), Contains("made because") && Contains("aten::mul.Tensor") && Contains("tensor 0: Float [5, 4]"));
  f.reset();
  CHECK(f.core().num_entries() == 0);
}

TEST_CASE("Gradients flow through graphs", "[capture]") {
  auto net = torch::nn::Sequential(
      torch::nn::Linear(4, 8), torch::nn::GELU(), torch::nn::LayerNorm(torch::nn::LayerNormOptions({8})),
      torch::nn::Linear(8, 2));
  CompileOptions options = plain();
  options.modules = {net.ptr()};
  const auto f = torch::compile([&](const Tensor& x) { return net->forward(x).softmax(-1); }, options);
  const auto x = torch::randn({3, 4}).requires_grad_();
  f(x);
  const auto y = f(x);
  CHECK(f.core().num_replays() == 1);
  CHECK_THAT(f.core().last_graph(), Contains("get_attr(\"0.weight\")"));
  y.square().sum().backward();
  std::vector<Tensor> got{x.grad().clone()};
  for (auto& parameter : net->parameters()) {
    got.push_back(parameter.grad().clone());
    parameter.mutable_grad() = Tensor();
  }
  x.mutable_grad() = Tensor();
  const auto z = net->forward(x).softmax(-1);
  CHECK(z.equal(y));
  z.square().sum().backward();
  CHECK(torch::allclose(x.grad(), got[0]));
  for (size_t i = 0; i < net->parameters().size(); ++i) {
    CHECK(torch::allclose(net->parameters()[i].grad(), got[i + 1]));
  }
  // An optimizer's step is seen, the training flag too.
  torch::optim::SGD(net->parameters(), 0.1).step();
  CHECK(f(x).equal(net->forward(x).softmax(-1)));
  CHECK(f.core().num_entries() == 1);
  net->eval();
  f(x);
  CHECK(f.core().num_entries() == 2);
  CHECK_THAT(f.explain(), Contains("training flags"));
}

TEST_CASE("Modules with state are captured with it", "[capture]") {
  auto net = torch::nn::Sequential(torch::nn::Conv2d(2, 4, 3), torch::nn::BatchNorm2d(4), torch::nn::ReLU());
  auto same = std::dynamic_pointer_cast<torch::nn::SequentialImpl>(net->clone());
  const auto f = torch::compile([&](const Tensor& x) { return net->forward(x); }, plain());
  for (int i = 0; i < 3; ++i) {
    const auto x = torch::randn({2, 2, 6, 6});
    CHECK(f(x).equal(same->forward(x)));
  }
  CHECK(f.core().num_replays() == 2);
  for (size_t i = 0; i < net->buffers().size(); ++i) {
    CHECK(net->buffers()[i].equal(same->buffers()[i]));
  }
}

TEST_CASE("Arguments and results may be in containers, numbers are constants", "[capture]") {
  const auto f = torch::compile(
      [](const std::vector<Tensor>& xs, std::tuple<Tensor, double> pair, std::optional<Tensor> bias, int64_t n) {
        auto sum = std::get<0>(pair) * std::get<1>(pair) + n;
        for (const auto& x : xs) {
          sum = sum + x;
        }
        return std::make_tuple(bias ? sum + *bias : sum, std::vector<Tensor>{sum, sum * 2});
      },
      plain());
  const auto a = torch::randn(3), b = torch::randn(3);
  for (int i = 0; i < 2; ++i) {
    const auto [x, ys] = f(std::vector<Tensor>{a, b}, std::make_tuple(a, 2.0), std::optional<Tensor>(b), int64_t(3));
    CHECK(torch::allclose(x, a * 2 + 3 + a + b + b));
    REQUIRE(ys.size() == 2);
    CHECK(torch::allclose(ys[1], (a * 2 + 3 + a + b) * 2));
  }
  CHECK(f.core().num_replays() == 1);
  f(std::vector<Tensor>{a, b}, std::make_tuple(a, 2.5), std::optional<Tensor>(b), int64_t(3));
  CHECK_THAT(f.explain(), Contains("the value of constant argument"));
  CHECK(f.core().num_entries() == 2);
}

TEST_CASE("Writes, views and random numbers are as in the code", "[capture]") {
  const auto f = torch::compile(
      [](const Tensor& x) {
        x.add_(1);
        auto row = x[0];
        row.mul_(2);
        return x + torch::dropout(x, 0.5, true);
      },
      plain());
  const auto g = [](const Tensor& x) {
    x.add_(1);
    auto row = x[0];
    row.mul_(2);
    return x + torch::dropout(x, 0.5, true);
  };
  for (int i = 0; i < 3; ++i) {
    const auto x = torch::randn({3, 3}), y = x.clone();
    torch::manual_seed(i);
    const auto got = f(x);
    torch::manual_seed(i);
    CHECK(got.equal(g(y)));
    CHECK(x.equal(y));
  }
  CHECK(f.core().num_replays() == 2);
}

TEST_CASE("Regions without gradients and with autocast stay so", "[capture]") {
  const auto w = torch::randn({4, 4}).requires_grad_();
  const auto f = torch::compile(
      [&](const Tensor& x) {
        Tensor y;
        {
          torch::NoGradGuard no_grad;
          y = x.mm(w);
        }
        torch::amp::AutocastGuard autocast(torch::kCPU);
        return std::make_tuple(y, x.mm(w), (x.mm(w) + 1).exp());
      },
      plain());
  const auto x = torch::randn({2, 4});
  const auto first = f(x), second = f(x);
  CHECK(f.core().num_replays() == 1);
  CHECK_FALSE(std::get<0>(second).requires_grad());
  CHECK(std::get<1>(second).requires_grad());
  CHECK(std::get<1>(second).scalar_type() == torch::kBFloat16);
  CHECK(std::get<0>(second).equal(std::get<0>(first)));
  CHECK(std::get<1>(second).equal(std::get<1>(first)));
  CHECK(std::get<2>(second).equal(std::get<2>(first)));
  CHECK(torch::GradMode::is_enabled());
}

TEST_CASE("What a graph would do otherwise is refused with its reason", "[capture]") {
  const auto x = torch::randn({3, 3});
  const auto refused = [&](auto function, const char* why) {
    CHECK_THROWS_WITH(torch::compile(function, strict())(x), Contains("cannot be captured") && Contains(why));
  };
  refused(
      [](const Tensor& t) { return t.sum().item<double>() > 0 ? t : -t; }, "aten::_local_scalar_dense reads values");
  refused([](const Tensor& t) { return t.nonzero(); }, "the size of the result of aten::nonzero depends on values");
  refused([](const Tensor& t) { return t.index({t > 0}); }, "depends on values");
  refused(
      [](const Tensor& t) {
        auto w = torch::ones({3, 3}).requires_grad_();
        return w * t;
      },
      "requires grad");
  struct Double : torch::autograd::Function<Double> {
    static Tensor forward(torch::autograd::AutogradContext*, Tensor t) {
      return t * 2;
    }
    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext*, torch::autograd::tensor_list g) {
      return {g[0] * 5};
    }
  };
  const auto with_grad = torch::randn({3}).requires_grad_();
  CHECK_THROWS_WITH(
      torch::compile([](const Tensor& t) { return Double::apply(t) + t; }, strict())(with_grad),
      Contains("a derivative of its own"));
  CHECK_THROWS_WITH(
      torch::compile(
          [](const Tensor& t) {
            auto y = t * 2;
            y.register_hook([](const Tensor& g) { return g * 3; });
            return y.exp();
          },
          strict())(with_grad),
      Contains("hooks cannot be captured"));
  CHECK_THROWS_WITH(
      torch::compile([](const Tensor& t) { return t.data() * t; }, strict())(with_grad),
      Contains("cannot be captured"));
}

TEST_CASE("A function that cannot be captured runs as it is", "[capture]") {
  const auto f = torch::compile([](const Tensor& t) { return t.sum().item<double>() > 0 ? t : -t; });
  const auto x = torch::ones({2});
  CHECK(f(x).equal(x));
  CHECK(f(-x).equal(x));
  CHECK(f(x).equal(x));
  CHECK(f.core().num_replays() == 0);
  CHECK_THAT(f.explain(), Contains("cannot be captured: aten::_local_scalar_dense"));
}

TEST_CASE("Functions that do something else each time are found", "[capture]") {
  int calls = 0;
  const auto counting = torch::compile([&](const Tensor& x) { return x * ++calls; });
  const auto x = torch::ones({2});
  for (int i = 1; i <= 4; ++i) {
    CHECK(counting(x).equal(x * i));
  }
  CHECK(counting.core().num_replays() == 0);
  CHECK_THAT(counting.explain(), Contains("something else each time"));
  // A literal with other values is found too.
  const auto literal = torch::compile([&](const Tensor& t) { return t + torch::tensor({float(++calls), 1.0f}); });
  literal(x);
  literal(x);
  CHECK_THAT(literal.explain(), Contains("something else each time"));
  CompileOptions checked;
  checked.mode = CompileMode::checked;
  int late = 0;
  const auto later = torch::compile([&](const Tensor& t) { return ++late < 4 ? t.exp() : t.sin(); }, checked);
  for (int i = 0; i < 3; ++i) {
    later(x);
  }
  CHECK_THROWS_WITH(later(x), Contains("something else each time"));
}

TEST_CASE("Literals are taken as they were, also when they are written to", "[capture]") {
  const auto f = torch::compile(
      [](const Tensor& x) {
        auto t = torch::tensor({1.0f, 2.0f});
        t.add_(x);
        return t;
      },
      plain());
  const auto x = torch::ones({2});
  for (int i = 0; i < 3; ++i) {
    CHECK(f(x).equal(torch::tensor({2.0f, 3.0f})));
  }
}

TEST_CASE("The cache is bounded, and aliasing of arguments is guarded", "[capture]") {
  CompileOptions options = plain();
  options.cache_size = 3;
  options.dynamic = false;
  const auto f = torch::compile(
      [](const Tensor& x, const Tensor& y) {
        x.add_(1);
        return x + y;
      },
      options);
  for (int64_t n = 1; n < 10; ++n) {
    f(torch::ones({n}), torch::ones({n}));
  }
  CHECK(f.core().num_entries() == 3);
  const auto x = torch::ones({2});
  CHECK(f(x, x).equal(torch::full({2}, 4.0f)));
  CHECK(f(torch::ones({2}), torch::ones({2})).equal(torch::full({2}, 3.0f)));
  CHECK(f(x, x).equal(torch::full({2}, 6.0f)));
}

TEST_CASE("Exceptions leave nothing behind, and compiled functions nest", "[capture]") {
  const auto bad = torch::compile([](const Tensor& x) { return x.mm(torch::ones({5, 5})); }, plain());
  CHECK_THROWS_AS(bad(torch::ones({2, 3})), c10::Error);
  const auto inner = torch::compile([](const Tensor& x) { return x.exp(); }, plain());
  const auto outer = torch::compile([&](const Tensor& x) { return inner(x) + 1; }, plain());
  const auto x = torch::ones({2});
  outer(x);
  CHECK(outer(x).equal(x.exp() + 1));
  CHECK(inner.core().num_entries() == 0);
  CHECK_THAT(outer.core().last_graph(), Contains("aten::exp"));
}

TEST_CASE("Modules whose parameters have the same names are told apart", "[capture][compile]") {
  torch::manual_seed(4);
  torch::nn::Linear first(4, 4), second(4, 4);
  torch::CompileOptions options;
  options.modules = {first.ptr(), second.ptr()};
  const auto f = [&](const Tensor& x) { return second(first(x).relu()); };
  for (const char* const backend : {"eager", "fused"}) {
    options.backend = backend;
    const auto compiled = torch::compile(f, options);
    const Tensor x = torch::randn({3, 4});
    for (int i = 0; i < 4; ++i) {
      CHECK(compiled(x).equal(f(x)));
    }
    CHECK(compiled.core().num_replays() == 2);
  }
}
