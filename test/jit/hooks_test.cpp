// Hooks, properties and interfaces that programs define from trees.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/frontend/parser.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>
#include <torch/csrc/jit/frontend/tree_views.h>
#include <torch/script.h>

#include <sstream>
#include <string>
#include <vector>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

std::vector<Def> parsed(const std::string& source) {
  Parser parser(std::make_shared<Source>(source, "<string>", 1));
  std::vector<Def> functions;
  while (parser.lexer().cur().kind != TK_EOF) {
    functions.emplace_back(parser.parseFunction(/*is_method=*/true));
  }
  return functions;
}

std::vector<ResolverPtr> resolvers(size_t count) {
  return std::vector<ResolverPtr>(count, nativeResolver());
}

void add_hooks(const Module& module, const std::vector<Def>& hooks, const std::vector<Def>& pre_hooks) {
  const SimpleSelf self(module.type());
  module._ivalue()->compilation_unit()->define_hooks(
      module.type()->name(), hooks, resolvers(hooks.size()), pre_hooks, resolvers(pre_hooks.size()), &self);
}

Module scaling() {
  Module module("Scaling");
  module.register_parameter("k", torch::full({2}, 3.0), false);
  module.define("def forward(self, x: Tensor) -> Tensor:\n    return x * self.k\n");
  return module;
}

const char* const kPlusOne = "def plus_one(self, input: Tuple[Tensor]) -> Tensor:\n    return input[0] + 1\n";
const char* const kKeep = "def keep(self, input: Tuple[Tensor], output: Tensor):\n    print(output)\n";
const char* const kAddInput =
    "def add_input(self, input: Tuple[Tensor], output: Tensor) -> Tensor:\n    return output + input[0] + self.k\n";

Module with_hooks() {
  Module module = scaling();
  Def hook = parsed(kAddInput)[0];
  add_hooks(module, {hook, hook}, parsed(kPlusOne));
  return module;
}

float call(Module module) {
  return module({torch::ones({2})}).toTensor()[0].item<float>();
}

} // namespace

TEST_CASE("Hooks run around forward, also in programs and after saving and loading", "[jit][hooks]") {
  // x = 2 behind the pre-hook; x * 3 = 6; two times + x + k.
  const Module module = with_hooks();
  CHECK(call(module) == 16);
  CHECK(module.get_method("forward")({torch::ones({2})}).toTensor()[0].item<float>() == 3);
  CHECK(call(module.clone()) == 16);

  Module outer("Outer", module._ivalue()->compilation_unit());
  outer.register_module("child", module);
  outer.define("def forward(self, x: Tensor) -> Tensor:\n    return self.child(x) + self.child.forward(x)\n");
  CHECK(call(outer) == 19);

  std::stringstream file;
  outer.save(file);
  const Module loaded = torch::jit::load(file);
  CHECK(call(loaded) == 19);
  CHECK(call(loaded.attr("child").toModule()) == 16);
}

TEST_CASE("A hook that gives None changes nothing", "[jit][hooks]") {
  const Module module = scaling();
  add_hooks(module, parsed("def look(self, input: Tuple[Tensor], output: Tensor) -> None:\n    pass\n"), {});
  CHECK(call(module) == 3);
}

