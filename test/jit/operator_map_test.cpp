// What programs ask graphs: which operators nodes call, which blocks they are in, which arguments they need.
#include <catch2/catch.hpp>

#include <aten/core/operator_symbols.h>
#include <csrc/jit/ir/irparser.h>
#include <csrc/jit/ir/operator_map.h>
#include <csrc/jit/runtime/error_settings.h>
#include <csrc/jit/runtime/mobile_code.h>
#include <csrc/jit/runtime/necessary_args.h>
#include <csrc/compat/jit/operator_generator.h>

#include <cstring>
#include <string>

using namespace torch::jit;

namespace {

std::shared_ptr<Graph> parsed(const std::string& text, std::unordered_map<std::string, Value*>* names = nullptr) {
  auto graph = std::make_shared<Graph>();
  std::unordered_map<std::string, Value*> values;
  parseIR(text, graph.get(), names ? *names : values);
  return graph;
}

Node* first_node(Graph& graph) {
  return *graph.nodes().begin();
}

constexpr const char* kDropout = "aten::dropout(Tensor input, float p, bool train) -> Tensor";
constexpr const char* kRelu = "aten::relu(Tensor self) -> Tensor";

} // namespace

TEST_CASE("A set of operators has the nodes that call them, not other overloads", "[jit][ir]") {
  const auto relu = parsed("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)");
  const auto add = parsed("graph(%x : int, %y : int):\n  %z : int = aten::add(%x, %y)\n  return (%z)");
  const OperatorSet both{kRelu, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"};
  CHECK(first_node(*relu)->isMemberOf(both));
  CHECK_FALSE(first_node(*add)->isMemberOf(both));
  CHECK(both.getOps().size() == 2);
  CHECK_THROWS_WITH(OperatorSet({"aten::no_such_thing(Tensor self) -> Tensor"}), Catch::Contains("no_such_thing"));
}

TEST_CASE("A map of operators gives each its last value, until it is erased", "[jit][ir]") {
  OperatorMap<int> map{{kDropout, 1}, {kRelu, 2}};
  const OperatorPtr& relu = getOperatorForLiteral(kRelu);
  const auto graph = parsed("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)");
  CHECK(map.find(*relu) == 2);
  map.insert(relu, 3);
  CHECK(map.find(*relu) == 3);
  CHECK(map.getAllKeysAndValues().size() == 2);
  CHECK(first_node(*graph)->isMemberOf(map));
  map.erase(relu);
  CHECK_FALSE(map.contains(*relu));
  CHECK_FALSE(map.contains(first_node(*graph)));
  CHECK(map.contains(*getOperatorForLiteral(kDropout)));

  FunctionSchemaMap<std::string> schemas;
  schemas.insert(relu->schema(), "rectified");
  CHECK(schemas.find(relu->schema()) == "rectified");
  CHECK_FALSE(schemas.find(getOperatorForLiteral(kDropout)->schema()));
}

TEST_CASE("Nodes know how deep they are and which block they share", "[jit][ir]") {
  std::unordered_map<std::string, Value*> values;
  const auto graph = parsed(
      R"(graph(%x : Tensor, %c : bool):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = prim::If(%c)
    block0():
      %d : Tensor = prim::If(%c)
        block0():
          %e : Tensor = aten::sigmoid(%x)
          -> (%e)
        block1():
          %f : Tensor = aten::tanh(%x)
          -> (%f)
      -> (%d)
    block1():
      %g : Tensor = aten::neg(%x)
      -> (%g)
  return (%b))",
      &values);
  const auto node = [&](const char* name) { return values.at(name)->node(); };
  CHECK(node("a")->blocksFromGraphBlock() == 0);
  CHECK(node("d")->blocksFromGraphBlock() == 1);
  CHECK(node("e")->blocksFromGraphBlock() == 2);
  CHECK(node("e")->findCommonAncestorBlockWith(node("f")) == node("d")->owningBlock());
  CHECK(node("e")->findCommonAncestorBlockWith(node("g")) == graph->block());
  CHECK(node("g")->findCommonAncestorBlockWith(node("e")) == graph->block());
  CHECK(node("a")->findCommonAncestorBlockWith(node("a")) == graph->block());
  const auto other = parsed("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)");
  CHECK_THROWS_WITH(node("a")->findCommonAncestorBlockWith(first_node(*other)), Catch::Contains("two graphs"));
}

TEST_CASE("A copy of a graph is of the same version of operators", "[jit][ir]") {
  const auto graph = parsed("graph(%x : Tensor):\n  return (%x)");
  CHECK_FALSE(graph->get_op_version());
  graph->set_op_version(3);
  CHECK(graph->copy()->get_op_version() == 3);
}

