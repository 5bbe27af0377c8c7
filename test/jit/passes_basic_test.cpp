// Passes on graphs in text.
#include <catch2/catch.hpp>

#include <csrc/jit/ir/irparser.h>
#include <csrc/jit/passes/canonicalize.h>
#include <csrc/jit/passes/common_subexpression_elimination.h>
#include <csrc/jit/passes/constant_pooling.h>
#include <csrc/jit/passes/constant_propagation.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/inline_fork_wait.h>
#include <csrc/jit/passes/loop_unrolling.h>
#include <csrc/jit/passes/lower_tuples.h>
#include <csrc/jit/passes/normalize_ops.h>
#include <csrc/jit/passes/peephole.h>
#include <csrc/jit/passes/remove_expands.h>
#include <csrc/jit/passes/subgraph_rewrite.h>
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

template <class Pass>
std::string after(const std::string& text, Pass pass) {
  auto graph = parsed(text);
  pass(graph);
  graph->lint();
  return graph->toString();
}

const auto dead_code = [](std::shared_ptr<Graph>& graph) { EliminateDeadCode(graph); };
const auto subexpressions = [](std::shared_ptr<Graph>& graph) { EliminateCommonSubexpression(graph); };
const auto constants = [](std::shared_ptr<Graph>& graph) { ConstantPropagation(graph); };
const auto peephole = [](std::shared_ptr<Graph>& graph) { PeepholeOptimize(graph); };
const auto tuples = [](std::shared_ptr<Graph>& graph) { LowerSimpleTuples(graph); };
const auto flat_tuples = [](std::shared_ptr<Graph>& graph) { flattenSimpleTuples(graph->block()); };

} // namespace

TEST_CASE("Dead code goes; what prints, raises or writes to what lives stays", "[jit][ir]") {
  const std::string text = after(
      R"(graph(%x : Tensor, %c : bool, %s : str):
  %one : int = prim::Constant[value=1]()
  %dead : Tensor = aten::add(%x, %one, %one)
  %own : Tensor = aten::relu(%x)
  %written : Tensor = aten::add_(%own, %one, %one)
  %kept : Tensor = aten::sigmoid(%x)
  %view : Tensor = aten::select(%kept, %one, %one)
  %write : Tensor = aten::mul_(%view, %one)
   = prim::Print(%s)
  %a : Tensor, %b : int = prim::If(%c)
    block0():
      %p : Tensor = aten::tanh(%x)
      -> (%p, %one)
    block1():
      %q : Tensor = aten::cos(%x)
      -> (%q, %one)
  return (%kept, %b))",
      dead_code);
  FileCheck()
      .check_not("aten::add")
      ->check_not("aten::relu")
      ->check("aten::sigmoid")
      ->check("aten::mul_")
      ->check("prim::Print")
      ->check("prim::If")
      ->check_not("aten::tanh")
      ->check_not("aten::cos")
      ->run(text);
}

TEST_CASE("State that a loop only hands to itself is dead", "[jit][ir]") {
  const std::string text = after(
      R"(graph(%n : int, %c : bool):
  %one : int = prim::Constant[value=1]()
  %a : int, %b : int = prim::Loop(%n, %c, %one, %one)
    block0(%i : int, %p : int, %q : int):
      %r : int = aten::add(%p, %i)
      %s : int = aten::mul(%q, %i)
      -> (%c, %r, %s)
  return (%a))",
      dead_code);
  FileCheck().check("prim::Loop(%n, %c, %2)")->check("aten::add")->check_not("aten::mul")->run(text);
}

TEST_CASE("Equal nodes are computed once, unless something is written in between", "[jit][ir]") {
  const std::string pure = after(
      R"(graph(%x : Tensor, %c : bool):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::relu(%x)
  %d : Tensor = prim::If(%c)
    block0():
      %e : Tensor = aten::relu(%x)
      -> (%e)
    block1():
      -> (%b)
  return (%a, %b, %d))",
      subexpressions);
  // Two results that leave the graph may not become one.
  FileCheck().check_count("aten::relu", 3, true)->run(pure);
  const std::string inside = after(
      R"(graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::relu(%x)
  %d : Tensor = aten::add(%a, %b, %one)
  return (%d))",
      subexpressions);
  FileCheck().check_count("aten::relu", 1, true)->run(inside);
  const std::string written = after(
      R"(graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %w : Tensor = aten::add_(%x, %one, %one)
  %b : Tensor = aten::relu(%x)
  %d : Tensor = aten::add(%a, %b, %one)
  return (%d))",
      subexpressions);
  FileCheck().check_count("aten::relu", 2, true)->run(written);
  const std::string random = after(
      R"(graph(%x : Tensor):
  %n : NoneType = prim::Constant()
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::bernoulli(%x, %n)
  %b : Tensor = aten::bernoulli(%x, %n)
  %d : Tensor = aten::add(%a, %b, %one)
  return (%d))",
      subexpressions);
  FileCheck().check_count("aten::bernoulli", 2, true)->run(random);
}

