#include "dispatcher_support.h"

#include <aten/core/custom_class_registry.h>
#include <aten/core/function.h>
#include <csrc/compat/aten/core/op_registration/op_registration.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <dlfcn.h>
#include <set>
#include <thread>

using namespace dispatcher_test;
using at::Tensor;
using c10::Dispatcher;
using c10::DispatchKey;

namespace {

int64_t one(const Tensor&) {
  return 1;
}
int64_t two(const Tensor&) {
  return 2;
}
void push_five(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  torch::jit::drop(stack, 1);
  torch::jit::push(stack, int64_t{5});
}

} // namespace

// The macros, as libraries use them.
TORCH_LIBRARY(macros, m) {
  m.def("one(Tensor a) -> int");
  m.def("inferred", [](const Tensor&, int64_t n, double, const std::string&) -> std::tuple<int64_t, Tensor> {
    return {n, Tensor()};
  });
}
TORCH_LIBRARY_IMPL(macros, CPU, m) {
  m.impl("one", one);
}
TORCH_LIBRARY_FRAGMENT(macros, m) {
  m.def(TORCH_SELECTIVE_SCHEMA("two(Tensor a) -> int"), {at::Tag::core, at::Tag::pt2_compliant_tag});
  m.impl(TORCH_SELECTIVE_NAME("two"), torch::dispatch(c10::kCPU, TORCH_FN(two)));
}
TORCH_LIBRARY_FRAGMENT(macros, m) {
  m.def(torch::schema("three(Tensor a) -> int"));
}
static auto old_style =
    torch::RegisterOperators()
        .op("oldstyle::one(Tensor a) -> int", &one)
        .op("oldstyle::inferred", torch::RegisterOperators::options().catchAllKernel<decltype(two), &two>())
        .op("oldstyle::keyed(Tensor a) -> int",
            torch::RegisterOperators::options()
                .kernel<decltype(one), &one>(DispatchKey::CPU)
                .kernel<decltype(two), &two>(DispatchKey::CUDA))
        .op("oldstyle::lambda(Tensor a, int n) -> int", [](const Tensor&, int64_t n) { return n; })
        .op("oldstyle::boxed(Tensor a) -> int", torch::RegisterOperators::options().catchAllKernel<&push_five>());

TEST_CASE("the registration macros work at load time", "[dispatcher]") {
  CHECK(typed<int64_t(const Tensor&)>("macros::one").call(cpu_tensor()) == 1);
  CHECK(typed<int64_t(const Tensor&)>("macros::two").call(cpu_tensor()) == 2);
  CHECK(
      toString(find("macros::inferred").schema()) ==
      "macros::inferred(Tensor _0, int _1, float _2, str _3) -> (int _0, Tensor _1)");
  CHECK(find("macros::two").hasTag(at::Tag::core));
  CHECK_FALSE(find("macros::two").hasTag(at::Tag::generated));
  CHECK(find("macros::three").getTags().empty());
  CHECK_THAT(find("macros::one").debug(), Says("dispatcher_registration_test.cpp:"));
}

TEST_CASE("RegisterOperators still registers", "[dispatcher]") {
  CHECK(typed<int64_t(const Tensor&)>("oldstyle::one").call(cpu_tensor()) == 1);
  CHECK(typed<int64_t(const Tensor&)>("oldstyle::inferred").call(cuda_tensor()) == 2);
  CHECK(typed<int64_t(const Tensor&)>("oldstyle::keyed").call(cuda_tensor()) == 2);
  CHECK(typed<int64_t(const Tensor&)>("oldstyle::boxed").call(cuda_tensor()) == 5);
  CHECK(call_boxed(find("oldstyle::lambda"), cpu_tensor(), int64_t{9})[0].toInt() == 9);
  {
    auto temporary = c10::RegisterOperators().op("oldstyle::gone(Tensor a) -> int", &one);
    CHECK(Dispatcher::singleton().findSchema({"oldstyle::gone", ""}).has_value());
  }
  CHECK_FALSE(Dispatcher::singleton().findSchema({"oldstyle::gone", ""}).has_value());
  CHECK_THAT(error_of([] { c10::RegisterOperators().op("oldstyle::nothing"); }), Says("there is no kernel specified"));
}

