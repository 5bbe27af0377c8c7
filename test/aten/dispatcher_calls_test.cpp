#include "dispatcher_support.h"

#include <aten/core/LegacyTypeDispatch.h>

using namespace dispatcher_test;
using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;

namespace {

Tensor first(const Tensor& a, const Tensor&) {
  return a;
}
Tensor second(const Tensor&, const Tensor& b) {
  return b;
}
int64_t sum_of(c10::IntArrayRef sizes, int64_t n) {
  for (const int64_t size : sizes) {
    n += size;
  }
  return n;
}
Tensor& touch_(Tensor& self, double) {
  return self;
}
Tensor& copy_out(const Tensor&, Tensor& out) {
  return out;
}
std::tuple<Tensor&, Tensor&> pair_out(const Tensor&, Tensor& a, Tensor& b) {
  return {a, b};
}
// Returns what the operator writes: the last arguments, or the first for in-place operators.
void written_arguments(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t results = op.schema().returns().size();
  const size_t arguments = op.schema().arguments().size();
  if (op.operator_name().overload_name.empty()) {
    torch::jit::drop(stack, arguments - results);
  } else {
    stack->erase(
        stack->end() - static_cast<std::ptrdiff_t>(arguments), stack->end() - static_cast<std::ptrdiff_t>(results));
  }
}

std::vector<std::string> g_seen;
void note_and_pass_on(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
  g_seen.push_back(toString(op.operator_name()));
  op.redispatchBoxed(
      keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::FuncTorchDynamicLayerBackMode), stack);
}

int g_autograd_calls = 0;
void count_and_pass_on(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
  ++g_autograd_calls;
  op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
}

std::tuple<Tensor, int64_t> pair_of(const Tensor& a) {
  return {a, 7};
}

} // namespace

TEST_CASE("a call reaches the kernel of its tensors' backend", "[dispatcher]") {
  auto defs = define("calls");
  defs.def("pick(Tensor a, Tensor b) -> Tensor");
  auto cpu = implement("calls", DispatchKey::CPU);
  cpu.impl("pick", &first);
  auto cuda = implement("calls", DispatchKey::CUDA);
  cuda.impl("pick", TORCH_FN(second));

  const auto op = typed<Tensor(const Tensor&, const Tensor&)>("calls::pick");
  const Tensor a = cpu_tensor();
  const Tensor b = cpu_tensor();
  CHECK(op.call(a, b).is_same(a));
  CHECK(c10::Dispatcher::singleton().call(op, a, b).is_same(a));
  CHECK(op.call(cuda_tensor(), a).is_same(a));
  // Any argument of a higher backend decides.
  const Tensor c = cuda_tensor();
  CHECK(op.call(a, c).is_same(c));

  auto stack = call_boxed(op, a, b);
  REQUIRE(stack.size() == 1);
  CHECK(stack[0].toTensor().is_same(a));

  CHECK(op.redispatch(DispatchKeySet(DispatchKey::CUDA), a, b).is_same(b));
  torch::jit::Stack redispatched{a, b};
  op.redispatchBoxed(DispatchKeySet(DispatchKey::CUDA), &redispatched);
  CHECK(redispatched[0].toTensor().is_same(b));
}

TEST_CASE("the stack below a boxed call's arguments stays as it is", "[dispatcher]") {
  auto defs = define("below");
  defs.def("pick(Tensor a, Tensor b) -> Tensor", &first);
  torch::jit::Stack stack{int64_t{42}, cpu_tensor(), cpu_tensor()};
  find("below::pick").callBoxed(&stack);
  REQUIRE(stack.size() == 2);
  CHECK(stack[0].toInt() == 42);
}

TEST_CASE("operators without tensors", "[dispatcher]") {
  auto defs = define("notensor");
  defs.def("sum_of(int[] sizes, int n) -> int", &sum_of);
  const auto op = typed<int64_t(c10::IntArrayRef, int64_t)>("notensor::sum_of");
  CHECK(op.call({1, 2, 3}, 4) == 10);
  CHECK(call_boxed(op, std::vector<int64_t>{1, 2}, int64_t{3})[0].toInt() == 6);
}