TEST_CASE("What is known of numbers is computed before the graph runs", "[jit][ir]") {
  const std::string text = after(
      R"(graph(%x : Tensor):
  %2 : int = prim::Constant[value=2]()
  %3 : int = prim::Constant[value=3]()
  %s : int = aten::add(%2, %3)
  %c : bool = aten::gt(%s, %2)
  %r : Tensor = prim::If(%c)
    block0():
      %y : Tensor = aten::mul(%x, %s)
      -> (%y)
    block1():
      -> (%x)
  return (%r))",
      constants);
  FileCheck().check("value=5")->check("aten::mul")->check_not("prim::If")->run(text);
  const std::string failing = after(
      R"(graph():
  %1 : int = prim::Constant[value=1]()
  %0 : int = prim::Constant[value=0]()
  %q : int = aten::floordiv(%1, %0)
  return (%q))",
      constants);
  FileCheck().check("aten::floordiv")->run(failing);
}

TEST_CASE("Equal constants become one at the beginning", "[jit][ir]") {
  const std::string text = after(
      R"(graph(%c : bool):
  %r : int = prim::If(%c)
    block0():
      %a : int = prim::Constant[value=1]()
      -> (%a)
    block1():
      %b : int = prim::Constant[value=1]()
      -> (%b)
  return (%r))",
      [](std::shared_ptr<Graph>& graph) { ConstantPooling(graph); });
  FileCheck().check_count("prim::Constant", 1, true)->run(text);
  FileCheck().check("prim::Constant")->check("prim::If")->run(text);
}

TEST_CASE("Small patterns are simplified", "[jit][ir]") {
  const std::string text = after(
      R"(graph(%x : Tensor, %o : Tensor?, %n : int):
  %none : NoneType = prim::Constant()
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %a : bool = aten::__is__(%x, %none)
  %b : bool = aten::__isnot__(%o, %none)
  %l : int[] = prim::ListConstruct(%n, %1)
  %len : int = aten::len(%l)
  %e : int = aten::__getitem__(%l, %0)
  %p : int = aten::add(%n, %0)
  return (%a, %b, %len, %e, %p))",
      peephole);
  FileCheck()
      .check("aten::__isnot__")
      ->check_not("aten::__is__(")
      ->check_not("aten::len")
      ->check_not("aten::__getitem__")
      ->check_not("aten::add")
      ->check("%n, %n)")
      ->run(text);
  const std::string written = after(
      R"(graph(%n : int):
  %0 : int = prim::Constant[value=0]()
  %l : int[] = prim::ListConstruct(%n)
  %m : int[] = aten::append(%l, %n)
  %len : int = aten::len(%l)
  return (%len))",
      peephole);
  FileCheck().check("aten::len")->run(written);
}

TEST_CASE("Tuples that are taken apart again are not made", "[jit][ir]") {
  const char* const written = R"(graph(%x : Tensor, %n : int, %c : bool):
  %0 : int = prim::Constant[value=0]()
  %t : (Tensor, int) = prim::TupleConstruct(%x, %n)
  %s : (Tensor, int) = prim::If(%c)
    block0():
      %y : Tensor = aten::relu(%x)
      %u : (Tensor, int) = prim::TupleConstruct(%y, %0)
      -> (%u)
    block1():
      %v : (Tensor, int) = prim::TupleConstruct(%x, %n)
      -> (%v)
  %r : (Tensor, int) = prim::Loop(%n, %c, %t)
    block0(%i : int, %p : (Tensor, int)):
      %f : Tensor, %g : int = prim::TupleUnpack(%p)
      %h : int = aten::add(%g, %i)
      %q : (Tensor, int) = prim::TupleConstruct(%f, %h)
      -> (%c, %q)
  %a : Tensor, %b : int = prim::TupleUnpack(%s)
  %d : int = prim::TupleIndex(%r, %n)
  %e : Tensor = prim::TupleIndex(%r, %0)
  return (%a, %b, %e))";
  const std::string text = after(written, flat_tuples);
  FileCheck().check_not("prim::TupleUnpack")->run(text);
  FileCheck().check_not("prim::TupleIndex")->run(text);
  // The pass of libtorch's name leaves those that conditionals and loops give.
  FileCheck().check_count("prim::TupleUnpack", 2, true)->check("prim::TupleIndex")->run(after(written, tuples));
}

