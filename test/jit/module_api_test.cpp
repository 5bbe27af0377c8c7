// Modules from C++: members, lists of them, methods, mode, errors. Texts are PyTorch's.
#include <catch2/catch.hpp>

#include <torch/script.h>

#include <sstream>
#include <thread>

using namespace torch::jit;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

// Parameter w, buffer b, attributes of several types, a module with one parameter.
Module example() {
  Module m("M");
  m.register_parameter("w", torch::ones({2}), false);
  m.register_buffer("b", torch::zeros({1}));
  m.register_attribute("n", IntType::get(), 3);
  m.register_attribute("s", StringType::get(), "hi");
  m.register_attribute("o", OptionalType::create(TensorType::get()), c10::IValue());
  m.register_attribute("training", BoolType::get(), true);
  Module child("C");
  child.register_parameter("v", torch::full({2}, 3.0), false);
  child.register_attribute("training", BoolType::get(), true);
  m.register_module("child", child);
  m.define(R"JIT(
def forward(self, x, k: int = 2):
    return x * self.w + self.b * k
def twice(self, x):
    return self.forward(self.forward(x))
)JIT");
  return m;
}

template <class List>
std::vector<std::string> names(const List& list) {
  std::vector<std::string> names;
  for (const auto& each : list) {
    names.push_back(each.name);
  }
  return names;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("A module's class has the name it was made with", "[jit]") {
  CHECK(Module("M").type()->name()->qualifiedName() == "__torch__.M");
  CHECK(Module("a.b.M").type()->name()->qualifiedName() == "a.b.M");
  CHECK(Module("M").num_slots() == 0);
  CHECK(Module("M").type()->is_module());
}

TEST_CASE("A class that is there already gets another name only on request", "[jit]") {
  const auto unit = std::make_shared<CompilationUnit>();
  const Module first("X", unit);
  CHECK_THROWS_WITH(Module("X", unit), Contains("class '__torch__.X' already defined."));
  CHECK(Module("X", unit, true).type()->name()->qualifiedName() == "__torch__.___torch_mangle_0.X");
  CHECK(Module("X", unit, true).type()->name()->qualifiedName() == "__torch__.___torch_mangle_1.X");
  CHECK_THROWS_WITH(Module("X", nullptr), Contains("needs a compilation unit"));
}

TEST_CASE("Lists of members have PyTorch's names and order", "[jit]") {
  const Module m = example();
  CHECK(names(m.named_parameters()) == Names{"w", "child.v"});
  CHECK(names(m.named_parameters(false)) == Names{"w"});
  CHECK(names(m.named_buffers()) == Names{"b"});
  CHECK(
      names(m.named_attributes()) == Names{"w", "b", "n", "s", "o", "training", "child", "child.v", "child.training"});
  CHECK(names(m.named_attributes(false)) == Names{"w", "b", "n", "s", "o", "training", "child"});
  CHECK(names(m.named_modules()) == Names{"", "child"});
  CHECK(names(m.named_children()) == Names{"child"});
  CHECK(m.parameters().size() == 2);
  CHECK(m.buffers(false).size() == 1);
  CHECK(m.attributes().size() == 9);
  CHECK(m.attributes(false).size() == 7);
  CHECK(m.modules().size() == 2);
  CHECK(m.children().size() == 1);
}

TEST_CASE("Members in lists are the module's own", "[jit]") {
  const Module m = example();
  const torch::NoGradGuard no_grad;
  for (const NameTensor& parameter : m.named_parameters()) {
    parameter.value.fill_(7);
  }
  CHECK(m.attr("w").toTensor()[0].item<float>() == 7);
  auto list = m.named_parameters();
  auto it = list.begin();
  CHECK(it->name == "w");
  CHECK((++it)->name == "child.v");
  CHECK(it++ != list.end());
  CHECK(it == list.end());
  std::vector<at::Tensor> parameters;
  std::copy(m.parameters().begin(), m.parameters().end(), std::back_inserter(parameters));
  CHECK(parameters.size() == 2);
}

TEST_CASE("Attributes are read and set by name", "[jit]") {
  Module m = example();
  CHECK(m.attr("n").toInt() == 3);
  CHECK(m.attr("nope", 5).toInt() == 5);
  CHECK(m.hasattr("child"));
  CHECK_FALSE(m.hasattr("nope"));
  m.setattr("n", 4);
  CHECK(m.attr("n").toInt() == 4);
  m.setattr("o", torch::ones({1}));
  CHECK(m.attr("o").isTensor());
  CHECK_THROWS_AS(m.attr("nope"), ObjectAttributeError);
  CHECK_THROWS_WITH(m.attr("nope"), StartsWith("__torch__.M") && Contains("does not have a field with name 'nope'"));
  CHECK_THROWS_WITH(m.setattr("nope", 1), Contains("Module has no attribute 'nope'"));
  CHECK_THROWS_WITH(m.setattr("n", "x"), Contains("Expected a value of type 'int' for field 'n', but found 'str'"));
  m.type()->addConstant("K", 5);
  CHECK(m.attr("K").toInt() == 5);
  CHECK(m.hasattr("K"));
  CHECK_THROWS_WITH(m.setattr("K", 6), Contains("Can't set constant 'K' which has value:5"));
}

TEST_CASE("A member that is registered again must be of the same kind", "[jit]") {
  Module m = example();
  m.register_parameter("w", torch::ones({3}), false);
  CHECK(m.attr("w").toTensor().size(0) == 3);
  CHECK(m.num_slots() == 7);
  CHECK_THROWS_WITH(
      m.register_parameter("n", torch::ones({1}), false), Contains("Parameter field mismatch for the field 'n'"));
  CHECK_THROWS_WITH(
      m.register_attribute("ip", IntType::get(), 1, true),
      Contains("Expecting parameter or buffer to have either None, Tensor or Optional[Tensor] type, but got: int"));
  CHECK_THROWS_WITH(
      m.register_attribute("ib", IntType::get(), 1, false, true), Contains("Expecting parameter or buffer"));
  CHECK_THROWS_WITH(
      m.register_attribute("both", TensorType::get(), torch::ones({1}), true, true),
      Contains("Attribute cannot be both a parameter and a buffer!"));
  CHECK_THROWS_WITH(m.register_attribute("t", nullptr, 1), Contains("attribute 't' needs a type"));
}

TEST_CASE("Methods are found by name, with their schemas", "[jit]") {
  const Module m = example();
  Method forward = m.get_method("forward");
  CHECK(forward.num_inputs() == 3);
  CHECK(c10::str(forward.function().getSchema()) == "forward(__torch__.M self, Tensor x, int k=2) -> Tensor");
  CHECK(forward.function().qualname().qualifiedName() == "__torch__.M.forward");
  CHECK(forward.getArgumentNames() == Names{"x", "k"});
  CHECK(forward.owner() == m);
  CHECK(forward.raw_owner() == m._ivalue());
  Names found;
  for (const Method& method : m.get_methods()) {
    found.push_back(method.name());
  }
  CHECK(found == Names{"forward", "twice"});
  CHECK_FALSE(m.find_method("nope"));
  CHECK_THROWS_WITH(m.get_method("nope"), Contains("Method 'nope' is not defined."));
}

TEST_CASE("A call checks its arguments and takes them by position or name", "[jit]") {
  Module m = example();
  const at::Tensor x = torch::ones({2});
  CHECK(m.forward({x}).toTensor().equal(x));
  m.attr("b").toTensor().fill_(1);
  CHECK(m.forward({x}, {{"k", 5}}).toTensor()[0].item<float>() == 6);
  CHECK(m({x, 4}).toTensor()[0].item<float>() == 5);
  CHECK(m.run_method("twice", x).toTensor()[0].item<float>() == 5);
  CHECK_THROWS_WITH(
      m.forward({}),
      Contains("forward() is missing value for argument 'x'. Declaration: "
               "forward(__torch__.M self, Tensor x, int k=2) -> Tensor"));
  CHECK_THROWS_WITH(
      m.forward({x, 1, 2}), Contains("Expected at most 3 argument(s) for operator 'forward', but received 4"));
  CHECK_THROWS_WITH(
      m.forward({1}),
      Contains("Expected a value of type 'Tensor (inferred)' for argument 'x'") &&
          Contains("instead found type 'int'") && Contains("Position: 1"));
  CHECK_THROWS_WITH(m.forward({x}, {{"z", 5}}), Contains("Unknown keyword argument 'z' for operator 'forward'"));
  CHECK_THROWS_WITH(
      m.forward({x}, {{"x", x}}), Contains("Argument 'x' specified both as positional and keyword argument"));
  CHECK_THROWS_WITH(Module("E").forward({}), Contains("Method 'forward' is not defined."));
}

TEST_CASE("A method runs on a stack and in a future", "[jit]") {
  const Module m = example();
  Method forward = m.get_method("forward");
  Stack stack{c10::IValue("below"), torch::ones({2}), 2};
  forward.run(stack);
  REQUIRE(stack.size() == 2);
  CHECK(stack[1].isTensor());
  Stack empty;
  CHECK_THROWS_WITH(forward.run(empty), Contains("takes 2 arguments"));
  const auto future = forward.run_async({torch::ones({2})});
  future->wait();
  CHECK(future->value().toTensor().equal(torch::ones({2})));
  const auto failed = forward.run_async({torch::ones({3})});
  failed->wait();
  CHECK(failed->hasError());
}

TEST_CASE("An empty module throws whatever is asked of it", "[jit]") {
  Module m;
  CHECK_THROWS_AS(m.type(), c10::Error);
  CHECK_THROWS_AS(m.forward({}), c10::Error);
  CHECK_THROWS_AS(m.parameters(), c10::Error);
  CHECK_THROWS_AS(m.attr("x"), c10::Error);
  CHECK_THROWS_AS(m.train(), c10::Error);
  CHECK_THROWS_AS(m.clone(), c10::Error);
  CHECK_THROWS_AS(m.deepcopy(), c10::Error);
  CHECK_THROWS_AS(m.dump_to_str(true, true, true), c10::Error);
  CHECK_THROWS_AS(m.define("def f(self):\n    return 1\n"), c10::Error);
  CHECK_THROWS_AS(Module("P").register_module("child", m), c10::Error);
  CHECK(m == Module());
  CHECK(m != example());
  CHECK_THROWS_AS(Method(nullptr, nullptr), c10::Error);
}

TEST_CASE("A module that contains itself throws where a walk would not end", "[jit]") {
  Module m = example();
  m.register_module("self", m);
  CHECK_THROWS_WITH(names(m.named_parameters()), Contains("contains itself"));
  CHECK_THROWS_AS(m.modules().size(), c10::Error);
  CHECK_THROWS_AS(m.apply([](Module&) {}), c10::Error);
  CHECK_THROWS_AS(m.dump_to_str(false, false, false), c10::Error);
  CHECK(m.children().size() == 2);
  m.eval(); // goes to each module once
  CHECK_FALSE(m.is_training());
  m.to(torch::kDouble);
  CHECK(m.attr("w").toTensor().dtype() == torch::kDouble);
  const Module clone = m.clone();
  CHECK(clone.attr("self").toObject() == clone._ivalue());
  for (const Module& module : {m, clone}) {
    module._ivalue()->setAttr("self", c10::IValue()); // or it would keep itself alive
  }
}

TEST_CASE("Modules that share modules are walked in reasonable time", "[jit]") {
  Module m("Leaf");
  m.register_attribute("training", BoolType::get(), true);
  for (int depth = 0; depth < 60; ++depth) {
    Module outer("N" + std::to_string(depth));
    outer.register_module("a", m);
    outer.register_module("b", m);
    m = outer;
  }
  m.eval();
  m.to(torch::kDouble);
  CHECK(m.clone().type()->name()->name() == "N59");
}

TEST_CASE("train and eval set the attribute of all modules that have it", "[jit]") {
  Module m = example();
  CHECK(m.is_training());
  m.eval();
  CHECK_FALSE(m.is_training());
  CHECK_FALSE((*m.children().begin()).is_training());
  m.train();
  CHECK((*m.children().begin()).is_training());
  Module without("E");
  without.train(false);
  CHECK(without.is_training());
}

TEST_CASE("to() changes parameters and buffers in place", "[jit]") {
  Module m = example();
  m.register_buffer("steps", torch::ones({1}, torch::kLong));
  const at::Tensor w = m.attr("w").toTensor().requires_grad_(true);
  m.to(torch::kDouble);
  CHECK(w.dtype() == torch::kDouble);
  CHECK(w.requires_grad());
  CHECK(w.is_leaf());
  CHECK(m.attr("steps").toTensor().dtype() == torch::kDouble);
  CHECK((*m.children().begin()).attr("v").toTensor().dtype() == torch::kDouble);
  m.to(torch::Device("meta"));
  CHECK(w.is_meta());
  m.to(torch::Device("meta"), torch::kHalf, true);
  CHECK(w.dtype() == torch::kHalf);
}

TEST_CASE("apply goes to a module before what is in it", "[jit]") {
  Module a("A");
  Module b("B");
  b.register_module("c", Module("C"));
  a.register_module("b", b);
  std::string order;
  a.apply([&](Module& module) { order += module.type()->name()->name(); });
  CHECK(order == "ABC");
}

TEST_CASE("What a method was traced with is kept with the handle", "[jit]") {
  Module m = example();
  CHECK(m.retrieve_traced_inputs().empty());
  m.store_traced_inputs("forward", {});
  CHECK(m.retrieve_traced_inputs().empty());
  m.store_traced_inputs("forward", {torch::ones({2})});
  CHECK(m.retrieve_traced_inputs().at("forward").size() == 1);
}

TEST_CASE("Old switches of a module warn and do nothing", "[jit]") {
  Module m = example();
  m.set_optimized(false);
  CHECK(m.is_optimized());
  std::ostringstream out;
  CHECK_THROWS_WITH(m._save_for_mobile(out), Contains("mobile interpreter"));
}

TEST_CASE("One module is called from eight threads", "[jit]") {
  Module m = example();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      Module mine = m;
      for (int i = 0; i < 100; ++i) {
        const at::Tensor x = torch::full({2}, thread);
        if (mine.run_method("twice", x).toTensor().equal(x)) {
          ++right;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(right == 800);
}

TEST_CASE("A call of a module runs its hooks, forward() does not", "[jit]") {
  Module m("Hooked");
  m.define(R"JIT(
def forward(self, x, k: int):
    return x * k
def double_input(self, input: Tuple[Tensor, int]) -> Tuple[Tensor, int]:
    return input[0] * 2, input[1]
def nothing(self, input: Tuple[Tensor, int]) -> None:
    return None
def add_one(self, input: Tuple[Tensor, int], output: Tensor):
    return output + 1
def look(self, input: Tuple[Tensor, int], output: Tensor) -> None:
    return None
)JIT");
  const auto type = m.type();
  const auto as_hook = [&](const std::string& name, bool before) {
    Function* hook = &type->getMethod(name);
    type->unsafeRemoveMethod(name);
    before ? type->addForwardPreHook(hook) : type->addForwardHook(hook);
  };
  as_hook("double_input", true);
  as_hook("nothing", true);
  as_hook("add_one", false);
  as_hook("look", false);
  const at::Tensor x = torch::ones({2});
  CHECK(m({x, 3}).toTensor().equal(torch::full({2}, 7.0)));
  CHECK(m.forward({x, 3}).toTensor().equal(torch::full({2}, 3.0)));
  std::stringstream file;
  m.save(file);
  Module loaded = load(file);
  CHECK(loaded({x, 3}).toTensor().equal(torch::full({2}, 7.0)));
  CHECK(m.clone()({x, 3}).toTensor().equal(torch::full({2}, 7.0)));
}
