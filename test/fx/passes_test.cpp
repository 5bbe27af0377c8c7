// Passes: a text in, a text out; and what runs before runs after.
#include <catch2/catch.hpp>

#include <torch/fx.h>
#include <torch/torch.h>

using namespace torch::fx;
using Catch::Matchers::Contains;

namespace {

using Pass = std::function<void(Graph&)>;

std::string after(const Pass& pass, const std::string& text) {
  auto graph = Graph::parse(text);
  pass(*graph);
  graph->lint();
  return graph->to_string();
}

void check(const Pass& pass, const std::string& in, const std::string& out) {
  CHECK(after(pass, in) == Graph::parse(out)->to_string());
}

const Pass cse = [](Graph& graph) { eliminate_common_subexpressions(graph); };
const Pass views = [](Graph& graph) { merge_views(graph); };
const Pass casts = [](Graph& graph) { merge_casts(graph); };

} // namespace

TEST_CASE("Equal nodes become one", "[fx][passes]") {
  check(
      cse, R"(graph(%x) {
    %a = aten::exp(%x) %b = aten::exp(%x) %c = aten::add.Tensor(%a, %b) %d = aten::add.Tensor(%a, %b, alpha=2)
    %e = aten::mul.Tensor(%c, %d) return (%e) })",
      R"(graph(%x) {
    %a = aten::exp(%x) %c = aten::add.Tensor(%a, %a) %d = aten::add.Tensor(%a, %a, alpha=2)
    %e = aten::mul.Tensor(%c, %d) return (%e) })");
}

TEST_CASE("Random numbers, writes and results keep nodes apart", "[fx][passes]") {
  const std::string random = R"(graph(%x) {
    %a = aten::rand_like(%x) %b = aten::rand_like(%x) %c = aten::add.Tensor(%a, %b) return (%c) })";
  check(cse, random, random);
  const std::string written = R"(graph(%x) {
    %a = aten::zeros([2]) %b = aten::zeros([2]) %c = aten::add_.Tensor(%a, 1) %d = aten::add.Tensor(%b, %c) return (%d) })";
  check(cse, written, written);
  const std::string between = R"(graph(%x) {
    %a = aten::exp(%x) %w = aten::add_.Tensor(%x, 1) %b = aten::exp(%x) %d = aten::add.Tensor(%a, %b) return (%d) })";
  check(cse, between, between);
  const std::string results = "graph(%x) { %a = aten::exp(%x) %b = aten::exp(%x) return (%a, %b) }";
  check(cse, results, results);
}

TEST_CASE("Constants are folded into attributes", "[fx][passes]") {
  auto graph = Graph::parse(R"(graph(%x) {
    %c = get_attr("c") %o = aten::ones([2]) %a = aten::add.Tensor(%c, %o) %n = add(1, 2)
    %m = aten::mul.Tensor(%a, %n) %y = aten::add.Tensor(%x, %m) %r = aten::rand([2]) %z = aten::add.Tensor(%y, %r)
    %e = aten::ones([2]) return (%z, %e) })");
  GraphModule module(graph);
  module.set_attr("c", torch::tensor({1.0f, 2.0f}));
  CHECK(fold_constants(module));
  graph->lint();
  CHECK(graph->to_string() == R"(graph(%x) {
  %_folded_0: float32[2] = get_attr("_folded_0")
  %y = aten::add.Tensor(%x, %_folded_0)
  %r = aten::rand([2])
  %z = aten::add.Tensor(%y, %r)
  %e = aten::ones([2])
  return (%z, %e)
})");
  CHECK(module.attr("_folded_0").toTensor().equal(torch::tensor({6.0f, 9.0f})));
  CHECK_FALSE(module.has_attr("c"));
}

TEST_CASE("Parameters are folded only for inference", "[fx][passes]") {
  const auto make = [] {
    auto module = std::make_unique<GraphModule>(
        Graph::parse("graph(%x) { %w = get_attr(\"w\") %t = aten::t(%w) %y = aten::mm(%x, %t) return (%y) }"));
    module->add_parameter("w", torch::randn({2, 3}).requires_grad_());
    return module;
  };
  CHECK_FALSE(fold_constants(*make()));
  auto module = make();
  const auto x = torch::randn({4, 3});
  const auto before = (*module)({x}).detach();
  CHECK(fold_constants(*module, {true}));
  CHECK((*module)({x}).equal(before));
}

