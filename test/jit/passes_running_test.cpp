// Programs give the same with each pass applied, and with none.
#include <catch2/catch.hpp>

#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/api/module.h>
#include <csrc/jit/executor_settings.h>
#include <csrc/jit/passes/common_subexpression_elimination.h>
#include <csrc/jit/passes/constant_pooling.h>
#include <csrc/jit/passes/constant_propagation.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/freeze_module.h>
#include <csrc/jit/passes/inline_fork_wait.h>
#include <csrc/jit/passes/inliner.h>
#include <csrc/jit/passes/loop_unrolling.h>
#include <csrc/jit/passes/lower_tuples.h>
#include <csrc/jit/passes/normalize_ops.h>
#include <csrc/jit/passes/optimize.h>
#include <csrc/jit/passes/pass_manager.h>
#include <csrc/jit/passes/peephole.h>
#include <csrc/jit/runtime/interpreter.h>
#include <csrc/jit/testing/file_check.h>

#include <ATen/ATen.h>

using namespace torch::jit;
using testing::FileCheck;
using Catch::Matchers::Contains;

namespace {

const char* const kPrograms = R"(
def scale(x: Tensor, by: float = 2.5) -> Tensor:
    return x * by + 1

def lists(x: Tensor, n: int) -> Tuple[Tensor, List[int], int]:
    found = [1, 2]
    found.append(n)
    parts = [x, scale(x)]
    parts.append(scale(x, 0.5))
    y = torch.cat(parts, 0)
    return y, found, len(found) + len(parts)

def flow(x: Tensor, n: int) -> Tuple[Tensor, int, str]:
    total = 0
    text = ""
    pair = (x, n)
    for i in range(5):
        if i % 2 == 0:
            pair = (scale(pair[0]), pair[1] + i)
        else:
            total += pair[1]
        text += str(i)
    while total > 3:
        total = total // 2
    assert n <= 100, "too large"
    return pair[0], total, text

def writes(x: Tensor, n: int) -> Tuple[Tensor, Tensor]:
    y = x.clone()
    z = y[0]
    a = y + 0
    z.add_(n)
    b = y + 0
    y.relu_()
    c = scale(y)
    return a + b, c

def tables(x: Tensor, n: int) -> Tuple[int, Optional[int], Tensor]:
    table = {"a": 1, "b": n}
    maybe: Optional[int] = None
    if n > 2:
        maybe = table["b"]
    if maybe is not None:
        n = maybe + 1
    return n + table["a"], maybe, x
)";

using Pass = void (*)(std::shared_ptr<Graph>&);
const std::pair<const char*, Pass> kPasses[] = {
    {"Inline", [](std::shared_ptr<Graph>& graph) { Inline(*graph); }},
    {"EliminateDeadCode", [](std::shared_ptr<Graph>& graph) { EliminateDeadCode(graph); }},
    {"EliminateCommonSubexpression", [](std::shared_ptr<Graph>& graph) { EliminateCommonSubexpression(graph); }},
    {"ConstantPropagation", [](std::shared_ptr<Graph>& graph) { ConstantPropagation(graph); }},
    {"ConstantPropagationImmutableTypes", [](std::shared_ptr<Graph>& g) { ConstantPropagationImmutableTypes(g); }},
    {"ConstantPooling", [](std::shared_ptr<Graph>& graph) { ConstantPooling(graph); }},
    {"PeepholeOptimize", [](std::shared_ptr<Graph>& graph) { PeepholeOptimize(graph); }},
    {"UnrollLoops", [](std::shared_ptr<Graph>& graph) { UnrollLoops(graph); }},
    {"LowerSimpleTuples", [](std::shared_ptr<Graph>& graph) { LowerSimpleTuples(graph); }},
    {"NormalizeOps", [](std::shared_ptr<Graph>& graph) { NormalizeOps(graph); }},
    {"InlineForkWait", [](std::shared_ptr<Graph>& graph) { InlineForkWait(graph); }},
    {"preoptimizeGraph", preoptimizeGraph},
    {"optimizeForExecution", optimizeForExecution},
};

std::string text_of(const Stack& stack) {
  std::ostringstream out;
  for (const c10::IValue& value : stack) {
    out << value << '\n';
  }
  return out.str();
}

std::string run(const std::shared_ptr<Graph>& graph, int64_t n) {
  Stack stack{at::arange(6, at::kFloat).view({2, 3}) - 2.5, n};
  try {
    InterpreterState(Code(graph, "f")).run(stack);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return what.substr(what.rfind('\n', what.size() - 2) + 1);
  }
  return text_of(stack);
}

} // namespace

TEST_CASE("Programs give the same after each pass", "[jit][ir]") {
  const auto unit = compile(kPrograms);
  for (const char* name : {"lists", "flow", "writes", "tables"}) {
    const auto graph = toGraphFunction(unit->get_function(c10::QualifiedName(name))).graph();
    for (const auto& [pass_name, pass] : kPasses) {
      INFO(name << " after " << pass_name);
      auto inlined = graph->copy();
      Inline(*inlined);
      for (auto changed : {graph->copy(), inlined}) {
        pass(changed);
        CHECK_NOTHROW(changed->lint());
        for (const int64_t n : {0, 3, 1000}) {
          CHECK(run(changed, n) == run(graph, n));
        }
      }
    }
  }
}

