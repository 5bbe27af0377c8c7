#include "dispatcher_support.h"

#include <map>
#include <set>

using namespace dispatcher_test;
using at::Tensor;
using c10::DispatchKey;

// For each set of registrations: which kernel every kind of key ends with. One line is one rule of the order.

namespace {

const std::map<std::string, DispatchKey> kKeys = {
    {"CPU", DispatchKey::CPU},
    {"Autograd", DispatchKey::Autograd},
    {"AutogradCPU", DispatchKey::AutogradCPU},
    {"Implicit", DispatchKey::CompositeImplicitAutograd},
    {"Explicit", DispatchKey::CompositeExplicitAutograd},
    {"NonFunctional", DispatchKey::CompositeExplicitAutogradNonFunctional},
    {"QuantizedCPU", DispatchKey::QuantizedCPU},
    {"Meta", DispatchKey::Meta},
    {"AutogradOther", DispatchKey::AutogradOther},
    {"FPGA", DispatchKey::FPGA},
};

void say_fallback(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  torch::jit::drop(stack, 1);
  torch::jit::push(stack, std::string("fallback"));
}

struct Row {
  std::set<std::string> registered;
  // Who serves a tensor with the key, autograd key included; "-" for nobody, "!" for an ambiguity.
  std::string cpu, autograd_cpu, cuda, autograd_cuda, undefined, quantized_cpu, fpga;
};

const Row kRows[] = {
    {{"CPU"}, "CPU", "through", "-", "through", "-", "-", "-"},
    {{"Implicit"}, "Implicit", "Implicit", "Implicit", "Implicit", "Implicit", "Implicit", "Implicit"},
    {{"Explicit"}, "Explicit", "through", "Explicit", "through", "Explicit", "Explicit", "Explicit"},
    {{"NonFunctional"},
     "NonFunctional",
     "through",
     "NonFunctional",
     "through",
     "NonFunctional",
     "NonFunctional",
     "NonFunctional"},
    {{"CPU", "Implicit"}, "CPU", "through", "Implicit", "Implicit", "Implicit", "Implicit", "Implicit"},
    {{"CPU", "Explicit"}, "CPU", "through", "Explicit", "through", "Explicit", "Explicit", "Explicit"},
    {{"CPU", "Autograd"}, "CPU", "Autograd", "-", "Autograd", "-", "-", "-"},
    {{"CPU", "Autograd", "AutogradCPU"}, "CPU", "AutogradCPU", "-", "Autograd", "-", "-", "-"},
    {{"Implicit", "Autograd"}, "Implicit", "Implicit", "Implicit", "Implicit", "Implicit", "Implicit", "Implicit"},
    {{"CPU", "Implicit", "Autograd"}, "CPU", "Autograd", "Implicit", "Implicit", "Implicit", "Implicit", "Implicit"},
    {{"Explicit", "Autograd"}, "Explicit", "Autograd", "Explicit", "Autograd", "Explicit", "Explicit", "Explicit"},
    {{"Explicit", "Implicit"}, "Explicit", "through", "Explicit", "through", "Explicit", "Explicit", "Explicit"},
    {{"NonFunctional", "Explicit"},
     "NonFunctional",
     "through",
     "NonFunctional",
     "through",
     "NonFunctional",
     "NonFunctional",
     "NonFunctional"},
    {{"QuantizedCPU", "Implicit"},
     "Implicit",
     "Implicit",
     "Implicit",
     "Implicit",
     "Implicit",
     "QuantizedCPU",
     "Implicit"},
    {{"FPGA", "Implicit"}, "Implicit", "Implicit", "Implicit", "Implicit", "Implicit", "Implicit", "FPGA"},
};

} // namespace

