// Graphs of derivatives against autograd, and the passes and operators that go with them.
#include <catch2/catch.hpp>

#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/passes/clear_undefinedness.h>
#include <torch/csrc/jit/passes/create_autodiff_subgraphs.h>
#include <torch/csrc/jit/passes/lower_grad_of.h>
#include <torch/csrc/jit/passes/requires_grad_analysis.h>
#include <torch/csrc/jit/passes/shape_analysis.h>
#include <torch/csrc/jit/passes/specialize_autogradzero.h>
#include <torch/csrc/jit/runtime/argument_spec.h>
#include <torch/csrc/jit/runtime/autodiff.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/jit/testing/file_check.h>
#include <torch/torch.h>

#include <string>
#include <vector>

using namespace torch::jit;
using Catch::Matchers::Contains;
using testing::FileCheck;

namespace {

using Tensors = std::vector<at::Tensor>;

std::shared_ptr<Graph> graph_of(const std::string& text) {
  auto graph = std::make_shared<Graph>();
  parseIR(text, graph.get());
  return graph;
}

/// A graph of one statement on tensors x, y, z that gives %r.
std::shared_ptr<Graph> graph_of_statement(const std::string& statement, size_t inputs) {
  std::string text = "graph(";
  for (size_t i = 0; i < inputs; ++i) {
    text += std::string(i > 0 ? ", " : "") + "%" + "xyz"[i] + " : Tensor";
  }
  return graph_of(text + "):\n" + statement + "\n  return (%r)");
}

std::string constant(const std::string& name, const std::string& type, const std::string& value) {
  return "  %" + name + " : " + type + " = prim::Constant[value=" + value + "]()\n";
}

Stack run(const std::shared_ptr<Graph>& graph, Stack stack) {
  InterpreterState(Code(graph, "f")).run(stack);
  return stack;
}

/// The gradients that df gives, of the inputs in df_output_vjps.
Tensors run_gradient(Gradient& gradient, const Tensors& inputs, const Tensors& grads) {
  LowerGradOf(*gradient.df);
  ClearUndefinedness(gradient.df);
  const at::NoGradGuard no_grad;
  const Stack results = run(gradient.f, Stack(inputs.begin(), inputs.end()));
  Stack stack(grads.begin(), grads.end());
  for (const size_t i : gradient.df_input_captured_inputs) {
    stack.push_back(inputs[i]);
  }
  for (const size_t i : gradient.df_input_captured_outputs) {
    stack.push_back(results[i]);
  }
  Tensors found;
  const auto tuple = run(gradient.df, std::move(stack)).at(0).toTuple();
  for (const IValue& value : tuple->elements()) {
    found.push_back(value.toTensor());
  }
  return found;
}

/// Differentiates the graph both ways, where all inputs require gradients.
void check_against_autograd(const std::shared_ptr<Graph>& graph, Tensors inputs) {
  for (at::Tensor& input : inputs) {
    input = input.detach().requires_grad_(true);
  }
  const at::Tensor result = run(graph->copy(), Stack(inputs.begin(), inputs.end())).at(0).toTensor();
  const at::Tensor grad = at::linspace(0.5, 1.5, result.numel(), result.options()).view(result.sizes());
  const Tensors expected = torch::autograd::grad({result}, inputs, {grad});

  std::shared_ptr<Graph> taken = graph->copy();
  Gradient gradient = differentiate(taken);
  CHECK(taken == nullptr);
  Tensors grads{grad};
  grads.resize(gradient.df_input_vjps.size());
  for (at::Tensor& input : inputs) {
    input = input.detach();
  }
  const Tensors found = run_gradient(gradient, inputs, grads);
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i, found[i], expected[i]);
    CHECK(found[i].sizes() == expected[i].sizes());
    CHECK(at::allclose(found[i], expected[i], 1e-4, 1e-5));
  }
}

at::Tensor ramp(at::IntArrayRef sizes, double low, double high) {
  int64_t numel = 1;
  for (const int64_t size : sizes) {
    numel *= size;
  }
  return at::linspace(low, high, numel).view(sizes);
}

const char* const kProducts = R"(graph(%a : Tensor, %b : Tensor):
  %one : int = prim::Constant[value=1]()
  %ab : Tensor = aten::mul(%a, %b)
  %aba : Tensor = aten::mul(%ab, %a)
  %sum : Tensor = aten::add(%aba, %b, %one)
  return (%sum))";

} // namespace

