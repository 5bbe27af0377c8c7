#include "dispatcher_support.h"

#include <aten/library/custom_class.h>

using namespace dispatcher_test;
using Catch::Matchers::Contains;
using at::Tensor;
using c10::IValue;

namespace {

struct Counter : torch::CustomClassHolder {
  Counter(int64_t start, double step) : count(start), step(step) {}
  int64_t add(int64_t n) {
    return count += n;
  }
  int64_t value() const {
    return count;
  }
  c10::intrusive_ptr<Counter> clone() const {
    return c10::make_intrusive<Counter>(count, step);
  }
  int64_t count;
  double step;
};

struct Plain : torch::CustomClassHolder {
  std::string name = "plain";
};
struct Unbound : torch::CustomClassHolder {};

IValue invoke(const char* class_name, const char* method, std::vector<IValue> args) {
  return torch::getCustomClass(std::string("__torch__.torch.classes.testing.") + class_name)
      ->getMethod(method)(std::move(args));
}

} // namespace

static auto counter_class =
    torch::class_<Counter>("testing", "Counter", "Counts.")
        .def(torch::init<int64_t, double>(), "", {torch::arg("start") = 0, torch::arg("step") = 1.5})
        .def("add", &Counter::add, "Adds.", {torch::arg("n") = int64_t{1}})
        .def("value", &Counter::value)
        .def("clone", &Counter::clone)
        .def(
            "describe",
            [](const c10::intrusive_ptr<Counter>& self, const std::string& prefix, const std::optional<Tensor>& t) {
              return std::make_tuple(prefix + std::to_string(self->count), t.has_value());
            })
        .def_static(
            "make", [](int64_t n) { return c10::make_intrusive<Counter>(n, 0.0); }, "", {torch::arg("n") = int64_t{9}})
        .def_readwrite("step", &Counter::step)
        .def_property("doubled", [](const c10::intrusive_ptr<Counter>& self) { return 2 * self->count; })
        .def_pickle(
            [](const c10::intrusive_ptr<Counter>& self) { return std::vector<int64_t>{self->count}; },
            [](std::vector<int64_t> state) { return c10::make_intrusive<Counter>(state[0], 0.0); });

TORCH_LIBRARY(testing, m) {
  m.class_<Plain>("Plain")
      .def(torch::init([] { return c10::make_intrusive<Plain>(); }))
      .def_readonly("name", &Plain::name);
  m.def("bump(__torch__.torch.classes.testing.Counter c, int by=1) -> int");
  m.def("count_of", [](Tensor, const c10::intrusive_ptr<Counter>& c) { return c->count; });
  m.def("counters(int n) -> __torch__.torch.classes.testing.Counter[]", [](int64_t n) {
    std::vector<c10::intrusive_ptr<Counter>> out;
    for (int64_t i = 0; i < n; ++i) {
      out.push_back(c10::make_intrusive<Counter>(i, 0.0));
    }
    return out;
  });
}
TORCH_LIBRARY_IMPL(testing, CompositeExplicitAutograd, m) {
  m.impl("bump", [](const c10::intrusive_ptr<Counter>& c, int64_t by) { return c->add(by); });
}

TEST_CASE("a method that returns nothing returns None", "[class]") {
  const auto type = torch::getCustomClass("__torch__.torch.classes.testing.Counter");
  CHECK(
      toString(type->getMethod("step_setter").getSchema()) ==
      "step_setter(__torch__.torch.classes.testing.Counter _0, float _1) -> NoneType _0");
  CHECK(invoke("Counter", "step_setter", {torch::make_custom_class<Counter>(5, 2.0), 3.0}).isNone());
}

TEST_CASE("objects of bound classes are copied as they are saved", "[ivalue][class]") {
  const IValue counter = torch::make_custom_class<Counter>(5, 2.0);
  const IValue copy = counter.deepcopy();
  CHECK_FALSE(copy.is(counter));
  CHECK(copy.toCustomClass<Counter>()->count == 5);
  CHECK_THROWS_WITH(IValue(c10::make_intrusive<Plain>()).deepcopy(), Catch::Matchers::Contains("def_pickle"));
}