TEST_CASE("alias keys serve in libtorch's order", "[dispatcher]") {
  for (const Row& row : kRows) {
    std::string title;
    for (const std::string& name : row.registered) {
      title += name + " ";
    }
    CAPTURE(title);
    auto defs = define("order");
    defs.def("who(Tensor a) -> str");
    std::vector<torch::Library> impls;
    for (const std::string& name : row.registered) {
      impls.push_back(implement("order", kKeys.at(name)));
      impls.back().impl("who", [name](const Tensor&) { return name; });
    }
    const c10::OperatorHandle op = find("order::who");
    const auto who = [&](DispatchKey key) -> std::string {
      if (!op.hasComputedKernelForDispatchKey(key)) {
        return "-";
      }
      const c10::KernelFunction& kernel = op.getComputedKernelForDispatchKey(key);
      if (kernel.isFallthrough()) {
        return "through";
      }
      torch::jit::Stack stack{cpu_tensor()};
      kernel.callBoxed(op, c10::DispatchKeySet(key), &stack);
      return stack[0].toStringRef();
    };
    CHECK(who(DispatchKey::CPU) == row.cpu);
    CHECK(who(DispatchKey::AutogradCPU) == row.autograd_cpu);
    CHECK(who(DispatchKey::CUDA) == row.cuda);
    CHECK(who(DispatchKey::AutogradCUDA) == row.autograd_cuda);
    CHECK(who(DispatchKey::Undefined) == row.undefined);
    CHECK(who(DispatchKey::QuantizedCPU) == row.quantized_cpu);
    CHECK(who(DispatchKey::FPGA) == row.fpga);
    // The same through a call: what the table holds is what was computed.
    if (row.cpu != "-") {
      const std::string expected = row.autograd_cpu == "through" ? row.cpu : row.autograd_cpu;
      CHECK(typed<std::string(const Tensor&)>("order::who").call(cpu_tensor()) == expected);
    }
    op.checkInvariants();
  }
}

TEST_CASE("a kernel for a backend that shares AutogradOther beside a composite kernel is ambiguous", "[dispatcher]") {
  auto defs = define("ambiguous");
  defs.def("who(Tensor a) -> str", [](const Tensor&) -> std::string { return "Implicit"; });
  auto fpga = implement("ambiguous", DispatchKey::FPGA);
  fpga.impl("who", [](const Tensor&) -> std::string { return "FPGA"; });
  const auto op = typed<std::string(const Tensor&)>("ambiguous::who");
  CHECK(op.call(cpu_tensor()) == "Implicit");
  const Tensor a = tensor_of(c10::DispatchKeySet({DispatchKey::FPGA, DispatchKey::AutogradOther}));
  CHECK_THAT(error_of([&] { op.call(a); }), Says("CompositeImplicitAutograd and a backend mapped to AutogradOther"));
}

TEST_CASE("backend fallbacks come last", "[dispatcher]") {
  auto defs = define("last");
  defs.def("who(Tensor a) -> str");
  torch::Library fallback(torch::Library::IMPL, "_", DispatchKey::PrivateUse2, "fb.cpp", 1);
  fallback.fallback(torch::CppFunction::makeFromBoxedFunction<&say_fallback>());
  const Tensor a = tensor_of(DispatchKey::PrivateUse2);
  const auto op = typed<std::string(const Tensor&)>("last::who");
  CHECK(op.call(a) == "fallback");
  auto impl = implement("last", DispatchKey::CompositeExplicitAutograd);
  impl.impl("who", [](const Tensor&) -> std::string { return "Explicit"; });
  CHECK(op.call(a) == "Explicit");
  impl.reset();
  CHECK(op.call(a) == "fallback");
  CHECK(c10::Dispatcher::singleton().hasBackendFallbackForDispatchKey(DispatchKey::PrivateUse2));
  CHECK_THAT(
      error_of([] {
        torch::Library again(torch::Library::IMPL, "_", DispatchKey::PrivateUse2, "fb.cpp", 2);
        again.fallback(torch::CppFunction::makeFallthrough());
      }),
      Says("previous registration registered at fb.cpp:1, new registration registered at fb.cpp:2"));
}
