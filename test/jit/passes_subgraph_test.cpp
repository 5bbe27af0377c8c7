// Nodes with subgraphs, views of nodes, types of values: what passes of other libraries build on.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/ir/ir_views.h>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/passes/autocast.h>
#include <torch/csrc/jit/passes/batch_mm.h>
#include <torch/csrc/jit/passes/clear_profiling.h>
#include <torch/csrc/jit/passes/frozen_conv_add_relu_fusion.h>
#include <torch/csrc/jit/passes/frozen_ops_to_mkldnn.h>
#include <torch/csrc/jit/passes/refine_tuple_types.h>
#include <torch/csrc/jit/passes/remove_exceptions.h>
#include <torch/csrc/jit/passes/shape_analysis.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/passes/utils/subgraph_utils.h>
#include <torch/csrc/jit/resource_guard.h>
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/csrc/jit/runtime/exception_message.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/graph_iterator.h>
#include <torch/csrc/jit/testing/file_check.h>
#include <torch/script.h>

#include <sstream>
#include <string>

using namespace torch::jit;
using Catch::Matchers::Contains;
using testing::FileCheck;

namespace {

std::shared_ptr<Graph> parsed(const std::string& text) {
  auto graph = std::make_shared<Graph>();
  parseIR(text, graph.get());
  return graph;
}

const char* const kChain = R"(graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::add(%x, %y, %one)
  %b : Tensor = aten::relu(%a)
  %c : Tensor = aten::mul(%b, %x)
  %d : Tensor = aten::sub(%c, %a, %one)
  return (%d, %b))";

std::string run(const std::shared_ptr<Graph>& graph) {
  Stack stack{at::arange(4, at::kFloat) - 2, at::ones({4})};
  InterpreterState(Code(graph, "f")).run(stack);
  std::ostringstream out;
  out << stack[0] << stack[1];
  return out.str();
}

// As a fuser of another library does.
RegisterOperators registered({Operator(
    Symbol::fromQualString("test::Group"),
    [](const Node* node) -> Operation {
      const Code code(node->g(attr::Subgraph), "group");
      return [code](Stack& stack) { InterpreterState(code).run(stack); };
    },
    c10::AliasAnalysisKind::PURE_FUNCTION)});

Node* node_of(const std::shared_ptr<Graph>& graph, const char* kind) {
  return graph->findNode(Symbol::fromQualString(kind));
}

} // namespace

TEST_CASE("Neighbours are taken into a subgraph, from before and from behind", "[jit][passes]") {
  const Symbol group = Symbol::fromQualString("test::Group");
  for (const bool with_db : {false, true}) {
    const auto graph = parsed(kChain);
    const std::string expected = run(graph);
    AliasDb db(graph);
    const auto merge = [&](Node* node, Node* owner) {
      with_db ? SubgraphUtils::mergeNodeIntoSubgraphAndUpdateAliasing(node, owner, db)
              : SubgraphUtils::mergeNodeIntoSubgraph(node, owner);
      graph->lint();
      CHECK(run(graph) == expected);
    };
    Node* relu = node_of(graph, "aten::relu");
    Node* owner = with_db ? SubgraphUtils::createSingletonSubgraphAndUpdateAliasing(relu, group, db)
                          : SubgraphUtils::createSingletonSubgraph(relu, group);
    CHECK(run(graph) == expected);
    merge(node_of(graph, "aten::mul"), owner);
    merge(node_of(graph, "aten::add"), owner);
    CHECK(owner->inputs().size() == 2);
    CHECK(owner->outputs().size() == 3);
    merge(node_of(graph, "aten::sub"), owner);
    CHECK(owner->outputs().size() == 4);
    CHECK_FALSE(db.hasWriters(owner));
    FileCheck()
        .check("test::Group_0")
        ->check("return")
        ->check("prim::Constant[value=1]")
        ->check("aten::add")
        ->check("aten::relu")
        ->check("aten::mul")
        ->check("aten::sub")
        ->run(graph->toString());
    CHECK(SubgraphUtils::generateNameForGraph(SubgraphUtils::getSubgraph(owner)) == "fused_add_relu_mul_sub");
    const std::string cut = SubgraphUtils::generateNameForGraph(SubgraphUtils::getSubgraph(owner), 12, "group");
    CHECK(cut.rfind("group_add_re", 0) == 0);
    SubgraphUtils::unmergeSubgraph(owner);
    graph->lint();
    CHECK(graph->findNode(group) == nullptr);
    CHECK(run(graph) == expected);
  }
}