TEST_CASE("objects of bound classes are values", "[ivalue][class]") {
  const IValue counter = torch::make_custom_class<Counter>(5, 2.0);
  CHECK(counter.isObject());
  CHECK(counter.isCustomClass());
  CHECK(torch::isCustomClass(counter));
  CHECK(counter.type()->str() == "__torch__.torch.classes.testing.Counter");
  CHECK(counter.toCustomClass<Counter>()->count == 5);
  CHECK(counter.to<c10::intrusive_ptr<Counter>>()->count == 5);
  CHECK(counter == IValue(counter.toCustomClass<Counter>()));
  CHECK(counter != torch::make_custom_class<Counter>(5, 2.0));
  CHECK_THROWS_WITH(
      counter.toCustomClass<Plain>(),
      Catch::Matchers::Contains(
          "of type __torch__.torch.classes.testing.Counter (of Python compilation unit at: 0) to custom class type "
          "__torch__.torch.classes.testing.Plain"));
  CHECK_THROWS_WITH(IValue(1).toCustomClass<Plain>(), Catch::Matchers::Contains("IValue of type Int"));
  CHECK_THROWS_WITH(
      IValue(c10::make_intrusive<Unbound>()),
      Catch::Matchers::Contains("Can't find class id in custom class type map"));
  const auto capsule = IValue::make_capsule(c10::make_intrusive<Plain>());
  CHECK(capsule.isCapsule());
}

TEST_CASE("bound methods run boxed", "[ivalue][class]") {
  const IValue counter = torch::make_custom_class<Counter>(5, 2.0);
  CHECK(invoke("Counter", "add", {counter, 3}).toInt() == 8);
  CHECK(invoke("Counter", "add", {counter}).toInt() == 9);
  CHECK(invoke("Counter", "value", {counter}).toInt() == 9);
  CHECK(invoke("Counter", "clone", {counter}).toCustomClass<Counter>()->count == 9);
  const IValue described = invoke("Counter", "describe", {counter, "n=", IValue()});
  CHECK(described.toTupleRef().elements()[0].toStringRef() == "n=9");
  const auto type = torch::getCustomClass("__torch__.torch.classes.testing.Counter");
  CHECK((*type->findStaticMethod("make"))({IValue(4)}).toCustomClass<Counter>()->count == 4);
  CHECK((*type->findStaticMethod("make"))({}).toCustomClass<Counter>()->count == 9);
  CHECK_THROWS_WITH(
      invoke("Counter", "add", {counter, "x"}),
      Catch::Matchers::Contains("Expected a value of type 'int' for argument 'n' but instead found type 'str'"));
  CHECK(type->getMethod("add").doc_string() == "Adds.");
  CHECK(type->doc_string() == "Counts.");
  CHECK(
      toString(type->getMethod("add").getSchema()) ==
      "add(__torch__.torch.classes.testing.Counter _0, int n=1) -> int _0");

  const auto step = type->getProperty("step");
  REQUIRE(step.has_value());
  (*step->setter)({counter, 7.5});
  CHECK((*step->getter)({counter}).toDouble() == 7.5);
  CHECK(type->getProperty("doubled")->setter == nullptr);
  CHECK((*type->getProperty("doubled")->getter)({counter}).toInt() == 18);
  const auto names = torch::getAllCustomClassesNames();
  CHECK(std::find(names.begin(), names.end(), "__torch__.torch.classes.testing.Plain") != names.end());
}

TEST_CASE("constructors and pickling fill a fresh object", "[ivalue][class]") {
  const auto type = torch::getCustomClass("__torch__.torch.classes.testing.Counter");
  const IValue fresh(c10::ivalue::Object::create(type, 1));
  invoke("Counter", "__init__", {fresh, 3});
  CHECK(fresh.toCustomClass<Counter>()->count == 3);
  CHECK(fresh.toCustomClass<Counter>()->step == 1.5);
  const IValue state = invoke("Counter", "__getstate__", {fresh});
  CHECK(state.toIntVector() == std::vector<int64_t>{3});
  const IValue restored(c10::ivalue::Object::create(type, 1));
  invoke("Counter", "__setstate__", {restored, state});
  CHECK(restored.toCustomClass<Counter>()->count == 3);
}

