// Passes and picklers that programs include by libtorch's headers.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/frontend/builtin_functions.h>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/jit_opt_limit.h>
#include <torch/csrc/jit/passes/annotate_warns.h>
#include <torch/csrc/jit/passes/concat_opt.h>
#include <torch/csrc/jit/passes/create_functional_graphs.h>
#include <torch/csrc/jit/passes/fuse_relu.h>
#include <torch/csrc/jit/passes/guard_elimination.h>
#include <torch/csrc/jit/passes/inline_forked_closures.h>
#include <torch/csrc/jit/passes/inplace_check.h>
#include <torch/csrc/jit/passes/insert_guards.h>
#include <torch/csrc/jit/passes/lift_closures.h>
#include <torch/csrc/jit/passes/lower_grad_of.h>
#include <torch/csrc/jit/passes/specialize_autogradzero.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/csrc/jit/serialization/pickler.h>
#include <torch/csrc/jit/serialization/unpickler.h>
#include <torch/csrc/jit/testing/file_check.h>
#include <torch/script.h>

#include <algorithm>
#include <cstring>
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

at::Tensor run(const std::shared_ptr<Graph>& graph, Stack stack) {
  InterpreterState(Code(graph, "f")).run(stack);
  return stack.at(0).toTensor();
}

size_t count(const std::shared_ptr<Graph>& graph, const char* kind) {
  const std::string text = graph->toString(false), word = std::string(kind) + '(';
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

} // namespace

TEST_CASE("Pieces that only compute become functional graphs and come back", "[jit][passes]") {
  const auto graph = parsed(R"(graph(%x : Tensor, %y : Tensor):
  %none : NoneType = prim::Constant()
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::add(%x, %y, %one)
  %b : Tensor = aten::relu(%a)
  %w : Tensor = aten::clone(%y, %none)
  %c : Tensor = aten::mul(%b, %x)
  %d : Tensor = aten::sub(%c, %a, %one)
  %e : Tensor = aten::neg(%d)
  %f : Tensor = aten::sin(%e)
  %v : Tensor = aten::add_(%w, %f, %one)
  %g : Tensor = aten::cos(%v)
  return (%g))");
  const at::Tensor x = at::arange(4, at::kFloat) - 2, y = at::ones({4});
  const at::Tensor expected = run(graph, {x, y});
  CreateFunctionalGraphs(graph);
  graph->lint();
  // What is written to, and what is too short, stays.
  REQUIRE(count(graph, "prim::FunctionalGraph_0") == 1);
  const std::string text = graph->toString(false);
  FileCheck()
      .check("prim::FunctionalGraph_0")
      ->check("aten::add_(")
      ->check("aten::cos(")
      ->check("return")
      ->check("with prim::FunctionalGraph_0")
      ->check("aten::add(")
      ->check("aten::relu(")
      ->check("aten::sin(")
      ->run(text);
  CHECK(text.find("aten::clone(") < text.find("return"));
  InlineFunctionalGraphs(graph);
  graph->lint();
  CHECK(count(graph, "prim::FunctionalGraph_0") == 0);
  CHECK(run(graph, {x, y}).equal(expected));
}

TEST_CASE("Groups of less than six nodes, and what prints or draws, stay", "[jit][passes]") {
  const auto graph = parsed(R"(graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %a : Tensor = aten::add(%x, %x, %one)
  %b : Tensor = aten::relu(%a)
   = prim::Print(%b)
  %r : Tensor = aten::rand_like(%b, %none, %none, %none, %none, %none)
  %c : Tensor = aten::mul(%b, %r)
  return (%c))");
  CreateFunctionalGraphs(graph);
  graph->lint();
  CHECK(count(graph, "prim::FunctionalGraph_0") == 0);
  FileCheck().check("aten::add(")->check("aten::relu(")->check("prim::Print(")->check("aten::mul(")->run(*graph);
}