TEST_CASE("definitions and kernels go with their library", "[dispatcher]") {
  auto defs = std::make_optional(define("leaving"));
  defs->def("op(Tensor a) -> int");
  auto first = std::make_optional(implement("leaving", DispatchKey::CPU));
  first->impl("op", &one);
  const auto op = typed<int64_t(const Tensor&)>("leaving::op");
  CHECK(op.call(cpu_tensor()) == 1);

  auto second = std::make_optional(implement("leaving", DispatchKey::CPU));
  second->impl("op", &two);
  CHECK(op.call(cpu_tensor()) == 2);
  second.reset();
  CHECK(op.call(cpu_tensor()) == 1);
  first.reset();
  CHECK_THROWS_AS(op.call(cpu_tensor()), c10::NotImplementedError);

  defs.reset();
  CHECK_FALSE(Dispatcher::singleton().findSchema({"leaving::op", ""}).has_value());
  CHECK_FALSE(Dispatcher::singleton().findOp({"leaving::op", ""}).has_value());
  CHECK_THROWS_WITH(find("leaving::op"), Says("Could not find schema for leaving::op"));

  // The name is free again.
  auto again = define("leaving");
  again.def("op(Tensor a, Tensor b) -> int", [](const Tensor&, const Tensor&) -> int64_t { return 3; });
  CHECK(typed<int64_t(const Tensor&, const Tensor&)>("leaving::op").call(cpu_tensor(), cpu_tensor()) == 3);
}

TEST_CASE("kernels may come before the definition", "[dispatcher]") {
  auto cpu = implement("early", DispatchKey::CPU);
  cpu.impl("op", &one);
  CHECK(Dispatcher::singleton().findOp({"early::op", ""}).has_value());
  CHECK_FALSE(Dispatcher::singleton().findSchema({"early::op", ""}).has_value());
  CHECK_THROWS_WITH(find("early::op"), Says("we found an implementation; did you forget to def() the operator?"));
  const auto dangling = Dispatcher::singleton().findDanglingImpls();
  CHECK(std::any_of(
      dangling.begin(), dangling.end(), [](const auto& op) { return op.operator_name().name == "early::op"; }));

  SECTION("and are checked when it comes") {
    auto defs = define("early", 7);
    const std::string text = error_of([&] { defs.def("op(Tensor a, int n) -> int"); });
    CHECK_THAT(
        text, Says("Inferred operator schema for a C++ kernel function doesn't match the expected function schema"));
    CHECK_THAT(text, Says("registered at defs.cpp:7"));
    CHECK_THAT(text, Says("registered at impls.cpp:1"));
    CHECK_THAT(text, Says("The number of arguments is different. 2 vs 1."));
  }
  SECTION("and run when it fits") {
    auto defs = define("early");
    defs.def("op(Tensor a) -> int");
    CHECK(typed<int64_t(const Tensor&)>("early::op").call(cpu_tensor()) == 1);
  }
}

TEST_CASE("a kernel may name its key itself", "[dispatcher]") {
  auto defs = define("keyed");
  defs.def("op(Tensor a) -> int");
  defs.impl("op", DispatchKey::CPU, &one);
  CHECK(typed<int64_t(const Tensor&)>("keyed::op").call(cpu_tensor()) == 1);
}

