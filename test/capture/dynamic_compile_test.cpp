// torch::compile for calls of many sizes.
#include <catch2/catch.hpp>

#include <torch/compile.h>
#include <torch/torch.h>

#include <random>

using Catch::Matchers::Contains;
using torch::CompileOptions;
using torch::Tensor;

namespace {

CompileOptions any_size() {
  CompileOptions options;
  options.backend = "eager";
  options.check_calls = 0;
  options.fullgraph = true;
  return options;
}

CompileOptions fused() {
  CompileOptions options = any_size();
  options.backend = "fused";
  return options;
}

} // namespace

TEST_CASE("A graph serves all sizes after the second", "[capture]") {
  auto net = torch::nn::Sequential(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(2, 4, 3).stride(2)), torch::nn::ReLU(),
      torch::nn::AdaptiveAvgPool2d(2), torch::nn::Flatten(), torch::nn::Linear(16, 3));
  int runs = 0;
  const auto f = torch::compile(
      [&](const Tensor& x) {
        ++runs;
        return net->forward(x).softmax(-1) * static_cast<double>(x.size(0));
      },
      any_size());
  const auto g = [&](const Tensor& x) { return net->forward(x).softmax(-1) * static_cast<double>(x.size(0)); };
  const auto check = [&](int64_t n, int64_t h) {
    const auto x = torch::randn({n, 2, h, 8});
    CHECK(f(x).equal(g(x)));
  };
  check(4, 9);
  check(7, 11);
  CHECK(f.core().num_entries() == 2); // the first size, and one for all
  CHECK(runs == 2);
  for (int pass = 0; pass < 2; ++pass) {
    for (const int64_t n : {2, 5, 31}) {
      check(n, 6 + n);
    }
  }
  const int runs_until_now =
      runs; // a new size is recorded once, or again where it changed what the graph was taken for
  CHECK(runs <= 8);
  for (const int64_t n : {2, 5, 31}) {
    check(n, 6 + n);
  }
  CHECK(runs == runs_until_now);
  CHECK(f.core().num_entries() == 2);
  CHECK_THAT(f.explain(), Contains("sizes as symbols") && Contains("s0"));
  // Gradients flow as in the code.
  const auto x = torch::randn({5, 2, 11, 8});
  const auto weight = net->parameters()[0];
  const auto got = torch::autograd::grad({f(x).square().sum()}, {weight})[0];
  CHECK(got.equal(torch::autograd::grad({g(x).square().sum()}, {weight})[0]));
  // Other strides are other calls.
  const auto strided = torch::randn({5, 2, 8, 11}).transpose(2, 3);
  CHECK(f(strided).equal(g(strided)));
}

TEST_CASE("Strides that do not follow from sizes are calls of their own", "[capture]") {
  int runs = 0;
  const auto f = torch::compile(
      [&](const Tensor& x) {
        ++runs;
        return x * 2 + x.sum(0);
      },
      any_size());
  const auto base = torch::randn({40, 40});
  for (int pass = 0; pass < 3; ++pass) {
    for (const int64_t n : {3, 5, 8, 13, 20}) {
      const auto x = base.narrow(0, 0, n).narrow(1, 1, 40 - n);
      CHECK(f(x).equal(x * 2 + x.sum(0)));
      const auto gaps = base.slice(1, 0, 4 * n % 40 + 2, 2);
      CHECK(f(gaps).equal(gaps * 2 + gaps.sum(0)));
    }
  }
  CHECK(runs < 25); // no call is recorded for ever
}

