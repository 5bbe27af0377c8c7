// C++ classes and operators in TorchScript programs.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/script.h>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

struct Counter : torch::CustomClassHolder {
  Counter(int64_t n, int64_t step) : n(n), step(step) {}
  int64_t add(int64_t k) {
    return n += k * step;
  }
  int64_t get() const {
    return n;
  }
  void set(int64_t value) {
    n = value;
  }
  static int64_t twice(int64_t x) {
    return 2 * x;
  }
  int64_t n;
  int64_t step;
};
using CounterPtr = c10::intrusive_ptr<Counter>;

const auto bound_counter =
    torch::class_<Counter>("jit_test", "Counter")
        .def(torch::init<int64_t, int64_t>(), "", {torch::arg("n"), torch::arg("step") = 1})
        .def("add", &Counter::add, "", {torch::arg("k") = 1})
        .def("get", &Counter::get)
        .def("__len__", [](const CounterPtr& self) { return self->n; })
        .def("__contains__", [](const CounterPtr& self, int64_t k) { return k < self->n; })
        .def("__getitem__", [](const CounterPtr& self, int64_t k) { return self->n + k; })
        .def(
            "__add__",
            [](const CounterPtr& self, const CounterPtr& other) {
              return c10::make_intrusive<Counter>(self->n + other->n, self->step);
            })
        .def("fail", [](const CounterPtr&) -> int64_t { throw std::runtime_error("counter failed"); })
        .def_property("value", &Counter::get, &Counter::set)
        .def_static("twice", &Counter::twice)
        .def_readwrite("step", &Counter::step)
        .def_pickle(
            [](const CounterPtr& self) {
              return std::vector<int64_t>{self->n, self->step};
            },
            [](std::vector<int64_t> state) { return c10::make_intrusive<Counter>(state[0], state[1]); });

TORCH_LIBRARY(jit_test_ops, m) {
  m.def("scale", [](const at::Tensor& x, double by) { return x * by; });
  m.def(
      "scale_default(Tensor x, float by=3.0, *, bool neg=False) -> Tensor",
      [](const at::Tensor& x, double by, bool neg) { return neg ? x * -by : x * by; });
  m.def("make(int n) -> __torch__.torch.classes.jit_test.Counter", [](int64_t n) {
    return c10::make_intrusive<Counter>(n, 1);
  });
  m.def("read(__torch__.torch.classes.jit_test.Counter c) -> int", [](const CounterPtr& c) { return c->n; });
}

const RegisterOperators jit_operators({
    Operator(
        "jit_test_ops::plus_one(int a) -> int",
        [](Stack& stack) {
          const int64_t a = pop(stack).toInt();
          push(stack, a + 1);
        },
        c10::AliasAnalysisKind::FROM_SCHEMA),
});

Module with_counter() {
  Module m("M");
  m.register_attribute("c", c10::getCustomClassType<CounterPtr>(), c10::make_intrusive<Counter>(5, 2));
  return m;
}

// What `forward(self)` with this body, after "return", gives.
c10::IValue result(const std::string& expression, Stack arguments = {}) {
  Module m = with_counter();
  const std::string parameters = arguments.empty() ? "self" : "self, x";
  m.define("def forward(" + parameters + "):\n    return " + expression + "\n");
  return m.forward(std::move(arguments));
}

} // namespace

TEST_CASE("Programs call methods of C++ objects, by position, name and default", "[jit]") {
  CHECK(result("self.c.add(3)").toInt() == 11);
  CHECK(result("self.c.add()").toInt() == 7);
  CHECK(result("self.c.add(k=4)").toInt() == 13);
  CHECK(result("self.c.value").toInt() == 5);
  CHECK(result("len(self.c)").toInt() == 5);
  CHECK(result("3 in self.c").toBool());
  CHECK(result("self.c[2]").toInt() == 7);
  CHECK(result("(self.c + self.c).get()").toInt() == 10);
  CHECK_THROWS_WITH(result("self.c.fail()"), Contains("RuntimeError: counter failed") && Contains("<--- HERE"));
  CHECK_THROWS_WITH(result("self.c.nope()"), Contains("object has no attribute or method 'nope'"));
  CHECK_THROWS_WITH(result("self.c.add('a')"), Contains("Expected a value of type 'int' for argument 'k'"));
}

