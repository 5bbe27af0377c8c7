// Passes that programs call on graphs of their own: choices, sums of products, types that may be undefined.
#include <catch2/catch.hpp>

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/irparser.h>
#include <csrc/jit/ir/subgraph_matcher.h>
#include <csrc/jit/passes/add_if_then_else.h>
#include <csrc/jit/passes/fuse_addmm.h>
#include <csrc/jit/passes/type_information.h>
#include <csrc/jit/runtime/interpreter.h>
#include <csrc/jit/testing/file_check.h>

using namespace torch::jit;
using testing::FileCheck;

namespace {

std::shared_ptr<Graph> parsed(const std::string& text) {
  auto graph = std::make_shared<Graph>();
  parseIR(text, graph.get());
  return graph;
}

at::Tensor result(const std::shared_ptr<Graph>& graph, Stack stack) {
  InterpreterState(Code(graph, "f")).run(stack);
  return stack.back().toTensor();
}

std::string product_and_sum(const std::string& addend_type, const char* alpha = "1") {
  return "graph(%a : Float(2, 3), %b : Float(3, 4), %c : " + addend_type +
      "):\n  %alpha : int = prim::Constant[value=" + alpha +
      "]()\n  %p : Tensor = aten::mm(%a, %b)\n  %s : Tensor = aten::add(%c, %p, %alpha)\n  return (%s)";
}

} // namespace

TEST_CASE("A conditional that only chooses becomes an operator, within blocks, too", "[jit][ir]") {
  auto graph = parsed(
      R"(graph(%c : bool, %d : bool, %x : Tensor, %y : Tensor):
  %r : Tensor = prim::If(%c)
    block0():
      %inner : Tensor = prim::If(%d)
        block0():
          -> (%x)
        block1():
          -> (%y)
      %n : Tensor = aten::neg(%inner)
      -> (%n)
    block1():
      -> (%y)
  return (%r))");
  CHECK(AddIfThenElseOp(graph));
  graph->lint();
  FileCheck().check_count("= prim::If(", 1, true)->run(*graph);
  FileCheck().check_count("= prim::IfThenElse(%d, %x, %y)", 1, true)->run(*graph);
  CHECK_FALSE(AddIfThenElseOp(graph));

  const at::Tensor x = at::ones({2}), y = at::zeros({2});
  CHECK(at::equal(result(graph, {true, true, x, y}), -x));
  CHECK(at::equal(result(graph, {true, false, x, y}), y));
  CHECK(at::equal(result(graph, {false, true, x, y}), y));

  // Either may be the result.
  const AliasDb aliases(graph);
  Node* choice = graph->findNode(prim::IfThenElse);
  CHECK(aliases.mayAlias(choice->output(), choice->input(1)));
  CHECK(aliases.mayAlias(choice->output(), choice->input(2)));
}

TEST_CASE("A conditional that gives two values stays", "[jit][ir]") {
  auto graph = parsed(
      R"(graph(%c : bool, %x : Tensor, %y : Tensor):
  %r : Tensor, %s : Tensor = prim::If(%c)
    block0():
      -> (%x, %y)
    block1():
      -> (%y, %x)
  return (%r, %s))");
  CHECK_FALSE(AddIfThenElseOp(graph));
}

TEST_CASE("A sum with a product becomes addmm where it is the same", "[jit][ir]") {
  for (const char* addend : {"Float(2, 4)", "Float(4)", "Float(1, 4)", "Float(2, 1)", "Float()"}) {
    CAPTURE(addend);
    const auto graph = parsed(product_and_sum(addend));
    CHECK(FuseAddMM(graph));
    graph->lint();
    FileCheck().check("aten::addmm(%c, %a, %b")->check_not("aten::mm")->run(*graph);
  }
  const auto graph = parsed(product_and_sum("Float(4)"));
  const at::Tensor a = at::randn({2, 3}), b = at::randn({3, 4}), c = at::randn({4});
  FuseAddMM(graph);
  CHECK(at::allclose(result(graph, {a, b, c}), a.mm(b) + c));
}

