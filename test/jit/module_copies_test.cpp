// Copies of modules: handles, shallow and deep copies, clones with classes of their own.
#include <catch2/catch.hpp>

#include <torch/script.h>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

Module example() {
  Module m("M");
  m.register_parameter("w", torch::ones({2}), false);
  m.register_buffer("b", torch::zeros({1}));
  m.register_attribute("list", ListType::ofInts(), c10::List<int64_t>({1, 2}));
  Module child("C");
  child.register_parameter("v", torch::full({2}, 3.0), false);
  child.define("def forward(self, x):\n    return x * self.v\n");
  m.register_module("child", child);
  m.register_module("again", child);
  m.define(R"JIT(
def forward(self, x):
    return self.child.forward(x) + self.w
def twice(self, x):
    return self.forward(self.forward(x))
)JIT");
  m.type()->addConstant("K", 5);
  return m;
}

float first(const c10::IValue& value) {
  return value.toTensor()[0].item<float>();
}

} // namespace

TEST_CASE("Copies of a handle are the same module", "[jit]") {
  const Module m = example();
  Module same = m;
  CHECK(same == m);
  same.setattr("w", torch::zeros({2}));
  CHECK(first(m.attr("w")) == 0);
}

TEST_CASE("copy() shares values, but not the slots they are in", "[jit]") {
  const Module m = example();
  Module copy = m.copy();
  CHECK(copy != m);
  CHECK(copy.type() == m.type());
  copy.attr("w").toTensor().add_(1);
  CHECK(first(m.attr("w")) == 2);
  copy.setattr("w", torch::zeros({2}));
  CHECK(first(m.attr("w")) == 2);
  copy.define("def three(self):\n    return 3\n");
  CHECK(m.get_method("three")({}).toInt() == 3);
}

TEST_CASE("deepcopy() copies tensors, lists and modules, and keeps what is shared shared", "[jit]") {
  const Module m = example();
  Module copy = m.deepcopy();
  CHECK(copy.type() == m.type());
  copy.attr("w").toTensor().add_(1);
  copy.attr("list").toIntList().push_back(3);
  CHECK(first(m.attr("w")) == 1);
  CHECK(m.attr("list").toIntList().size() == 2);
  CHECK(copy.attr("child").toObject() != m.attr("child").toObject());
  CHECK(copy.attr("child").toObject() == copy.attr("again").toObject());
  CHECK(first(copy.forward({torch::ones({2})})) == 5);
  CHECK(m.deepcopy(torch::Device("meta")).attr("w").toTensor().is_meta());
}

TEST_CASE("clone() makes classes of its own", "[jit]") {
  const Module m = example();
  Module clone = m.clone();
  CHECK(clone.type()->name()->qualifiedName() == "__torch__.___torch_mangle_0.M");
  CHECK(clone.type() != m.type());
  CHECK(clone.attr("child").toObject()->type() != m.attr("child").toObject()->type());
  CHECK(clone.attr("child").toObject() == clone.attr("again").toObject());
  CHECK(clone.attr("K").toInt() == 5);
  CHECK(clone.type()->is_parameter(0));
  CHECK(clone.type()->is_buffer(1));
  clone.attr("w").toTensor().add_(1);
  CHECK(first(m.attr("w")) == 1);
  CHECK(first(clone.run_method("twice", torch::ones({2}))) == 17);
  clone.define("def three(self):\n    return 3\n");
  CHECK_FALSE(m.find_method("three"));
  CHECK(
      c10::str(clone.get_method("forward").function().getSchema()) ==
      "forward(__torch__.___torch_mangle_0.M self, Tensor x) -> Tensor");
  CHECK(clone.clone().type()->name()->name() == "M");
}

TEST_CASE("clone() in place shares tensors, and leaves out what it is told to", "[jit]") {
  const Module m = example();
  const Module clone = m.clone(true, {"twice"}, {"list"});
  clone.attr("w").toTensor().add_(1);
  CHECK(first(m.attr("w")) == 2);
  CHECK_FALSE(clone.find_method("twice"));
  CHECK_FALSE(clone.hasattr("list"));
  CHECK(first(clone.get_method("forward")({torch::ones({2})})) == 5);
}

TEST_CASE("clone_method() binds another module's method to this one", "[jit]") {
  const Module m = example();
  Module other = m.clone();
  Module a("A");
  Module b("B");
  a.register_parameter("w", torch::ones({1}), false);
  b.register_parameter("w", torch::full({1}, 5.0), false);
  a.define("def f(self):\n    return self.w + 1\n");
  b.clone_method(a, "f");
  CHECK(first(b.run_method("f")) == 6);
  CHECK(c10::str(b.get_method("f").function().getSchema()) == "f(__torch__.B self) -> Tensor");
  CHECK_THROWS_WITH(b.clone_method(a, "nope"), Contains("Method 'nope' is not defined."));
  CHECK_THROWS_WITH(b.clone_method(a, "f"), Contains("already defined"));
}

TEST_CASE("A module keeps its code alive", "[jit]") {
  std::optional<Method> forward;
  {
    const Module m = example();
    forward = m.get_method("forward");
  }
  CHECK(first((*forward)({torch::ones({2})})) == 4);
}

TEST_CASE("Objects of a new class have no methods until they are defined", "[jit]") {
  const auto unit = std::make_shared<CompilationUnit>();
  Object object("Pair", unit);
  object.type()->addAttribute("a", IntType::get());
  object._ivalue()->setSlot(0, 4);
  object.define("def double(self):\n    return self.a * 2\n");
  CHECK(object.run_method("double").toInt() == 8);
  CHECK(object.get_methods().size() == 1);
  CHECK_FALSE(object.has_property("p"));
  CHECK_THROWS_WITH(object.get_property("p"), Contains("Property 'p' is not defined."));
  CHECK(object.copy().attr("a").toInt() == 4);
  CHECK(object.deepcopy().attr("a").toInt() == 4);
  CHECK_FALSE(object.type()->is_module());
}
