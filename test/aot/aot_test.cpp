// Compiled functions as nodes of autograd: what is kept, what is refused, and what surrounds them.
#include <catch2/catch.hpp>

#include "test/aot/bit_equal.h"

#include <csrc/capture/backend.h>
#include <torch/compile.h>
#include <torch/torch.h>
#include <torch/utils/checkpoint.h>

#include <regex>

using Catch::Matchers::Contains;
using torch::Tensor;

namespace test {

namespace {

torch::CompileOptions options(double memory_budget = 1) {
  torch::CompileOptions options;
  options.backend = "aot_eager";
  options.check_calls = 0;
  options.fullgraph = true;
  options.memory_budget = memory_budget;
  return options;
}

int64_t bytes_kept(const std::string& explained) {
  std::smatch found;
  REQUIRE(std::regex_search(explained, found, std::regex("(\\d+) bytes are kept")));
  return std::stoll(found[1]);
}

} // namespace

TEST_CASE("A compiled call is one node of the graph of autograd", "[aot]") {
  const auto f = torch::compile([](const Tensor& x, const Tensor& w) { return x.mm(w).tanh().sum(); }, options());
  const auto x = torch::randn({4, 3}), w = torch::randn({3, 5}).requires_grad_();
  f(x, w);
  const Tensor loss = f(x, w);
  REQUIRE(f.core().last_not_compiled() == "");
  CHECK(loss.grad_fn()->name() == "CompiledFunctionBackward");
  CHECK(loss.grad_fn()->num_outputs() == 1);
  loss.backward({}, /*retain_graph=*/true);
  const Tensor first = w.grad().clone();
  loss.backward();
  CHECK(w.grad().equal(first * 2));
  CHECK_THROWS_WITH(loss.backward(), Contains("backward through the graph a second time"));
}

TEST_CASE("Second derivatives of compiled functions are refused in words", "[aot]") {
  const auto f = torch::compile([](const Tensor& x) { return x.exp().sum(); }, options());
  const auto x = torch::randn({3}).requires_grad_();
  f(x);
  const auto grads = torch::autograd::grad({f(x)}, {x}, {}, true, /*create_graph=*/true);
  CHECK(grads[0].equal(x.exp()));
  CHECK_THROWS_WITH(
      torch::autograd::grad({grads[0].sum()}, {x}), Contains("does not currently support double backward"));
}

TEST_CASE("Hooks on parameters and around calls see what they see in eager", "[aot]") {
  auto net = torch::nn::Linear(4, 4);
  const auto f = torch::compile([&](const Tensor& x) { return net->forward(x).tanh().sum(); }, options());
  const auto x = torch::randn({2, 4});
  f(x);
  int seen = 0, packed = 0;
  net->weight.register_hook([&](const Tensor& grad) {
    ++seen;
    return grad * 2;
  });
  Tensor loss;
  {
    const torch::autograd::SavedTensorHooksGuard hooks(
        [&](const Tensor& t) {
          ++packed;
          return t.clone();
        },
        [](const Tensor& t) { return t; });
    loss = f(x);
  }
  loss.backward();
  CHECK(f.core().num_replays() == 1);
  CHECK(seen == 1);
  CHECK(packed > 0);
  const Tensor got = net->weight.grad().clone();
  net->zero_grad();
  net->forward(x).tanh().sum().backward();
  CHECK(bit_difference(got, net->weight.grad()) == "");
  // What a node keeps is noticed when it is written to.
  loss = f(x);
  {
    const torch::NoGradGuard no_grad;
    net->weight.add_(1);
  }
  const auto y = torch::randn({2, 4}).requires_grad_();
  const auto keeps = torch::compile([](const Tensor& a, const Tensor& b) { return (a * b).sum(); }, options());
  auto a = torch::randn({2, 4});
  keeps(a, y);
  const Tensor product = keeps(a, y);
  a.add_(1);
  CHECK_THROWS_WITH(product.backward(), Contains("modified by an inplace operation"));
}

TEST_CASE("A memory budget keeps fewer bytes, with the same gradients", "[aot]") {
  torch::manual_seed(1);
  auto net = torch::nn::Sequential(
      torch::nn::Linear(16, 64), torch::nn::GELU(), torch::nn::Dropout(0.5), torch::nn::Linear(64, 64),
      torch::nn::LayerNorm(torch::nn::LayerNormOptions({64})), torch::nn::Tanh(), torch::nn::Linear(64, 8),
      torch::nn::Softmax(-1));
  const auto loss = [&](const Tensor& x) { return net->forward(x).square().sum(); };
  const auto x = torch::randn({32, 16});
  const auto grads = [&](const auto& function) {
    net->zero_grad();
    torch::manual_seed(5);
    function(x).backward();
    std::vector<Tensor> copies;
    for (const Tensor& parameter : net->parameters()) {
      copies.push_back(parameter.grad().clone());
    }
    return copies;
  };
  const auto wanted = grads(loss);
  int64_t before = INT64_MAX;
  for (const double budget : {1.0, 0.5, 0.0}) {
    const auto compiled = torch::compile(loss, options(budget));
    grads(compiled);
    const auto got = grads(compiled);
    for (size_t i = 0; i < got.size(); ++i) {
      CHECK(bit_difference(got[i], wanted[i]) == "");
    }
    const int64_t kept = bytes_kept(compiled.explain());
    CHECK(kept <= before);
    before = kept;
  }
  CHECK_THROWS_WITH(torch::compile(loss, options(2)), Contains("memory_budget must be in [0, 1]"));
}

TEST_CASE("What runs in a checkpoint is computed again", "[aot]") {
  auto net = torch::nn::Sequential(torch::nn::Linear(8, 32), torch::nn::Tanh(), torch::nn::Linear(32, 8));
  const auto x = torch::randn({16, 8});
  const auto plain = torch::compile([&](const Tensor& t) { return net->forward(t).sigmoid().sum(); }, options());
  const torch::utils::CheckpointFunctionOfTensor forward = [&](const Tensor& u) { return net->forward(u); };
  const auto in_checkpoint =
      torch::compile([&](const Tensor& t) { return torch::utils::checkpoint(forward, t).sigmoid().sum(); }, options());
  const auto grad = [&](const auto& function) {
    net->zero_grad();
    function(x).backward();
    return net->parameters()[0].grad().clone();
  };
  const Tensor wanted = grad([&](const Tensor& t) { return net->forward(t).sigmoid().sum(); });
  grad(plain), grad(in_checkpoint);
  CHECK(bit_difference(grad(plain), wanted) == "");
  CHECK(bit_difference(grad(in_checkpoint), wanted) == "");
  REQUIRE(in_checkpoint.core().last_not_compiled() == "");
  CHECK(bytes_kept(in_checkpoint.explain()) < bytes_kept(plain.explain()));
  const auto hooked = torch::compile(
      [](const Tensor& t) {
        const torch::autograd::SavedTensorHooksGuard hooks(
            [](const Tensor& u) { return u.clone(); }, [](const Tensor& u) { return u; });
        return t.exp().sum();
      },
      options());
  CHECK_THROWS_WITH(hooked(torch::randn({2}).requires_grad_()), Contains("saved-tensor hooks are set in it"));
}

TEST_CASE("Arguments that share memory are written to as in eager", "[aot]") {
  const torch::NoGradGuard no_grad;
  const auto f = [](const Tensor& x, const Tensor& y) {
    x.add_(1);
    return x + y;
  };
  const auto compiled = torch::compile(f, options());
  for (int i = 0; i < 3; ++i) {
    auto x = torch::ones({2, 3}), same = torch::ones({2, 3});
    CHECK(compiled(x, x).equal(f(same, same)));
    CHECK(x.equal(same));
    CHECK(compiled(x, x.clone()).equal(f(same, same.clone())));
    // Parts of one memory run as they were recorded.
    auto base = torch::ones({6}), base2 = torch::ones({6});
    CHECK(compiled(base.slice(0, 0, 4), base.slice(0, 2, 6)).equal(f(base2.slice(0, 0, 4), base2.slice(0, 2, 6))));
    CHECK(base.equal(base2));
  }
  CHECK_THAT(compiled.explain(), Contains("runs as it was recorded: a tensor is written to whose memory"));
  // What the function refers to may be its argument in one call and not in another.
  auto state = torch::zeros({3});
  const auto refers = torch::compile([&](const Tensor& x) { return state.add_(1) + x; }, options());
  const auto other = torch::ones({3});
  refers(other);
  CHECK(refers(other).equal(torch::full({3}, 3.0f)));
  CHECK(refers(state).equal(torch::full({3}, 6.0f)));
}

TEST_CASE("Backends get functional graphs, by name", "[aot]") {
  int graphs = 0;
  torch::capture::register_backend("counting", [&](const torch::capture::BackendInput& input) {
    ++graphs;
    for (const torch::fx::Node* node : input.graph->nodes()) {
      CHECK((!node->is_operator() || !node->schema().is_mutable() || node->is_operator("aten::copy_")));
    }
    CHECK(input.is_state.size() == input.graph->placeholders().size());
    return torch::capture::find_backend("aot_eager")(input);
  });
  auto net = torch::nn::Sequential(torch::nn::Linear(3, 3), torch::nn::BatchNorm1d(3), torch::nn::ReLU(true));
  auto counting = options();
  counting.backend = "counting";
  const auto f = torch::compile([&](const Tensor& x) { return net->forward(x); }, counting);
  const auto x = torch::randn({4, 3});
  f(x), f(x).sum().backward();
  CHECK(graphs == 2);
  counting.backend = "none";
  CHECK_THROWS_WITH(
      torch::compile([](const Tensor& t) { return t; }, counting),
      Contains("Invalid backend: 'none', should be one of: eager, aot_eager"));
  // A backend that cannot is told of.
  torch::capture::register_backend("failing", [](const torch::capture::BackendInput&) -> torch::capture::CompiledGraph {
    TORCH_CHECK(false, "this machine has no such unit");
  });
  counting.backend = "failing";
  const auto g = torch::compile([](const Tensor& t) { return t.exp(); }, counting);
  g(x);
  CHECK(g(x).equal(x.exp()));
  CHECK_THAT(g.explain(), Contains("runs as it was recorded: this machine has no such unit"));
}

TEST_CASE("The derivative of dropout is part of loops", "[aot]") {
  const Tensor weight = torch::randn({64, 64}).requires_grad_(), x = torch::randn({32, 64});
  const auto f = [&](const Tensor& in) { return torch::dropout(torch::gelu(in.mm(weight)), 0.25, true).mm(weight); };
  const auto compiled = torch::compile(f);
  for (int i = 0; i < 4; ++i) {
    const auto gradient = [&](const auto& function) {
      torch::manual_seed(i);
      weight.mutable_grad() = Tensor();
      function(x).sum().backward();
      return weight.grad();
    };
    const Tensor want = gradient(f);
    CHECK(bit_difference(gradient(compiled), want) == "");
  }
  CHECK(compiled.core().num_replays() == 2);
  CHECK(compiled.explain().find("call aten::native_dropout_backward") == std::string::npos);
}

TEST_CASE("Derivatives of pooling keep no value for its sizes alone", "[aot]") {
  torch::manual_seed(3);
  torch::nn::Conv2d conv(torch::nn::Conv2dOptions(3, 4, 3).padding(1));
  torch::nn::BatchNorm2d norm(4);
  const auto loss = [&](const Tensor& x) { return torch::max_pool2d(torch::silu(norm(conv(x))), {2, 2}).sum(); };
  const Tensor x = torch::randn({2, 3, 8, 8});
  loss(x).backward();
  const Tensor want = conv->weight.grad();
  for (const char* const backend : {"aot_eager", "fused"}) {
    torch::CompileOptions options;
    options.backend = backend;
    options.modules = {conv.ptr(), norm.ptr()};
    const auto compiled = torch::compile(loss, options);
    for (int i = 0; i < 3; ++i) {
      conv->weight.mutable_grad() = Tensor();
      compiled(x).backward();
    }
    CHECK(conv->weight.grad().allclose(want, 1e-4, 1e-5));
    const std::string text = compiled.explain();
    const size_t place = text.find("max_pool2d_with_indices_backward(");
    INFO(text);
    REQUIRE(place != std::string::npos);
    CHECK(text.substr(place, 80).find("convolution") != std::string::npos);
  }
}

} // namespace test
