#include "support.h"

#include <ATen/autocast_mode.h>
#include <torch/autograd/gradcheck.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
#include <torch/utils/checkpoint.h>

#include <stdexcept>

using namespace autograd_test;
using torch::utils::checkpoint;
using torch::utils::checkpoint_sequential;
using torch::utils::CheckpointOptions;

namespace {

CheckpointOptions form(bool reentrant) {
  CheckpointOptions options;
  options.use_reentrant = reentrant;
  return options;
}

CheckpointOptions to_the_end() {
  CheckpointOptions options;
  options.early_stop = false;
  return options;
}

// How many tensors `f` makes the graph keep as they are.
template <class F>
int kept_by(F f) {
  int kept = 0;
  torch::autograd::SavedTensorHooksGuard guard(
      [&](const Tensor& t) {
        ++kept;
        return t;
      },
      [](const Tensor& t) { return t; });
  f();
  return kept;
}

} // namespace

TEST_CASE("a checkpoint gives the same values and gradients", "[autograd][checkpoint]") {
  const bool reentrant = GENERATE(false, true);
  const Tensor x = leaf({0.5, -1});
  const Tensor y = leaf({2, 3});
  int runs = 0;
  const auto f = [&](const variable_list& in) {
    ++runs;
    return variable_list{(in[0] * in[1]).exp().sin(), in[0] * in[0] * in[1]};
  };
  const variable_list plain = f({x, y});
  const variable_list want = torch::autograd::grad({plain[0].sum() + plain[1].sum()}, {x, y});
  runs = 0;
  const variable_list outputs = checkpoint(f, {x, y}, form(reentrant));
  CHECK(runs == 1);
  CHECK(same(outputs[0], plain[0]));
  CHECK(same(outputs[1], plain[1]));
  (outputs[0].sum() + outputs[1].sum()).backward();
  CHECK(runs == 2);
  CHECK(same(x.grad(), want[0]));
  CHECK(same(y.grad(), want[1]));

  SECTION("one output of several") {
    const variable_list again = checkpoint(f, {x, y}, form(reentrant));
    x.mutable_grad().reset();
    again[1].sum().backward();
    CHECK(same(x.grad(), (2 * x * y).detach()));
  }
  SECTION("without recording it is a call") {
    torch::NoGradGuard no_grad;
    CHECK_FALSE(checkpoint(f, {x, y}, form(reentrant))[0].requires_grad());
  }
}

TEST_CASE("a checkpoint keeps its inputs alone", "[autograd][checkpoint]") {
  const bool reentrant = GENERATE(false, true);
  const Tensor x = leaf({0.5});
  const auto chain = [](const Tensor& t) { return t.exp().sin().exp().sin().exp(); };
  CHECK(kept_by([&] { chain(x); }) == 5);
  CHECK(kept_by([&] { checkpoint(chain, x, form(reentrant)); }) == 1);
}

TEST_CASE("random numbers are drawn again in a checkpoint", "[autograd][checkpoint]") {
  const bool reentrant = GENERATE(false, true);
  const Tensor x = torch::ones({64}, doubles()).requires_grad_();
  Tensor seen;
  const auto noisy = [&](const Tensor& t) {
    const Tensor noise = torch::rand({64}, doubles());
    seen = noise;
    return (t * noise).exp() / noise.exp();
  };
  torch::manual_seed(7);
  const Tensor y = checkpoint(noisy, x, form(reentrant));
  const Tensor first = seen;
  const Tensor other = torch::rand({3}, doubles());
  y.sum().backward();
  CHECK(same(seen, first));
  CHECK(same(x.grad(), first));
  // And the stream goes on as if nothing had been drawn.
  const Tensor next = torch::rand({3}, doubles());
  torch::manual_seed(7);
  torch::rand({64}, doubles());
  CHECK(same(other, torch::rand({3}, doubles())));
  CHECK(same(next, torch::rand({3}, doubles())));

  SECTION("unless that is not wanted") {
    CheckpointOptions options = form(reentrant);
    options.preserve_rng_state = false;
    const Tensor z = checkpoint(noisy, x, options);
    const Tensor before = seen;
    z.sum().backward();
    CHECK_FALSE(same(seen, before));
  }
}

