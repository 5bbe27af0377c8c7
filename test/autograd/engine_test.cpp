#include "support.h"

#include <torch/csrc/autograd/engine.h>

#include <stdexcept>

using namespace autograd_test;

TEST_CASE("the engine takes edges in a std::vector too", "[autograd][engine]") {
  using namespace torch::autograd;
  const Tensor x = leaf({1, 2}), y = leaf({3, 4}), product = x * y;
  const std::vector<Edge> roots = {impl::gradient_edge(product)},
                          ends = {impl::gradient_edge(y), impl::gradient_edge(x)};
  const variable_list grads =
      Engine::get_default_engine().execute(roots, {torch::ones({2})}, false, false, false, ends);
  REQUIRE(grads.size() == 2);
  CHECK(same(grads[0], {1, 2}));
  CHECK(same(grads[1], {3, 4}));
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("the engine refuses edges that lead nowhere", "[autograd][engine][errors]") {
  using torch::autograd::Edge;
  struct Bare final : torch::autograd::Node {
    variable_list apply(variable_list&& grads) override {
      return std::move(grads);
    }
  };
  auto& engine = torch::autograd::Engine::get_default_engine();
  const Tensor y = leaf({2}) * 3;
  const auto run = [&](Edge root, std::vector<Edge> outputs) {
    return error_of([&] { engine.execute(std::vector<Edge>{root}, {values({1})}, true, false, false, outputs); });
  };
  CHECK_THAT(run(Edge(), {}), says("Engine::execute: root 0 leads to no node"));
  CHECK_THAT(run(Edge(y.grad_fn(), 0), {Edge()}), says("Engine::execute: output 0 leads to no node"));
  CHECK_THAT(
      run(Edge(y.grad_fn(), 0), {Edge(y.grad_fn(), 4)}), says("output 0 is input 4 of MulBackward1, which has 1"));
  CHECK_THAT(run(Edge(y.grad_fn(), 3), {}), says("an edge leads to input 3 of MulBackward1, which has 1"));
  Tensor z = values({1});
  torch::autograd::impl::set_gradient_edge(z, Edge(std::make_shared<Bare>(), 0));
  CHECK_THAT(error_of([&] { (z * 2).backward(); }), says("which has 0: call its add_input_metadata first"));
}

TEST_CASE("backward adds to the gradients of all leaves", "[autograd][engine]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  (x * y + x).sum().backward();
  CHECK(same(x.grad(), {4, 5}));
  CHECK(same(y.grad(), {1, 2}));

  SECTION("a second pass adds") {
    (x * y).sum().backward();
    CHECK(same(x.grad(), {7, 9}));
  }
  SECTION("a leaf that plays no part keeps its gradient") {
    (x * 2).sum().backward();
    CHECK(same(y.grad(), {1, 2}));
  }
}

TEST_CASE("gradients of several uses are summed before they flow on", "[autograd][engine]") {
  const Tensor x = leaf({2});
  const Tensor y = x * x;
  int calls = 0;
  y.register_hook([&](const torch::Tensor&) { ++calls; });
  (y + y * y + y).sum().backward();
  CHECK(calls == 1);
  CHECK(same(x.grad(), {(2 + 2 * 4) * 4}));
}

TEST_CASE("a tensor that is used twice by one operator gets both gradients", "[autograd][engine]") {
  const Tensor x = leaf({3});
  (x + x).sum().backward();
  CHECK(same(x.grad(), {2}));
}

TEST_CASE("backward takes weights", "[autograd][engine]") {
  const Tensor x = leaf({1, 2, 3});
  (x * x).backward(values({1, 0, 10}));
  CHECK(same(x.grad(), {2, 0, 60}));
}

TEST_CASE("gradients of broadcast inputs are summed", "[autograd][engine]") {
  const Tensor x = filled({3, 1}, 2).requires_grad_();
  const Tensor y = filled({4}, 3).requires_grad_();
  const Tensor s = torch::tensor(5.0, doubles()).requires_grad_();
  (x * y * s).sum().backward();
  CHECK(same(x.grad(), filled({3, 1}, 4 * 3 * 5)));
  CHECK(same(y.grad(), filled({4}, 3 * 2 * 5)));
  CHECK(same(s.grad(), torch::tensor(12.0 * 6, doubles())));
}

TEST_CASE("gradients have the dtype of their tensors", "[autograd][engine]") {
  const Tensor x = torch::ones({2}, torch::kFloat).requires_grad_();
  const Tensor y = torch::ones({2}, torch::kDouble).requires_grad_();
  (x * y).sum().backward();
  CHECK(x.grad().dtype() == torch::kFloat);
  CHECK(y.grad().dtype() == torch::kDouble);
}

TEST_CASE("the nodes made last run first", "[autograd][engine]") {
  const Tensor x = leaf({1});
  std::vector<int> order;
  const auto note = [&order](const Tensor& t, int name) {
    t.register_hook([&order, name](const torch::Tensor&) { order.push_back(name); });
  };
  const Tensor early = x * 2;
  const Tensor middle = x * 3;
  const Tensor late = x * 4;
  note(middle, 2);
  note(late, 3);
  note(early, 1);
  note(x, 0);
  (middle + (early + late)).sum().backward();
  CHECK(order == std::vector<int>{3, 2, 1, 0});
}

TEST_CASE("grad returns gradients and leaves .grad() alone", "[autograd][engine]") {
  const Tensor x = leaf({2});
  const Tensor y = leaf({3});
  const Tensor z = x * x * y;
  const variable_list grads = torch::autograd::grad({z}, {x, y});
  CHECK(same(grads[0], {12}));
  CHECK(same(grads[1], {4}));
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(y.grad().defined());
}

TEST_CASE("grad of inner tensors", "[autograd][engine]") {
  const Tensor x = leaf({2});
  const Tensor y = x * 3;
  const Tensor z = y * y;

  SECTION("an inner tensor alone") {
    CHECK(same(torch::autograd::grad({z}, {y})[0], {12}));
  }
  SECTION("an inner tensor and what it comes from") {
    const variable_list grads = torch::autograd::grad({z}, {y, x});
    CHECK(same(grads[0], {12}));
    CHECK(same(grads[1], {36}));
  }
  SECTION("the output itself") {
    CHECK(same(torch::autograd::grad({z}, {z}, {values({7})})[0], {7}));
  }
  SECTION("hooks have run on what is returned") {
    x.register_hook([](const torch::Tensor& g) { return g * 10; });
    CHECK(same(torch::autograd::grad({z}, {x})[0], {360}));
  }
  SECTION("also where the tensor's own node must run for another result") {
    y.register_hook([](const torch::Tensor& g) { return g * 10; });
    const variable_list grads = torch::autograd::grad({z}, {y, x});
    CHECK(same(grads[0], {12}));
    CHECK(same(grads[1], {360}));
  }
  SECTION("only what is needed runs") {
    const Tensor other = leaf({1});
    bool ran = false;
    const Tensor side = other * 2;
    side.register_hook([&](const torch::Tensor&) { ran = true; });
    torch::autograd::grad({z + side}, {x});
    CHECK_FALSE(ran);
  }
}

TEST_CASE("an input that plays no part", "[autograd][engine]") {
  const Tensor x = leaf({2});
  const Tensor unused = leaf({1});
  const Tensor used_elsewhere = leaf({1});
  const Tensor elsewhere = used_elsewhere * 2;
  const Tensor z = x * x;
  CHECK_THAT(
      error_of([&] {
        torch::autograd::grad({z}, {x, unused}, {}, true);
      }),
      says("of the differentiated Tensors appears to not have been used in the graph"));
  const variable_list grads =
      torch::autograd::grad({z}, {unused, x, used_elsewhere, elsewhere}, {}, true, false, /*allow_unused=*/true);
  CHECK_FALSE(grads[0].defined());
  CHECK(same(grads[1], {4}));
  CHECK_FALSE(grads[2].defined());
  CHECK_FALSE(grads[3].defined());
}

TEST_CASE("backward into chosen inputs", "[autograd][engine]") {
  const Tensor x = leaf({2});
  const Tensor y = leaf({3});
  const Tensor inner = x * y;
  const Tensor z = inner * inner;

  SECTION("leaves") {
    torch::autograd::backward({z}, {}, std::nullopt, false, {x});
    CHECK(same(x.grad(), {36}));
    CHECK_FALSE(y.grad().defined());
  }
  SECTION("an inner tensor, which then keeps its gradient") {
    torch::autograd::backward({z}, {}, std::nullopt, false, {inner});
    CHECK(same(inner.grad(), {12}));
    CHECK_FALSE(x.grad().defined());
  }
}

TEST_CASE("several outputs at once", "[autograd][engine]") {
  const Tensor x = leaf({2});
  const Tensor a = x * x;
  const Tensor b = x * 5;
  torch::autograd::backward({a, b}, {values({1}), values({2})});
  CHECK(same(x.grad(), {14}));

  SECTION("one of which the other comes from") {
    const Tensor c = leaf({3});
    const Tensor d = c * c;
    const Tensor e = d * 2;
    torch::autograd::backward({d, e});
    CHECK(same(c.grad(), {18}));
  }
}

TEST_CASE("a leaf may be its own output", "[autograd][engine]") {
  const Tensor x = leaf({2});
  x.backward();
  CHECK(same(x.grad(), {1}));
}

TEST_CASE("gradients can be differentiated", "[autograd][engine]") {
  const Tensor x = leaf({2});
  const Tensor y = x * x * x;
  const Tensor first = torch::autograd::grad({y}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  CHECK(same(first, {12}));
  const Tensor second = torch::autograd::grad({first}, {x}, {}, std::nullopt, true)[0];
  CHECK(same(second, {12}));
  const Tensor third = torch::autograd::grad({second}, {x})[0];
  CHECK(same(third, {6}));
}

TEST_CASE("gradients of gradients reach the weights", "[autograd][engine]") {
  const Tensor x = leaf({2});
  const Tensor v = leaf({3});
  const Tensor g = torch::autograd::grad({x * x}, {x}, {v}, std::nullopt, true)[0];
  const variable_list gg = torch::autograd::grad({g}, {x, v});
  CHECK(same(gg[0], {6}));
  CHECK(same(gg[1], {4}));
}

TEST_CASE("grad mode inside a pass is create_graph", "[autograd][engine]") {
  const Tensor x = leaf({2});
  std::vector<bool> modes;
  const Tensor y = x * x;
  y.register_hook([&](const torch::Tensor&) { modes.push_back(torch::GradMode::is_enabled()); });
  y.backward({}, /*retain_graph=*/true);
  torch::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true);
  {
    torch::NoGradGuard no_grad;
    torch::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true);
    CHECK_FALSE(torch::GradMode::is_enabled());
  }
  CHECK(modes == std::vector<bool>{false, true, true});
  CHECK(torch::GradMode::is_enabled());
}