TEST_CASE("Concatenations of concatenations become one", "[jit][passes]") {
  const char* const text = R"(graph(%x : Tensor, %y : Tensor, %z : Tensor):
  %dim : int = prim::Constant[value=0]()
  %other : int = prim::Constant[value=DIM]()
  %in : Tensor[] = prim::ListConstruct(%x, %y)
  %a : Tensor = aten::cat(%in, %other)
  %out : Tensor[] = prim::ListConstruct(%z, %a, %x)
  %b : Tensor = aten::cat(%out, %dim)
  return (%b))";
  const auto with_dim = [&](const char* dim) {
    std::string graph = text;
    return parsed(graph.replace(graph.find("DIM"), 3, dim));
  };
  const at::Tensor x = at::rand({2, 2}), y = at::rand({3, 2}), z = at::rand({1, 2});
  const auto graph = with_dim("0");
  const at::Tensor expected = run(graph, {x, y, z});
  CHECK(CombineConcats(graph));
  graph->lint();
  CHECK(count(graph, "aten::cat") == 1);
  CHECK(run(graph, {x, y, z}).equal(expected));
  CHECK_FALSE(CombineConcats(graph));
  // Along another dimension it is another thing.
  CHECK_FALSE(CombineConcats(with_dim("1")));
}

TEST_CASE("What another concatenation has joined is used again", "[jit][passes]") {
  for (const bool first : {true, false}) {
    const auto graph = parsed(
        std::string("graph(%x : Tensor, %y : Tensor, %z : Tensor):\n"
                    "  %dim : int = prim::Constant[value=0]()\n"
                    "  %one : int = prim::Constant[value=1]()\n"
                    "  %none : NoneType = prim::Constant()\n"
                    "  %a : Tensor = prim::VarConcat(%x, %y, %dim)\n"
                    "  %b : Tensor = prim::VarConcat(") +
        (first ? "%x, %y, %z" : "%z, %x, %y") +
        ", %dim)\n"
        "  %s : Tensor = aten::mean(%a, %none)\n"
        "  %c : Tensor = aten::add(%b, %s, %one)\n"
        "  return (%c)\n");
    const at::Tensor x = at::rand({2}), y = at::rand({3}), z = at::rand({1});
    const at::Tensor expected = run(graph, {x, y, z});
    CHECK(EliminateConcatCommonInputs(graph));
    graph->lint();
    CHECK_THAT(graph->toString(false), Contains(first ? "prim::VarConcat(%6, %z, %3)" : "prim::VarConcat(%z, %6, %3)"));
    CHECK(run(graph, {x, y, z}).equal(expected));
    CHECK_FALSE(EliminateConcatCommonInputs(graph));
  }
}

TEST_CASE("Additions and relu become one operator", "[jit][passes]") {
  for (const bool in_place : {false, true}) {
    auto graph = parsed(
        std::string("graph(%x : Tensor, %y : Tensor):\n"
                    "  %two : int = prim::Constant[value=2]()\n"
                    "  %a : Tensor = aten::") +
        (in_place ? "add_" : "add") +
        "(%x, %y, %two)\n"
        "  %b : Tensor = aten::relu(%a)\n"
        "  return (%b)\n");
    const at::Tensor x = at::tensor({-5., 1.}), y = at::tensor({1., 1.});
    FuseAddRelu(graph);
    CHECK(count(graph, in_place ? "aten::_add_relu_" : "aten::_add_relu") == 1);
    CHECK(count(graph, "aten::relu") == 0);
    CHECK(run(graph, {x, y}).equal(at::tensor({0., 3.})));
  }
}

TEST_CASE("Passes for what no graph has leave it as it is", "[jit][passes]") {
  auto graph = parsed("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)\n");
  const std::string before = graph->toString();
  EliminateRedundantGuards(graph);
  InsertGuards(graph);
  RemoveProfilingNodes(graph);
  LowerGradOf(*graph);
  specializeAutogradZero(graph);
  CheckInplace(graph);
  ExpandConcatAndEliminateRedundancy(graph);
  liftClosures(graph);
  inlineForkedClosures(graph);
  AnnotateWarns(graph);
  CHECK(JIT_OPT_ALLOWED);
  CHECK(graph->toString() == before);
}

TEST_CASE("Warnings of a graph are numbered", "[jit][passes]") {
  const auto graph = parsed(R"(graph(%c : bool):
  %two : int = prim::Constant[value=2]()
  %text : str = prim::Constant[value="w"]()
   = prim::If(%c)
    block0():
       = aten::warn(%text, %two)
      -> ()
    block1():
      -> ()
   = aten::warn(%text, %two)
  return (%two))");
  AnnotateWarns(graph);
  FileCheck().check("aten::warn[warn_id=0](")->check("aten::warn[warn_id=1](")->run(*graph);
  CHECK(getAllBuiltinFunctionsFor(Symbol::aten("no_such_function")).empty());
}