TEST_CASE("A subgraph is taken into another", "[jit][passes]") {
  const Symbol group = Symbol::fromQualString("test::Group");
  for (const bool behind : {false, true}) {
    const auto graph = parsed(kChain);
    const std::string expected = run(graph);
    Node* first = SubgraphUtils::createSingletonSubgraph(node_of(graph, "aten::add"), group);
    SubgraphUtils::mergeNodeIntoSubgraph(node_of(graph, "aten::relu"), first);
    Node* second = SubgraphUtils::createSingletonSubgraph(node_of(graph, "aten::mul"), group);
    SubgraphUtils::mergeNodeIntoSubgraph(node_of(graph, "aten::sub"), second);
    SubgraphUtils::mergeNodeIntoSubgraph(behind ? second : first, behind ? first : second);
    graph->lint();
    CHECK(graph->findAllNodes(group).size() == 1);
    CHECK(run(graph) == expected);
  }
  const auto graph = parsed(kChain);
  CHECK_THROWS_WITH(
      SubgraphUtils::mergeNodeIntoSubgraph(node_of(graph, "aten::add"), node_of(graph, "aten::mul")),
      Contains("must have a Subgraph"));
}

TEST_CASE("Branches and loops by the names of their parts, nodes in the order of the text", "[jit][ir]") {
  const auto unit = compile(R"(
def f(n: int, c: bool):
    x = 0
    for i in range(n):
        if c:
            x += i
        else:
            x -= 1
    while x > 3:
        x -= 1
    y = x
    for i in range(n):
        if i > 4:
            break
        y += i
    return y
)");
  auto graph = toGraphFunction(unit->get_function("f")).graph()->copy();
  const std::vector<Node*> loops = graph->findAllNodes(prim::Loop);
  REQUIRE(loops.size() == 3);
  CHECK(LoopView(loops[0]).loopType() == LoopView::For);
  CHECK(LoopView(loops[1]).loopType() == LoopView::While);
  CHECK(LoopView(loops[2]).loopType() == LoopView::ModifiedLoop);
  CHECK(LoopView(loops[0]).maxTripCount() == graph->inputs()[0]);
  CHECK(LoopView(loops[0]).carriedInputs().size() == LoopView(loops[0]).bodyCarriedOutputs().size());
  const IfView branches(graph->findNode(prim::If));
  CHECK(branches.cond() == graph->inputs()[1]);
  CHECK(branches.thenOutputs().size() == branches.outputs().size());
  CHECK_THROWS(IfView(loops[0]));

  std::string by_iterator;
  DepthFirstGraphNodeIterator nodes(graph);
  while (const Node* node = nodes.next()) {
    by_iterator += std::string(node->kind().toQualString()) + ' ';
  }
  std::string by_blocks;
  const std::function<void(const Block*)> walk = [&](const Block* block) {
    for (const Node* node : block->nodes()) {
      by_blocks += std::string(node->kind().toQualString()) + ' ';
      for (const Block* inner : node->blocks()) {
        walk(inner);
      }
    }
  };
  walk(graph->block());
  CHECK(by_iterator == by_blocks);
  auto empty = std::make_shared<Graph>();
  CHECK(DepthFirstGraphNodeIterator(empty).next() == nullptr);
}

TEST_CASE("Types of values lose what was seen, or take up what is known", "[jit][passes]") {
  const char* const text = R"(graph(%x : Float(2, 3), %l : Float(2)[]):
  %y : Float(2, 3) = aten::relu(%x)
  %t : (Tensor, Tensor) = prim::TupleConstruct(%x, %y)
  %a : Tensor, %b : Tensor = prim::TupleUnpack(%t)
  return (%a))";
  auto refined = parsed(text);
  RefineTupleTypes(refined);
  CHECK(hasTensorTypeSpecialization(refined->outputs()[0]));
  auto erased = refined->copy();
  EraseShapeInformation(erased);
  CHECK(erased->toString().find("Float") == std::string::npos);
  CHECK(*erased->inputs()[1]->type() == *c10::ListType::ofTensors());
  ClearProfilingInformation(refined);
  CHECK_FALSE(hasTensorTypeSpecialization(refined->inputs()[0]));
  CHECK(*refined->inputs()[1]->type() != *c10::ListType::ofTensors());
}