TEST_CASE("Branches on sizes and sizes that must be equal are never missed", "[capture]") {
  const auto branch = torch::compile([](const Tensor& x) { return x.size(0) > 9 ? x.exp() : x.sin(); }, any_size());
  for (const int64_t n : {3, 5, 7, 12, 3, 12, 20, 9, 10}) {
    const auto x = torch::randn({n});
    CHECK(branch(x).equal(n > 9 ? x.exp() : x.sin()));
  }
  const auto add = torch::compile([](const Tensor& x, const Tensor& y) { return x + y; }, any_size());
  for (const auto& [n, m] :
       std::vector<std::pair<int64_t, int64_t>>{{2, 2}, {3, 3}, {3, 1}, {1, 3}, {1, 1}, {4, 4}, {4, 1}}) {
    const auto x = torch::randn({n}), y = torch::randn({m});
    CHECK(add(x, y).equal(x + y));
    CHECK(add(x, y).equal(x + y));
  }
  CHECK_THROWS_AS(add(torch::ones({2}), torch::ones({3})), c10::Error);
  // Constants of the code that hold for some sizes alone.
  const auto literal = torch::compile(
      [](const Tensor& x) { return x * torch::tensor({static_cast<float>(x.size(0) * x.size(0))}); }, any_size());
  for (const int64_t n : {2, 3, 4, 3, 2, 4}) {
    const auto x = torch::randn({n});
    CHECK(literal(x).equal(x * static_cast<double>(n * n)));
  }
}

TEST_CASE("Ten thousand sizes need no more memory than a few", "[capture][slow]") {
  const auto f = torch::compile(
      [](const Tensor& x, const Tensor& y) { return (x.matmul(y) + 1).relu().view({-1}).sum() / x.size(0); },
      any_size());
  std::mt19937 random(1);
  for (int i = 0; i < 10000; ++i) {
    const int64_t n = 2 + random() % 40, k = 2 + random() % 20, m = 2 + random() % 40;
    const auto x = torch::randn({n, k}), y = torch::randn({k, m});
    const auto got = f(x, y);
    if (i % 100 == 0) {
      CHECK(got.equal((x.matmul(y) + 1).relu().view({-1}).sum() / n));
    }
    REQUIRE(f.core().num_entries() <= 4);
  }
}

TEST_CASE("Sizes that come again are compiled", "[capture]") {
  auto net = torch::nn::Sequential(torch::nn::Linear(6, 5), torch::nn::GELU(), torch::nn::Linear(5, 3));
  int runs = 0;
  const auto g = [&](const Tensor& x) { return net->forward(x).softmax(-1) * static_cast<double>(x.size(0)); };
  const auto f = torch::compile(
      [&](const Tensor& x) {
        ++runs;
        return g(x);
      },
      fused());
  const auto weight = net->parameters()[0];
  for (int pass = 0; pass < 4; ++pass) {
    for (const int64_t n : {4, 7, 2, 9, 31, 1}) {
      const auto x = torch::randn({n, 6});
      const auto got = f(x), wanted = g(x);
      CHECK(got.equal(wanted));
      CHECK(torch::autograd::grad({got.square().sum()}, {weight})[0].equal(
          torch::autograd::grad({wanted.square().sum()}, {weight})[0]));
    }
  }
  const int runs_until_now = runs; // at most twice for each size, and once more where that changed the graph for all
  CHECK(runs <= 14);
  for (const int64_t n : {4, 7, 2, 9, 31, 1}) {
    const auto x = torch::randn({n, 6});
    CHECK(f(x).equal(g(x)));
  }
  CHECK(runs == runs_until_now);
  CHECK_THAT(f.explain(), Contains("sizes as symbols") && Contains("program(") && !Contains("runs as it was recorded"));
}

TEST_CASE("Sizes beyond the cache run as the graph for all sizes", "[capture]") {
  CompileOptions options = fused();
  options.cache_size = 4;
  int runs = 0;
  const auto g = [](const Tensor& x) { return (x * 2 + 1).relu().sum(-1) / x.size(0); };
  const auto f = torch::compile(
      [&](const Tensor& x) {
        ++runs;
        return g(x);
      },
      options);
  for (int pass = 0; pass < 40; ++pass) {
    for (int64_t n = 2; n < 22; ++n) {
      const auto x = torch::randn({n, 3});
      CHECK(f(x).equal(g(x)));
    }
    REQUIRE(f.core().num_entries() <= 6);
  }
  CHECK(runs < 200);
}