TEST_CASE("what backward refuses", "[autograd][engine][errors]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x;
  CHECK_THAT(error_of([&] { y.backward(); }), says("grad can be implicitly created only for scalar outputs"));
  CHECK_THAT(
      error_of([&] { values({1}).sum().backward(); }),
      says("element 0 of tensors does not require grad and does not have a grad_fn"));
  CHECK_THAT(
      error_of([&] {
        torch::autograd::backward({y.sum(), values({1}).sum()});
      }),
      says("element 1 of tensors does not require grad"));
  CHECK_THAT(
      error_of([&] {
        torch::autograd::backward({y}, {values({1, 1}), values({1, 1})});
      }),
      says("got 1 tensors and 2 gradients"));
  CHECK_THAT(
      error_of([&] {
        y.backward(values({1, 2, 3}));
      }),
      says("invalid gradient at index 0 - got [3] but expected shape compatible with [2]"));
  CHECK_THAT(error_of([&] { torch::autograd::grad({y.sum()}, {values({1})}); }), says("does not require grad"));
  // Nothing was freed or added on the way.
  CHECK_FALSE(x.grad().defined());
  y.sum().backward();
  CHECK(same(x.grad(), {2, 4}));
}

TEST_CASE("a graph is freed by backward", "[autograd][engine][errors]") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;

  SECTION("unless it is kept") {
    y.backward({}, /*retain_graph=*/true);
    y.backward({}, true);
    CHECK(same(x.grad(), {12}));
  }
  y.backward();
  x.mutable_grad().reset();
  CHECK_THAT(error_of([&] { y.backward(); }), says("Trying to backward through the graph a second time"));
  CHECK_THAT(error_of([&] { torch::autograd::grad({y}, {x}); }), says("Specify retain_graph=True"));

  SECTION("operators that keep nothing may run again") {
    const Tensor z = x + 1;
    z.backward();
    z.backward();
    CHECK(same(x.grad(), {2}));
  }
}

