// Running graphs: the same as the operators called one by one.
#include <catch2/catch.hpp>

#include <torch/fx.h>
#include <torch/torch.h>

using namespace torch::fx;
using Catch::Matchers::Contains;

namespace {

std::vector<c10::IValue> run(const char* text, std::vector<c10::IValue> inputs) {
  auto graph = Graph::parse(text);
  graph->lint();
  return GraphModule(graph).forward(std::move(inputs));
}

bool same(const c10::IValue& got, const at::Tensor& want) {
  return got.isTensor() && got.toTensor().scalar_type() == want.scalar_type() && got.toTensor().equal(want);
}

} // namespace

TEST_CASE("Operators run with tensors, lists, optional values and scalars", "[fx][interpreter]") {
  torch::manual_seed(1);
  const auto x = torch::randn({3, 4}), y = torch::randn({3, 4});
  CHECK(same(run("graph(%x, %y) { %a = aten::add.Tensor(%x, %y, alpha=2) return (%a) }", {x, y})[0], x + 2 * y));
  CHECK(same(run("graph(%x, %y) { %a = aten::cat([%x, %y], 1) return (%a) }", {x, y})[0], torch::cat({x, y}, 1)));
  CHECK(same(run("graph(%x) { %a = aten::clamp(%x, None, 0.5) return (%a) }", {x})[0], x.clamp({}, 0.5)));
  CHECK(same(run("graph(%x) { %a = aten::mul.Tensor(%x, 2) return (%a) }", {x})[0], x * 2));
  CHECK(same(
      run("graph(%x) { %a = aten::mul.Tensor(%x, 2.5) return (%a) }", {x.to(torch::kHalf)})[0],
      x.to(torch::kHalf) * 2.5));
  CHECK(same(
      run("graph(%x) { %a = aten::sum.dim_IntList(%x, [0], dtype=float64) return (%a) }", {x})[0],
      x.sum(0, false, torch::kDouble)));
  const auto i = torch::tensor({2, 0});
  CHECK(same(
      run("graph(%x, %i) { %a = aten::index.Tensor(%x, [None, %i]) return (%a) }", {x, i})[0],
      x.index({torch::indexing::Slice(), i})));
  CHECK(same(
      run("graph(%x) { %a = aten::layer_norm(%x, [4], None, None) return (%a) }", {x})[0], torch::layer_norm(x, {4})));
  CHECK(same(
      run("graph(%x) { %a = aten::zeros_like(%x, dtype=int64) return (%a) }", {x})[0],
      torch::zeros({3, 4}, torch::kLong)));
  CHECK(same(
      run("graph(%x, %y) { %a = aten::einsum(\"ij,kj->ik\", [%x, %y]) return (%a) }", {x, y})[0],
      torch::einsum("ij,kj->ik", {x, y})));
}

TEST_CASE("Several results, lists and numbers are passed on", "[fx][interpreter]") {
  const auto x = torch::randn({3, 4});
  const auto sorted = run("graph(%x) { %a = aten::sort(%x, 1, True) return (%a.1, [%a.0, 5], None, \"t\") }", {x});
  CHECK(same(sorted[0], std::get<1>(x.sort(1, true))));
  CHECK(same(sorted[1].toTupleRef().elements()[0], std::get<0>(x.sort(1, true))));
  CHECK(sorted[1].toTupleRef().elements()[1].toInt() == 5);
  CHECK(sorted[2].isNone());
  CHECK(sorted[3].toStringRef() == "t");
  const auto parts =
      run("graph(%x) { %a = aten::split.Tensor(%x, 3, 1) %b = getitem(%a, 1) %u = unpack -> 2(%a) return (%b, %u.0) }",
          {x});
  CHECK(same(parts[0], x.narrow(1, 3, 1)));
  CHECK(same(parts[1], x.narrow(1, 0, 3)));
  const auto sizes = run(
      "graph(%x) { %n = aten::sym_size.int(%x, 0) %m = mul(%n, 2) %h = floordiv(%m, 3) %v = aten::view(%x, [%m, -1]) "
      "return (%v, %h) }",
      {x});
  CHECK(same(sizes[0], x.view({6, 2})));
  CHECK(sizes[1].toInt() == 2);
  CHECK(same(
      run("graph[s, t](%x: float32[s, t * 2]) { %a = aten::view(%x, [{t}, {s * 2}]) return (%a) }", {x})[0],
      x.view({2, 6})));
}

