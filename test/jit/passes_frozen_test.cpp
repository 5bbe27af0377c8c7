// Passes that libtorch's tools name: mutation, linear layers, lowering, patterns.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/decompose_ops.h>
#include <torch/csrc/jit/passes/eliminate_no_ops.h>
#include <torch/csrc/jit/passes/frozen_concat_linear.h>
#include <torch/csrc/jit/passes/frozen_linear_transpose.h>
#include <torch/csrc/jit/passes/fuse_linear.h>
#include <torch/csrc/jit/passes/graph_rewrite_helper.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/lower_graph.h>
#include <torch/csrc/jit/passes/remove_mutation.h>
#include <torch/csrc/jit/passes/restore_mutation.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/jit/testing/file_check.h>
#include <torch/script.h>

#include <sstream>
#include <string>

using namespace torch::jit;
using Catch::Matchers::Contains;
using testing::FileCheck;

namespace {

using GraphPtr = std::shared_ptr<Graph>;

GraphPtr parsed(const std::string& text) {
  auto graph = std::make_shared<Graph>();
  parseIR(text, graph.get());
  return graph;
}

GraphPtr graph_of(const std::string& source) {
  const auto unit = compile(source);
  return toGraphFunction(*unit->get_functions().at(0)).graph()->copy();
}

std::string run(const GraphPtr& graph, Stack stack) {
  for (c10::IValue& value : stack) {
    value = value.deepcopy();
  }
  InterpreterState(Code(graph, "f")).run(stack);
  std::ostringstream out;
  for (const c10::IValue& value : stack) {
    out << value << '\n';
  }
  return out.str();
}

// Applies the pass, and compares results before and after.
template <class Pass>
GraphPtr checked(const GraphPtr& before, const Stack& inputs, Pass pass) {
  GraphPtr after = before->copy();
  pass(after);
  after->lint();
  CHECK(run(after, inputs) == run(before, inputs));
  return after;
}

const at::Tensor kX = at::arange(6, at::kFloat).view({2, 3}) - 2.5;

} // namespace

TEST_CASE("Mutation of new tensors goes, that of others stays", "[jit][passes]") {
  const auto before = graph_of(R"(
def f(x: Tensor, y: Tensor):
    z = x + 1
    z.relu_()
    z.add_(y)
    a = torch.zeros([2])
    a.fill_(3)
    w = torch.ones([2]).zero_()
    v = z[0]
    v.add_(1)
    late = x * 2
    seen = late + 1
    late.mul_(3)
    x.sub_(1)
    return a, w, z, late, seen, x
)");
  const auto after = checked(before, {kX, kX * 2}, [](GraphPtr& graph) { CHECK(RemoveTensorMutation(graph)); });
  FileCheck()
      .check("aten::add(%x")
      ->check("aten::relu(")
      ->check("aten::add(")
      ->check("aten::full_like")
      ->check("aten::zeros_like")
      ->check("aten::add_(%v")
      ->check("aten::mul_(%late")
      ->check("aten::sub_(%x")
      ->run(after->toString());
  FileCheck().check_not("aten::relu_")->check_not("fill_")->check_not("zero_(")->run(after->toString());
  CHECK_FALSE(RemoveTensorMutation(after->copy()));

  // A filter chooses.
  const auto some = checked(before, {kX, kX * 2}, [](GraphPtr& graph) {
    CHECK(RemoveTensorMutation(graph, [](Node* node) { return node->kind() == Symbol::aten("relu_"); }));
  });
  FileCheck().check("aten::relu(")->check("aten::add_(")->check("aten::fill_")->run(some->toString());
}

TEST_CASE("Mutation of what both branches make goes", "[jit][passes]") {
  const auto before = graph_of(R"(
def f(x: Tensor, c: bool):
    if c:
        y = x + 1
    else:
        y = x * 2
    y.relu_()
    return y
)");
  for (const bool c : {false, true}) {
    const auto after = checked(before, {kX, c}, [](GraphPtr& graph) { CHECK(RemoveTensorMutation(graph)); });
    FileCheck().check("prim::If")->check("aten::relu(")->run(after->toString());
  }
  // One that is the argument itself stays.
  const auto alias = graph_of(R"(
def f(x: Tensor, c: bool):
    if c:
        y = x
    else:
        y = x * 2
    y.relu_()
    return y, x
)");
  checked(alias, {kX, true}, [](GraphPtr& graph) { CHECK_FALSE(RemoveTensorMutation(graph)); });
}

TEST_CASE("A functional form that would give another dtype is not taken", "[jit][passes]") {
  const auto graph = parsed(R"(graph(%x : Float(2, 3), %y : Double(2, 3)):
  %one : int = prim::Constant[value=1]()
  %z : Float(2, 3) = aten::add(%x, %one, %one)
  %r : Float(2, 3) = aten::add_(%z, %y, %one)
  return (%r))");
  CHECK_FALSE(RemoveTensorMutation(graph));
}