TEST_CASE("Views of views become one", "[fx][passes]") {
  check(
      views, "graph(%x) { %a = aten::view(%x, [2, 3]) %b = aten::view(%a, [6]) return (%b) }",
      "graph(%x) { %b = aten::view(%x, [6]) return (%b) }");
  check(
      views, "graph(%x) { %a = aten::permute(%x, [2, 0, 1]) %b = aten::permute(%a, [1, 0, 2]) return (%b) }",
      "graph(%x) { %b = aten::permute(%x, [0, 2, 1]) return (%b) }");
  check(
      views, "graph(%x) { %a = aten::t(%x) %b = aten::t(%a) %c = aten::exp(%b) return (%c) }",
      "graph(%x) { %c = aten::exp(%x) return (%c) }");
  check(
      views,
      "graph(%x) { %a = aten::transpose.int(%x, 0, 1) %b = aten::transpose.int(%a, 1, 0) %c = aten::exp(%b) return "
      "(%c) }",
      "graph(%x) { %c = aten::exp(%x) return (%c) }");
  check(
      views, "graph(%x) { %a = aten::unsqueeze(%x, 1) %b = aten::squeeze.dim(%a, 1) %c = aten::exp(%b) return (%c) }",
      "graph(%x) { %c = aten::exp(%x) return (%c) }");
  check(
      views, "graph(%x) { %a = aten::expand(%x, [2, 1, 3]) %b = aten::expand(%a, [2, 4, 3]) return (%b) }",
      "graph(%x) { %b = aten::expand(%x, [2, 4, 3]) return (%b) }");
  // What the graph gives away is a tensor of its own; what is written to stays.
  for (const char* const kept : {
           "graph(%x) { %a = aten::t(%x) %b = aten::t(%a) return (%b) }",
           "graph(%x) { %a = aten::view(%x, [2, 3]) %w = aten::add_.Tensor(%a, 1) %b = aten::view(%a, [6]) return (%b) "
           "}",
           "graph(%x) { %a = aten::expand(%x, [2, 1, 3]) %b = aten::expand(%a, [-1, 4, 3]) return (%b) }",
       }) {
    check(views, kept, kept);
  }
}

TEST_CASE("Casts that change nothing are left out", "[fx][passes]") {
  check(
      casts, R"(graph(%x: float16[2]) {
    %a: float32[2] = aten::to.dtype(%x, float32) %b: float16[2] = aten::to.dtype(%a, float16) %c = aten::exp(%b) return (%c) })",
      "graph(%x: float16[2]) { %c = aten::exp(%x) return (%c) }");
  check(
      casts, R"(graph(%x: float16[2]) {
    %a: float32[2] = aten::to.dtype(%x, float32) %b: float64[2] = aten::to.dtype(%a, float64) %c = aten::exp(%b) return (%c) })",
      "graph(%x: float16[2]) { %b: float64[2] = aten::to.dtype(%x, float64) %c = aten::exp(%b) return (%c) }");
  const char* const narrowing = R"(graph(%x: float32[2]) {
    %a: float16[2] = aten::to.dtype(%x, float16) %b: float32[2] = aten::to.dtype(%a, float32) %c = aten::exp(%b) return (%c) })";
  check(casts, narrowing, narrowing);
}

TEST_CASE("Patterns are replaced", "[fx][passes]") {
  auto graph = Graph::parse(R"(graph(%x, %w, %b) {
    %m = aten::mm(%x, %w) %a = aten::add.Tensor(%m, %b) %m2 = aten::mm(%a, %w) %a2 = aten::add.Tensor(%m2, %b, alpha=2)
    %m3 = aten::mm(%a2, %w) %a3 = aten::add.Tensor(%m3, %b) %s = aten::add.Tensor(%m3, %a3) return (%s) })");
  CHECK(
      replace_pattern(
          *graph, "graph(%p, %q, %r) { %m = aten::mm(%p, %q) %a = aten::add.Tensor(%m, %r) return (%a) }",
          "graph(%p, %q, %r) { %y = aten::addmm(%r, %p, %q) return (%y) }") == 1);
  graph->lint();
  CHECK(graph->to_string() == R"(graph(%x, %w, %b) {
  %y = aten::addmm(%b, %x, %w)
  %m2 = aten::mm(%y, %w)
  %a2 = aten::add.Tensor(%m2, %b, alpha=2)
  %m3 = aten::mm(%a2, %w)
  %a3 = aten::add.Tensor(%m3, %b)
  %s = aten::add.Tensor(%m3, %a3)
  return (%s)
})");
  CHECK_THROWS_WITH(
      replace_pattern(*graph, "graph(%x) { return (%x) }", "graph(%x) { return (%x) }"), Contains("must be computed"));
}

