#include "support.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <functional>
#include <memory>

using namespace autograd_test;

TEST_CASE("hooks see and change a gradient, in order", "[autograd][hooks]") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  const Tensor& on = GENERATE(true, false) ? x : y;
  std::vector<double> seen;
  on.register_hook([&](const torch::Tensor& g) {
    seen.push_back(g.item<double>());
    return g * 2;
  });
  on.register_hook([&](const torch::Tensor& g) { seen.push_back(g.item<double>()); });
  on.register_hook([&](const torch::Tensor& g) { return g + 1; });
  y.backward(values({1}));
  const double arriving = on.is_same(x) ? 6 : 1;
  CHECK(seen == std::vector<double>{arriving, 2 * arriving});
  CHECK(x.grad().item<double>() == (on.is_same(x) ? 13 : 18));
}

TEST_CASE("a hook can be removed", "[autograd][hooks]") {
  const Tensor x = leaf({3});
  const unsigned twice = x.register_hook([](const torch::Tensor& g) { return g * 2; });
  const unsigned thrice = x.register_hook([](const torch::Tensor& g) { return g * 3; });
  CHECK(twice == 0);
  CHECK(thrice == 1);
  x.remove_hook(twice);
  (x * 1).backward();
  CHECK(same(x.grad(), {3}));
  CHECK_THAT(error_of([&] { x.remove_hook(7); }), says("Invalid index, no hook at position 7"));
}

TEST_CASE("a hook may not change the kind of a gradient", "[autograd][hooks][errors]") {
  const Tensor x = leaf({3, 4});
  SECTION("shape") {
    x.register_hook([](const torch::Tensor&) { return values({1}); });
    CHECK_THAT(error_of([&] { (x * 1).sum().backward(); }), says("hook '0' has changed the size of value"));
    CHECK_THROWS_AS((x * 1).sum().backward(), c10::Error);
  }
  SECTION("dtype") {
    x.register_hook([](const torch::Tensor& g) { return g.to(torch::kFloat); });
    CHECK_THAT(error_of([&] { (x * 1).sum().backward(); }), says("has changed the type of value"));
  }
}

TEST_CASE("hooks need a gradient to see", "[autograd][hooks][errors]") {
  CHECK_THAT(
      error_of([] { values({1}).register_hook([](const torch::Tensor&) {}); }),
      says("cannot register a hook on a variable that doesn't require gradient"));
}

TEST_CASE("a hook belongs to the value it was registered for", "[autograd][hooks]") {
  const Tensor x = leaf({3});
  Tensor y = x * 2;
  std::vector<int> calls;
  y.register_hook([&](const torch::Tensor& g) {
    calls.push_back(1);
    CHECK(same(g, {5}));
  });
  y.mul_(5);
  y.register_hook([&](const torch::Tensor& g) {
    calls.push_back(2);
    CHECK(same(g, {1}));
  });
  y.backward();
  CHECK(calls == std::vector<int>{2, 1});
  CHECK(same(x.grad(), {10}));
}

TEST_CASE("hooks on views", "[autograd][hooks]") {
  const Tensor x = leaf({1, 2, 3});
  const Tensor base = x * 1;
  const Tensor view = base.slice(0, 0, 2);
  int calls = 0;
  view.register_hook([&](const torch::Tensor& g) {
    ++calls;
    return g * 10;
  });
  SECTION("the view is used") {
    view.sum().backward();
    CHECK(calls == 1);
    CHECK(same(x.grad(), {10, 10, 0}));
  }
  SECTION("the view is changed") {
    view.mul_(2);
    base.sum().backward();
    CHECK(same(x.grad(), {2, 2, 1}));
  }
}

TEST_CASE("retain_grad keeps the gradient of an inner tensor", "[autograd][hooks]") {
  const Tensor x = leaf({3});
  Tensor y = x * 2;
  CHECK_FALSE(y.retains_grad());
  y.retain_grad();
  CHECK(y.retains_grad());

  SECTION("each pass adds") {
    (y * 4).backward();
    (y * 4).backward();
    CHECK(same(y.grad(), {8}));
  }
  SECTION("after all hooks, whenever they were registered") {
    y.register_hook([](const torch::Tensor& g) { return g * 100; });
    (y * 4).backward();
    CHECK(same(y.grad(), {400}));
  }
  SECTION("it follows a change in place") {
    y.mul_(3);
    (y * 4).backward();
    CHECK(same(y.grad(), {4}));
    CHECK(same(x.grad(), {24}));
  }
  SECTION("nothing to do for leaves") {
    x.retain_grad();
    CHECK_FALSE(x.retains_grad());
  }
  SECTION("nor possible for others") {
    CHECK_THAT(
        error_of([] { values({1}).retain_grad(); }), says("can't retain_grad on Tensor that has requires_grad=False"));
  }
  SECTION("it does not keep the tensor alive") {
    Tensor z = y * 4;
    y.reset();
    z.backward();
    CHECK(same(x.grad(), {8}));
  }
}

TEST_CASE("retain_grad on a base whose view is changed", "[autograd][hooks]") {
  const Tensor x = leaf({1, 2});
  const Tensor base = x * 1;
  base.retain_grad();
  base.select(0, 0).mul_(3);
  base.backward(values({10, 20}));
  CHECK(same(base.grad(), {10, 20}));
  CHECK(same(x.grad(), {30, 20}));
}