TEST_CASE("BackendSelect kernels route operators without tensors", "[dispatcher]") {
  auto defs = define("factory");
  defs.def("make(Device device) -> int");
  auto cpu = implement("factory", DispatchKey::CPU);
  cpu.impl("make", [](c10::Device) -> int64_t { return 1; });
  auto cuda = implement("factory", DispatchKey::CUDA);
  cuda.impl("make", [](c10::Device) -> int64_t { return 2; });
  const auto op = typed<int64_t(c10::Device)>("factory::make");
  // Without a BackendSelect kernel there is nowhere to go.
  CHECK_THAT(
      error_of<c10::NotImplementedError>([&] { op.call(c10::kCPU); }),
      Says("There were no tensor arguments to this function"));

  auto select = implement("factory", DispatchKey::BackendSelect);
  select.impl("make", [](c10::Device device) -> int64_t {
    const auto self = typed<int64_t(c10::Device)>("factory::make");
    return self.redispatch(DispatchKeySet(device.is_cuda() ? DispatchKey::CUDA : DispatchKey::CPU), device);
  });
  CHECK(op.call(c10::kCPU) == 1);
  CHECK(op.call(c10::kCUDA) == 2);
  CHECK(call_boxed(op, c10::Device(c10::kCUDA))[0].toInt() == 2);
}

TEST_CASE("kernels may take the key set", "[dispatcher]") {
  auto defs = define("keyset");
  defs.def("seen(Tensor a) -> int", [](DispatchKeySet keys, const Tensor&) -> int64_t {
    return static_cast<int64_t>(keys.raw_repr());
  });
  const auto op = typed<int64_t(const Tensor&)>("keyset::seen");
  const DispatchKeySet seen = DispatchKeySet::from_raw_repr(static_cast<uint64_t>(op.call(cpu_tensor())));
  CHECK(seen.has(DispatchKey::CPU));
  CHECK(find("keyset::seen").schema().arguments().size() == 1);
}

