// Making and changing graphs.
#include <catch2/catch.hpp>

#include <torch/fx.h>

using namespace torch::fx;
using Catch::Matchers::Contains;

TEST_CASE("A graph is made node by node and printed", "[fx]") {
  auto graph = Graph::create();
  Node* const x = graph->placeholder("x");
  Node* const w = graph->get_attr("layer.weight");
  Node* const y = graph->call_operator("aten::linear", {x, w});
  Node* const t = graph->call_operator("aten::topk", {y, 2}, {{"largest", false}});
  Node* const z = graph->call_operator("aten::add.Tensor", {Value{t, 0}, 1}, {{"alpha", 2}});
  graph->output({z, Value{t, 1}});
  graph->lint();
  CHECK(graph->to_string() == R"(graph(%x) {
  %layer_weight = get_attr("layer.weight")
  %linear = aten::linear(%x, %layer_weight)
  %topk = aten::topk(%linear, 2, largest=False)
  %add = aten::add.Tensor(%topk.0, 1, alpha=2)
  return (%add, %topk.1)
})");
  CHECK(y->users() == std::vector<Node*>{t});
  CHECK(z->all_input_nodes() == std::vector<Node*>{t});
  CHECK(std::string(z->op()) == "call_operator");
  CHECK(z->target() == "aten::add.Tensor");
  CHECK(z->arg("alpha").constant().toInt() == 2);
  CHECK(graph->find_nodes("aten::topk") == std::vector<Node*>{t});
  CHECK(graph->size() == 6);
}

TEST_CASE("Constants become what the schema says", "[fx]") {
  auto graph = Graph::create();
  Node* const x = graph->placeholder("x");
  Node* const mean = graph->call_operator("aten::mean.dim", {x, 1});
  CHECK(mean->arg("dim").constant().isIntList());
  Node* const ones = graph->call_operator("aten::full", {std::vector<int64_t>{2, 3}, 1.5});
  CHECK(ones->arg(1).constant().toDouble() == 1.5);
  Node* const norm = graph->call_operator("aten::layer_norm", {x, std::vector<Arg>{4}, Arg(), Arg(), 1});
  CHECK(norm->arg("eps").constant().toDouble() == 1.0);
  CHECK_THROWS_WITH(graph->call_operator("aten::mean.dim", {x, "one"}), Contains("argument 'dim'"));
  CHECK_THROWS_WITH(graph->call_operator("aten::relu", {x, x}), Contains("expected at most 1 argument"));
  CHECK_THROWS_WITH(graph->call_operator("aten::relu", {}), Contains("missing value for argument 'self'"));
  CHECK_THROWS_WITH(graph->call_operator("aten::relu", {x}, {{"foo", 1}}), Contains("Unknown keyword argument 'foo'"));
  CHECK_THROWS_AS(graph->call_operator("aten::no_such_operator", {x}), c10::Error);
  CHECK_THROWS_WITH(graph->call_function("no_such", {}), Contains("no function 'no_such'"));
  graph->output({x});
  graph->lint();
}

TEST_CASE("Nodes are inserted, replaced, moved and erased", "[fx]") {
  auto graph = Graph::parse("graph(%x) { %a = aten::relu(%x) %b = aten::neg(%a) return (%b) }");
  Node* const a = graph->find_node("a");
  Node* const b = graph->find_node("b");
  Node* c = nullptr;
  {
    const auto here = graph->inserting_before(b);
    c = graph->call_operator("aten::exp", {a});
    c->set_name("c");
    const auto there = graph->inserting_after(a);
    graph->call_operator("aten::sin", {a})->set_name("d");
  }
  CHECK(a->replace_all_uses_with(c).size() == 2);
  CHECK_THROWS_WITH(graph->lint(), Contains("used before it has been defined"));
  c->next()->prev()->prev()->prepend(c);
  graph->lint();
  CHECK(graph->to_string() == R"(graph(%x) {
  %a = aten::relu(%x)
  %c = aten::exp(%a)
  %d = aten::sin(%c)
  %b = aten::neg(%c)
  return (%b)
})");
  CHECK_THROWS_WITH(graph->erase_node(c), Contains("still had 2 users in the graph"));
  graph->erase_node(graph->find_node("d"));
  CHECK(graph->find_node("d") == nullptr);
  b->replace_input_with(c, a);
  CHECK(c->num_users() == 0);
  CHECK(graph->eliminate_dead_code());
  CHECK_FALSE(graph->eliminate_dead_code());
  CHECK(c->is_erased());
  CHECK_THROWS_WITH(b->set_arg(0, c), Contains("was erased"));
  CHECK_THROWS_WITH(b->set_arg(0, Graph::create()->placeholder("y")), Contains("of another graph"));
  graph->lint();
}