TEST_CASE("an error in a pass leaves the graph sound", "[autograd][engine][errors]") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  bool fail = true;
  const Tensor z = y * 2;
  z.register_hook([&](const torch::Tensor&) {
    if (fail) {
      throw std::runtime_error("the hook failed");
    }
  });
  const Tensor out = z.sum();
  CHECK_THAT(error_of([&] { out.backward({}, true); }), says("the hook failed"));
  CHECK_FALSE(x.grad().defined());
  CHECK(torch::GradMode::is_enabled());
  fail = false;
  out.backward();
  CHECK(same(x.grad(), {12}));
}

TEST_CASE("exceptions keep their type", "[autograd][engine][errors]") {
  struct Special : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  y.register_hook([](const torch::Tensor&) { throw Special("special"); });
  CHECK_THROWS_AS(y.backward({}, true), Special);
  const Tensor z = x * x;
  z.register_hook([](const torch::Tensor&) { TORCH_CHECK_INDEX(false, "index"); });
  CHECK_THROWS_AS(z.backward(), c10::IndexError);
}

TEST_CASE("a chain of a million nodes runs and is freed", "[autograd][engine][slow]") {
  const Tensor x = torch::ones({}, doubles()).requires_grad_();
  {
    Tensor y = x;
    for (int i = 0; i < 1000000; ++i) {
      y = y + 0;
    }
    y.backward();
    CHECK(x.grad().item<double>() == 1.0);
  }
  {
    // Each node also keeps a tensor that the next node hangs from.
    Tensor y = x;
    for (int i = 0; i < 300000; ++i) {
      y = y * y;
    }
    CHECK(y.item<double>() == 1.0);
  }
  {
    Tensor y = torch::zeros({2}, doubles());
    for (int i = 0; i < 20000; ++i) {
      y[0] += x;
    }
    CHECK(y[0].item<double>() == 20000.0);
  }
}