TEST_CASE("differentiate(): functions of one tensor", "[jit][autodiff]") {
  for (const char* name :
       {"abs",  "acos",  "asin",       "atan", "ceil",        "cos",       "cosh",  "erf",     "erfc",
        "exp",  "expm1", "floor",      "frac", "hardsigmoid", "hardswish", "log",   "log10",   "log1p",
        "log2", "neg",   "reciprocal", "relu", "relu6",       "round",     "rsqrt", "sigmoid", "silu",
        "sin",  "sinh",  "sqrt",       "tan",  "tanh",        "trunc",     "t",     "squeeze"}) {
    CAPTURE(name);
    check_against_autograd(
        graph_of_statement("  %r : Tensor = aten::" + std::string(name) + "(%x)", 1), {ramp({2, 3}, 0.1, 0.9)});
  }
  for (const char* name : {"abs", "atan", "hardsigmoid", "hardswish", "relu", "relu6", "silu", "tanh"}) {
    CAPTURE(name);
    check_against_autograd(
        graph_of_statement("  %r : Tensor = aten::" + std::string(name) + "(%x)", 1), {ramp({3, 4}, -7.3, 8)});
  }
}

TEST_CASE("differentiate(): functions of a tensor and numbers", "[jit][autodiff]") {
  const std::string two = constant("a", "float", "2.");
  const std::string one = constant("one", "int", "1");
  for (const std::string& call :
       {"add(%x, %a, %one)", "sub(%x, %a, %one)", "rsub(%x, %a, %one)", "mul(%x, %a)", "div(%x, %a)", "pow(%x, %a)",
        "fmod(%x, %a)", "remainder(%x, %a)", "hardshrink(%x, %a)", "leaky_relu(%x, %a)", "threshold(%x, %a, %one)",
        "softplus(%x, %a, %one)", "hardtanh(%x, %one, %a)", "clamp(%x, %one, %a)"}) {
    CAPTURE(call);
    check_against_autograd(graph_of_statement(two + one + "  %r : Tensor = aten::" + call, 1), {ramp({2, 5}, -3.1, 4)});
  }
  const std::string kind = constant("kind", "str", "\"tanh\"");
  check_against_autograd(graph_of_statement(kind + "  %r : Tensor = aten::gelu(%x, %kind)", 1), {ramp({7}, -2, 2)});
}

TEST_CASE("differentiate(): functions of several tensors, with broadcasting", "[jit][autodiff]") {
  const at::Tensor wide = ramp({2, 3}, 0.3, 2.4);
  const at::Tensor narrow = ramp({3}, 0.5, 1.9);
  const std::string one = constant("one", "float", "1.5");
  for (const std::string& call :
       {"add(%x, %y, %one)", "sub(%x, %y, %one)", "mul(%x, %y)", "div(%x, %y)", "pow(%x, %y)", "max(%x, %y)",
        "min(%x, %y)", "lerp(%x, %y, %one)"}) {
    CAPTURE(call);
    const auto graph = graph_of_statement(one + "  %r : Tensor = aten::" + call, 2);
    check_against_autograd(graph, {wide, narrow});
    check_against_autograd(graph, {narrow, wide});
  }
  const auto weighted = graph_of_statement("  %r : Tensor = aten::lerp(%x, %y, %z)", 3);
  check_against_autograd(weighted, {wide, narrow, ramp({2, 1}, 0.1, 0.7)});
  const auto product = graph_of_statement(one + "  %r : Tensor = aten::addcmul(%x, %y, %z, %one)", 3);
  check_against_autograd(product, {wide, narrow, ramp({2, 1}, 0.1, 0.7)});
  const auto choice =
      graph_of_statement("  %m : Tensor = aten::gt(%x, %y)\n  %r : Tensor = aten::where(%m, %x, %y)", 2);
  check_against_autograd(choice, {wide, narrow});
}

TEST_CASE("differentiate(): products of matrices", "[jit][autodiff]") {
  check_against_autograd(
      graph_of_statement("  %r : Tensor = aten::mm(%x, %y)", 2), {ramp({2, 3}, -1, 1), ramp({3, 4}, 0, 2)});
  check_against_autograd(
      graph_of_statement("  %r : Tensor = aten::bmm(%x, %y)", 2), {ramp({2, 2, 3}, -1, 1), ramp({2, 3, 4}, 0, 2)});
  check_against_autograd(
      graph_of_statement("  %r : Tensor = aten::mv(%x, %y)", 2), {ramp({2, 3}, -1, 1), ramp({3}, 0, 2)});
  check_against_autograd(
      graph_of_statement("  %r : Tensor = aten::dot(%x, %y)", 2), {ramp({3}, -1, 1), ramp({3}, 0, 2)});
  const std::string numbers = constant("a", "float", "0.5") + constant("b", "int", "3");
  check_against_autograd(
      graph_of_statement(numbers + "  %r : Tensor = aten::addmm(%x, %y, %z, %a, %b)", 3),
      {ramp({4}, -1, 1), ramp({2, 3}, 0, 2), ramp({3, 4}, 1, 2)});
  check_against_autograd(
      graph_of_statement("  %r : Tensor = aten::linear(%x, %y, %z)", 3),
      {ramp({2, 2, 3}, -1, 1), ramp({4, 3}, 0, 2), ramp({4}, 1, 2)});
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> sizes{
      {{3}, {3}},          {{2, 3}, {3}},    {{3}, {3, 4}},   {{2, 3}, {3, 4}},
      {{5, 2, 3}, {3, 4}}, {{5, 2, 3}, {3}}, {{3}, {5, 3, 4}}};
  for (const auto& [x, y] : sizes) {
    CAPTURE(x, y);
    check_against_autograd(
        graph_of_statement("  %r : Tensor = aten::matmul(%x, %y)", 2), {ramp(x, -1, 1), ramp(y, 0, 2)});
  }
}