TEST_CASE("Arguments at the end that say the default are not needed", "[jit][runtime]") {
  const auto graph = parsed(
      R"(graph(%x : Tensor, %n : int):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %all : Tensor = aten::slice(%x, %zero, %none, %none, %one)
  %begin : Tensor = aten::slice(%x, %zero, %one, %none, %one)
  %step : Tensor = aten::slice(%x, %zero, %none, %none, %n)
  %sum : Tensor = aten::add(%x, %x, %one, %x)
  return (%sum))");
  std::vector<std::pair<int64_t, int64_t>> with_out, without;
  for (Node* node : graph->nodes()) {
    if (const FunctionSchema* schema = node->maybeSchema()) {
      with_out.push_back(CalculateNecessaryArgs(schema->arguments(), node->inputs(), true));
      without.push_back(CalculateNecessaryArgs(schema->arguments(), node->inputs(), false));
    }
  }
  using Counts = std::vector<std::pair<int64_t, int64_t>>;
  CHECK(with_out == Counts{{1, 0}, {3, 0}, {5, 0}, {2, 1}});
  CHECK(without == Counts{{1, 0}, {3, 0}, {5, 0}, {4, 0}});

  const MobileCode code(graph, "f");
  CHECK(code.op_to_num_specified_args().at("aten::slice.Tensor") == 5);
  CHECK(code.op_to_num_specified_args().at("aten::add.out") == 3);
  const MobileCode plain(graph, "f", true, /*support_default_args_before_out=*/false);
  CHECK(plain.op_to_num_specified_args().at("aten::add.out") == 4);
}

TEST_CASE("Errors leave the interpreter as they were thrown where a program wants that", "[jit][runtime]") {
  const auto graph = parsed(
      R"(graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %z : Tensor = aten::add(%x, %y, %one)
  return (%z))");
  const Code code(graph, "f");
  const auto message = [&] {
    Stack stack{at::ones({2, 2}), at::ones({2, 3})};
    try {
      InterpreterState(code).run(stack);
    } catch (const c10::Error& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  };
  const std::string said = "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1";
  CHECK_THAT(message(), Catch::StartsWith("The following operation failed in the TorchScript interpreter"));
  rethrowCaughtExceptions() = true;
  const std::string as_thrown = message();
  rethrowCaughtExceptions() = false;
  CHECK_THAT(as_thrown, Catch::StartsWith(said));
}

TEST_CASE("Operators are registered or left out by a list", "[jit][runtime]") {
  constexpr const char* kList = "mine::kept.of_list;mine::other";
  STATIC_REQUIRE(c10::impl::op_allowlist_contains_name_in_schema(kList, "mine::other() -> int"));
  STATIC_REQUIRE_FALSE(c10::impl::op_allowlist_contains_name_in_schema(kList, "mine::kept() -> int"));
  STATIC_REQUIRE_FALSE(c10::impl::op_allowlist_contains_name_in_schema("", "mine::kept() -> int"));
  const auto two = [](Stack& stack) { stack.emplace_back(2); };
  constexpr AliasAnalysisKind kind = AliasAnalysisKind::FROM_SCHEMA;
  CHECK_FALSE(OperatorGenerator(torch::detail::SelectiveStr<false>("mine::gone() -> int"), two, kind));
  const RegisterOperators registered(
      {OperatorGenerator(torch::detail::SelectiveStr<true>("mine::kept.of_list() -> int"), two, kind)});
  auto& found = getAllOperatorsFor(Symbol::fromQualString("mine::kept"));
  REQUIRE(found.size() == 1);
  Stack stack;
  found.front()->getOperation()(stack);
  CHECK(stack.back().toInt() == 2);
}

TEST_CASE("Names of operators and arguments are constants with the numbers of their texts", "[jit][ir]") {
  CHECK(std::strcmp(c10::aten::tanh.toQualString(), "aten::tanh") == 0);
  CHECK(std::strcmp(c10::attr::alpha.toUnqualString(), "alpha") == 0);
  CHECK(c10::prim::GradOf == Symbol::prim("GradOf"));
  CHECK(c10::aten::tanh == Symbol::fromQualString("aten::tanh"));
  CHECK(c10::aten::tanh.is_aten());
  const Symbol fresh = Symbol::fromQualString("mine::a_name_that_nobody_has");
  CHECK(fresh == Symbol::fromQualString("mine::a_name_that_nobody_has"));
  CHECK(std::strcmp(fresh.toQualString(), "mine::a_name_that_nobody_has") == 0);
  CHECK(static_cast<uint32_t>(fresh) > static_cast<uint32_t>(c10::prim::GradOf));
  CHECK(std::strcmp(Symbol::fromQualString("::").toUnqualString(), "") == 0);
  CHECK(std::strcmp(Symbol::fromQualString("::").ns().toQualString(), "namespaces::") == 0);
  CHECK_THROWS_WITH(Symbol::fromQualString("tanh"), Catch::Contains("must have a namespace"));
}

TEST_CASE("Signatures find the overload with their arguments", "[jit][runtime]") {
  const auto overload = [](const char* signature) {
    return getOperatorForLiteral(signature)->schema().overload_name();
  };
  CHECK(overload("aten::bernoulli(Tensor self, *, Generator? generator) -> Tensor") == "");
  CHECK(overload("aten::bernoulli(Tensor self, float p, *, Generator? generator) -> Tensor") == "p");
  CHECK(overload("aten::normal(Tensor mean, Tensor std, *, Generator? generator) -> Tensor") == "Tensor_Tensor");
  CHECK(overload("aten::normal(float mean, Tensor std, *, Generator? generator) -> Tensor") == "float_Tensor");
  CHECK_THROWS_WITH(
      getOperatorForLiteral("aten::normal(Tensor mean, int std) -> Tensor"),
      Catch::Contains("Couldn't find an operator"));
}