TEST_CASE("Dead code stays where it has an effect", "[fx]") {
  auto graph = Graph::parse(R"(graph(%x) {
    %a = aten::relu(%x)
    %b = aten::add_.Tensor(%x, 1)
    %c = aten::rand_like(%x)
    %d = aten::dropout(%x, 0.5, False)
    %e = aten::_assert_scalar(1, "message")
    return (%x)
  })");
  CHECK(graph->eliminate_dead_code());
  CHECK(graph->to_string() == R"(graph(%x) {
  %b = aten::add_.Tensor(%x, 1)
  %c = aten::rand_like(%x)
  %e = aten::_assert_scalar(1, "message")
  return (%x)
})");
}

TEST_CASE("Graphs are copied, put into others and taken apart", "[fx]") {
  auto graph = Graph::parse(R"(graph[s0](%x: float32[s0, 2], %y) {
    %a: float32[s0, 2] = aten::relu(%x)
    %t = aten::topk(%a, 1)
    %m = aten::mul.Tensor(%t.0, %y)
    return (%m, %t.1)
  })");
  CHECK(graph->copy()->to_string() == graph->to_string());
  auto other = Graph::create();
  Node* const p = other->placeholder("p");
  const auto results = other->inline_graph(*graph, {p, Arg(2.0)});
  other->output({results[0]});
  other->lint();
  CHECK(other->to_string() == R"(graph[s0](%p) {
  %a: float32[s0, 2] = aten::relu(%p)
  %t = aten::topk(%a, 1)
  %m = aten::mul.Tensor(%t.0, 2.0)
  return (%m)
})");
  std::vector<Value> inputs, outputs;
  auto part = graph->extract({graph->find_node("t"), graph->find_node("m")}, inputs, outputs);
  part->lint();
  CHECK(part->to_string() == R"(graph[s0](%a: float32[s0, 2], %y) {
  %t = aten::topk(%a, 1)
  %m = aten::mul.Tensor(%t.0, %y)
  return (%t.1, %m)
})");
  CHECK(inputs.size() == 2);
  CHECK(outputs.size() == 2);
  CHECK_THROWS_WITH(graph->extract({graph->find_node("x")}, inputs, outputs), Contains("is a placeholder"));
}

TEST_CASE("A graph for people is a table or a picture", "[fx]") {
  auto graph = Graph::parse("graph(%x: float32[2]) { %a: float32[2] = aten::add.Tensor(%x, 1) return (%a) }");
  CHECK(graph->format_tabular() == R"(opcode         name    target            args        result
-------------  ------  ----------------  ----------  ----------
placeholder    x       x                 ()          float32[2]
call_operator  a       aten::add.Tensor  (%x, 1, 1)  float32[2]
output         output  output            (%a)
)");
  CHECK_THAT(graph->to_dot(), Contains("n0 -> n1;") && Contains("label=\"{%a|aten::add.Tensor|float32[2]}\""));
}

TEST_CASE("Names are made unique", "[fx]") {
  auto graph = Graph::create();
  Node* const x = graph->placeholder("x");
  CHECK(graph->placeholder("x")->name() == "x_1");
  CHECK(graph->placeholder("x_1")->name() == "x_2");
  CHECK(graph->placeholder("1 odd name")->name() == "_1_odd_name");
  CHECK(graph->placeholder("")->name() == "_");
  x->set_name("y");
  CHECK(graph->find_node("y") == x);
  CHECK(graph->placeholder("x")->name() == "x");
}

TEST_CASE("Graphs in graphs are bounded", "[fx]") {
  auto inner = Graph::parse("graph(%x) { return (%x) }");
  for (int i = 0; i < 63; ++i) {
    auto outer = Graph::create();
    Node* const x = outer->placeholder("x");
    outer->output({outer->call_function("wrap", {inner, x})});
    inner = outer;
  }
  auto last = Graph::create();
  CHECK_THROWS_WITH(last->call_function("wrap", {inner}), Contains("nested more than 64 deep"));
  GraphModule module(inner);
  CHECK(module.forward({7})[0].toInt() == 7);
}