TEST_CASE("references returned by in-place and out forms are the arguments", "[dispatcher]") {
  auto defs = define("refs");
  defs.def("touch_(Tensor(a!) self, float by) -> Tensor(a!)", &touch_);
  defs.def("copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", &copy_out);
  defs.def("pair.out(Tensor self, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))", &pair_out);
  Tensor a = cpu_tensor();
  Tensor b = cpu_tensor();
  Tensor c = cpu_tensor();
  CHECK(&typed<Tensor&(Tensor&, double)>("refs::touch_").call(a, 1.0) == &a);
  CHECK(&typed<Tensor&(const Tensor&, Tensor&)>("refs::copy", "out").call(a, b) == &b);
  auto boxed = call_boxed(find("refs::copy", "out"), a, b);
  CHECK(boxed[0].toTensor().is_same(b));
  boxed = call_boxed(find("refs::pair", "out"), a, b, c);
  REQUIRE(boxed.size() == 2);
  CHECK(boxed[1].toTensor().is_same(c));
  boxed = call_boxed(find("refs::touch_"), a, 1.0);
  CHECK(boxed[0].toTensor().is_same(a));

  SECTION("also when the kernel is boxed") {
    auto fallback = torch::Library(torch::Library::IMPL, "_", DispatchKey::PrivateUse1, "fb.cpp", 1);
    fallback.fallback(torch::CppFunction::makeFromBoxedFunction<&written_arguments>());
    auto only_boxed = define("refs2");
    only_boxed.def("touch_(Tensor(a!) self, float by) -> Tensor(a!)");
    only_boxed.def("copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
    only_boxed.def("pair.out(Tensor self, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))");
    Tensor p = tensor_of(DispatchKey::PrivateUse1);
    Tensor q = tensor_of(DispatchKey::PrivateUse1);
    Tensor r = tensor_of(DispatchKey::PrivateUse1);
    CHECK(&typed<Tensor&(Tensor&, double)>("refs2::touch_").call(p, 1.0) == &p);
    CHECK(&typed<Tensor&(const Tensor&, Tensor&)>("refs2::copy", "out").call(p, q) == &q);
    const auto both =
        typed<std::tuple<Tensor&, Tensor&>(const Tensor&, Tensor&, Tensor&)>("refs2::pair", "out").call(p, q, r);
    CHECK(&std::get<0>(both) == &q);
    CHECK(&std::get<1>(both) == &r);
  }
}

TEST_CASE("tuples become several results", "[dispatcher]") {
  auto defs = define("tuples");
  defs.def("pair_of(Tensor a) -> (Tensor, int)", &pair_of);
  defs.def("nothing(Tensor a) -> ()", [](const Tensor&) {});
  const auto stack = call_boxed(find("tuples::pair_of"), cpu_tensor());
  REQUIRE(stack.size() == 2);
  CHECK(stack[1].toInt() == 7);
  CHECK(call_boxed(find("tuples::nothing"), cpu_tensor()).empty());
  typed<void(const Tensor&)>("tuples::nothing").call(cpu_tensor());
}

TEST_CASE("plain and symbolic kernels serve symbolic schemas", "[dispatcher]") {
  auto defs = define("sym");
  defs.def("plain(Tensor a, SymInt n, SymInt[] sizes, SymInt? m, SymInt[]? more) -> int");
  defs.def("symbolic(Tensor a, SymInt n, SymInt[] sizes) -> SymInt");
  auto cpu = implement("sym", DispatchKey::CPU);
  cpu.impl(
      "plain",
      [](const Tensor&, int64_t n, c10::IntArrayRef sizes, std::optional<int64_t> m,
         c10::OptionalIntArrayRef more) -> int64_t {
        return n * 1000 + static_cast<int64_t>(sizes.size()) * 100 + m.value_or(0) +
            (more.has_value() ? more->back() : 0);
      });
  cpu.impl(
      "symbolic", [](const Tensor&, c10::SymInt n, c10::SymIntArrayRef sizes) -> c10::SymInt { return n + sizes[0]; });

  const auto plain = typed<int64_t(
      const Tensor&, c10::SymInt, c10::SymIntArrayRef, std::optional<c10::SymInt>, at::OptionalSymIntArrayRef)>(
      "sym::plain");
  const std::vector<c10::SymInt> sizes{2, 3};
  CHECK(plain.call(cpu_tensor(), 5, sizes, c10::SymInt(4), std::nullopt) == 5204);
  CHECK(plain.call(cpu_tensor(), 5, sizes, std::nullopt, c10::SymIntArrayRef(sizes)) == 5203);
  CHECK(
      call_boxed(plain, cpu_tensor(), int64_t{5}, std::vector<int64_t>{1}, c10::IValue(), c10::IValue())[0].toInt() ==
      5100);

  const auto symbolic = typed<c10::SymInt(const Tensor&, c10::SymInt, c10::SymIntArrayRef)>("sym::symbolic");
  CHECK(symbolic.call(cpu_tensor(), 5, sizes) == 7);
  CHECK(call_boxed(symbolic, cpu_tensor(), int64_t{5}, std::vector<int64_t>{2})[0].toInt() == 7);
}

TEST_CASE("keys come from every kind of tensor argument", "[dispatcher]") {
  auto defs = define("sources");
  defs.def("optional(int n, Tensor? a) -> str");
  defs.def("list(Tensor[] a) -> str");
  defs.def("optional_list(Tensor?[] a) -> str");
  for (const DispatchKey key : {DispatchKey::CPU, DispatchKey::CUDA}) {
    static std::vector<torch::Library> impls;
    if (key == DispatchKey::CPU) {
      impls.clear();
    }
    auto impl = implement("sources", key);
    const std::string name = toString(key);
    impl.impl("optional", [name](int64_t, const std::optional<Tensor>&) { return name; });
    impl.impl("list", [name](at::TensorList) { return name; });
    impl.impl("optional_list", [name](const c10::List<std::optional<Tensor>>&) { return name; });
    impls.push_back(std::move(impl));
    if (key == DispatchKey::CPU) {
      continue;
    }

    const auto optional = typed<std::string(int64_t, const std::optional<Tensor>&)>("sources::optional");
    CHECK(optional.call(1, cuda_tensor()) == "CUDA");
    CHECK(call_boxed(optional, int64_t{1}, cpu_tensor())[0].toStringRef() == "CPU");
    CHECK_THROWS_AS(optional.call(1, std::nullopt), c10::NotImplementedError);
    const auto list = typed<std::string(at::TensorList)>("sources::list");
    CHECK(list.call({cpu_tensor(), cuda_tensor()}) == "CUDA");
    CHECK(call_boxed(list, std::vector<Tensor>{cpu_tensor()})[0].toStringRef() == "CPU");
    const auto optional_list = typed<std::string(const c10::List<std::optional<Tensor>>&)>("sources::optional_list");
    const c10::List<std::optional<Tensor>> tensors{std::nullopt, cuda_tensor()};
    CHECK(optional_list.call(tensors) == "CUDA");
    CHECK(call_boxed(optional_list, tensors)[0].toStringRef() == "CUDA");
    impls.clear();
  }
}

TEST_CASE("thread state includes and excludes keys", "[dispatcher]") {
  auto defs = define("tls");
  defs.def("where(Tensor a) -> str");
  auto cpu = implement("tls", DispatchKey::CPU);
  cpu.impl("where", [](const Tensor&) -> std::string { return "CPU"; });
  auto autograd = implement("tls", DispatchKey::Autograd);
  autograd.impl("where", [](const Tensor& a) -> std::string {
    const at::AutoDispatchBelowAutograd guard;
    return "Autograd " + typed<std::string(const Tensor&)>("tls::where").call(a);
  });
  auto view = implement("tls", DispatchKey::ADInplaceOrView);
  view.impl("where", [](const Tensor& a) -> std::string {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return "View " + typed<std::string(const Tensor&)>("tls::where").call(a);
  });
  auto mode = implement("tls", DispatchKey::FuncTorchDynamicLayerFrontMode);
  mode.impl("where", [](const Tensor&) -> std::string { return "Mode"; });

  const auto op = typed<std::string(const Tensor&)>("tls::where");
  const Tensor a = cpu_tensor();
  CHECK(op.call(a) == "Autograd View CPU");
  {
    const at::AutoDispatchBelowAutograd guard;
    CHECK(op.call(a) == "View CPU");
    CHECK(call_boxed(op, a)[0].toStringRef() == "View CPU");
  }
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    CHECK(op.call(a) == "CPU");
    const at::AutoNonVariableTypeMode older;
    CHECK(op.call(a) == "CPU");
  }
  {
    const c10::impl::IncludeDispatchKeyGuard guard(DispatchKey::FuncTorchDynamicLayerFrontMode);
    CHECK(op.call(a) == "Mode");
    const c10::impl::ExcludeDispatchKeyGuard no_mode(DispatchKey::FuncTorchDynamicLayerFrontMode);
    CHECK(op.call(a) == "Autograd View CPU");
  }
  CHECK(op.call(a) == "Autograd View CPU");
}