TEST_CASE("a final callback runs at the end of the pass", "[autograd][engine]") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  std::vector<int> order;
  y.register_hook([&](const torch::Tensor&) {
    torch::autograd::Engine::get_default_engine().queue_callback([&] {
      order.push_back(2);
      torch::autograd::Engine::get_default_engine().queue_callback([&] { order.push_back(3); });
    });
    order.push_back(1);
  });
  x.register_hook([&](const torch::Tensor&) { order.push_back(10); });
  y.backward();
  CHECK(order == std::vector<int>{1, 10, 2, 3});
  CHECK_THAT(
      error_of([] { torch::autograd::Engine::get_default_engine().queue_callback([] {}); }),
      says("Final callbacks can only be installed during backward pass"));
}

TEST_CASE("a gradient becomes .grad() without a copy where nobody else has it", "[autograd][engine]") {
  const Tensor x = torch::ones({4, 3}, doubles()).requires_grad_();
  const void* made = nullptr;
  const Tensor y = x * 2;
  x.register_hook([&](const torch::Tensor& g) { made = g.data_ptr(); });
  y.backward(torch::ones({4, 3}, doubles()));
  CHECK(x.grad().data_ptr() == made);

  SECTION("but not a tensor of the caller") {
    const Tensor leaf_itself = torch::ones({4}, doubles()).requires_grad_();
    const Tensor weight = torch::ones({4}, doubles());
    leaf_itself.backward(weight);
    CHECK(leaf_itself.grad().data_ptr() != weight.data_ptr());
  }
  SECTION("nor one with other strides than the leaf's") {
    const Tensor z = torch::ones({4, 3}, doubles()).requires_grad_();
    z.sum().backward();
    CHECK(z.grad().is_contiguous());
    const Tensor t = torch::ones({3, 4}, doubles()).t().detach().requires_grad_();
    (t * 2).backward(torch::ones({4, 3}, doubles()));
    CHECK(t.grad().strides() == t.strides());
  }
  SECTION("and two leaves never share one") {
    const Tensor a = leaf({1});
    const Tensor b = leaf({1});
    (a + b).backward(values({1}));
    CHECK(a.grad().data_ptr() != b.grad().data_ptr());
    (a + b).backward(values({1}));
    CHECK(same(a.grad(), {2}));
    CHECK(same(b.grad(), {2}));
  }
}

TEST_CASE(".grad() is a new tensor when it is to be differentiated", "[autograd][engine]") {
  const Tensor x = leaf({2});
  (x * x).backward();
  const Tensor old = x.grad();
  (x * x * x).backward({}, std::nullopt, /*create_graph=*/true);
  CHECK(same(x.grad(), {16}));
  CHECK(same(old, {4}));
  CHECK(x.grad().requires_grad());
  x.mutable_grad().reset();
}

TEST_CASE("gradients are made to fit metadata without its edges", "[autograd][engine]") {
  using namespace torch::autograd;
  const auto as_is = [](const std::string& problem) { return "node: " + problem; };
  const Tensor x = leaf({1, 2});
  const auto metadata = collect_input_metadata({impl::gradient_edge(x), Edge(), impl::gradient_edge(x)});
  REQUIRE(metadata.size() == 3);
  CHECK(metadata[0]->sizes() == x.sizes());
  CHECK_FALSE(metadata[1]);

  variable_list grads{torch::ones({3, 2}), torch::ones({7}), Tensor()};
  validate_outputs(metadata, grads, as_is);
  CHECK(same(grads[0], {3, 3}));
  CHECK(grads[1].sizes() == at::IntArrayRef({7}));
  CHECK_FALSE(grads[2].defined());

  grads[2] = torch::ones({5});
  CHECK_THAT(error_of([&] { validate_outputs(metadata, grads, as_is); }), says("node: "));
  grads.pop_back();
  CHECK_THAT(
      error_of([&] { validate_outputs(metadata, grads, as_is); }),
      says("node: invalid number of gradients - expected 3, but got 2"));
}