TEST_CASE("wrong registrations are explained", "[dispatcher]") {
  auto defs = define("wrong", 10);
  defs.def("op(Tensor a, int n, float[] f) -> int");

  SECTION("two TORCH_LIBRARY blocks") {
    CHECK_THAT(
        error_of([] { define("wrong", 20); }),
        Says("Only a single TORCH_LIBRARY can be used to register the namespace wrong") && Says("defs.cpp:10") &&
            Says("defs.cpp:20"));
  }
  SECTION("two definitions") {
    torch::Library fragment(torch::Library::FRAGMENT, "wrong", std::nullopt, "frag.cpp", 30);
    CHECK_THAT(
        error_of([&] { fragment.def("op(Tensor a) -> Tensor"); }),
        Says("with the same name and overload name multiple times") && Says("frag.cpp:30") && Says("defs.cpp:10"));
  }
  SECTION("a kernel that does not fit the schema") {
    auto cpu = implement("wrong", DispatchKey::CPU, 40);
    const std::string text =
        error_of([&] { cpu.impl("op", [](const Tensor&, double, c10::ArrayRef<double>) -> int64_t { return 0; }); });
    CHECK_THAT(text, Says("Type mismatch in argument 2: int vs float"));
    CHECK_THAT(
        text,
        Says("expected (Tensor, int, float[])\n    inferred (Tensor, float, float[])\n                      ^ here"));
    CHECK_THAT(text, Says("wrong::op(Tensor a, int n, float[] f) -> int"));
  }
  SECTION("a result that does not fit") {
    auto cpu = implement("wrong", DispatchKey::CPU);
    CHECK_THAT(
        error_of([&] { cpu.impl("op", [](const Tensor& a, int64_t, c10::ArrayRef<double>) { return a; }); }),
        Says("Type mismatch in return 1: int vs Tensor"));
  }
  SECTION("kernels of different C++ types") {
    auto cpu = implement("wrong", DispatchKey::CPU, 50);
    cpu.impl("op", [](const Tensor&, int64_t, c10::ArrayRef<double>) -> int64_t { return 0; });
    auto cuda = implement("wrong", DispatchKey::CUDA, 60);
    const std::string text =
        error_of([&] { cuda.impl("op", [](Tensor, int64_t, std::vector<double>) -> int64_t { return 0; }); });
    CHECK_THAT(
        text,
        Says("Mismatch in kernel C++ signatures") && Says("impls.cpp:50") && Says("impls.cpp:60") &&
            Says("first difference"));
    CHECK_THAT(text, Says("dispatch key: CPU\n    registered at impls.cpp:50"));
    CHECK_THAT(text, Says("dispatch key: CUDA\n    registered at impls.cpp:60"));
    // Told before they are compared with the schema.
    CHECK_THAT(error_of([&] { cuda.impl("op", [](const Tensor&) {}); }), Says("Mismatch in kernel C++ signatures"));
    CHECK_THAT(
        error_of([] { typed<int64_t(const Tensor&)>("wrong::op"); }),
        Says("Tried to access or call an operator with a wrong signature") && Says("impls.cpp:50") && Says("^ here"));
  }
  SECTION("namespaces and blocks") {
    CHECK_THAT(
        error_of([&] { defs.def("other::op(Tensor a) -> Tensor"); }), Says("Explicitly provided namespace (other)"));
    auto cpu = implement("wrong", DispatchKey::CPU);
    CHECK_THAT(
        error_of([&] { cpu.def("op2(Tensor a) -> Tensor"); }),
        Says("Cannot define an operator inside of a TORCH_LIBRARY_IMPL block"));
    CHECK_THAT(
        error_of([&] { cpu.impl("op", torch::dispatch(DispatchKey::CUDA, &one)); }),
        Says("is inconsistent with the dispatch key"));
    CHECK_THAT(
        error_of([&] { cpu.fallback(torch::CppFunction::makeFallthrough()); }),
        Says("apply to only a single namespace"));
    CHECK_THAT(
        error_of([&] { defs.def("boxed_only", torch::CppFunction::makeFromBoxedFunction<&push_five>()); }),
        Says("couldn't infer schema"));
    CHECK_THAT(error_of([&] { define("_"); }), Says("wildcard namespace _"));
  }
}