TEST_CASE("fallthrough kernels pass calls on", "[dispatcher]") {
  auto defs = define("through");
  defs.def("where(Tensor a) -> str");
  auto cpu = implement("through", DispatchKey::CPU);
  cpu.impl("where", [](const Tensor&) -> std::string { return "CPU"; });
  auto cuda = implement("through", DispatchKey::CUDA);
  cuda.impl("where", [](const Tensor&) -> std::string { return "CUDA"; });
  const auto op = typed<std::string(const Tensor&)>("through::where");
  CHECK(op.call(cpu_tensor()) == "CPU");

  auto autograd = implement("through", DispatchKey::Autograd);
  autograd.impl("where", [](const Tensor&) -> std::string { return "Autograd"; });
  CHECK(op.call(cpu_tensor()) == "Autograd");

  // Of one functionality the CPU instance falls through, the CUDA instance does not.
  auto autograd_cpu = implement("through", DispatchKey::AutogradCPU);
  autograd_cpu.impl("where", torch::CppFunction::makeFallthrough());
  CHECK(op.call(cpu_tensor()) == "CPU");
  CHECK(op.call(cuda_tensor()) == "Autograd");
  CHECK(call_boxed(op, cpu_tensor())[0].toStringRef() == "CPU");
  autograd_cpu.reset();
  CHECK(op.call(cpu_tensor()) == "Autograd");
}