namespace {

/// Gives the bytes of a text in pieces.
std::function<size_t(char*, size_t)> reader_of(const std::string& bytes) {
  return [bytes, at = size_t{0}](char* buffer, size_t size) mutable {
    const size_t taken = std::min({size, bytes.size() - at, size_t{7}});
    std::memcpy(buffer, bytes.data() + at, taken);
    at += taken;
    return taken;
  };
}

} // namespace

TEST_CASE("A pickle is written step by step and read again", "[jit][serialize]") {
  std::string bytes;
  const auto writer = [&](const char* data, size_t size) { bytes.append(data, size); };
  std::vector<at::Tensor> table;
  Pickler pickler(writer, &table, nullptr, nullptr);
  pickler.protocol();
  pickler.startTuple();
  pickler.pushInt(70000);
  pickler.pushIValue(at::ones({2}));
  c10::Dict<std::string, int64_t> dict;
  dict.insert("a", 1);
  pickler.pushDict(dict);
  pickler.pushEmptyDict();
  pickler.pushLong(std::string("\xff\x7f", 2));
  pickler.endTuple();
  CHECK(bytes.empty());
  pickler.stop();
  CHECK(table.size() == 1);
  CHECK(pickler.tensorData().empty());
  CHECK_THROWS_WITH(pickler.pushDict(1), Contains("Pickler::pushDict: expected a dict, got Int"));

  Unpickler unpickler(reader_of(bytes), nullptr, table);
  unpickler.set_version(3);
  const c10::IValue value = unpickler.parse_ivalue();
  const auto& elements = value.toTupleRef().elements();
  REQUIRE(elements.size() == 5);
  CHECK(elements[0].toInt() == 70000);
  CHECK(elements[1].toTensor().is_same(table[0]));
  CHECK(elements[2].toGenericDict().at("a").toInt() == 1);
  CHECK(elements[3].toGenericDict().empty());
  CHECK(elements[4].toInt() == 0x7fff);
  CHECK(*Unpickler::defaultTypeParser("List[int]") == *c10::ListType::ofInts());
}

TEST_CASE("Storages of a pickle lie beside it, and objects come from the loader", "[jit][serialize]") {
  const auto unit = std::make_shared<CompilationUnit>();
  const c10::ClassTypePtr type = c10::ClassType::create("__torch__.Pair", unit);
  type->addAttribute("a", c10::TensorType::get());
  type->addAttribute("b", c10::IntType::get());
  unit->register_type(type);
  const auto object = c10::ivalue::Object::create(c10::StrongTypePtr(unit, type), 2);
  object->setSlot(0, at::arange(3, at::kFloat));
  object->setSlot(1, 5);

  std::string bytes;
  std::vector<c10::ClassTypePtr> classes;
  Pickler pickler(
      [&](const char* data, size_t size) { bytes.append(data, size); }, nullptr,
      [](const c10::ClassTypePtr& each) { return c10::QualifiedName(each->name()->qualifiedName() + "2"); }, &classes);
  pickler.pushIValue(object);
  pickler.stop();
  CHECK(classes == std::vector<c10::ClassTypePtr>{type});
  REQUIRE(pickler.tensorData().size() == 1);
  CHECK(pickler.tensorData()[0].nbytes() == 12);

  std::vector<std::string> asked;
  Unpickler unpickler(
      reader_of(bytes),
      [&](const c10::QualifiedName& name) {
        asked.push_back(name.qualifiedName());
        return c10::StrongTypePtr(unit, type);
      },
      [](const c10::StrongTypePtr& strong, const c10::IValue& state) {
        auto made = c10::ivalue::Object::create(strong, 2);
        made->setAttr("a", state.toGenericDict().at("a"));
        made->setAttr("b", 6);
        return made;
      },
      [&](const std::string& key) {
        asked.push_back(key);
        at::DataPtr copy = c10::GetAllocator(c10::kCPU)->allocate(12);
        std::memcpy(copy.get(), pickler.tensorData()[0].data_ptr(), 12);
        return copy;
      },
      c10::kCPU);
  const c10::IValue read = unpickler.parse_ivalue();
  CHECK(asked == std::vector<std::string>{"__torch__.Pair2", "0"});
  CHECK(read.toObjectRef().getAttr("a").toTensor().equal(at::arange(3, at::kFloat)));
  CHECK(read.toObjectRef().getAttr("b").toInt() == 6);

  Unpickler without(reader_of(bytes), [&](const c10::QualifiedName&) { return c10::StrongTypePtr(unit, type); }, {});
  CHECK_THROWS_WITH(without.parse_ivalue(), Contains("no read_record was given"));
}