TEST_CASE("Functions on numbers compute as Python does", "[fx][interpreter]") {
  const auto one = [](const std::string& call) {
    return GraphModule(Graph::parse("graph() { %a = " + call + " return (%a) }")).forward({})[0];
  };
  CHECK(one("floordiv(-7, 2)").toInt() == -4);
  CHECK(one("floordiv(7, -2)").toInt() == -4);
  CHECK(one("mod(-7, 3)").toInt() == 2);
  CHECK(one("mod(-7.5, 2)").toDouble() == 0.5);
  CHECK(one("truediv(7, 2)").toDouble() == 3.5);
  CHECK(one("pow(2, 10)").toInt() == 1024);
  CHECK(one("pow(2, -1)").toDouble() == 0.5);
  CHECK(one("round(2.5)").toInt() == 2);
  CHECK(one("sym_max(1, 2.5)").toDouble() == 2.5);
  CHECK(one("sym_not(False)").toBool());
  CHECK(one("and_(True, False)").isBool());
  CHECK(one("lshift(1, 4)").toInt() == 16);
  CHECK(one("sym_ite(True, 3, 4)").toInt() == 3);
  CHECK(one("lt(1, 2)").toBool());
  CHECK_FALSE(one("ge(1, nan)").toBool());
  CHECK(one("ceil(1.2)").toInt() == 2);
  CHECK_THROWS_WITH(one("floordiv(1, 0)"), Contains("division by zero"));
  CHECK_THROWS_WITH(one("mul(9223372036854775807, 2)"), Contains("64 bits"));
  CHECK_THROWS_WITH(one("pow(10, 50)"), Contains("64 bits"));
  CHECK_THROWS_WITH(one("sym_int(1e300)"), Contains("cannot convert"));
  CHECK_THROWS_WITH(one("getitem([1, 2], 2)"), Contains("out of range"));
  CHECK_THROWS_WITH(one("add(\"a\", 1)"), Contains("expected a number"));
}

TEST_CASE("Control flow runs graphs", "[fx][interpreter]") {
  const auto x = torch::tensor({1.0f, 2.0f});
  const char* const branch = R"(graph(%p, %x) {
    %c = cond(%p, graph(%a) { %b = aten::neg(%a) return (%b) }, graph(%a) { %b = aten::exp(%a) return (%b) }, [%x])
    return (%c)
  })";
  CHECK(same(run(branch, {true, x})[0], -x));
  CHECK(same(run(branch, {torch::tensor(false), x})[0], x.exp()));
  const auto loop =
      run(R"(graph(%i, %x) {
    %w = while_loop -> 2(
      graph(%i, %x, %k) { %l = lt(%i, 3) return (%l) },
      graph(%i, %x, %k) { %j = add(%i, 1) %y = aten::mul.Tensor(%x, %k) return (%j, %y) },
      [%i, %x], [2])
    return (%w.0, %w.1)
  })",
          {0, x});
  CHECK(loop[0].toInt() == 3);
  CHECK(same(loop[1], x * 8));
  const auto xs = torch::arange(6).view({3, 2});
  CHECK(same(
      run("graph(%x) { %m = map(graph(%a, %k) { %b = aten::mul.Tensor(%a, %k) return (%b) }, [%x], [3]) return (%m) }",
          {xs})[0],
      xs * 3));
  const auto scanned =
      run(R"(graph(%i, %x) {
    %s = scan -> 2(graph(%c, %a) { %n = aten::add.Tensor(%c, %a) return (%n, %n) }, [%i], [%x], [])
    return (%s.0, %s.1)
  })",
          {torch::zeros({2}, torch::kLong), xs});
  CHECK(same(scanned[0], xs.sum(0)));
  CHECK(same(scanned[1], xs.cumsum(0)));
  CHECK(same(
      run("graph(%x) { %s = associative_scan(graph(%c, %a) { %n = aten::mul.Tensor(%c, %a) return (%n) }, [%x], []) "
          "return (%s) }",
          {xs})[0],
      xs.cumprod(0)));
  CHECK_THROWS_WITH(run("graph(%x) { %c = cond(True, 1, 2, [%x]) return (%c) }", {x}), Contains("must be a graph"));
}