TEST_CASE("wrong registrations of the old style are explained", "[dispatcher]") {
  using Old = torch::RegisterOperators;
  const auto says = [](auto&& registered, const char* text) { CHECK_THAT(error_of(registered), Says(text)); };
  says(
      [] { Old().op("oldwrong::none"); },
      "Cannot infer operator schema in registration of operator oldwrong::none because there is no kernel specified.");
  says(
      [] { Old().op("oldwrong::boxed", Old::options().kernel<&push_five>(DispatchKey::CPU)); },
      "Cannot infer operator schema for this kind of kernel in registration of operator oldwrong::boxed. Please "
      "explicitly "
      "specify the operator schema or specify at least one kernel for which we can infer the schema.");
  says(
      [] {
        Old().op(
            "oldwrong::all(Tensor a) -> int",
            Old::options().catchAllKernel<decltype(one), &one>().catchAllKernel<decltype(one), &one>());
      },
      "In operator registration: Tried to register multiple catch-all kernels for operator schema oldwrong::all(Tensor "
      "a) -> int");
  says(
      [] {
        Old().op(
            "oldwrong::keyed(Tensor a) -> int",
            Old::options().kernel<decltype(one), &one>(DispatchKey::CPU).kernel<decltype(one), &one>(DispatchKey::CPU));
      },
      "Tried to register multiple kernels with same dispatch key CPU for operator schema oldwrong::keyed(Tensor a) -> "
      "int");
}

TEST_CASE("alias analysis follows the written schema", "[dispatcher]") {
  using Kind = c10::AliasAnalysisKind;
  auto defs = define("aliases");
  defs.def("written(Tensor a) -> int");
  defs.def("with_kernel(Tensor a) -> int", &one);
  defs.def("inferred", &one);
  defs.def(torch::schema("pure(Tensor a) -> int", Kind::PURE_FUNCTION));
  const auto kind_of = [](const char* name) { return find(name).schema().aliasAnalysis(); };
  CHECK(kind_of("aliases::written") == Kind::FROM_SCHEMA);
  CHECK(kind_of("aliases::with_kernel") == Kind::FROM_SCHEMA);
  CHECK(kind_of("aliases::inferred") == Kind::CONSERVATIVE);
  CHECK(kind_of("aliases::pure") == Kind::PURE_FUNCTION);
  CHECK(kind_of("aten::relu") == Kind::FROM_SCHEMA);
  CHECK_FALSE(find("aliases::written").schema().isDefaultAliasAnalysisKind());
  CHECK(find("oldstyle::keyed").schema().aliasAnalysis() == Kind::CONSERVATIVE);
  CHECK(find("oldstyle::keyed").schema().isDefaultAliasAnalysisKind());
  CHECK_THAT(find("oldstyle::keyed").dumpState(), Says("alias analysis kind: CONSERVATIVE (default)\n"));
}

TEST_CASE("calls that cannot be served are explained", "[dispatcher]") {
  auto defs = define("unserved");
  defs.def("op(Tensor a, int n, str[] names) -> int");
  auto cuda = implement("unserved", DispatchKey::CUDA, 70);
  cuda.impl("op", [](const Tensor&, int64_t n, const std::vector<std::string>&) { return n; });
  const auto op = typed<int64_t(const Tensor&, int64_t, const std::vector<std::string>&)>("unserved::op");

  const std::string missing = error_of<c10::NotImplementedError>([&] { op.call(cpu_tensor(), 1, {}); });
  CHECK(missing.rfind("Could not run 'unserved::op' with arguments from the 'CPU' backend.", 0) == 0);
  CHECK_THAT(
      missing,
      Says("is only available for these backends: [CUDA") && Says("CUDA: registered at impls.cpp:70 [kernel]"));

  const auto boxed = find("unserved::op");
  CHECK_THAT(
      error_of<c10::TypeError>([&] { call_boxed(boxed, cpu_tensor()); }),
      Says("unserved::op() expected 3 argument(s) on the stack but got 1"));
  CHECK_THAT(
      error_of<c10::TypeError>([&] { call_boxed(boxed, cuda_tensor(), 1.5, std::vector<std::string>{}); }),
      Says("unserved::op() Expected a value of type 'int' for argument 'n' but instead found type 'float'.\nPosition: "
           "1"));
  CHECK_THAT(
      error_of<c10::TypeError>([&] { call_boxed(boxed, cuda_tensor(), int64_t{1}, std::vector<int64_t>{1}); }),
      Says("Expected a value of type 'List[str]' for argument 'names' but instead found type 'List[int]'"));
  CHECK_THAT(
      error_of<c10::TypeError>([&] { call_boxed(boxed, c10::IValue(), int64_t{1}, std::vector<std::string>{}); }),
      Says("Expected a value of type 'Tensor' for argument 'a' but instead found type 'NoneType'"));

  CHECK_THAT(
      error_of([] { find("unserved::opp"); }),
      Says("Could not find schema for unserved::opp. Did you mean unserved::op"));
  CHECK_THAT(
      error_of([] { find("unserved::op", "other"); }),
      Says("Could not find schema for unserved::op.other. Did you mean unserved::op"));
}

