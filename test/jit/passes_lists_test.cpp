// Operators that take lists by their elements, what is live at each node, and the log of passes.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/jit_log.h>
#include <torch/csrc/jit/passes/liveness.h>
#include <torch/csrc/jit/passes/variadic_ops.h>
#include <torch/script.h>

#include <sstream>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<Graph> parsed(const std::string& text) {
  auto graph = std::make_shared<Graph>();
  parseIR(text, graph.get());
  return graph;
}

torch::Tensor run(const std::shared_ptr<Graph>& graph, std::vector<c10::IValue> inputs) {
  GraphFunction function("f", graph->copy(), nullptr);
  return function(std::move(inputs)).toTensor();
}

} // namespace

TEST_CASE("Concatenations and stacks take the elements of lists that are made for them", "[jit][passes]") {
  const auto graph = parsed(R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%x, %y)
  %both : Tensor = aten::cat(%list, %zero)
  %pair : Tensor[] = prim::ListConstruct(%both, %both)
  %stacked : Tensor = aten::stack(%pair, %zero)
  return (%stacked))");
  const std::vector<c10::IValue> inputs{torch::rand({2, 3}), torch::rand({1, 3})};
  const torch::Tensor expected = run(graph, inputs);
  CHECK(UseVariadicCat(graph));
  CHECK(UseVariadicStack(graph));
  CHECK_FALSE(UseVariadicCat(graph));
  CHECK_THAT(graph->toString(false), Contains("prim::VarConcat(%x, %y, %2)"));
  CHECK_THAT(graph->toString(false), Contains("prim::VarStack(%7, %7, %2)"));
  CHECK_THAT(graph->toString(false), !Contains("prim::ListConstruct"));
  CHECK(torch::equal(run(graph, inputs), expected));
}

TEST_CASE("What reads a list before it is written to takes its elements", "[jit][passes]") {
  const char* text = R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%x)
  %one : Tensor = aten::cat(%list, %zero)
  %same : Tensor[] = aten::append(%list, %y)
  %two : Tensor = aten::cat(%list, %zero)
  %again : Tensor[] = aten::append(%list, %x)
  %three : Tensor = aten::cat(%list, %zero)
  %all : Tensor[] = prim::ListConstruct(%one, %two, %three)
  %sum : Tensor = aten::cat(%all, %zero)
  return (%sum))";
  const std::vector<c10::IValue> inputs{torch::rand({2}), torch::rand({3})};
  const torch::Tensor expected = run(parsed(text), inputs);
  const auto first = parsed(text);
  CHECK(UseVariadicCat(first));
  CHECK_THAT(first->toString(false), Contains("prim::VarConcat(%x, %2)") && Contains("aten::cat("));
  CHECK(torch::equal(run(first, inputs), expected));
  const auto all = parsed(text);
  CHECK(RemoveListMutationAndUseVariadicCat(all));
  CHECK_THAT(all->toString(false), Contains("prim::VarConcat(%x, %y, %x, %2)") && !Contains("aten::"));
  CHECK(torch::equal(run(all, inputs), expected));
}

TEST_CASE("Lists that are written to stay lists unless the writes can go", "[jit][passes]") {
  const char* text = R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%x)
  %same : Tensor[] = aten::append(%list, %y)
  %both : Tensor = aten::cat(%list, %zero)
  return (%both))";
  const auto graph = parsed(text);
  CHECK_FALSE(UseVariadicCat(graph));
  CHECK(RemoveListMutationAndUseVariadicCat(graph));
  CHECK_THAT(graph->toString(false), Contains("prim::VarConcat(%x, %y, %2)"));
  CHECK(run(graph, {torch::ones({1}), torch::ones({2})}).numel() == 3);
}

TEST_CASE("Values are live from where they are made to their last use, around loops, too", "[jit][passes]") {
  const auto graph = parsed(R"(
graph(%n : int, %x : Tensor, %y : Tensor):
  %true : bool = prim::Constant[value=1]()
  %one : int = prim::Constant[value=1]()
  %z : Tensor = aten::relu(%x)
  %sum : Tensor = prim::Loop(%n, %true, %z)
    block0(%i : int, %before : Tensor):
      %after : Tensor = aten::add(%before, %y, %one)
      -> (%true, %after)
  return (%sum))");
  const auto sets = BuildLivenessSets(graph);
  const auto names = [&](Node* node) {
    std::string all;
    for (const Value* value : sets.at(node)) {
      all += value->debugName() + ' ';
    }
    return all;
  };
  Node* relu = graph->findNode(aten::relu);
  Node* loop = graph->findNode(prim::Loop);
  Node* add = graph->findNode(aten::add);
  CHECK(names(relu) == "n x y 3 4 ");
  CHECK(names(loop) == "n y 3 4 5 ");
  CHECK_THAT(names(add), Contains("before ") && Contains("y ") && Contains("3 ") && Contains("4 "));
  CHECK_THAT(names(add), !Contains("x "));
}

TEST_CASE("Files log to a stream what their level allows", "[jit][log]") {
  const std::string levels = get_jit_logging_levels();
  std::ostream& stream = get_jit_logging_output_stream();
  std::ostringstream log;
  set_jit_logging_output_stream(log);
  const auto graph = parsed("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)");

  set_jit_logging_levels("another:unknown");
  GRAPH_DUMP("not seen", graph)
  CHECK(log.str().empty());

  set_jit_logging_levels(">passes_lists_test");
  CHECK(GRAPH_UPDATE_ENABLED);
  CHECK_FALSE(GRAPH_DEBUG_ENABLED);
  GRAPH_DUMP("whole", graph)
  GRAPH_UPDATE("changed ", getHeader(graph->findNode(aten::relu)))
  GRAPH_DEBUG("not seen")
  SOURCE_DUMP("source", graph)
  CHECK_THAT(log.str(), Contains("[DUMP passes_lists_test.cpp:") && Contains("] graph(%x : Tensor):"));
  CHECK_THAT(log.str(), Contains("] changed %1 : Tensor = aten::relu(%x)"));
  CHECK_THAT(log.str(), Contains("torch.relu(x)") && !Contains("not seen"));

  set_jit_logging_output_stream(stream);
  set_jit_logging_levels(levels);
}