TEST_CASE("differentiate(): views and reductions", "[jit][autodiff]") {
  const std::string numbers = constant("d", "int", "1") + constant("zero", "int", "0") + constant("no", "bool", "0") +
      constant("yes", "bool", "1") + constant("sizes", "int[]", "[3, 2]") + constant("dims", "int[]", "[1, 0]") +
      constant("ones", "int[]", "[1]") + "  %none : NoneType = prim::Constant()\n";
  for (const std::string& call :
       {"view(%x, %sizes)", "reshape(%x, %sizes)", "permute(%x, %dims)", "transpose(%x, %zero, %d)",
        "unsqueeze(%x, %d)", "contiguous(%x, %zero)", "mean(%x, %none)", "mean(%x, %ones, %no, %none)",
        "sum(%x, %none)", "sum(%x, %ones, %yes, %none)", "softmax(%x, %d, %none)", "log_softmax(%x, %zero, %none)",
        "logsumexp(%x, %ones, %no)", "var(%x, %yes)", "var(%x, %ones, %no, %yes)", "std(%x, %no)",
        "std(%x, %ones, %yes, %no)"}) {
    CAPTURE(call);
    check_against_autograd(graph_of_statement(numbers + "  %r : Tensor = aten::" + call, 1), {ramp({2, 3}, -1, 2)});
  }
  const std::string expansion = constant("sizes", "int[]", "[2, 3]") + constant("no", "bool", "0");
  check_against_autograd(
      graph_of_statement(expansion + "  %r : Tensor = aten::expand(%x, %sizes, %no)", 1), {ramp({2, 1}, -1, 2)});
}

TEST_CASE("differentiate(): layers that keep more than their result", "[jit][autodiff]") {
  const std::string norm =
      constant("sizes", "int[]", "[3]") + constant("eps", "float", "0.001") + constant("no", "bool", "0");
  check_against_autograd(
      graph_of_statement(norm + "  %r : Tensor = aten::layer_norm(%x, %sizes, %y, %z, %eps, %no)", 3),
      {ramp({4, 3}, -1, 1) * ramp({4, 3}, 0, 2), ramp({3}, 1, 2), ramp({3}, 0, 1)});
  const std::string batch = "  %none : NoneType = prim::Constant()\n" + constant("yes", "bool", "1") +
      constant("m", "float", "0.1") + constant("eps", "float", "0.001");
  check_against_autograd(
      graph_of_statement(batch + "  %r : Tensor = aten::batch_norm(%x, %y, %z, %none, %none, %yes, %m, %eps, %yes)", 3),
      {ramp({4, 3}, -1, 1) * ramp({4, 3}, 0, 2), ramp({3}, 1, 2), ramp({3}, 0, 1)});
  const std::string pool = constant("k", "int[]", "[2, 2]") + constant("p", "int[]", "[0, 0]") +
      constant("one", "int[]", "[1, 1]") + constant("no", "bool", "0");
  check_against_autograd(
      graph_of_statement(pool + "  %r : Tensor = aten::max_pool2d(%x, %k, %k, %p, %one, %no)", 1),
      {ramp({1, 2, 4, 4}, -1, 1).sin()});
}

TEST_CASE("differentiate(): what joins a graph and its derivatives", "[jit][autodiff]") {
  std::shared_ptr<Graph> graph = graph_of(kProducts);
  check_against_autograd(graph, {ramp({2, 3}, -1, 1), ramp({2, 3}, 0, 2)});
  const Gradient gradient = differentiate(graph);
  // The product that is kept has a gradient, too; so are sizes kept, of each operand of each operator.
  CHECK(gradient.f_real_outputs == 1);
  CHECK(gradient.df_input_vjps == std::vector<size_t>{0, 1});
  CHECK(gradient.df_input_captured_inputs == std::vector<size_t>{0, 1});
  CHECK(gradient.df_input_captured_outputs == std::vector<size_t>{1, 2, 3, 4, 5, 6, 7});
  CHECK(gradient.df_output_vjps == std::vector<size_t>{0, 1});
  FileCheck()
      .check("prim::GradOf[name=\"aten::add\"]")
      ->check_count("prim::GradOf[name=\"aten::mul\"]", 2)
      ->check_count("AutogradAdd", 2)
      ->run(*gradient.df);
}

