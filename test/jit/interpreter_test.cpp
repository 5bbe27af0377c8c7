// Graphs made by hand, run.
#include <catch2/catch.hpp>

#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/runtime/interpreter.h>
#include <csrc/jit/runtime/jit_exception.h>

#include <thread>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

std::vector<c10::IValue> run(const std::shared_ptr<Graph>& graph, Stack stack) {
  InterpreterState(Code(graph, "f")).run(stack);
  return stack;
}

Value* add_input(Graph& graph, const c10::TypePtr& type) {
  return graph.addInput()->setType(type);
}

} // namespace

TEST_CASE("The interpreter returns inputs in the order of the outputs", "[jit]") {
  const auto graph = std::make_shared<Graph>();
  Value* a = add_input(*graph, c10::IntType::get());
  Value* b = add_input(*graph, c10::IntType::get());
  graph->registerOutput(b);
  graph->registerOutput(a);
  graph->registerOutput(b);
  const auto out = run(graph, {c10::IValue(1), c10::IValue(2)});
  REQUIRE(out.size() == 3);
  CHECK(out[0].toInt() == 2);
  CHECK(out[1].toInt() == 1);
  CHECK(out[2].toInt() == 2);
}

TEST_CASE("A conditional gives the values of the branch that was taken", "[jit]") {
  const auto graph = std::make_shared<Graph>();
  Value* condition = add_input(*graph, c10::BoolType::get());
  Value* first = add_input(*graph, c10::IntType::get());
  Value* second = add_input(*graph, c10::IntType::get());
  Node* node = graph->insertNode(graph->create(c10::prim::If, {condition}, 1));
  node->output()->setType(c10::IntType::get());
  node->addBlock()->registerOutput(first);
  node->addBlock()->registerOutput(second);
  graph->registerOutput(node->output());
  for (const bool which : {true, false}) {
    const auto out = run(graph, {c10::IValue(which), c10::IValue(7), c10::IValue(8)});
    REQUIRE(out.size() == 1);
    CHECK(out[0].toInt() == (which ? 7 : 8));
  }
}

TEST_CASE("A loop runs its body as often as the trip count says, with the iteration and its state", "[jit]") {
  const auto graph = std::make_shared<Graph>();
  Value* trips = add_input(*graph, c10::IntType::get());
  Value* yes = graph->insertConstant(true);
  Value* zero = graph->insertConstant(0);
  Value* other = graph->insertConstant(-1);
  Node* loop = graph->insertNode(graph->create(c10::prim::Loop, {trips, yes, zero, other}, 2));
  Block* body = loop->addBlock();
  Value* iteration = body->addInput()->setType(c10::IntType::get());
  Value* before = body->addInput()->setType(c10::IntType::get());
  body->addInput()->setType(c10::IntType::get());
  body->registerOutput(yes);
  body->registerOutput(iteration);
  body->registerOutput(before);
  for (Value* output : loop->outputs()) {
    output->setType(c10::IntType::get());
    graph->registerOutput(output);
  }
  const auto out = run(graph, {c10::IValue(5)});
  REQUIRE(out.size() == 2);
  CHECK(out[0].toInt() == 4);
  CHECK(out[1].toInt() == 3);
  const auto none = run(graph, {c10::IValue(0)});
  CHECK(none[0].toInt() == 0);
  CHECK(none[1].toInt() == -1);
}

TEST_CASE("An exception of the program keeps its class and message", "[jit]") {
  const auto graph = std::make_shared<Graph>();
  Value* message = graph->insertConstant("too small");
  Value* name = graph->insertConstant("builtins.ValueError");
  graph->insertNode(graph->create(c10::prim::RaiseException, {message, name}, 0));
  graph->registerOutput(message);
  try {
    run(graph, {});
    FAIL("it did not throw");
  } catch (const JITException& error) {
    CHECK(error.getPythonClassName() == std::optional<std::string>("builtins.ValueError"));
    CHECK(error.getOriginalMsg() == std::optional<std::string>("too small"));
    CHECK_THAT(error.what(), Contains("The following operation failed in the TorchScript interpreter.\n"));
    CHECK_THAT(error.what(), Contains("builtins.ValueError: too small\n"));
  }
}

TEST_CASE("A function that calls itself without end is an error", "[jit]") {
  GraphFunction function("g", std::make_shared<Graph>(), nullptr);
  Value* input = add_input(*function.graph(), c10::IntType::get());
  function.graph()->registerOutput(input);
  function.getSchema();
  Value* result = function.graph()->insertFunctionCall(&function, {input});
  function.graph()->block()->replaceOutput(0, result);
  Stack stack{c10::IValue(1)};
  CHECK_THROWS_WITH(function.run(stack), Contains("maximum recursion depth exceeded"));
  CHECK(stack.empty());
}

TEST_CASE("Forked tasks that wait for forked tasks give their values", "[jit][threads]") {
  constexpr int kDepth = 100;
  auto inner = std::make_shared<Graph>();
  inner->registerOutput(add_input(*inner, c10::IntType::get()));
  for (int i = 0; i < kDepth; ++i) {
    auto outer = std::make_shared<Graph>();
    Value* input = add_input(*outer, c10::IntType::get());
    Node* fork = outer->insertNode(outer->create(c10::prim::fork, {input}));
    fork->g_(c10::attr::Subgraph, inner);
    fork->output()->setType(c10::FutureType::create(c10::IntType::get()));
    Node* wait = outer->insertNode(outer->create(c10::aten::wait, {fork->output()}));
    wait->output()->setType(c10::IntType::get());
    outer->registerOutput(wait->output());
    inner = outer;
  }
  CHECK(run(inner, {c10::IValue(3)})[0].toInt() == 3);
}

TEST_CASE("Many threads run one function", "[jit][threads]") {
  GraphFunction function("g", std::make_shared<Graph>(), nullptr);
  Value* input = add_input(*function.graph(), c10::IntType::get());
  Node* tuple = function.graph()->insertNode(function.graph()->createTuple({input, input}));
  function.graph()->registerOutput(tuple->output());
  std::vector<std::thread> threads;
  std::vector<int64_t> results(8);
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 100; ++turn) {
        Stack stack{c10::IValue(static_cast<int64_t>(i))};
        function.run(stack);
        results[i] += stack.at(0).toTupleRef().elements()[1].toInt();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    CHECK(results[i] == static_cast<int64_t>(100 * i));
  }
}