TEST_CASE("a checkpoint works with all of autograd", "[autograd][checkpoint]") {
  const Tensor x = leaf({0.5, 2});
  const Tensor w = leaf({3, 1});
  const auto f = [&](const Tensor& t) { return (t * w).exp() * t; };

  SECTION("grad") {
    const Tensor want = torch::autograd::grad({f(x).sum()}, {x})[0];
    CHECK(same(torch::autograd::grad({checkpoint(f, x).sum()}, {x})[0], want));
  }
  SECTION("what the function refers to gets its gradient too") {
    const Tensor want = torch::autograd::grad({f(x.detach()).sum()}, {w})[0];
    checkpoint(f, x.detach()).sum().backward();
    CHECK(same(w.grad(), want));
  }
  SECTION("second derivatives") {
    const auto checkpointed = [&](const variable_list& in) { return checkpoint(f, in[0]); };
    CHECK(torch::autograd::gradcheck(checkpointed, {x}));
    CHECK(torch::autograd::gradgradcheck(checkpointed, {x}));
  }
  SECTION("several passes over a kept graph") {
    const Tensor y = checkpoint(f, x).sum();
    const Tensor first = torch::autograd::grad({y}, {x}, {}, /*retain_graph=*/true)[0];
    CHECK(same(torch::autograd::grad({y}, {x}, {}, true)[0], first));
    y.backward();
    CHECK(same(x.grad(), first));
    CHECK_THAT(error_of([&] { y.backward(); }), says("Trying to backward through the graph a second time"));
  }
  SECTION("changes of its input are noticed") {
    Tensor input = x * 1;
    const Tensor y = checkpoint(f, input).sum();
    input.add_(1);
    CHECK_THAT(error_of([&] { y.backward(); }), says("modified by an inplace operation"));
  }
}

TEST_CASE("a re-entrant checkpoint refuses grad()", "[autograd][checkpoint][errors]") {
  const Tensor x = leaf({1});
  const auto f = [](const Tensor& t) { return t.exp(); };
  const Tensor y = checkpoint(f, x, form(true));
  CHECK_THAT(
      error_of([&] { torch::autograd::grad({y}, {x}); }),
      says("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad()"));
  const Tensor constant = checkpoint([](const Tensor& t) { return t.detach(); }, x, form(true));
  CHECK_THAT(error_of([&] { constant.backward(); }), says("none of output has requires_grad=True"));
}

TEST_CASE("checkpoints within checkpoints", "[autograd][checkpoint]") {
  const bool outer_form = GENERATE(false, true);
  const bool inner_form = GENERATE(false, true);
  const bool early = GENERATE(false, true);
  CheckpointOptions outer = form(outer_form);
  CheckpointOptions inner = form(inner_form);
  outer.early_stop = inner.early_stop = early;
  const Tensor x = leaf({0.3, 0.7});
  const auto leafwise = [](const Tensor& t) { return t.exp().sin(); };
  const auto middle = [&](const Tensor& t) { return checkpoint(leafwise, t.sin(), inner).exp(); };
  const auto whole = [&](const Tensor& t) { return checkpoint(middle, t * t, inner).cos(); };
  const Tensor want = torch::autograd::grad({(x * x).sin().exp().sin().exp().cos().sum()}, {x})[0];
  const Tensor y = checkpoint(whole, x, outer);
  CHECK(same(y, (x * x).sin().exp().sin().exp().cos()));
  y.sum().backward();
  CHECK(same(x.grad(), want));
  if (!outer_form) {
    CHECK(kept_by([&] { checkpoint(whole, x, outer); }) == 1);
  }
}

TEST_CASE("a checkpoint stops when it has made all that is needed", "[autograd][checkpoint]") {
  const Tensor x = leaf({0.5});
  int ends = 0;
  const auto f = [&](const Tensor& t) {
    const Tensor y = t.exp();
    ++ends;
    return y;
  };
  checkpoint(f, x).backward();
  CHECK(ends == 1);
  checkpoint(f, x, to_the_end()).backward();
  CHECK(ends == 3);
}

