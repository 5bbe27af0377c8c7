// compile() with the backend "fused": results and gradients of eager code.
#include <torch/compile.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

using torch::Tensor;
using Catch::Matchers::Contains;

namespace {

torch::CompileOptions fused() {
  torch::CompileOptions options;
  options.backend = "fused";
  options.check_calls = 0;
  options.fullgraph = true;
  return options;
}

} // namespace

TEST_CASE("Functions are compiled to loops", "[compile]") {
  torch::manual_seed(1);
  const auto light = [](const Tensor& x, const Tensor& y) { return (x * y + 0.5).relu() * x; };
  const auto f = torch::compile(light, fused());
  for (int i = 0; i < 3; ++i) {
    const auto x = torch::randn({300, 7}), y = torch::randn({7});
    CHECK(f(x, y).equal(light(x, y)));
  }
  CHECK(f.core().num_replays() == 2);
  CHECK(f.core().last_not_compiled().empty());
  CHECK_THAT(f.explain(), Contains("group 2100 reads") && Contains("= aten::relu(%"));
}

TEST_CASE("Gradients of compiled modules are those of the modules", "[compile]") {
  torch::manual_seed(2);
  torch::nn::Sequential net(
      torch::nn::Linear(12, 20), torch::nn::GELU(), torch::nn::LayerNorm(torch::nn::LayerNormOptions({20})),
      torch::nn::Linear(20, 5), torch::nn::SiLU());
  torch::CompileOptions options = fused();
  options.modules = {net.ptr()};
  const auto loss = [&](const Tensor& x) { return (net->forward(x).softmax(-1) - 0.1).square().mean(); };
  const auto f = torch::compile(loss, options);
  for (int i = 0; i < 3; ++i) {
    const auto x = torch::randn({9, 12});
    const auto gradients = [&](const Tensor& value) {
      net->zero_grad();
      value.backward();
      std::vector<Tensor> all;
      for (const auto& parameter : net->parameters()) {
        all.push_back(parameter.grad().clone());
      }
      return all;
    };
    const auto want = loss(x), got = f(x);
    CHECK(got.allclose(want));
    const auto a = gradients(want), b = gradients(got);
    for (size_t p = 0; p < a.size(); ++p) {
      CHECK(a[p].allclose(b[p], 1e-5, 1e-7));
    }
  }
  CHECK(f.core().last_not_compiled().empty());
}

TEST_CASE("In-place operators, views and random numbers are compiled as they run", "[compile]") {
  const auto work = [](const Tensor& x) {
    auto y = x.clone();
    y.select(0, 1).mul_(2).add_(1);
    y.relu_();
    const auto z = torch::dropout(y, 0.5, true);
    x.copy_(y + 1);
    return std::make_tuple(z * 2, y.t());
  };
  const auto f = torch::compile(work, fused());
  for (int i = 0; i < 3; ++i) {
    const auto x = torch::randn({4, 6}), other = x.clone();
    torch::manual_seed(i);
    const auto [a, b] = work(x);
    torch::manual_seed(i);
    const auto [c, d] = f(other);
    CHECK(a.equal(c));
    CHECK(b.equal(d));
    CHECK(x.equal(other));
  }
  CHECK(f.core().last_not_compiled().empty());
}