TEST_CASE("an operator tells its registrations", "[dispatcher]") {
  auto defs = define("dumped", 80);
  defs.def("op(Tensor a) -> int");
  auto cpu = implement("dumped", DispatchKey::CPU, 81);
  cpu.impl("op", &one);
  auto newer = implement("dumped", DispatchKey::CPU, 82);
  newer.impl("op", &two);
  auto implicit = implement("dumped", DispatchKey::CompositeImplicitAutograd, 83);
  implicit.impl("op", &one);
  const auto op = find("dumped::op");
  CHECK_THAT(
      op.dumpState(),
      Says("name: dumped::op\n") && Says("schema: dumped::op(Tensor a) -> int\n") &&
          Says("debug: registered at defs.cpp:80\n") &&
          Says("CPU: registered at impls.cpp:82 :: (Tensor _0) -> int _0 [ boxed unboxed ]") &&
          Says("CPU (inactive): registered at impls.cpp:81"));
  CHECK_THAT(
      op.dumpComputedTable(),
      Says("CPU: registered at impls.cpp:82 [kernel]\n") && Says("CUDA: registered at impls.cpp:83 [math kernel]\n") &&
          Says("AutogradCUDA: registered at impls.cpp:83 [math kernel]\n"));
  CHECK(op.hasKernelForDispatchKey(DispatchKey::CPU));
  CHECK_FALSE(op.hasKernelForDispatchKey(DispatchKey::CUDA));
  CHECK(op.hasKernelForAnyDispatchKey(c10::DispatchKeySet({DispatchKey::CPU, DispatchKey::CUDA})));
  const auto names = Dispatcher::singleton().getRegistrationsForDispatchKey(DispatchKey::CPU);
  CHECK(std::find(names.begin(), names.end(), c10::OperatorName("dumped::op", "")) != names.end());
  const auto all = Dispatcher::singleton().getAllOpNames();
  CHECK(std::find(all.begin(), all.end(), c10::OperatorName("dumped::op", "")) != all.end());
  Dispatcher::singleton().checkInvariants();
}

TEST_CASE("listeners hear of operators coming and going", "[dispatcher]") {
  struct Listener final : c10::OpRegistrationListener {
    explicit Listener(std::vector<std::string>* heard) : heard(heard) {}
    void onOperatorRegistered(const c10::OperatorHandle& op) override {
      if (op.operator_name().getNamespace() == "heard") {
        heard->push_back("+" + toString(op.operator_name()));
      }
    }
    void onOperatorDeregistered(const c10::OperatorHandle& op) override {
      if (op.operator_name().getNamespace() == "heard") {
        heard->push_back("-" + toString(op.operator_name()));
      }
    }
    std::vector<std::string>* heard;
  };
  std::vector<std::string> heard;
  auto defs = define("heard");
  defs.def("before(Tensor a) -> int");
  {
    const auto handle = Dispatcher::singleton().addRegistrationListener(std::make_unique<Listener>(&heard));
    defs.def("after(Tensor a) -> int");
    defs.reset();
  }
  auto unheard = define("heard");
  unheard.def("later(Tensor a) -> int");
  CHECK(
      std::set<std::string>(heard.begin(), heard.end()) ==
      std::set<std::string>{"+heard::before", "+heard::after", "-heard::before", "-heard::after"});
}