TEST_CASE("Changes of a list that is being made become part of its construction", "[jit][passes]") {
  const auto before = graph_of(R"(
def f(x: Tensor, n: int):
    l = [1, n]
    l.append(3)
    l.insert(0, 4)
    l.insert(-1, 5)
    l[1] = 6
    last = l.pop()
    size = len(l)
    l.append(7)
    t = [x]
    t.append(x + 1)
    for i in range(n):
        t.append(x)
    return l, last, size, torch.cat(t)
)");
  const auto after = checked(before, {kX, 2}, [](GraphPtr& graph) { CHECK(RemoveListMutation(graph)); });
  FileCheck()
      .check_count("aten::append", 2, /*exactly=*/true)
      ->check_not("aten::insert")
      ->check_not("aten::_set_item")
      ->check_not("aten::pop")
      ->run(after->toString());
  // The element may not be there.
  const auto empty = graph_of("def f(x: Tensor):\n    l = [1]\n    l[3] = 2\n    return l\n");
  CHECK_FALSE(RemoveListMutation(empty));
}

TEST_CASE("Activations change to their functional forms and back", "[jit][passes]") {
  const auto before = graph_of(R"(
def f(x: Tensor):
    y = x + 1
    y.relu_()
    z = torch.sigmoid(y)
    u = torch.leaky_relu(z)
    u.add_(1)
    return u, torch.relu(x)
)");
  GraphPtr inlined = before->copy();
  Inline(*inlined);
  ConstantPropagation(inlined);
  const auto functional = checked(inlined, {kX}, [](GraphPtr& graph) { CHECK(InplaceToFunctionalActivation(graph)); });
  FileCheck().check("aten::relu(")->check("aten::add_(")->run(functional->toString());
  const auto restored = checked(functional, {kX}, [](GraphPtr& graph) { CHECK(FunctionalToInplaceActivation(graph)); });
  // Of sigmoid it is not known that it keeps the dtype; the argument is not this function's own.
  FileCheck()
      .check("aten::relu_(")
      ->check("aten::sigmoid(")
      ->check("aten::leaky_relu_(")
      ->check("aten::relu(%x")
      ->run(restored->toString());
  CHECK(activation_type_promotion_mapping.at(Symbol::aten("sigmoid")));
}

TEST_CASE("Linear layers of frozen modules are joined, or become products", "[jit][passes]") {
  const auto graph = std::make_shared<Graph>();
  Value* x = graph->addInput("x");
  std::vector<Value*> results;
  for (int i = 0; i < 3; ++i) {
    Value* weight = graph->insertConstant(at::arange(3 * (i + 1), at::kFloat).view({i + 1, 3}));
    Value* bias = graph->insertConstant(at::ones({i + 1}));
    results.push_back(graph->insert(aten::linear, {x, weight, bias}));
  }
  // Without bias: of another kind.
  results.push_back(graph->insert(aten::linear, {x, graph->insertConstant(at::ones({2, 3})), IValue()}));
  graph->registerOutput(graph->insertNode(graph->createTuple(results))->output());

  const auto joined = checked(graph, {kX}, [](GraphPtr& changed) { CHECK(FrozenConcatLinear(changed)); });
  FileCheck().check_count("aten::linear", 2, true)->run(joined->toString());
  FileCheck().check_count("aten::slice", 3, true)->run(joined->toString());
  CHECK_FALSE(FrozenConcatLinear(const_cast<GraphPtr&>(joined)));

  const auto products = checked(graph, {kX}, [](GraphPtr& changed) { CHECK(FrozenLinearTranspose(changed)); });
  FileCheck().check_count("aten::matmul", 4, true)->check_not("aten::linear")->run(products->toString());
  FileCheck().check_count("aten::add", 3, true)->run(products->toString());
}

TEST_CASE("A layer whose result is written to is not joined", "[jit][passes]") {
  const auto graph = std::make_shared<Graph>();
  Value* x = graph->addInput("x");
  Value* weight = graph->insertConstant(at::ones({2, 3}));
  Value* first = graph->insert(aten::linear, {x, weight, IValue()});
  graph->insert(Symbol::aten("relu_"), {first});
  Value* second = graph->insert(aten::linear, {x, weight, IValue()});
  graph->registerOutput(graph->insertNode(graph->createTuple({first, second}))->output());
  checked(graph, {kX}, [](GraphPtr& changed) { CHECK_FALSE(FrozenConcatLinear(changed)); });
}

TEST_CASE("Older forms of a linear layer are found", "[jit][passes]") {
  const auto before = graph_of(R"(
def f(x: Tensor, w: Tensor, b: Tensor):
    a = torch.addmm(b, x, w.t())
    c = torch.matmul(x, w.t())
    c += b
    d = torch.matmul(x, w.t())
    e = torch.addmm(b, x, w.t(), beta=2)
    return a, c, d, e
)");
  const auto after = checked(before, {kX, at::ones({4, 3}), at::ones({4})}, [](GraphPtr& graph) { FuseLinear(graph); });
  FileCheck().check_count("aten::linear", 3, true)->check("aten::addmm")->run(after->toString());
}