TEST_CASE("Errors name the calls that were inlined", "[jit][ir]") {
  const auto unit = compile(R"(
def inner(x: Tensor) -> Tensor:
    return x.reshape([7])

def outer(x: Tensor) -> Tensor:
    return inner(x) + 1
)");
  std::string messages[2];
  for (const bool optimize : {false, true}) {
    const GraphOptimizerEnabledGuard guard(optimize);
    try {
      unit->get_function("outer")({at::ones({2})});
    } catch (const std::exception& error) {
      messages[optimize] = error.what();
    }
  }
  CHECK_THAT(messages[1], Contains("in outer") && Contains("in inner"));
  CHECK(messages[0] == messages[1]);
}

TEST_CASE("Functions that are called many times over stay calls", "[jit][ir]") {
  std::string source = "def f0(x: int) -> int:\n    return x + 1\n";
  for (int i = 1; i <= 18; ++i) {
    const std::string before = "f" + std::to_string(i - 1);
    source += "def f" + std::to_string(i) + "(x: int) -> int:\n    return " + before + "(x)\n" + "def g" +
        std::to_string(i) + "(x: int) -> int:\n    return " + (i > 1 ? "g" + std::to_string(i - 1) : before) + "(" +
        (i > 1 ? "g" + std::to_string(i - 1) : before) + "(x))\n";
  }
  const auto unit = compile(source);
  CHECK(unit->get_function("f18")({c10::IValue(1)}).toInt() == 2);
  CHECK(unit->get_function("g12")({c10::IValue(1)}).toInt() == 4097);
  CHECK_NOTHROW(toGraphFunction(unit->get_function("g18")).optimized_graph());
}

TEST_CASE("Registered passes see each graph before it runs", "[jit][ir]") {
  int before = 0;
  int behind = 0;
  const auto pre = registerPrePass([&](std::shared_ptr<Graph>&) { ++before; });
  const auto post = registerPostPass([&](std::shared_ptr<Graph>& graph) {
    ++behind;
    for (Node* node : graph->findAllNodes(c10::aten::add)) {
      node->replaceWithNewSymbol(c10::aten::mul);
    }
  });
  const auto unit = compile("def f(a: int, b: int) -> int:\n    return a + b\n");
  CHECK(unit->get_function("f")({c10::IValue(3), c10::IValue(4)}).toInt() == 12);
  clearPrePass(pre);
  clearPostPass(post);
  CHECK(before == 1);
  CHECK(behind == 1);
  const GraphOptimizerEnabledGuard plain(false);
  CHECK(unit->get_function("f")({c10::IValue(3), c10::IValue(4)}).toInt() == 7);
}

// ---- freezing -------------------------------------------------------------------------------------------------------

namespace {

Module network() {
  Module net("Net");
  net.register_parameter("w", at::full({2, 2, 1, 1}, 0.5).requires_grad_(), false);
  net.register_parameter("scale", at::full({2}, 3.0), false);
  net.register_buffer("mean", at::full({2}, 0.25));
  net.register_buffer("variance", at::full({2}, 4.0));
  if (!net.hasattr("training")) {
    net.register_attribute("training", c10::BoolType::get(), true);
  }
  net.register_attribute("steps", c10::IntType::get(), 2);
  net.register_attribute("calls", c10::IntType::get(), 0);
  net.define(R"(
def block(self, x: Tensor) -> Tensor:
    y = torch.conv2d(x, self.w)
    return torch.batch_norm(y, self.scale, None, self.mean, self.variance, self.training, 0.1, 1e-5, False)

def forward(self, x: Tensor) -> Tensor:
    for i in range(self.steps):
        x = self.block(x)
    return torch.dropout(x, 0.5, self.training)

def count(self) -> int:
    self.calls += 1
    return self.calls
)");
  return net;
}

} // namespace

TEST_CASE("A frozen module holds its attributes as constants", "[jit][ir]") {
  Module net = network();
  net.eval();
  const at::Tensor x = at::randn({1, 2, 3, 3});
  const at::Tensor expected = net.forward({x}).toTensor();
  Module frozen = freeze_module(net);
  CHECK(frozen.num_slots() == 0);
  CHECK_FALSE(frozen.find_method("block"));
  FileCheck().check_not("prim::GetAttr")->run(*frozen.get_method("forward").graph());
  const at::Tensor result = frozen.forward({x}).toTensor();
  CHECK(result.equal(expected.detach()));
  CHECK_FALSE(result.requires_grad());
  // The module itself is as it was.
  CHECK(net.forward({x}).toTensor().equal(expected));

  Module preserving = freeze_module(net, {"mean", "count"});
  CHECK(preserving.hasattr("mean"));
  CHECK(preserving.hasattr("calls"));
  CHECK(preserving.run_method("count").toInt() == 1);
  CHECK(preserving.run_method("count").toInt() == 2);
  CHECK_THROWS_WITH(freeze_module(net, {"nothing"}), Contains("Unknown name: nothing"));
  net.train();
  CHECK_THROWS_WITH(freeze(net), Contains("training mode"));
}