TEST_CASE("differentiate() takes chunks, and refuses what has no formula", "[jit][autodiff]") {
  check_against_autograd(
      graph_of(R"(graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor, %b : Tensor = prim::ConstantChunk[chunks=2, dim=1](%x)
  %p : Tensor = aten::mul(%a, %b)
  return (%p))"),
      {ramp({2, 4}, -1, 2)});
  std::shared_ptr<Graph> graph = graph_of_statement("  %r : Tensor = aten::cholesky_inverse(%x)", 1);
  CHECK_FALSE(isDifferentiable(*graph));
  CHECK_THROWS_WITH(differentiate(graph), Contains("aten::cholesky_inverse"));
}

TEST_CASE("PropagateRequiresGrad() and ArgumentSpec tell differentiate() what needs no gradient", "[jit][autodiff]") {
  std::shared_ptr<Graph> graph = graph_of(kProducts);
  ArgumentSpecCreator creator(*graph);
  const at::Tensor a = at::ones({2, 3}).requires_grad_(true);
  const at::Tensor b = at::ones({2, 3});
  const ArgumentSpec spec = creator.create(true, {a, b});
  CHECK(spec == creator.create(true, {a * 2, b}));
  CHECK(spec != creator.create(false, {a, b}));
  CHECK(spec != creator.create(true, {a, b.to(at::kDouble)}));
  creator.specializeTypes(*graph, spec);
  PropagateRequiresGrad(graph);
  const Gradient gradient = differentiate(graph);
  CHECK(gradient.df_output_vjps == std::vector<size_t>{0});
  CHECK(CompleteArgumentSpec(true, {a, b}) == CompleteArgumentSpec(true, {a, b}));
  CHECK(CompleteArgumentSpec(true, {a, b}) != CompleteArgumentSpec(true, {a, b.t()}));
}

TEST_CASE("PropagateInputShapes() gives results the types of tensors without data", "[jit][autodiff]") {
  const auto graph = graph_of_statement("  %r : Tensor = aten::mm(%x, %y)", 2);
  graph->inputs()[0]->inferTypeFrom(at::ones({2, 3}));
  graph->inputs()[1]->inferTypeFrom(at::ones({3, 4}));
  PropagateInputShapes(graph);
  CHECK(*graph->outputs()[0]->type()->expect<TensorType>()->sizes().concrete_sizes() == std::vector<int64_t>{2, 4});
}

TEST_CASE("CreateAutodiffSubgraphs() makes nodes that run and that autograd follows", "[jit][autodiff]") {
  const auto graph = graph_of(kProducts);
  const auto whole = graph->copy();
  CHECK(CreateAutodiffSubgraphs(graph, 4).empty());
  const std::vector<Node*> nodes = CreateAutodiffSubgraphs(graph, 2);
  REQUIRE(nodes.size() == 1);
  FileCheck().check_not("aten::mul")->check("DifferentiableGraph")->check_next("return")->run(*graph);
  const at::Tensor a = ramp({2, 3}, -1, 1).requires_grad_(true);
  const at::Tensor b = ramp({2, 3}, 0, 2);
  const at::Tensor found = run(graph, {a, b}).at(0).toTensor();
  const at::Tensor expected = run(whole, {a, b}).at(0).toTensor();
  CHECK(at::equal(found, expected));
  CHECK(at::equal(torch::autograd::grad({found.sum()}, {a}).at(0), torch::autograd::grad({expected.sum()}, {a}).at(0)));
}

TEST_CASE("gradients of nothing are undefined tensors", "[jit][autodiff]") {
  std::shared_ptr<Graph> graph = graph_of(kProducts);
  Gradient gradient = differentiate(graph);
  const Tensors inputs{at::ones({2, 3}), at::ones({2, 3})};
  for (const at::Tensor& found : run_gradient(gradient, inputs, Tensors(gradient.df_input_vjps.size()))) {
    CHECK_FALSE(found.defined());
  }
  const auto zeros = graph_of(R"(graph(%x : Tensor):
  %zero : Tensor = prim::AutogradZero()
  %sum : Tensor = prim::AutogradAdd(%zero, %x)
  return (%sum))");
  specializeAutogradZero(zeros);
  CHECK(zeros->outputs()[0] == zeros->inputs()[0]);
}
