// Which values may share memory.
#include <catch2/catch.hpp>

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/irparser.h>
#include <torch/library.h>

using namespace torch::jit;

namespace {

struct Analysed {
  explicit Analysed(const std::string& text) : graph(std::make_shared<Graph>()) {
    parseIR(text, graph.get(), values);
    db = std::make_unique<AliasDb>(graph);
  }
  Value* operator[](const std::string& name) const {
    return values.at(name);
  }
  bool alias(const std::string& a, const std::string& b) const {
    return db->mayAlias(values.at(a), values.at(b));
  }
  Node* node(const std::string& name) const {
    return values.at(name)->node();
  }

  std::shared_ptr<Graph> graph;
  std::unordered_map<std::string, Value*> values;
  std::unique_ptr<AliasDb> db;
};

} // namespace

TEST_CASE("Views share memory with their base, results of other operators with nothing", "[jit][ir]") {
  const Analysed a(R"(graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %sum : Tensor = aten::add(%x, %y, %one)
  %view : Tensor = aten::select(%sum, %zero, %zero)
  %other : Tensor = aten::relu(%y)
  %w : Tensor = aten::add_(%view, %other, %one)
  return (%w))");
  CHECK(a.alias("x", "y")); // the caller may pass one tensor twice
  CHECK(a.alias("view", "sum"));
  CHECK_FALSE(a.alias("sum", "x"));
  CHECK_FALSE(a.alias("other", "sum"));
  CHECK(a.alias("w", "sum"));
  CHECK(a.db->hasWriters(a["sum"]));
  CHECK_FALSE(a.db->hasWriters(a["x"]));
  CHECK_FALSE(a.db->writesToWildcard(a.node("w")));
  CHECK(a.db->writesToAlias(a.node("w"), ValueSet{a["view"]}));
  CHECK_FALSE(AliasDb::isMutableType(a["one"]));
  CHECK_NOTHROW(Lint(a.db.get()));
}

TEST_CASE("What is put into a list may be what comes out of another", "[jit][ir]") {
  const Analysed a(R"(graph(%x : Tensor, %l : Tensor[]):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::sigmoid(%x)
  %n : Tensor[] = aten::append(%l, %a)
  %c : Tensor = aten::__getitem__(%l, %zero)
  %made : Tensor[] = prim::ListConstruct(%b)
  %cat : Tensor = aten::cat(%made, %zero)
  %w : Tensor = aten::add_(%c, %one, %one)
  return (%cat))");
  CHECK(a.alias("c", "a"));
  CHECK_FALSE(a.alias("c", "b")); // read as a whole, and forgotten
  CHECK(a.db->mayContainAlias(a["l"], a["a"]));
  CHECK(a.db->mayContainAlias(a["made"], a["b"]));
  CHECK_FALSE(a.db->mayContainAlias(a["made"], a["a"]));
  CHECK(a.db->hasWriters(a["a"]));
  CHECK(a.db->hasWriters(a["l"]));
  CHECK_FALSE(a.db->hasWriters(a["cat"]));
  CHECK(a.db->writesToWildcard(a.node("w")));
}

TEST_CASE("Conditionals and loops give what their blocks give", "[jit][ir]") {
  const Analysed a(R"(graph(%c : bool, %x : Tensor, %n : int):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::sigmoid(%x)
  %d : Tensor = aten::tanh(%x)
  %i : Tensor = prim::If(%c)
    block0():
      -> (%a)
    block1():
      -> (%b)
  %r : Tensor = prim::Loop(%n, %c, %i)
    block0(%k : int, %s : Tensor):
      %t : Tensor = aten::add_(%s, %one, %one)
      -> (%c, %t)
  return (%r, %d))");
  CHECK(a.alias("i", "a"));
  CHECK(a.alias("i", "b"));
  CHECK_FALSE(a.alias("a", "b"));
  CHECK(a.alias("r", "a"));
  CHECK(a.alias("s", "b"));
  CHECK_FALSE(a.alias("r", "d"));
  CHECK(a.db->hasWriters(a["a"]));
  CHECK_FALSE(a.db->hasWriters(a["d"]));
  CHECK(a.db->isMutable(a.node("r")));
}