TEST_CASE("Hooks with a signature that does not fit are refused, and nothing is left behind", "[jit][hooks]") {
  const Module module = scaling();
  const auto refused = [&](const std::string& hook, const std::string& pre_hook, const std::string& words) {
    CHECK_THROWS_WITH(add_hooks(module, parsed(hook), parsed(pre_hook)), Contains(words));
    CHECK(module.type()->getForwardHooks().empty());
    CHECK(module.type()->getForwardPreHooks().empty());
  };
  refused("", "def p(self) -> None:\n    pass\n", "has 1 arguments but must have 2");
  refused("", "def p(self, input: Tuple[int]) -> None:\n    pass\n", "takes 'Tuple[int]' as inputs");
  refused("", "def p(self, input: Tuple[Tensor]) -> int:\n    return 1\n", "gives 'int' but must give None");
  refused("def h(self, input: Tuple[Tensor]) -> None:\n    pass\n", "", "has 2 arguments but must have 3");
  refused("def h(self, input: Tuple[Tensor], out: int) -> None:\n    pass\n", "", "takes 'int' as result");
  refused("def h(self, input: Tuple[Tensor], out: Tensor):\n    return y\n", "", "undefined value y");
  refused("def forward(self, input: Tuple[Tensor], out: Tensor):\n    pass\n", "", "Can't define hook: forward");
  add_hooks(module, parsed("def h(self, input: Tuple[Tensor], out: Tensor) -> int:\n    return 1\n"), {});
  CHECK_THROWS_WITH(add_hooks(module, parsed(kKeep), {}), Contains("gives 'int'"));
  CHECK_THROWS_WITH(
      module._ivalue()->compilation_unit()->define_hooks({}, parsed(kKeep), resolvers(1), {}, {}, nullptr),
      Contains("need a self"));
}

TEST_CASE("Properties of a class are methods that look like attributes", "[jit][hooks]") {
  Module module = scaling();
  const std::vector<Def> accessors = parsed(
      "def get_first(self) -> Tensor:\n    return self.k[0]\n"
      "def set_first(self, value: Tensor):\n    self.k = value.expand(2)\n");
  const SourceRange range = accessors[0].range();
  const auto property = [&](const char* name, const Maybe<Def>& setter) {
    return Property::create(range, Ident::create(range, name), accessors[0], setter);
  };
  const std::vector<Def> users =
      parsed("def change(self, x: Tensor) -> Tensor:\n    self.first = x\n    return self.first + 1\n");
  const SimpleSelf self(module.type());
  const auto unit = module._ivalue()->compilation_unit();
  CHECK_THROWS_WITH(
      unit->define(
          module.type()->name(), {property("first", Maybe<Def>::create(range))}, resolvers(1), users, resolvers(1),
          &self),
      Contains("read-only"));
  CHECK_FALSE(module.type()->getProperty("first").has_value());
  CHECK(module.find_method("get_first") == std::nullopt);
  unit->define(
      module.type()->name(), {property("first", Maybe<Def>::create(range, accessors[1]))}, resolvers(1), users,
      resolvers(1), &self);
  CHECK(module.run_method("change", torch::full({1}, 7.0)).toTensor().item<float>() == 8);
  CHECK(module.get_property("first").getter_func.name() == "get_first");
}

TEST_CASE("An interface is made from the methods that a class declares", "[jit][hooks]") {
  const auto unit = std::make_shared<CompilationUnit>();
  const auto declared = [](const std::string& source) {
    return ClassDef(Parser(std::make_shared<Source>(source, "<string>", 1)).parseClass());
  };
  unit->define_interface(
      "One", declared("class One:\n    def one(self, x: int) -> int:\n        pass\n"), nativeResolver());
  const c10::InterfaceTypePtr interface = unit->get_interface("One");
  REQUIRE(interface);
  CHECK(interface->getMethod("one")->arguments().size() == 2);
  CHECK_FALSE(interface->is_module());
  CHECK_THROWS_WITH(
      unit->define_interface("Two", declared("class Two:\n    a : int\n"), nativeResolver()),
      Contains("interface declarations can only contain method definitions"));
  CHECK_THROWS_WITH(
      unit->define_interface("Two", declared("class Two:\n    def f(self):\n        pass\n"), nativeResolver()),
      Contains("return type"));
  CHECK_THROWS_WITH(
      unit->define_interface("One", declared("class One:\n    def f(self) -> int:\n        pass\n"), nativeResolver()),
      Contains("already defined"));
  CHECK(unit->get_type("Two") == nullptr);
}