TEST_CASE("registering and calling at the same time", "[dispatcher][threads]") {
  auto defs = define("busy");
  defs.def("op(Tensor a) -> int");
  auto cpu = implement("busy", DispatchKey::CPU);
  cpu.impl("op", &one);
  const auto op = typed<int64_t(const Tensor&)>("busy::op");
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&, t] {
      const Tensor a = cpu_tensor();
      while (!stop) {
        const int64_t unboxed = op.call(a);
        if (unboxed != 1 && unboxed != 2) {
          ++wrong;
        }
        if (call_boxed(op, a)[0].toInt() > 2) {
          ++wrong;
        }
        if (!Dispatcher::singleton().findSchema({"busy::op", ""})) {
          ++wrong;
        }
        if (t == 0) {
          Dispatcher::singleton().findOp({"busy::none", ""});
        }
      }
    });
  }
  // Kernels that are added, and other operators that come and go; a running kernel itself may not be taken away.
  std::vector<torch::Library> kept;
  for (int i = 0; i < 200; ++i) {
    torch::Library fragment(torch::Library::FRAGMENT, "busy", std::nullopt, "busy.cpp", 1);
    fragment.def("extra" + std::to_string(i) + "(Tensor a) -> int", &one);
    if (i % 20 == 0) {
      kept.push_back(implement("busy", i % 40 == 0 ? DispatchKey::CPU : DispatchKey::CUDA));
      kept.back().impl("op", &two);
    }
    if (i % 2 == 0) {
      kept.push_back(std::move(fragment));
    }
  }
  stop = true;
  for (std::thread& caller : callers) {
    caller.join();
  }
  CHECK(wrong == 0);
  CHECK(op.call(cpu_tensor()) == 2);
}

TEST_CASE("libraries come and go on several threads while others look", "[dispatcher][threads]") {
  auto defs = define("crowd");
  defs.def("op(Tensor a) -> int");
  const auto op = typed<int64_t(const Tensor&)>("crowd::op");
  std::atomic<int> wrong{0};
  std::atomic<int> busy{3};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const std::string own = "crowd::own" + std::to_string(t);
      const DispatchKey key = std::array{DispatchKey::CPU, DispatchKey::XPU, DispatchKey::Meta}.at(t);
      for (int round = 0; round < 60; ++round) {
        {
          torch::Library fragment(torch::Library::FRAGMENT, "crowd", std::nullopt, "crowd.cpp", 1);
          fragment.def((own + "(Tensor a) -> int").c_str());
          // The shared operator's kernels too, on a key of each thread's own.
          auto kernels = implement("crowd", key);
          kernels.impl(own.c_str(), &one);
          kernels.impl("op", &two);
          if (call_boxed(find(own.c_str()), tensor_of(key))[0].toInt() != 1) {
            ++wrong;
          }
          if (op.call(tensor_of(key)) != 2) {
            ++wrong;
          }
        }
        if (Dispatcher::singleton().findSchema({own, ""})) {
          ++wrong;
        }
        try {
          op.call(tensor_of(key));
          ++wrong;
        } catch (const c10::NotImplementedError&) {
        }
      }
      --busy;
    });
  }
  while (busy > 0) {
    if (Dispatcher::singleton().getAllOpNames().empty() || op.dumpState().empty() || op.dumpComputedTable().empty()) {
      ++wrong;
    }
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(wrong == 0);
  Dispatcher::singleton().checkInvariants();
}

TEST_CASE("unloading a library undoes its registrations", "[dispatcher]") {
  auto defs = define("host");
  defs.def("served(Tensor a) -> int");
  const auto served = typed<int64_t(const Tensor&)>("host::served");
  const auto tally = torch::declareCustomClass("__torch__.torch.classes.plugin.Tally"); // as a schema that names it
  for (int round = 0; round < 2; ++round) {
    void* plugin = dlopen(DISPATCHER_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(plugin);
    CHECK(served.call(cpu_tensor()) == 11);
    CHECK(typed<int64_t(const Tensor&, int64_t)>("plugin::add").call(cpu_tensor(), 1) == 43);
    CHECK_THAT(find("plugin::add").debug(), Says("dispatcher_plugin.cpp:"));
    CHECK(tally->getMethod("next")(call_boxed(find("plugin::tally"))).toInt() == 1);
    REQUIRE(dlclose(plugin) == 0);
    CHECK_FALSE(Dispatcher::singleton().findOp({"plugin::add", ""}).has_value());
    CHECK_THROWS_AS(served.call(cpu_tensor()), c10::NotImplementedError);
    CHECK_FALSE(tally->hasMethod("next"));
  }
}