TEST_CASE("Programs set properties of C++ objects", "[jit]") {
  Module m = with_counter();
  m.define(R"JIT(
def forward(self):
    self.c.value = 9
    self.c.step = 7
    return self.c.add(1)
)JIT");
  CHECK(m.forward({}).toInt() == 16);
  CHECK(m.attr("c").toCustomClass<Counter>()->n == 16);
}

TEST_CASE("Programs make C++ objects and call static methods", "[jit]") {
  CHECK(result("torch.classes.jit_test.Counter(3, 4).add(1)").toInt() == 7);
  CHECK(result("torch.classes.jit_test.Counter(3).add(1)").toInt() == 4);
  CHECK(result("torch.classes.jit_test.Counter(n=3, step=2).add(1)").toInt() == 5);
  CHECK(result("torch.classes.jit_test.Counter.twice(3)").toInt() == 6);
  CHECK_THROWS_WITH(
      result("torch.classes.jit_test.Nope(3)"), Contains("nonexistent class 'torch.classes.jit_test.Nope'"));
}

TEST_CASE("C++ classes are types of parameters and elements", "[jit]") {
  for (const std::string type : {"__torch__.torch.classes.jit_test.Counter", "torch.classes.jit_test.Counter"}) {
    const auto unit = compile("def f(c: " + type + ", cs: List[" + type + "]):\n    return c.get() + len(cs)\n");
    c10::List<CounterPtr> list;
    list.push_back(c10::make_intrusive<Counter>(1, 1));
    CHECK(unit->run_method("f", c10::make_intrusive<Counter>(8, 1), list).toInt() == 9);
    CHECK_THROWS_WITH(unit->run_method("f", 1, list), Contains("Counter") && Contains("instead found type 'int'"));
  }
  CHECK_THROWS_WITH(compile("def f(c: torch.classes.jit_test.Nope):\n    return c\n"), Contains("Unknown type name"));
}

TEST_CASE("Modules with C++ objects are copied by what def_pickle gives", "[jit]") {
  const Module m = with_counter();
  const Module deep = m.deepcopy();
  const Module shallow = m.copy();
  m.attr("c").toCustomClass<Counter>()->n = 1;
  CHECK(deep.attr("c").toCustomClass<Counter>()->n == 5);
  CHECK(shallow.attr("c").toCustomClass<Counter>()->n == 1);
  CHECK(m.clone().attr("c").toCustomClass<Counter>()->n == 1);
}

TEST_CASE("Programs call operators of libraries", "[jit]") {
  CHECK(result("torch.ops.jit_test_ops.scale(x, 2.0)", {torch::ones({1})}).toTensor().item<float>() == 2);
  CHECK(result("torch.ops.jit_test_ops.scale_default(x, neg=True)", {torch::ones({1})}).toTensor().item<float>() == -3);
  CHECK(result("torch.ops.jit_test_ops.read(torch.ops.jit_test_ops.make(6))").toInt() == 6);
  CHECK(result("torch.ops.jit_test_ops.plus_one(6)").toInt() == 7);
  CHECK(result("torch.ops.aten.add(1, 2)").toInt() == 3);
  CHECK_THROWS_WITH(result("torch.ops.jit_test_ops.nope(x)", {torch::ones({1})}), Contains("nope"));
  CHECK_THROWS_WITH(
      result("torch.ops.jit_test_ops.scale(x, 'a')", {torch::ones({1})}), Contains("Expected a value of type 'float'"));
}

TEST_CASE("Operators are found and run by their schemas", "[jit]") {
  const auto operators = getAllOperatorsFor(Symbol::fromQualString("jit_test_ops::plus_one"));
  REQUIRE(operators.size() == 1);
  Stack stack{1};
  operators[0]->getOperation()(stack);
  CHECK(stack[0].toInt() == 2);
  CHECK(operators[0]->schema().arguments()[0].name() == "a");
  CHECK_FALSE(getAllOperatorsFor(Symbol::fromQualString("jit_test_ops::scale")).empty());
}