TEST_CASE("Products with sums are taken apart", "[jit][passes]") {
  const auto before = graph_of(
      "def f(a: Tensor, b: Tensor, c: Tensor):\n"
      "    return torch.addmm(a, b, c) + torch.addmm(a, b, c, beta=2) + torch.addmm(a, b, c, beta=1., alpha=1.)\n");
  const auto after = checked(before, {at::ones({2, 2}), kX, kX.t()}, [](GraphPtr& graph) { DecomposeOps(graph); });
  FileCheck().check_count("aten::mm", 2, true)->run(after->toString());
  FileCheck().check_count("aten::addmm", 1, true)->run(after->toString());
}

TEST_CASE("What gives its argument goes", "[jit][passes]") {
  const auto before = graph_of(R"(
def f(x: Tensor):
    y = x.detach() + 1
    z = y.detach()
    z.add_(1)
    return y + x.clone() + z
)");
  const auto after =
      checked(before, {kX}, [](GraphPtr& graph) { CHECK(EliminateNoOps(graph, {Symbol::aten("clone")})); });
  FileCheck().check_count("aten::detach", 1, true)->check_not("aten::clone")->run(after->toString());
}

TEST_CASE("A method as a function of what it reads of its module", "[jit][passes]") {
  Module net("Net");
  Module layer("Layer");
  layer.register_parameter("weight", at::ones({3, 3}), false);
  layer.register_buffer("scale", at::full({1}, 2.0));
  layer.define("def forward(self, x: Tensor) -> Tensor:\n    return (x @ self.weight) * self.scale\n");
  net.register_module("layer", layer);
  net.register_attribute("steps", c10::IntType::get(), 3);
  net.define("def forward(self, x: Tensor) -> Tensor:\n    return self.layer(self.layer(x)) + self.steps\n");
  const GraphPtr graph = net.get_method("forward").graph();
  const auto [lowered, values] = LowerGraph(*graph, net._ivalue());
  lowered->lint();
  FileCheck().check_not("prim::GetAttr")->check_not("prim::CallMethod")->run(lowered->toString());
  REQUIRE(values.size() == 3);
  REQUIRE(lowered->inputs().size() == 4);
  Stack stack{kX};
  stack.insert(stack.end(), values.begin(), values.end());
  CHECK(run(lowered, stack) == run(graph, {net._ivalue(), kX}));

  net.define("def itself(self, x: Tensor):\n    return [self.layer]\n");
  CHECK_THROWS_WITH(
      LowerGraph(*net.get_method("itself").graph(), net._ivalue()),
      Contains("temporary: the only valid use of a module is looking up an attribute but found"));
  CHECK_THROWS_WITH(LowerGraph(*graph, layer._ivalue()), Contains("must be a module of the class"));
}

TEST_CASE("Convolutions as they are traced become those of their dimension", "[jit][passes]") {
  const auto before = parsed(R"(graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %no : bool = prim::Constant[value=0]()
  %yes : bool = prim::Constant[value=1]()
  %one : int = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %ones : int[] = prim::ListConstruct(%one, %one)
  %zeros : int[] = prim::ListConstruct(%zero, %zero)
  %a : Tensor = aten::_convolution(%x, %w, %none, %ones, %zeros, %ones, %no, %zeros, %one, %no, %no, %no, %no)
  %b : Tensor = aten::convolution(%x, %w, %none, %ones, %zeros, %ones, %yes, %zeros, %one)
  %r : (Tensor, Tensor) = prim::TupleConstruct(%a, %b)
  return (%r))");
  const auto after = checked(before, {at::ones({1, 2, 5, 5}), at::ones({2, 2, 3, 3})}, [](GraphPtr& graph) {
    graph_rewrite_helper::replaceConvolutionWithAtenConv(graph);
  });
  FileCheck().check("aten::conv2d(")->check("aten::conv_transpose2d(")->check_not("onvolution")->run(after->toString());
}

TEST_CASE("Filters of patterns ask for values by name", "[jit][passes]") {
  namespace helper = graph_rewrite_helper;
  const auto pattern = helper::PatternInfo::parse_from_str(R"(graph(%x, %output_min, %output_max):
  %r = aten::clamp(%x, %output_min, %output_max)
  return (%r))");
  for (const bool constant : {true, false}) {
    auto graph = graph_of(
        constant ? "def f(x: Tensor, n: float):\n    return torch.clamp(x, 1., 2.)\n"
                 : "def f(x: Tensor, n: float):\n    return torch.clamp(x, 1., n)\n");
    const auto matches = findPatternMatches(*pattern.pattern_graph, *graph);
    REQUIRE(matches.size() == 1);
    CHECK(helper::isClampFusable(matches[0], pattern.vmap) == constant);
    CHECK(helper::getIValue("output_min", matches[0].values_map, pattern.vmap)->toDouble() == 1);
    CHECK(helper::getValue("x", matches[0].values_map, pattern.vmap) == graph->inputs()[0]);
    CHECK_THROWS_WITH(
        helper::getValue("nothing", matches[0].values_map, pattern.vmap),
        Contains("the pattern has no value %nothing"));
  }
}
