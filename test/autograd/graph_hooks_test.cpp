// Hooks that are set at the graph, and hooks on tensors that change while they are there.
#include "support.h"

#include <torch/autograd/graph.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <atomic>
#include <stdexcept>
#include <thread>

using namespace autograd_test;
namespace graph = torch::autograd::graph;

namespace {

std::vector<bool> which_defined(const variable_list& grads) {
  std::vector<bool> result;
  for (const Tensor& g : grads) {
    result.push_back(g.defined());
  }
  return result;
}

using Flags = std::vector<bool>;

} // namespace

TEST_CASE("a hook on several tensors waits for all that the pass computes", "[autograd][hooks][graph]") {
  const Tensor a = leaf({1, 2});
  const Tensor b = leaf({3, 4});
  const Tensor c = a * b;
  const Tensor d = a * b;
  std::vector<Flags> calls;
  variable_list last;
  graph::RemovableHandle handle = graph::register_multi_grad_hook({a, b, c, d}, [&](const variable_list& grads) {
    calls.push_back(which_defined(grads));
    last = grads;
  });
  c.sum().backward({}, /*retain_graph=*/true);
  CHECK(calls == std::vector<Flags>{{true, true, true, false}});
  CHECK(same(last[0], {3, 4}));
  CHECK(same(last[1], {1, 2}));
  CHECK(same(last[2], {1, 1}));

  SECTION("not for those that lead to nothing that is wanted") {
    torch::autograd::backward({c.sum()}, {}, /*retain_graph=*/true, false, {a});
    CHECK(calls.back() == Flags{true, false, true, false});
    torch::autograd::grad({c.sum()}, {b}, {}, true);
    CHECK(calls.back() == Flags{false, true, true, false});
    CHECK(calls.size() == 3);
  }
  SECTION("each pass anew") {
    (c + d).sum().backward({}, true);
    CHECK(calls.back() == Flags{true, true, true, true});
    CHECK(same(last[0], {6, 8}));
    CHECK(calls.size() == 2);
  }
  SECTION("until it is removed") {
    handle.remove();
    handle.remove();
    c.sum().backward();
    CHECK(calls.size() == 1);
  }
}

TEST_CASE("a hook on several tensors in passes within passes", "[autograd][hooks][graph]") {
  const Tensor x = leaf({2});
  const Tensor y = x * 3;
  int calls = 0;
  bool inside = false;
  graph::register_multi_grad_hook({y, x}, [&](const variable_list& grads) {
    ++calls;
    CHECK(which_defined(grads) == Flags{true, true});
  });
  y.register_hook([&](const torch::Tensor&) {
    if (!inside) {
      inside = true;
      y.backward({}, true);
    }
  });
  y.backward();
  CHECK(calls == 2);
}

