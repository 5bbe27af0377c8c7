// Methods of modules from sources: members, modules in modules, containers of modules, errors.
#include <catch2/catch.hpp>

#include <torch/script.h>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

Module scaling(double by) {
  Module m("Scaling");
  m.register_parameter("k", torch::full({2}, by), false);
  m.define(R"JIT(
def forward(self, x):
    return x * self.k
def other(self, x: int) -> int:
    return x + 1
)JIT");
  return m;
}

// A module with modules: one, a list of two, and a dictionary of two.
Module example() {
  const auto unit = std::make_shared<CompilationUnit>();
  Module m("M", unit);
  m.register_parameter("w", torch::ones({2}), false);
  m.register_attribute("training", BoolType::get(), true);
  m.register_attribute("names", ListType::ofStrings(), c10::List<std::string>({"a"}));
  m.register_module("lin", scaling(3));
  Module list("ModuleList", unit);
  list.register_attribute("training", BoolType::get(), true);
  list.register_module("0", scaling(3));
  list.register_module("1", scaling(5));
  m.register_module("layers", list);
  Module dict("ModuleDict", unit);
  dict.register_module("a", scaling(2));
  dict.register_module("b", scaling(7));
  m.register_module("named", dict);
  m.type()->addConstant("K", 5);
  return m;
}

c10::IValue run(const std::string& source, Stack arguments = {}) {
  const Module m = example();
  Module(m).define(source);
  return m.get_method("forward")(std::move(arguments));
}

float value(const std::string& source) {
  return run(source, {torch::ones({2})}).toTensor()[0].item<float>();
}

} // namespace

TEST_CASE("Methods read and write attributes", "[jit]") {
  CHECK(run("def forward(self):\n    if self.training:\n        return 1\n    return 2\n").toInt() == 1);
  CHECK(run("def forward(self):\n    self.training = False\n    return self.training\n").toBool() == false);
  CHECK(run("def forward(self):\n    self.names.append('b')\n    return len(self.names)\n").toInt() == 2);
  CHECK(value("def forward(self, x):\n    self.w = self.w * 2\n    return self.w\n") == 2);
  CHECK(run("def forward(self):\n    return self.K + 1\n").toInt() == 6);
  CHECK(run("def forward(self):\n    if hasattr(self, 'w'):\n        return 1\n    return 0\n").toInt() == 1);
  CHECK(run("def forward(self):\n    return self\n").isModule());
}

TEST_CASE("Methods call methods, of their module and of modules in it", "[jit]") {
  CHECK(value("def forward(self, x):\n    return self.lin.forward(x)\n") == 3);
  CHECK(value("def forward(self, x):\n    return self.lin(x)\n") == 3);
  CHECK(run("def forward(self):\n    return self.lin.other(x=3)\n").toInt() == 4);
  CHECK(value("def forward(self, x):\n    return self.lin.k\n") == 3);
  CHECK(value("def forward(self, x):\n    return getattr(self.layers, '0').forward(x)\n") == 3);
  CHECK(value("def forward(self, x):\n    ms = [self.lin, self.lin]\n    return ms[1].forward(x)\n") == 3);
  CHECK(run("def g(self, n: int):\n    return n * 2\ndef forward(self):\n    return self.g(4)\n").toInt() == 8);
  CHECK(run("def forward(self, s: str = 'a', *, k: int = 3):\n    return s + str(k)\n").toStringRef() == "a3");
}

TEST_CASE("Lists of modules are gone through, indexed and called", "[jit]") {
  CHECK(value("def forward(self, x):\n    for l in self.layers:\n        x = l(x)\n    return x\n") == 15);
  CHECK(
      value("def forward(self, x):\n    for i, l in enumerate(self.layers):\n        x = l(x) + i\n    return x\n") ==
      16);
  CHECK(value("def forward(self, x):\n    return self.layers[0](x) + self.layers[-1](x)\n") == 8);
  CHECK(value("def forward(self, x):\n    for l in self.layers[1:]:\n        x = l(x)\n    return x\n") == 5);
  CHECK(value("def forward(self, x):\n    return self.layers(x)\n") == 15);
  CHECK(value("def forward(self, x):\n    ys = [l(x) for l in self.layers]\n    return ys[0] + ys[1]\n") == 8);
  CHECK(run("def forward(self):\n    return len(self.layers)\n").toInt() == 2);
  CHECK_THROWS_WITH(run("def forward(self, x):\n    return self.layers[2](x)\n"), Contains("list index out of range"));
  CHECK_THROWS_WITH(
      run("def forward(self, i: int, x):\n    return self.layers[i](x)\n"),
      Contains("ModuleList and Sequential indexing is only supported with integer literals"));
}

TEST_CASE("Dictionaries of modules are gone through by name", "[jit]") {
  CHECK(value("def forward(self, x):\n    return self.named['b'](x)\n") == 7);
  CHECK(value("def forward(self, x):\n    for k, l in self.named.items():\n        x = l(x)\n    return x\n") == 14);
  CHECK(value("def forward(self, x):\n    for l in self.named.values():\n        x = l(x)\n    return x\n") == 14);
  CHECK(
      run("def forward(self):\n    s = ''\n    for k in self.named:\n        s += k\n    for k in self.named.keys():\n"
          "        s += k\n    return s\n")
          .toStringRef() == "abab");
  CHECK(run("def forward(self):\n    return 'a' in self.named\n").toBool());
  CHECK(run("def forward(self):\n    return 'c' not in self.named\n").toBool());
  CHECK_THROWS_WITH(run("def forward(self, x):\n    return self.named['c'](x)\n"), Contains("Key Error, c"));
}

TEST_CASE("What methods cannot do is said with its place", "[jit]") {
  CHECK_THROWS_AS(run("def forward(self):\n    return self.nope\n"), ErrorReport);
  CHECK_THROWS_WITH(
      run("def forward(self):\n    return self.nope\n"),
      Contains("object has no attribute or method 'nope'. Did you forget to initialize an attribute in __init__()?") &&
          Contains("<--- HERE"));
  CHECK_THROWS_WITH(
      run("def forward(self):\n    self.training = 3\n    return 1\n"),
      Contains("Wrong type for attribute assignment. Expected bool but got int"));
  CHECK_THROWS_WITH(
      run("def forward(self):\n    self.fresh = 3\n    return 1\n"),
      Contains("Tried to set nonexistent attribute: fresh. Did you forget to initialize it in __init__()?"));
  CHECK_THROWS_WITH(run("def forward():\n    return 1\n"), Contains("methods must have a self argument"));
  CHECK_THROWS_WITH(
      run("def forward(self, n: int) -> int:\n    if n < 1:\n        return 0\n    return self.forward(n - 1)\n"),
      Contains("called recursively. Recursive calls are not supported"));
  CHECK_THROWS_WITH(
      run("def forward(self, x):\n    for y in self.lin:\n        x = y\n    return x\n"), Contains("is not iterable"));
  CHECK_THROWS_WITH(run("def forward(self:\n"), Contains("expected ident but found 'eof' here:"));
}

TEST_CASE("A source that is wrong defines nothing", "[jit]") {
  Module m = example();
  CHECK_THROWS(m.define("def good(self):\n    return 1\ndef bad(self):\n    return self.nope\n"));
  CHECK_FALSE(m.find_method("good"));
  CHECK_FALSE(m.find_method("bad"));
  m.define("def good(self):\n    return 2\n");
  CHECK(m.run_method("good").toInt() == 2);
  CHECK_THROWS_WITH(m.define("def good(self):\n    return 3\n"), Contains("good"));
  CHECK(m.run_method("good").toInt() == 2);
}