namespace {

struct CountingPostHook : torch::autograd::FunctionPostHook {
  explicit CountingPostHook(std::function<variable_list(const variable_list&, const variable_list&)> f)
      : function(std::move(f)) {}
  variable_list operator()(const variable_list& outputs, const variable_list& inputs) override {
    return function(outputs, inputs);
  }
  std::function<variable_list(const variable_list&, const variable_list&)> function;
};

struct ScalingPreHook : torch::autograd::FunctionPreHook {
  variable_list operator()(const variable_list& grads) override {
    variable_list result;
    for (const Tensor& g : grads) {
      result.push_back(g.defined() ? g * 10 : g);
    }
    return result;
  }
};

struct NotingAccumulationHook : torch::autograd::PostAccumulateGradHook {
  explicit NotingAccumulationHook(std::vector<double>& seen_) : seen(seen_) {}
  void operator()(const Variable& tensor) override {
    seen.push_back(tensor.grad().item<double>());
    tensor.mutable_grad().reset();
  }
  std::vector<double>& seen;
};

} // namespace

TEST_CASE("hooks of nodes", "[autograd][hooks]") {
  const Tensor x = leaf({3});
  const Tensor y = x * 2;

  SECTION("before the node, after those of the tensor") {
    y.grad_fn()->add_pre_hook(std::make_unique<ScalingPreHook>());
    double seen = 0;
    y.register_hook([&](const torch::Tensor& g) { seen = g.item<double>(); });
    y.backward();
    CHECK(seen == 1);
    CHECK(same(x.grad(), {20}));
  }
  SECTION("after the node") {
    double got = 0;
    double made = 0;
    const uintptr_t key = y.grad_fn()->add_post_hook(
        std::make_unique<CountingPostHook>([&](const variable_list& outputs, const variable_list& inputs) {
          got = inputs[0].item<double>();
          made = outputs[0].item<double>();
          variable_list changed = outputs;
          changed[0] = changed[0] * 100;
          return changed;
        }));
    y.backward({}, true);
    CHECK(got == 1);
    CHECK(made == 2);
    CHECK(same(x.grad(), {200}));
    CHECK(y.grad_fn()->del_post_hook(key));
    CHECK_FALSE(y.grad_fn()->del_post_hook(key));
    y.backward();
    CHECK(same(x.grad(), {202}));
  }
}

TEST_CASE("a hook after each accumulation", "[autograd][hooks]") {
  const Tensor x = leaf({3});
  std::vector<double> seen;
  torch::autograd::impl::set_post_acc_grad_hooks(x, std::make_unique<NotingAccumulationHook>(seen));
  (x * 2).backward();
  (x * 5).backward();
  CHECK(seen == std::vector<double>{2, 5});
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("a hook may register a hook, for the next pass or this one", "[autograd][hooks]") {
  const Tensor x = leaf({3});
  int inner = 0;
  bool registered = false;
  x.register_hook([&](const torch::Tensor&) {
    if (!registered) {
      registered = true;
      x.register_hook([&](const torch::Tensor&) { ++inner; });
    }
  });
  (x * 2).backward();
  const int in_first_pass = inner;
  (x * 2).backward();
  CHECK(inner == in_first_pass + 1);
}

TEST_CASE("what hooks of a node return is checked", "[autograd][hooks][errors]") {
  struct Returning final : torch::autograd::FunctionPreHook, torch::autograd::FunctionPostHook {
    explicit Returning(variable_list v) : result(std::move(v)) {}
    variable_list operator()(const variable_list&) override {
      return result;
    }
    variable_list operator()(const variable_list&, const variable_list&) override {
      return result;
    }
    variable_list result;
  };
  const Tensor x = leaf({1, 2});
  const Tensor y = x * values({3, 4});
  const auto pass = [&] { y.sum().backward({}, /*retain_graph=*/true); };
  SECTION("too few before it") {
    y.grad_fn()->add_pre_hook(std::make_unique<Returning>(variable_list{}));
    CHECK_THAT(error_of(pass), says("a pre-hook of MulBackward0 has returned 0 gradients; there must be 1"));
  }
  SECTION("too few from a hook of its output") {
    y.grad_fn()->add_tensor_pre_hook(std::make_unique<Returning>(variable_list{}));
    CHECK_THAT(
        error_of([&] { torch::autograd::grad({y.sum()}, {y}); }), says("has returned 0 gradients; there must be 1"));
  }
  SECTION("too many after it") {
    y.grad_fn()->add_post_hook(std::make_unique<Returning>(variable_list(5)));
    CHECK_THAT(error_of(pass), says("A hook of MulBackward0 returned an invalid number of gradients"));
  }
  SECTION("another shape") {
    y.grad_fn()->add_post_hook(std::make_unique<Returning>(variable_list{values({1, 2, 3}), Tensor()}));
    CHECK_THAT(error_of(pass), says("A hook of MulBackward0 returned an invalid gradient at index 0 - got [3]"));
  }
  SECTION("another dtype, which is converted") {
    y.grad_fn()->add_post_hook(std::make_unique<Returning>(variable_list{torch::tensor({5.f, 6.f}), Tensor()}));
    pass();
    CHECK(same(x.grad(), {5, 6}));
    return;
  }
  CHECK_FALSE(x.grad().defined());
}