TEST_CASE("Regions set the grad mode and autocast", "[fx][interpreter]") {
  const auto x = torch::ones({2, 2}).requires_grad_();
  const auto out =
      run(R"(graph(%x) {
    %a = wrap_with_set_grad_enabled(False, graph(%x) { %y = aten::mul.Tensor(%x, 2) return (%y) }, %x)
    %b = wrap_with_autocast("cpu", bfloat16, True, None, graph(%x) { %y = aten::mm(%x, %x) return (%y) }, %x)
    %c = aten::mul.Tensor(%x, 3)
    return (%a, %b, %c)
  })",
          {x});
  CHECK_FALSE(out[0].toTensor().requires_grad());
  CHECK(out[1].toTensor().scalar_type() == torch::kBFloat16);
  CHECK(out[2].toTensor().requires_grad());
  out[2].toTensor().sum().backward();
  CHECK(x.grad().equal(torch::full({2, 2}, 3.0f)));
}

TEST_CASE("A module holds parameters, buffers and constants by their paths", "[fx][interpreter]") {
  auto graph = Graph::parse(R"(graph(%x) {
    %w = get_attr("layer.weight") %b = get_attr("layer.0.bias") %c = get_attr("constant")
    %y = aten::linear(%x, %w, %b) %z = aten::add.Tensor(%y, %c) return (%z) })");
  auto module = std::make_shared<GraphModule>(graph);
  const auto w = torch::randn({2, 3}).requires_grad_(), b = torch::randn({2}), c = torch::randn({2});
  module->add_parameter("layer.weight", w);
  module->add_buffer("layer.0.bias", b);
  CHECK_THROWS_WITH(module->forward({torch::ones({1, 3})}), Contains("no attribute 'constant'"));
  module->set_attr("constant", c);
  const auto x = torch::randn({4, 3});
  CHECK((*module)({x}).equal(torch::linear(x, w, b) + c));
  CHECK(module->named_parameters().contains("layer.weight"));
  CHECK(module->named_buffers().contains("layer.0.bias"));
  CHECK_THROWS_WITH(module->add_buffer("layer.weight", b), Contains("already"));
  CHECK_THROWS_WITH(module->set_attr("layer.weight", b), Contains("is a parameter or buffer"));
  torch::optim::SGD sgd(module->parameters(), 0.1);
  (*module)({x}).sum().backward();
  sgd.step();
  CHECK((*module)({x}).equal(torch::linear(x, w, b) + c));
  // A change of the graph is seen.
  graph->find_node("z")->set_arg(1, 1);
  CHECK((*module)({x}).equal(torch::linear(x, w, b) + 1));
  CHECK_THROWS_WITH(module->forward({}), Contains("takes 1 inputs, got 0"));
}

TEST_CASE(
    "A subclass of the interpreter sees each step, and values are let go after their last use", "[fx][interpreter]") {
  struct Watching : Interpreter {
    using Interpreter::Interpreter;
    std::vector<std::string> seen;
    std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> alive;
    size_t most = 0;
    void call_operator(const Node& node, torch::jit::Stack& stack) override {
      seen.push_back(node.name());
      Interpreter::call_operator(node, stack);
      alive.emplace_back(stack[0].toTensor().getIntrusivePtr());
      size_t count = 0;
      for (const auto& weak : alive) {
        count += weak.expired() ? 0 : 1;
      }
      most = std::max(most, count);
    }
  };
  GraphModule module(Graph::parse(R"(graph(%x) {
    %a = aten::exp(%x) %b = aten::neg(%a) %c = aten::exp(%b) %d = aten::neg(%c) %e = aten::exp(%d) return (%e) })"));
  Watching watching(module);
  watching.run({torch::ones({3})});
  CHECK(watching.seen == std::vector<std::string>{"a", "b", "c", "d", "e"});
  CHECK(watching.most == 2);
}