TEST_CASE("boxed fallbacks see operators of every namespace", "[dispatcher]") {
  auto defs = define("fb");
  defs.def("scale(Tensor a, float by, *, str mode=\"x\") -> Tensor");
  auto cpu = implement("fb", DispatchKey::CPU);
  cpu.impl("scale", [](const Tensor& a, double, std::string_view) { return a; });
  g_seen.clear();
  torch::Library fallback(torch::Library::IMPL, "_", DispatchKey::FuncTorchDynamicLayerBackMode, "fb.cpp", 3);
  fallback.fallback(torch::CppFunction::makeFromBoxedFunction<&note_and_pass_on>());
  const auto op = typed<Tensor(const Tensor&, double, std::string_view)>("fb::scale");
  const Tensor a = cpu_tensor();
  CHECK(op.call(a, 1.0, "y").is_same(a));
  CHECK(g_seen.empty());
  const c10::impl::IncludeDispatchKeyGuard guard(DispatchKey::FuncTorchDynamicLayerBackMode);
  CHECK(op.call(a, 1.0, "y").is_same(a));
  CHECK(call_boxed(op, a, 1.0, "y")[0].toTensor().is_same(a));
  CHECK(g_seen == std::vector<std::string>{"fb::scale", "fb::scale"});
  fallback.reset();
  CHECK(op.call(a, 1.0, "y").is_same(a));
  CHECK(g_seen.size() == 2);
}

TEST_CASE("functors keep their state", "[dispatcher]") {
  struct Adder final : c10::OperatorKernel {
    explicit Adder(int64_t by) : by(by) {}
    int64_t operator()(const Tensor&, int64_t n) {
      return n + by;
    }
    int64_t by;
  };
  struct BoxedAdder final : c10::OperatorKernel {
    void operator()(const c10::OperatorHandle&, DispatchKeySet, torch::jit::Stack* stack) {
      const int64_t n = torch::jit::pop(stack).toInt();
      torch::jit::drop(stack, 1);
      torch::jit::push(stack, n + 100);
    }
  };
  auto defs = define("functors");
  defs.def("add(Tensor a, int n) -> int");
  auto cpu = implement("functors", DispatchKey::CPU);
  cpu.impl("add", torch::CppFunction::makeFromUnboxedFunctor(std::make_unique<Adder>(10)));
  auto cuda = implement("functors", DispatchKey::CUDA);
  cuda.impl("add", torch::CppFunction::makeFromBoxedFunctor(std::make_unique<BoxedAdder>()));
  int64_t captured = 1000;
  defs.impl(
      "add", torch::dispatch(c10::DispatchKey::Meta, [captured](const Tensor&, int64_t n) { return n + captured; }));
  const auto op = typed<int64_t(const Tensor&, int64_t)>("functors::add");
  CHECK(op.call(cpu_tensor(), 1) == 11);
  CHECK(op.call(cuda_tensor(), 1) == 101);
  CHECK(op.call(tensor_of(DispatchKey::Meta), 1) == 1001);
}

TEST_CASE("an autograd fallback is skipped while nothing requires grad", "[dispatcher]") {
  g_autograd_calls = 0;
  auto defs = define("skips");
  defs.def("pick(Tensor a, Tensor b) -> Tensor");
  auto cpu = implement("skips", DispatchKey::CPU);
  cpu.impl("pick", &first);
  auto autograd = implement("skips", DispatchKey::AutogradCPU);
  autograd.impl(
      "pick", torch::CppFunction::makeBoxedAutogradFallback(c10::BoxedKernel::makeFromFunction<&count_and_pass_on>()));
  const Tensor a = cpu_tensor();
  CHECK(typed<Tensor(const Tensor&, const Tensor&)>("skips::pick").call(a, a).is_same(a));
  CHECK(g_autograd_calls == 0);
  // A boxed call leaves the question to the kernel.
  call_boxed(find("skips::pick"), a, a);
  CHECK(g_autograd_calls == 1);
}

TEST_CASE("callBoxedForDispatchKey takes the named key's kernel", "[dispatcher]") {
  auto defs = define("named");
  defs.def("pick(Tensor a, Tensor b) -> Tensor");
  auto cpu = implement("named", DispatchKey::CPU);
  cpu.impl("pick", &first);
  auto cuda = implement("named", DispatchKey::CUDA);
  cuda.impl("pick", &second);
  const Tensor a = cpu_tensor();
  const Tensor b = cpu_tensor();
  torch::jit::Stack stack{a, b};
  find("named::pick").callBoxedForDispatchKey(DispatchKey::CUDA, stack);
  CHECK(stack[0].toTensor().is_same(b));
}
