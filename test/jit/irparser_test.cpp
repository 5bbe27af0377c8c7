// Graphs from text, and back.
#include <catch2/catch.hpp>

#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/ir/irparser.h>
#include <csrc/jit/passes/canonicalize.h>
#include <csrc/jit/runtime/interpreter.h>
#include <csrc/jit/testing/file_check.h>

#include <random>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<Graph> parsed(const std::string& text, bool tensors = false) {
  auto graph = std::make_shared<Graph>();
  parseIR(text, graph.get(), tensors);
  return graph;
}

void check_round_trip(const std::string& text) {
  const std::string first = parsed(text, true)->toString();
  CHECK(first == text);
  CHECK(parsed(first, true)->toString() == first);
}

std::string error_of(const std::string& text) {
  try {
    parsed(text);
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "";
}

const char* const kProgram = R"(
def helper(x: Tensor, factor: float = 2.5) -> Tensor:
    return x * factor

def f(x: Tensor, n: int, flag: bool, names: List[str], table: Dict[str, int]) -> Tuple[Tensor, int, str]:
    total = 0
    text = "a\tb\"c"
    for i in range(n):
        if flag:
            total += i
        else:
            total -= table["k"]
    while total > 10:
        total = total // 2
    y = helper(x)
    pair = (y, total)
    if len(names) > 1:
        text = names[0]
    return pair[0], pair[1], text
)";

} // namespace

TEST_CASE("A graph's text gives the same graph", "[jit][ir]") {
  check_round_trip(R"(graph(%x.1 : Tensor,
      %n.1 : int):
  %2 : bool = prim::Constant[value=1]()
  %3 : int[] = prim::Constant[value=[1, 2, 3]]()
  %4 : float = prim::Constant[value=0.5]()
  %5 : str = prim::Constant[value="a\n\"b\""]()
  %6 : Device = prim::Constant[value="cpu"]()
  %7 : NoneType = prim::Constant()
  %8 : (Tensor, int) = prim::TupleConstruct(%x.1, %n.1)
  %9 : Tensor, %10 : int = prim::TupleUnpack(%8)
  %11 : Tensor = prim::If(%2)
    block0():
      %12 : Tensor = aten::relu(%9) # file.py:3:4
      -> (%12)
    block1():
      -> (%x.1)
  %13 : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu) = aten::relu(%11), scope: Net/Linear[fc]
   = prim::Print(%13, %5)
  return (%13, %10)
)");
}

TEST_CASE("Graphs that were compiled from source survive their text", "[jit][ir]") {
  const auto unit = compile(kProgram);
  for (Function* function : unit->get_functions()) {
    for (const auto& graph : {toGraphFunction(*function).graph(), toGraphFunction(*function).optimized_graph()}) {
      const auto again = parsed(graph->toString(), true);
      CHECK(Canonicalize(again, false)->toString() == Canonicalize(graph, false)->toString());
    }
  }
}

TEST_CASE("Types in a graph's text are read as they are printed", "[jit][ir]") {
  for (const std::string type :
       {"int", "float?", "Tensor[]", "Tensor?[]", "Dict(str, Tensor[])", "(int, (str, Tensor))", "Future[int]",
        "NamedTuple(a : int, b : Tensor)", "__torch__.M", "Float(*, 4)", "Double(2, requires_grad=1)", "Long()", "Any",
        "Device", "Generator?", "complex[][]", "NoneType", "t"}) {
    const std::string text = "graph(%x : " + type + "):\n  return (%x)\n";
    CHECK(parsed(text)->toString() == text);
  }
}

TEST_CASE("Values can be asked for by their names in the text", "[jit][ir]") {
  Graph graph;
  std::unordered_map<std::string, Value*> values;
  parseIR("graph(%a, %b):\n  %1 = aten::mul(%a, %b)\n  return (%1)\n", &graph, values);
  REQUIRE(values.size() == 3);
  CHECK(values.at("1")->node()->input(0) == values.at("a"));
}

TEST_CASE("Inputs keep their names, outputs of nodes are numbered, and a name may be given again", "[jit][ir]") {
  CHECK(
      parsed("graph(%x : Tensor, %7 : Tensor):\n  %7 : Tensor = aten::add(%x, %7)\n  %x.2 : Tensor = aten::relu(%7)\n"
             "  return (%x.2)\n")
          ->toString() == R"(graph(%x : Tensor,
      %1 : Tensor):
  %2 : Tensor = aten::add(%x, %1)
  %3 : Tensor = aten::relu(%2)
  return (%3)
)");
}