TEST_CASE("operators take and return bound classes", "[ivalue][class]") {
  const auto counter = c10::make_intrusive<Counter>(5, 0.0);
  CHECK(typed<int64_t(const c10::intrusive_ptr<Counter>&, int64_t)>("testing::bump").call(counter, 2) == 7);
  CHECK(call_boxed(find("testing::bump"), IValue(counter), 1)[0].toInt() == 8);
  CHECK(call_boxed(find("testing::count_of"), cpu_tensor(), IValue(counter))[0].toInt() == 8);
  const auto list = call_boxed(find("testing::counters"), 3)[0].toList();
  CHECK(list.get(2).toCustomClass<Counter>()->count == 2);
  CHECK_THROWS_WITH(
      call_boxed(find("testing::bump"), 1, 1),
      Catch::Matchers::Contains("Expected a value of type '__torch__.torch.classes.testing.Counter (of Python "
                                "compilation unit at: 0)' for argument 'c' "
                                "but instead found type 'int'"));
}

TEST_CASE("wrong bindings are refused", "[ivalue][class]") {
  CHECK_THROWS_WITH((torch::class_<Unbound>("testing", "Counter")), Catch::Matchers::Contains("is already registered"));
  CHECK_THROWS_WITH(
      (torch::class_<Counter>("testing", "Again")),
      Catch::Matchers::Contains("is already registered as __torch__.torch.classes.testing.Counter"));
  CHECK_THROWS_WITH(
      (torch::class_<Unbound>("testing", "1x")), Catch::Matchers::Contains("must be a valid Python/C++ identifier"));
  CHECK_THROWS_WITH(
      (torch::class_<Unbound>("testing", "Unbound")
           .def("f", [](const c10::intrusive_ptr<Unbound>&, int64_t, int64_t) {}, "", {torch::arg("a")})),
      Catch::Matchers::Contains("method f has 2 arguments beside self, but names are given for 1"));
}

TEST_CASE("members of a class type come and go", "[class]") {
  const auto type = c10::ClassType::create(c10::QualifiedName("__torch__.Members"));
  CHECK(type->addOrCheckAttribute("n", c10::IntType::get()) == 0);
  CHECK(type->addOrCheckAttribute("n", c10::IntType::get()) == 0);
  CHECK_THROWS_WITH(
      type->addOrCheckAttribute("n", c10::StringType::get()), Contains("str is not compatible with the type int"));
  CHECK_THROWS_WITH(type->addOrCheckAttribute("n", c10::IntType::get(), true), Contains("Parameter field mismatch"));
  CHECK_THROWS_WITH(type->checkNotExist("n", "method"), Contains("a field of that name already exists"));
  type->addAttribute("t", c10::TensorType::get());
  type->unsafeChangeAttributeType("n", c10::FloatType::get());
  CHECK(type->getAttribute("n")->annotation_str() == "float");
  type->unsafeRemoveAttribute("n");
  CHECK(type->getAttributeSlot("t") == 0);
  CHECK(type->containedTypes().size() == 1);

  type->addConstant("a", IValue(1));
  type->addConstant("b", IValue("two"));
  CHECK(type->constantNames().vec() == std::vector<std::string>{"a", "b"});
  type->unsafeRemoveConstant("a");
  CHECK(type->constantValues()[0].toStringRef() == "two");
  CHECK(type->getConstantSlot("b") == 0);

  auto& methods = *torch::getCustomClass("__torch__.torch.classes.testing.Counter");
  torch::jit::Function* const add = &methods.getMethod("add");
  type->addMethod(add);
  CHECK_THROWS_WITH(type->checkNotExist("add", "attribute"), Contains("a method of that name already exists"));
  type->unsafeRemoveMethod("add");
  CHECK_FALSE(type->hasMethod("add"));
  type->addForwardPreHook(add);
  type->addForwardHook(&methods.getMethod("value"));
  CHECK(type->findForwardPreHook("add") == add);
  CHECK(type->findForwardHook("add") == nullptr);
  CHECK(&type->getHook("add") == add);
  CHECK(type->getForwardHooks().size() == 1);
  CHECK(type->getForwardPreHooks().size() == 1);
  CHECK_THROWS_WITH(type->getHook("clone"), Contains("Couldn't find: 'clone'"));
}