TEST_CASE("Attributes that the module writes to are not frozen", "[jit][ir]") {
  Module net = network();
  net.define("def forward2(self, x: Tensor) -> Tensor:\n    self.mean.add_(1)\n    return x + self.mean\n");
  net.eval();
  Module frozen = freeze_module(net, {"forward2"});
  CHECK(frozen.hasattr("mean"));
  CHECK_FALSE(frozen.hasattr("scale"));
}

TEST_CASE("Batch norm and arithmetic become part of convolutions", "[jit][ir]") {
  Module net = network();
  net.eval();
  const at::Tensor x = at::randn({1, 2, 3, 3});
  const at::Tensor expected = net.forward({x}).toTensor();
  for (Module optimized : {freeze(net), optimize_for_inference(net)}) {
    const auto graph = optimized.get_method("forward").graph();
    FileCheck().check_not("aten::batch_norm")->run(*graph);
    FileCheck().check_not("aten::dropout")->run(*graph);
    CHECK(at::allclose(optimized.forward({x}).toTensor(), expected, 1e-4, 1e-5));
  }
}

TEST_CASE("Loops are peeled where their own bodies hold what is asked for", "[jit][passes]") {
  const auto unit = compile(R"(
def f(n: int):
    sum = 0
    for i in range(n):
        for j in range(i):
            sum += i * j
        if sum > 20:
            sum -= 3
    return sum
)");
  const std::shared_ptr<Graph> written = toGraphFunction(unit->get_function("f")).graph();
  const auto loops_after = [&](Symbol kind, bool found) {
    const std::shared_ptr<Graph> graph = written->copy();
    CHECK(LoopsPeeler([&](Node* node) { return node->kind() == kind; }, 2).run(graph) == found);
    graph->lint();
    for (const int64_t n : {0, 1, 2, 3, 7}) {
      Stack before{n}, after{n};
      InterpreterState(Code(written, "f")).run(before);
      InterpreterState(Code(graph, "f")).run(after);
      CHECK(before.back().toInt() == after.back().toInt());
    }
    return graph->findAllNodes(prim::Loop).size();
  };
  CHECK(loops_after(aten::mul, true) == 3); // the inner one
  CHECK(loops_after(aten::sub, true) == 4); // the outer one, with the inner one in its copy
  CHECK(loops_after(prim::Loop, true) == 4);
  CHECK(loops_after(aten::div, false) == 2);
}

TEST_CASE("Inlined nodes know the calls and the objects that they come from", "[jit][passes]") {
  Module leaf("Leaf");
  leaf.define("def twice(self, x):\n    return x * 2\ndef forward(self, x):\n    return self.twice(x) + 1\n");
  Module root("Root");
  root.register_module("leaf", leaf);
  root.define("def forward(self, x):\n    return self.leaf.forward(x) - 3\n");
  Function& forward = root.get_method("forward").function();
  const std::shared_ptr<Graph> graph = toGraphFunction(forward).optimized_graph();
  CHECK(utils::getNodesModuleHierarchy(*graph->findNode(aten::mul)) == "leaf(Leaf).SELF(Leaf)");
  CHECK(utils::getNodesModuleHierarchy(*graph->findNode(aten::add)) == "leaf(Leaf)");
  CHECK(utils::getNodesModuleHierarchy(*graph->findNode(aten::sub)).empty());
  CHECK_FALSE(graph->findNode(aten::sub)->callstack());

  const std::vector<InlinedCallStackEntry> calls = graph->findNode(aten::mul)->callstack().value()->vec();
  REQUIRE(calls.size() == 2);
  CHECK(std::get<0>(calls[0]) == &leaf.get_method("forward").function());
  CHECK(std::get<0>(calls[1]) == &leaf.get_method("twice").function());
  CHECK(std::get<1>(calls[0]).text() == "self.leaf.forward");
  CHECK(std::get<1>(calls[1]).text() == "self.twice");
  CHECK(std::get<2>(calls[1])->class_type() == leaf.type());
}

TEST_CASE("Nodes that are inlined by one call share its call stack", "[jit][passes]") {
  const auto unit =
      compile("def a(x):\n    return x * 2 + 1\ndef b(x):\n    return a(x) - 3\ndef c(x):\n    return b(x)\n");
  const std::shared_ptr<Graph> graph = toGraphFunction(unit->get_function("c")).optimized_graph();
  const InlinedCallStackPtr calls = graph->findNode(aten::mul)->callstack().value();
  CHECK(calls == graph->findNode(aten::add)->callstack().value());
  CHECK(calls->function_name() == "b");
  CHECK(calls->callee().value()->function_name() == "a");
  CHECK_FALSE(calls->callee().value()->callee());
  CHECK(
      utils::getNodesModuleHierarchy(*graph->findNode(aten::mul)) ==
      ".UNKNOWN_INSTANCE(UNKNOWN_TYPE).UNKNOWN_INSTANCE(UNKNOWN_TYPE)");
}