TEST_CASE("Short loops with known trips are unrolled", "[jit][ir]") {
  auto graph = parsed(R"(graph(%x : int):
  %3 : int = prim::Constant[value=3]()
  %t : bool = prim::Constant[value=1]()
  %r : int = prim::Loop(%3, %t, %x)
    block0(%i : int, %s : int):
      %n : int = aten::add(%s, %i)
      -> (%t, %n)
  return (%r))");
  CHECK(UnrollConstantLoops(graph));
  graph->lint();
  FileCheck().check_not("prim::Loop")->run(*graph);
  FileCheck().check_count("aten::add", 3, true)->run(*graph);
  Stack stack{10};
  InterpreterState(Code(graph, "f")).run(stack);
  CHECK(stack.back().toInt() == 13);
}

TEST_CASE("A peeled loop computes what it did", "[jit][ir]") {
  for (const int64_t trips : {0, 1, 2, 5}) {
    for (const int64_t stop : {-1, 0, 1, 3}) {
      auto graph = parsed(R"(graph(%n : int, %stop : int):
  %0 : int = prim::Constant[value=0]()
  %t : bool = prim::Constant[value=1]()
  %r : int = prim::Loop(%n, %t, %0)
    block0(%i : int, %s : int):
      %sum : int = aten::add(%s, %i)
      %go : bool = aten::ne(%i, %stop)
      -> (%go, %sum)
  return (%r))");
      Stack before{trips, stop};
      InterpreterState(Code(graph->copy(), "f")).run(before);
      PeelLoop(graph->findNode(prim::Loop), 2);
      graph->lint();
      Stack after{trips, stop};
      InterpreterState(Code(graph, "f")).run(after);
      CHECK(before.back().toInt() == after.back().toInt());
    }
  }
}

TEST_CASE("Other names of operators become the usual ones", "[jit][ir]") {
  const std::string text = after(
      R"(graph(%x : Tensor, %y : Tensor):
  %a : Tensor = aten::multiply(%x, %y)
  %b : Tensor = aten::absolute(%a)
  return (%b))",
      [](std::shared_ptr<Graph>& graph) { NormalizeOps(graph); });
  FileCheck().check("aten::mul(")->check("aten::abs(")->run(text);
}

TEST_CASE("Patterns are replaced where they stand alone", "[jit][ir]") {
  const std::string pattern = R"(graph(%a, %b):
  %p = aten::mul(%a, %b)
  %q = aten::relu(%p)
  return (%q))";
  const std::string replacement = R"(graph(%a, %b):
  %q = my::mul_relu(%a, %b)
  return (%q))";
  auto graph = parsed(R"(graph(%x : Tensor, %y : Tensor):
  %p : Tensor = aten::mul(%x, %y)
  %q : Tensor = aten::relu(%p)
  %r : Tensor = aten::mul(%q, %y)
  %s : Tensor = aten::relu(%r)
  %u : Tensor = aten::mul(%s, %s)
  %v : Tensor = aten::relu(%u)
  return (%v, %u))");
  SubgraphRewriter rewriter;
  rewriter.RegisterRewritePattern(pattern, replacement);
  rewriter.runOnGraph(graph);
  graph->lint();
  FileCheck().check_count("my::mul_relu", 2, true)->run(*graph);
  FileCheck().check("my::mul_relu(%x, %y)")->check("aten::mul")->check("aten::relu")->run(*graph);

  auto refused =
      parsed("graph(%x : Tensor):\n  %p : Tensor = aten::mul(%x, %x)\n  %q : Tensor = aten::relu(%p)\n  return (%q)\n");
  rewriter.runOnGraph(refused, [](const Match&, const auto&) { return false; });
  FileCheck().check_not("my::mul_relu")->run(*refused);
}

TEST_CASE("Tasks can be run where they are started", "[jit][ir]") {
  auto graph = parsed(R"(graph(%a : int, %b : int):
  %f : Future[int] = prim::fork_0(%a, %b)
  %g : Future[int] = prim::fork_1(%b, %b)
  %x : int = aten::wait(%f)
  %y : int = aten::wait(%g)
  %s : int = aten::add(%x, %y)
  return (%s)
with prim::fork_0 = graph(%c : int, %d : int):
  %e : int = aten::mul(%c, %d)
  return (%e)
with prim::fork_1 = graph(%c : int, %d : int):
  %e : int = aten::sub(%c, %d)
  return (%e)
)");
  Stack before{3, 4};
  InterpreterState(Code(graph->copy(), "f")).run(before);
  InlineForkWait(graph);
  graph->lint();
  FileCheck().check_not("prim::fork")->check("aten::mul")->check("aten::sub")->check_not("aten::wait")->run(*graph);
  Stack after{3, 4};
  InterpreterState(Code(graph, "f")).run(after);
  CHECK(before.back().toInt() == 12);
  CHECK(after.back().toInt() == 12);
}