TEST_CASE("Constants without a type hold what the text says", "[jit][ir]") {
  CHECK(
      parsed("graph():\n  %a = prim::Constant[value=1]()\n  %b = prim::Constant[value=\"x\"]()\n  return (%a, %b)\n")
          ->toString() == R"(graph():
  %0 : Tensor = prim::Constant[value=1]()
  %1 : Tensor = prim::Constant[value="x"]()
  return (%0, %1)
)");
}

TEST_CASE("Errors of a graph that was read mark its text", "[jit][ir]") {
  const auto graph = parsed("graph(%0 : Tensor, %1 : Tensor):\n  %2 : Tensor = aten::mm(%0, %1)\n  return (%2)\n");
  Stack stack{at::ones({2, 2}), at::ones({3, 3})};
  CHECK_THROWS_WITH(
      InterpreterState(Code(graph, "")).run(stack),
      Contains("  %2 : Tensor = aten::mm(%0, %1)\n                ~~~~ <--- HERE\n  return (%2)\n"));
}

TEST_CASE("Subgraphs follow the graph that has them", "[jit][ir]") {
  check_round_trip(R"(graph(%x : Tensor):
  %1 : Tensor = prim::FunctionalGraph_0(%x)
  return (%1)
with prim::FunctionalGraph_0 = graph(%a : Tensor):
  %1 : Tensor = aten::relu(%a)
  return (%1)
)");
}

TEST_CASE("Text that is no graph is refused with its place", "[jit][ir]") {
  CHECK_THAT(
      error_of("graph(%x):\n  %y = aten::relu(%z)\n  return (%y)\n"), Contains("Cannot find a variable with name 'z'"));
  CHECK_THAT(
      error_of("graph(%x : Float(4, strides=[5], 5)):\n  return (%x)\n"), Contains("sizes stand before strides"));
  CHECK_THAT(error_of("graph(%x):\n  %y = relu(%x)\n  return (%y)\n"), Contains("aten::relu"));
  CHECK_THAT(error_of("graph(%x : Tensr):\n  return (%x)\n"), Contains("unknown type specifier 'Tensr'"));
  CHECK_THAT(error_of("graph(%x):\n"), Contains("the text ends here"));
  CHECK_THAT(
      error_of("graph(%x):\n  %y : Tensor = prim::Constant[value=<Tensor>]()\n  return (%y)\n"),
      Contains("`parse_tensor_constants` set to false"));
  CHECK_THAT(
      error_of("graph(%c : bool):\n  %y : int = prim::If(%c)\n    block0():\n      -> ()\n  return (%y)\n"),
      Contains("prim::If"));
  CHECK_THAT(
      error_of(
          "graph(%c : bool):\n  %1 : int = prim::If(%c)\n    block0():\n      %k : int = prim::Constant[value=1]()\n"
          "      -> (%k)\n    block1():\n      -> (%k)\n  return (%1)\n"),
      Contains("is defined in a block that has ended"));
}

TEST_CASE("Changed texts of graphs are read or refused, and never crash", "[jit][ir]") {
  const auto unit = compile(kProgram);
  const std::string text = toGraphFunction(unit->get_function("f")).graph()->toString();
  std::mt19937 random(7);
  const std::string letters = "%()[]{}=,:.\"'<>-#@ \n0123456789abcgrx_?*";
  for (int round = 0; round < 3000; ++round) {
    std::string changed = text;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      const size_t at = random() % changed.size();
      switch (random() % 3) {
        case 0:
          changed[at] = letters[random() % letters.size()];
          break;
        case 1:
          changed.erase(at, 1 + random() % 8);
          break;
        default:
          changed.insert(at, changed.substr(random() % changed.size(), random() % 24));
      }
      if (changed.empty()) {
        changed = "g";
      }
    }
    try {
      Graph graph;
      parseIR(changed, &graph, true);
      graph.lint();
      graph.toString();
    } catch (const c10::Error&) {
    }
  }
  CHECK_THROWS_AS(parsed("graph(%x : " + std::string(100000, '(')), c10::Error);
}

TEST_CASE("FileCheck finds what a text must and must not have", "[jit][ir]") {
  const std::string text = "one two\nthree four\nfive four\n";
  testing::FileCheck().check("two")->check_next("three")->check_same("four")->check("five")->run(text);
  testing::FileCheck().check_count("four", 2, true)->run(text);
  testing::FileCheck().check_dag("five")->check_dag("one")->run(text);
  testing::FileCheck().check("one")->check_not("five")->check("four")->run(text);
  CHECK_THROWS_AS(testing::FileCheck().check("five")->check("one")->run(text), c10::Error);
  CHECK_THROWS_AS(testing::FileCheck().check_not("four")->run(text), c10::Error);
  CHECK_THROWS_AS(testing::FileCheck().check_count("four", 1, true)->run(text), c10::Error);
  testing::FileCheck().run("# CHECK: one\n# CHECK-NEXT: three\n# CHECK-NOT: six", text);
}