TEST_CASE("Branches that raise are taken to be never reached", "[jit][passes]") {
  const auto unit = compile(R"(
def f(x: int):
    assert x >= 0, "negative"
    return x + 1
)");
  auto graph = toGraphFunction(unit->get_function("f")).graph()->copy();
  EliminateExceptions(graph);
  graph->lint();
  FileCheck().check_not("prim::If")->check_not("prim::RaiseException")->check("aten::add")->run(graph->toString());
  Stack stack{-3};
  InterpreterState(Code(graph, "f")).run(stack);
  CHECK(stack[0].toInt() == -2);
}

TEST_CASE("Passes without effect change nothing", "[jit][passes]") {
  auto graph = parsed(kChain);
  const std::string before = graph->toString();
  ConvertFrozenOpsToMKLDNN(graph);
  BatchMM(graph);
  Autocast(graph);
  FuseTensorExprs(graph);
  FuseFrozenConvAddRelu(graph);
  CHECK(graph->toString() == before);
  const bool was = setAutocastMode(false);
  CHECK_FALSE(autocastEnabled());
  CHECK_FALSE(setAutocastMode(was));
  int calls = 0;
  getFuseFrozenConvAddReluImpl() = [&](std::shared_ptr<Graph>&) { ++calls; };
  FuseFrozenConvAddRelu(graph);
  getFuseFrozenConvAddReluImpl() = nullptr;
  CHECK(calls == 1);
}

TEST_CASE("Executors show the graphs that they run", "[jit]") {
  const auto unit = compile(R"(
def inner(x: Tensor):
    return x + 1
def f(x: Tensor):
    return inner(x) * 2
)");
  GraphFunction& function = toGraphFunction(unit->get_function("f"));
  const at::Tensor x = at::ones({2});
  CHECK(function({x}).toTensor().equal(at::full({2}, 4.0)));
  const auto last = lastExecutedOptimizedGraph();
  REQUIRE(last);
  FileCheck().check("aten::add")->check("aten::mul")->check_not("prim::CallFunction")->run(last->toString());

  GraphExecutor& executor = function.get_executor();
  CHECK_FALSE(executor.getDebugState().fallback);
  Stack stack{x};
  executor.run(stack);
  CHECK(stack[0].toTensor().equal(at::full({2}, 4.0)));
  const GraphExecutorState state = executor.getDebugState();
  REQUIRE(state.execution_plans.size() == 1);
  CHECK(state.execution_plans.begin()->second.graph == lastExecutedOptimizedGraph());
  FileCheck().check("aten::add")->run(*state.graph);
  stack = {x};
  CHECK(executor.runAsync(stack)->value().toTensor().equal(at::full({2}, 4.0)));
  stack = {x};
  CHECK(executor.getPlanFor(stack).code.num_inputs() == 1);
  executor.debugFlushCompilationCache();
  CHECK(executor.getDebugState().execution_plans.empty());

  GraphExecutor of_graph(parsed(kChain), "chain");
  stack = {x, x};
  of_graph.run(stack);
  CHECK(stack.size() == 2);
  CHECK_THROWS_WITH(GraphExecutor().run(stack), Contains("this GraphExecutor is empty"));
}

TEST_CASE("Small helpers of the runtime", "[jit]") {
  int calls = 0;
  {
    const ResourceGuard guard([&] { ++calls; });
    ResourceGuard released([&] { ++calls; });
    released.release();
  }
  CHECK(calls == 1);
  std::ostringstream out;
  out << ExceptionMessage(c10::Error({__func__, __FILE__, 1}, "wrong")) << ' '
      << ExceptionMessage(std::runtime_error("too"));
  CHECK(out.str() == "wrong too");
}