TEST_CASE("Nodes move where the order of evaluation allows it", "[jit][ir]") {
  const std::string text = R"(graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::add(%a, %one, %one)
  %c : Tensor = aten::sigmoid(%y)
  %w : Tensor = aten::add_(%c, %one, %one)
  %d : Tensor = aten::tanh(%c)
  return (%b, %d))";
  {
    Analysed a(text);
    // b goes along.
    CHECK(a.db->moveAfterTopologicallyValid(a.node("a"), a.node("c")));
    CHECK(a.node("a")->prev() == a.node("c"));
    CHECK(a.node("b")->prev() == a.node("a"));
    CHECK_NOTHROW(a.graph->lint());
  }
  {
    Analysed a(text);
    // d reads what w writes.
    CHECK_FALSE(a.db->moveBeforeTopologicallyValid(a.node("d"), a.node("w")));
    CHECK_FALSE(a.db->couldMoveAfterTopologically(a.node("c"), a.node("d")));
    CHECK(a.db->couldMoveBeforeTopologically(a.node("d"), a.node("d")));
    CHECK(a.db->moveBeforeTopologicallyValid(a.node("c"), a.node("a")));
    CHECK_FALSE(a.db->moveAfterTopologicallyValid(a.node("a"), a.graph->return_node()));
    CHECK_NOTHROW(a.graph->lint());
  }
}

TEST_CASE("What unknown nodes with blocks write in them counts", "[jit][ir]") {
  const Analysed a(R"(graph(%x : Tensor):
  %list : int[] = prim::ListConstruct()
  %one : int = prim::Constant[value=1]()
  %y : Tensor = test::Unknown(%x)
    block0():
      %inner : int[] = prim::ListConstruct()
      %same : int[] = aten::append(%inner, %one)
      %r : Tensor = aten::sum(%x, %inner)
      -> (%r)
  return (%y))");
  CHECK(a.db->hasWriters(a["inner"]));
  CHECK_FALSE(a.db->hasWriters(a["list"]));
}

TEST_CASE("Alias annotations and another kind of alias analysis exclude each other", "[jit][ir]") {
  const auto registered = torch::RegisterOperators().op(
      "test::annotated(Tensor(a) x) -> Tensor(a)",
      torch::RegisterOperators::options()
          .catchAllKernel([](at::Tensor x) -> at::Tensor { return x; })
          .aliasAnalysis(c10::AliasAnalysisKind::PURE_FUNCTION));
  const std::string text = "graph(%x : Tensor):\n  %y : Tensor = test::annotated(%x)\n  return (%y)";
  CHECK_THROWS_WITH(
      Analysed(text),
      Catch::Matchers::Contains("with aliasing information in the schema but without "
                                "AliasAnalysisKind::FROM_SCHEMA"));
}

TEST_CASE("A schema that is inferred says nothing of aliases", "[jit][ir]") {
  const auto options = [](c10::AliasAnalysisKind kind) {
    return torch::RegisterOperators::options()
        .catchAllKernel([](at::Tensor x) -> at::Tensor { return x; })
        .aliasAnalysis(kind);
  };
  CHECK_THROWS_WITH(
      torch::RegisterOperators().op("test::inferred", options(c10::AliasAnalysisKind::FROM_SCHEMA)),
      Catch::Matchers::Contains("Tried to register operator test::inferred(Tensor _0) -> Tensor _0 with "
                                "AliasAnalysisKind::FROM_SCHEMA, but the schema is inferred."));
  CHECK_NOTHROW(torch::RegisterOperators().op("test::inferred", options(c10::AliasAnalysisKind::CONSERVATIVE)));
  CHECK_NOTHROW(torch::RegisterOperators().op(
      "test::inferred(Tensor x) -> Tensor", options(c10::AliasAnalysisKind::FROM_SCHEMA)));
}

TEST_CASE("Nodes with effects are not moved, and what is None has no writers", "[jit][ir]") {
  const auto graph = std::make_shared<Graph>();
  std::unordered_map<std::string, Value*> values;
  parseIR(
      R"(graph(%x : Tensor):
  %none : Tensor? = prim::Constant()
  %zero : Tensor = prim::AutogradZero(%x)
  %unwrapped : Tensor = prim::unchecked_unwrap_optional(%none)
  %written : Tensor = aten::div(%x, %x, %unwrapped)
   = prim::Print(%x)
  %free : Tensor = aten::relu(%x)
   = prim::Print(%free)
  return (%written))",
      graph.get(), values);
  AliasDb aliases(graph);
  CHECK_FALSE(aliases.hasWriters(values.at("none")));
  CHECK(aliases.hasWriters(values.at("unwrapped")));
  // Of what graphs are made of only what is listed has effects.
  CHECK_FALSE(values.at("zero")->node()->hasSideEffects());
  Node* free = values.at("free")->node();
  Node* first = free->prev();
  Node* second = free->next();
  CHECK(aliases.moveBeforeTopologicallyValid(free, second));
  CHECK_FALSE(aliases.moveBeforeTopologicallyValid(first, second));
  CHECK_FALSE(aliases.moveAfterTopologicallyValid(second, first));
}