TEST_CASE("A sum whose product would be broadcast, converted or scaled stays", "[jit][ir]") {
  for (const char* addend : {"Float(5, 2, 4)", "Float(3, 4)", "Double(4)", "Float(*, 4)", "Tensor"}) {
    CAPTURE(addend);
    CHECK_FALSE(FuseAddMM(parsed(product_and_sum(addend))));
  }
  CHECK_FALSE(FuseAddMM(parsed(product_and_sum("Float(4)", "2"))));
  // The product is needed by itself.
  CHECK_FALSE(FuseAddMM(parsed(
      R"(graph(%a : Float(2, 3), %b : Float(3, 4), %c : Float(4)):
  %one : int = prim::Constant[value=1]()
  %p : Tensor = aten::mm(%a, %b)
  %s : Tensor = aten::add(%p, %c, %one)
  return (%s, %p))")));
}

TEST_CASE("Tensors that may be undefined are taken for tensors, in blocks, too", "[jit][ir]") {
  const auto graph = parsed(
      R"(graph(%x : Tensor, %c : bool):
  %r : Tensor = prim::If(%c)
    block0():
      %zero : Tensor = prim::AutogradZero()
      -> (%zero)
    block1():
      -> (%x)
  %list : Tensor[] = prim::ListConstruct(%r)
  return (%list))");
  Value* zero = graph->findNode(prim::AutogradZero)->output();
  zero->setType(TensorType::get()->withUndefined());
  graph->outputs()[0]->setType(ListType::create(TensorType::get()->withUndefined()));
  ClearUndefinedness(graph);
  CHECK(*zero->type() == *TensorType::get());
  CHECK(*graph->outputs()[0]->type() == *ListType::ofTensors());
  CHECK(graph->inputs()[1]->type()->kind() == TypeKind::BoolType);
}

TEST_CASE("Texts of a pattern are regular expressions, lists match nothing", "[jit][ir]") {
  Graph graph;
  parseIR(
      R"(graph(%x):
  %y = my::a[name="abc", list=[1, 2]](%x)
  %z = my::b[name="abc"](%y)
  return (%z))",
      &graph);
  const auto matches = [&](const std::string& node) {
    Graph pattern;
    parseIR("graph(%x):\n  %y = " + node + "(%x)\n  return (%y)", &pattern);
    return findPatternMatches(pattern, graph).size();
  };
  CHECK(matches("my::b[name=\"abc\"]") == 1);
  CHECK(matches("my::b[name=\"a.*\"]") == 1);
  CHECK(matches("my::b[name=\"a\"]") == 0);
  CHECK(matches("my::b[name=\"[\"]") == 0);
  CHECK(matches("my::a[name=\"abc\", list=[1, 2]]") == 0);
}

TEST_CASE("Patterns whose first output does not lead to the others are refused", "[jit][ir]") {
  Graph graph, pattern;
  parseIR("graph(%x):\n  %y = my::a(%x)\n  %z = my::b(%x)\n  return (%y, %z)", &graph);
  parseIR("graph(%x):\n  %y = my::a(%x)\n  %z = my::b(%x)\n  return (%y, %z)", &pattern);
  CHECK_THROWS_WITH(findPatternMatches(pattern, graph), Catch::Contains("not supported"));
}

TEST_CASE("Types of tensors are compared when a graph runs", "[jit][runtime]") {
  const auto graph = parsed(
      R"(graph(%a : Tensor, %b : Tensor):
  %x : Float(2, 2, strides=[2, 1], requires_grad=1, device=cpu), %y : Float(*, 3), %same : bool = prim::TypeCheck[types=[Float(2, 2, strides=[2, 1], requires_grad=1, device=cpu), Float(*, 3)]](%a, %b)
  return (%x, %y, %same))");
  const auto check = [&](const at::Tensor& a, const at::Tensor& b) {
    Stack stack{a, b};
    InterpreterState(Code(graph, "f")).run(stack);
    CHECK(stack[0].toTensor().is_same(a));
    CHECK(stack[1].toTensor().is_same(b));
    return stack[2].toBool();
  };
  const at::Tensor a = at::ones({2, 2}).requires_grad_(), b = at::ones({1, 3});
  CHECK(check(a, b));
  CHECK_FALSE(check(at::ones({2, 2}), b));
  CHECK_FALSE(check(a.detach().t().requires_grad_(), b));
  CHECK_FALSE(check(at::ones({2, 3}).requires_grad_(), b));
  CHECK_FALSE(check(a.detach().to(at::kDouble).requires_grad_(), b));
  CHECK_FALSE(check(a, at::ones({3})));
  CHECK_THROWS_WITH(
      Code(parsed("graph(%a : Tensor):\n  %x : Tensor = prim::TypeCheck[types=[Float()]](%a)\n  return (%x)"), "f"),
      Catch::Contains("a type for each input"));
}