TEST_CASE("Decompositions compute the same", "[fx][passes]") {
  torch::manual_seed(3);
  const auto x = torch::randn({3, 4});
  const char* const calls[] = {
      "aten::square(%x)",
      "aten::rsub.Scalar(%x, 2, 3)",
      "aten::silu(%x)",
      "aten::hardsigmoid(%x)",
      "aten::hardswish(%x)",
      "aten::mish(%x)",
      "aten::leaky_relu(%x, 0.2)",
      "aten::gelu(%x)",
      "aten::gelu(%x, approximate=\"tanh\")",
      "aten::linear(%x, %x)",
      "aten::linear(%x, %x, %b)",
      "aten::softmax.int(%x, -1)",
      "aten::log_softmax.int(%x, 0)",
      "aten::mse_loss(%x, %b2)",
      "aten::addcmul(%x, %x, %b2, value=0.5)",
      "aten::addcdiv(%x, %x, %b2)",
      "aten::lerp.Scalar(%x, %b2, 0.25)",
      "aten::rsub.Tensor(%x, %b2, alpha=2)",
      "aten::addmm(%b, %x, %xt)"};
  for (const char* const call : calls) {
    CAPTURE(call);
    auto graph = Graph::parse(std::string("graph(%x, %b, %b2, %xt) { %y = ") + call + " return (%y) }");
    const std::vector<c10::IValue> inputs{x, torch::randn({3}), torch::randn({3, 4}) + 5, x.t()};
    const auto before = GraphModule(graph).forward(inputs)[0].toTensor();
    CHECK(decompose(*graph));
    graph->lint();
    CHECK(torch::allclose(GraphModule(graph).forward(inputs)[0].toTensor(), before, 1e-5, 1e-6));
  }
}

TEST_CASE("Shapes are propagated without data", "[fx][passes]") {
  auto graph = Graph::parse(R"(graph(%x: float32[2, 3], %i: int64[2]) {
    %w = get_attr("w") %y = aten::linear(%x, %w) %t = aten::topk(%y, 2) %v = aten::t(%t.1)
    %z = aten::zeros([4], dtype=float64) %e = aten::embedding(%w, %i) return (%v, %z, %e) })");
  GraphModule module(graph);
  module.add_parameter("w", torch::randn({5, 3}));
  propagate_shapes(module);
  graph->lint();
  CHECK(graph->to_string() == R"(graph(%x: float32[2, 3], %i: int64[2]) {
  %w: float32[5, 3] = get_attr("w")
  %y: float32[2, 5] = aten::linear(%x, %w)
  %t: float32[2, 2], int64[2, 2] = aten::topk(%y, 2)
  %v: int64[2, 2] strides[1, 2] = aten::t(%t.1)
  %z: float64[4] = aten::zeros([4], dtype=float64)
  %e: float32[2, 3] = aten::embedding(%w, %i)
  return (%v, %z, %e)
})");
  propagate_shapes(module, {torch::ones({7, 3}), torch::ones({1}, torch::kLong)});
  CHECK(graph->find_node("y")->info()->sizes == std::vector<Dim>{7, 5});
  GraphModule bad(Graph::parse("graph(%x: float32[2, 3]) { %y = aten::mm(%x, %x) return (%y) }"));
  CHECK_THROWS_WITH(propagate_shapes(bad), Contains("node %y (aten::mm)"));
  GraphModule unknown(Graph::parse("graph(%x) { return (%x) }"));
  CHECK_THROWS_WITH(propagate_shapes(unknown), Contains("give examples of the inputs"));
}