TEST_CASE("a hook on several tensors in passes on several threads", "[autograd][hooks][graph][threads]") {
  const Tensor x = leaf({2});
  const Tensor y = x * x;
  std::atomic<int> calls{0};
  std::atomic<int> complete{0};
  graph::register_multi_grad_hook({y, x}, [&](const variable_list& grads) {
    ++calls;
    complete += grads[0].defined() && grads[1].defined() ? 1 : 0;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 25; ++k) {
        torch::autograd::grad({y}, {x}, {}, /*retain_graph=*/true);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(calls == 100);
  CHECK(complete == 100);
}

TEST_CASE("a hook for the first of several gradients", "[autograd][hooks][graph]") {
  const Tensor a = leaf({1});
  const Tensor b = leaf({2});
  const Tensor product = a * b;
  std::vector<double> seen;
  graph::RemovableHandle handle =
      graph::register_any_grad_hook({a, product, b}, [&](const Tensor& g) { seen.push_back(g.item<double>()); });
  (product * 7).backward();
  CHECK(seen == std::vector<double>{7});
  (b * 5).backward();
  CHECK(seen == std::vector<double>{7, 5});
  handle.remove();
  (b * 5).backward();
  CHECK(seen.size() == 2);
}

TEST_CASE("hooks on several tensors keep no gradients of a pass that failed", "[autograd][hooks][graph]") {
  const Tensor x = leaf({2});
  const Tensor y = x * 3;
  const Tensor z = x * 5;
  bool fail = true;
  c10::weak_intrusive_ptr<c10::TensorImpl> kept(torch::empty({0}).getIntrusivePtr());
  y.register_hook([&](const Tensor&) -> Tensor {
    if (fail) {
      throw std::runtime_error("y fails");
    }
    return {};
  });
  z.register_hook([&](const Tensor& grad) -> Tensor {
    const Tensor own = grad * 7;
    kept = own.getIntrusivePtr();
    return own;
  });
  std::vector<double> seen;
  graph::register_multi_grad_hook({y, z}, [&](const variable_list& grads) {
    seen = {grads[0].item<double>(), grads[1].item<double>()};
  });
  CHECK_THAT(error_of([&] { (y + z).backward({}, true); }), says("y fails"));
  CHECK(kept.expired());
  CHECK(seen.empty());
  fail = false;
  (y + z).backward();
  CHECK(seen == std::vector<double>{1, 7});
  CHECK(same(x.grad(), {38}));
}

TEST_CASE("several hooks after accumulation", "[autograd][hooks][graph]") {
  const Tensor x = leaf({3});
  std::vector<int> order;
  graph::register_post_accumulate_grad_hook(x, [&](const Tensor& t) {
    CHECK(t.is_same(x));
    CHECK(same(t.grad(), {2}));
    order.push_back(1);
  });
  graph::RemovableHandle second =
      graph::register_post_accumulate_grad_hook(x, [&](const Tensor&) { order.push_back(2); });
  graph::register_post_accumulate_grad_hook(x, [&](const Tensor& t) {
    order.push_back(3);
    t.mutable_grad().reset(); // as an optimizer that steps at once
  });
  (x * 2).backward();
  CHECK(order == std::vector<int>{1, 2, 3});
  second.remove();
  (x * 2).backward();
  CHECK(order == std::vector<int>{1, 2, 3, 1, 3});
  CHECK_THAT(
      error_of([&] { graph::register_post_accumulate_grad_hook(x * 2, [](const Tensor&) {}); }),
      says("post accumulate grad hooks cannot be registered on non-leaf tensors"));
  CHECK_THAT(
      error_of([&] { graph::register_post_accumulate_grad_hook(values({1}), [](const Tensor&) {}); }),
      says("doesn't require gradient"));
}

TEST_CASE("hooks of nodes as functions", "[autograd][hooks][graph]") {
  const Tensor x = leaf({3});
  const Tensor y = x * 2;
  std::vector<int> order;
  y.register_hook([&](const torch::Tensor&) { order.push_back(1); });
  graph::RemovableHandle before =
      graph::register_prehook(y.grad_fn(), [&](const variable_list& grads) -> std::optional<variable_list> {
        order.push_back(2);
        return variable_list{grads[0] * 10};
      });
  graph::RemovableHandle after = graph::register_hook(
      y.grad_fn(), [&](const variable_list& made, const variable_list& got) -> std::optional<variable_list> {
        order.push_back(3);
        CHECK(same(got[0], {10}));
        CHECK(same(made[0], {20}));
        return std::nullopt;
      });
  y.backward({}, true);
  CHECK(order == std::vector<int>{1, 2, 3});
  CHECK(same(x.grad(), {20}));
  before.remove();
  after.remove();
  y.backward({}, true);
  CHECK(order == std::vector<int>{1, 2, 3, 1});
  CHECK(same(x.grad(), {22}));
  graph::register_prehook(y.grad_fn(), [](const variable_list&) { return variable_list(); });
  CHECK_THAT(error_of([&] { y.backward(); }), says("incorrect number of values (got 0, but expected 1)"));
  CHECK_THAT(
      error_of([&] { graph::register_prehook(x.grad_fn(), [](const variable_list& g) { return g; }); }),
      says("got no node"));
}

TEST_CASE("a removed hook lets go of what it holds", "[autograd][hooks][graph]") {
  const Tensor x = leaf({3});
  const Tensor y = x * 2;
  auto held = std::make_shared<int>(1);
  graph::RemovableHandle handle = graph::register_multi_grad_hook({x, y}, [held](const variable_list&) {});
  CHECK(held.use_count() == 2);
  handle.remove();
  CHECK(held.use_count() == 1);
}

TEST_CASE("hooks on a tensor that is changed in place see their own value's gradient", "[autograd][hooks][graph]") {
  const Tensor x = leaf({2, 3});
  Tensor y = x * 1;
  std::vector<Tensor> seen;
  graph::register_multi_grad_hook({y}, [&](const variable_list& grads) { seen.push_back(grads[0]); });
  y.mul_(4);
  y.select(0, 0).mul_(2); // through a view: the base gets another node
  graph::register_multi_grad_hook({y}, [&](const variable_list& grads) { seen.push_back(grads[0]); });
  y.sum().backward();
  REQUIRE(seen.size() == 2);
  CHECK(same(seen[0], {1, 1}));
  CHECK(same(seen[1], {8, 4}));
  CHECK(same(x.grad(), {8, 4}));
}

TEST_CASE("saved tensors on the CPU", "[autograd][saved][hooks][graph]") {
  const Tensor x = leaf({2, 3});
  Tensor y;
  {
    graph::SaveOnCpuGuard guard;
    y = x * x * x;
  }
  CHECK(same(torch::autograd::grad({y.sum()}, {x})[0], {12, 27}));
}

TEST_CASE("saved-tensor hooks can be forbidden", "[autograd][saved][hooks][graph]") {
  const auto same_tensor = [](const Tensor& t) { return t; };
  const auto set_hooks = [&] { torch::autograd::SavedTensorHooksGuard guard(same_tensor, same_tensor); };
  {
    graph::DisableSavedTensorHooksGuard outer("no hooks in here");
    CHECK_FALSE(graph::saved_tensor_hooks_enabled());
    CHECK_THAT(error_of(set_hooks), says("no hooks in here"));
    {
      graph::DisableSavedTensorHooksGuard inner("nor in here");
      CHECK_THAT(error_of(set_hooks), says("nor in here"));
    }
    CHECK_THAT(error_of(set_hooks), says("no hooks in here"));
    const Tensor x = leaf({2});
    CHECK(same(torch::autograd::grad({x * x}, {x})[0], {4}));
  }
  CHECK(graph::saved_tensor_hooks_enabled());
  set_hooks();
  torch::autograd::SavedTensorHooksGuard guard(same_tensor, same_tensor);
  CHECK_THAT(error_of([] { graph::DisableSavedTensorHooksGuard late("too late"); }), says("too late"));
  CHECK(graph::saved_tensor_hooks_enabled());
}

TEST_CASE("an unpack hook may record a graph of its own", "[autograd][saved][hooks][graph]") {
  const Tensor x = leaf({2});
  double inner = 0;
  Tensor y;
  {
    torch::autograd::SavedTensorHooksGuard guard(
        [](const Tensor& t) { return t; },
        [&](const Tensor& t) {
          const torch::AutoGradMode record(true);
          const Tensor own = t.detach().clone().requires_grad_();
          inner = torch::autograd::grad({own * own * own}, {own})[0].item<double>();
          return t;
        });
    y = x.exp();
  }
  y.backward();
  CHECK(inner == Approx(3 * std::exp(4.0)));
}

TEST_CASE("hooks that are no functions are refused", "[autograd][hooks][graph][errors]") {
  const Tensor x = leaf({2});
  const Tensor y = x * 2;
  const std::function<void(const variable_list&)> for_all;
  const std::function<void(const Tensor&)> for_one;
  CHECK_THAT(error_of([&] { graph::register_multi_grad_hook({x}, for_all); }), says("the hook is no function"));
  CHECK_THAT(error_of([&] { graph::register_any_grad_hook({x}, for_one); }), says("the hook is no function"));
  CHECK_THAT(error_of([&] { graph::register_post_accumulate_grad_hook(x, for_one); }), says("the hook is no function"));
  CHECK_THAT(error_of([&] { graph::register_hook(y.grad_fn(), nullptr); }), says("the hook is no function"));
  CHECK_THAT(error_of([&] { graph::register_prehook(y.grad_fn(), nullptr); }), says("the hook is no function"));
  const auto same_tensor = [](const Tensor& t) { return t; };
  CHECK_THAT(
      error_of([&] { torch::autograd::SavedTensorHooksGuard guard(nullptr, same_tensor); }),
      says("SavedTensorHooksGuard: pack is no function"));
  y.backward();
  CHECK(same(x.grad(), {2}));
}