TEST_CASE("a checkpoint notices that its function differs", "[autograd][checkpoint][errors]") {
  const Tensor x = leaf({0.5, 1});
  int run = 0;
  SECTION("in the number of tensors") {
    const Tensor y = checkpoint([&](const Tensor& t) { return run++ == 0 ? t.exp().exp() : t.exp(); }, x);
    CHECK_THAT(
        error_of([&] { y.sum().backward(); }),
        says("A different number of tensors was saved during the original forward and recomputation.\n"
             "Number of tensors saved during forward: 2\nNumber of tensors saved during recomputation: 1"));
  }
  SECTION("in their shapes") {
    const Tensor y = checkpoint([&](const Tensor& t) { return run++ == 0 ? t.exp() : t.slice(0, 0, 1).exp(); }, x);
    CHECK_THAT(error_of([&] { y.sum().backward(); }), says("have different metadata than during the forward pass"));
  }
}

TEST_CASE("an error in a checkpoint's second run reaches the caller", "[autograd][checkpoint][errors]") {
  const bool reentrant = GENERATE(false, true);
  const Tensor x = leaf({0.5});
  bool fail = false;
  const auto f = [&](const Tensor& t) {
    if (fail) {
      throw std::runtime_error("the second run failed");
    }
    return t.exp();
  };
  const Tensor y = checkpoint(f, x, form(reentrant));
  fail = true;
  torch::manual_seed(3);
  const Tensor before = torch::rand({1});
  torch::manual_seed(3);
  CHECK_THAT(error_of([&] { y.backward({}, true); }), says("the second run failed"));
  CHECK(torch::allclose(torch::rand({1}), before));
  CHECK(torch::GradMode::is_enabled());
  fail = false;
  y.backward();
  CHECK(same(x.grad(), x.detach().exp()));
}

TEST_CASE("a checkpoint sees the modes of its first run", "[autograd][checkpoint]") {
  const bool reentrant = GENERATE(false, true);
  const Tensor a = torch::ones({2, 2}).requires_grad_();
  std::vector<torch::ScalarType> types;
  const auto f = [&](const Tensor& t) {
    const Tensor product = torch::matmul(t, t);
    types.push_back(product.scalar_type());
    return product.to(torch::kFloat).exp();
  };
  Tensor y;
  {
    at::autocast::set_autocast_enabled(at::kCPU, true);
    y = checkpoint(f, a, form(reentrant));
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
  }
  y.sum().backward();
  CHECK(types == std::vector<torch::ScalarType>{torch::kBFloat16, torch::kBFloat16});
  CHECK_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
}

TEST_CASE("a sequence in checkpoints", "[autograd][checkpoint]") {
  const Tensor x = leaf({0.1, 0.2});
  std::vector<int> runs(5, 0);
  std::vector<torch::utils::CheckpointFunctionOfTensor> functions;
  for (size_t i = 0; i < runs.size(); ++i) {
    functions.push_back([&runs, i](const Tensor& t) {
      ++runs[i];
      return t.exp();
    });
  }
  const Tensor y = checkpoint_sequential(functions, 2, x);
  y.sum().backward();
  CHECK(runs == std::vector<int>{2, 2, 1, 1, 1});
  CHECK(same(x.grad(), torch::autograd::grad({x.exp().exp().exp().exp().exp().sum()}, {x})[0]));
  CHECK_THAT(error_of([&] { checkpoint_sequential(functions, 6, x); }), says("segments is 6 for 5 functions"));
}

TEST_CASE("a long chain of checkpoints is freed without recursion", "[autograd][checkpoint]") {
  CheckpointOptions options;
  options.preserve_rng_state = false;
  const Tensor x = torch::zeros({}, doubles()).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < 30000; ++i) {
    y = checkpoint([](const Tensor& t) { return t.sin().tanh(); }, y, options);
  }
  y.backward({}, /*retain_graph=*/true);
  CHECK(x.grad().item<double>() == 1.0);
  y.reset();
}

TEST_CASE("a function in a checkpoint may run backward itself", "[autograd][checkpoint]") {
  // The energy and its slope, as in a gradient penalty.
  const auto slope = [](const Tensor& t) {
    return torch::autograd::grad({(t.exp() * t).sum()}, {t}, {}, std::nullopt, /*create_graph=*/true)[0].sin();
  };
  const Tensor x = leaf({0.5, -0.2});
  const Tensor want = torch::autograd::grad({slope(x).sum()}, {x})[0];
  const Tensor y = checkpoint(slope, x);
  CHECK(same(torch::autograd::grad({y.sum()}, {x}, {}, /*retain_graph=*/true)[0], want));
  y.sum().backward();
  CHECK(same(x.grad(), want));
}
