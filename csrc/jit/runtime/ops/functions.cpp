// Identity, hashes, devices, gradients, generators, warnings, and what a program asks about its surroundings.
#include <csrc/jit/runtime/ops/rows.h>

#include <aten/autocast/autocast_mode.h>
#include <aten/core/Generator.h>
#include <aten/core/random.h>
#include <aten/core/jit_type.h>
#include <autograd/autograd.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <chrono>
#include <cstdint>

namespace torch::jit::ops {

namespace {

bool is_same(IValue& self, IValue& other) {
  return self.is(other);
}
int64_t hash_of(IValue& value) {
  return static_cast<int64_t>(IValue::hash(value));
}

// ---- devices

c10::Device device_with_index(const std::string& type, int64_t index) {
  const c10::Device device(type);
  return c10::Device(device.type(), static_cast<c10::DeviceIndex>(index));
}
std::string device_type(c10::Device self) {
  return c10::DeviceTypeName(self.type(), /*lower_case=*/true);
}
IValue device_index(c10::Device self) {
  return self.has_index() ? IValue(static_cast<int64_t>(self.index())) : IValue();
}

// ---- optionals

IValue unwrapped(IValue& optional) {
  TORCH_CHECK(!optional.isNone(), "Unwrapping null optional");
  return std::move(optional);
}

// ---- gradients

std::vector<Tensor> tensors_or_none(const IValue& list) {
  std::vector<Tensor> out;
  if (!list.isNone()) {
    for (const IValue& element : list.toListRef()) {
      out.push_back(element.isNone() ? Tensor() : element.toTensor());
    }
  }
  return out;
}
void backward(const Tensor& self, std::optional<Tensor> gradient, std::optional<bool> retain_graph, bool create_graph) {
  self.backward(gradient.value_or(Tensor()), retain_graph, create_graph);
}
void backward_list(IValue& tensors, IValue& gradients, std::optional<bool> retain_graph, bool create_graph) {
  torch::autograd::backward(tensors_or_none(tensors), tensors_or_none(gradients), retain_graph, create_graph);
}
IValue grad(
    IValue& outputs,
    IValue& inputs,
    IValue& grad_outputs,
    std::optional<bool> retain_graph,
    bool create_graph,
    bool allow_unused) {
  const std::vector<Tensor> gradients = torch::autograd::grad(
      tensors_or_none(outputs), tensors_or_none(inputs), tensors_or_none(grad_outputs), retain_graph, create_graph,
      allow_unused);
  AnyList out(c10::OptionalType::ofTensor());
  for (const Tensor& gradient : gradients) {
    out.push_back(gradient.defined() ? IValue(gradient) : IValue());
  }
  return out;
}

// ---- random numbers

at::Generator new_generator(std::optional<c10::Device> device, std::optional<int64_t> seed) {
  TORCH_CHECK(!device || device->is_cpu(), "torch.Generator in TorchScript: expected a cpu device, got ", *device);
  at::Generator out = at::detail::createCPUGenerator();
  if (seed) {
    out.set_current_seed(static_cast<uint64_t>(*seed));
  }
  return out;
}
at::Generator seed_generator(at::Generator self, int64_t seed) {
  self.set_current_seed(static_cast<uint64_t>(seed));
  return self;
}

// ---- in place, without a graph

template <class Change>
Tensor without_graph(Tensor tensor, Change change) {
  const c10::AutoGradMode guard(false);
  change(tensor);
  return tensor;
}
Tensor no_grad_uniform(Tensor tensor, double a, double b, std::optional<at::Generator> generator) {
  return without_graph(std::move(tensor), [&](Tensor& t) { t.uniform_(a, b, generator); });
}
Tensor no_grad_normal(Tensor tensor, double mean, double std, std::optional<at::Generator> generator) {
  return without_graph(std::move(tensor), [&](Tensor& t) { t.normal_(mean, std, generator); });
}
Tensor no_grad_fill(Tensor tensor, double value) {
  return without_graph(std::move(tensor), [&](Tensor& t) { t.fill_(value); });
}
Tensor no_grad_zero(Tensor tensor) {
  return without_graph(std::move(tensor), [](Tensor& t) { t.zero_(); });
}

Tensor no_grad_embedding_renorm(Tensor weight, Tensor input, double max_norm, double norm_type) {
  return without_graph(std::move(weight), [&](Tensor& t) { at::embedding_renorm_(t, input, max_norm, norm_type); });
}

void warn(const std::string& message, int64_t) {
  TORCH_WARN(message);
}
void no_torch_function(Stack& stack) {
  // Overrides of tensors' behaviour exist in Python alone.
  const int64_t count = pop(stack).toInt();
  TORCH_CHECK(count >= 0 && static_cast<size_t>(count) <= stack.size(), "expected ", count, " inputs on the stack");
  drop(stack, static_cast<size_t>(count));
  stack.emplace_back(false);
}
int64_t autocast_dtype(const std::string& device_type) {
  return static_cast<int64_t>(at::autocast::get_autocast_dtype(c10::Device(device_type).type()));
}
// Seconds do not matter, differences do.
int64_t time_point() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
int64_t identity(IValue& x) {
  return x.isNone() ? 0 : static_cast<int64_t>(reinterpret_cast<intptr_t>(x.internalToPointer()));
}
bool never() {
  return false;
}

constexpr OperatorRow kRows[] = {
    {"aten::__is__(t1 self, t2 obj) -> bool", call<is_same>},
    {"aten::__isnot__(t1 self, t2 obj) -> bool", call<[](IValue& self, IValue& obj) { return !self.is(obj); }>},
    {"aten::hash.generic(t value) -> int", call<hash_of>},
    {"aten::_unwrap_optional(t(a)? optional) -> t(a)", call<unwrapped>},
    {"prim::unchecked_unwrap_optional(t(a)? optional) -> t(a)",
     call<[](IValue& optional) { return std::move(optional); }>},
    {"aten::device(str a) -> Device", call<[](const std::string& a) { return c10::Device(a); }>},
    {"aten::device.with_index(str type, int index) -> Device", call<device_with_index>},
    {"prim::type(Device self) -> str", call<device_type>},
    {"prim::index(Device self) -> int?", call<device_index>},
    {"aten::backward(Tensor self, Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False) -> ()",
     call<backward>, AliasAnalysisKind::CONSERVATIVE},
    {"aten::backward.TensorList(Tensor[] tensors, Tensor?[]? grad_tensors=None, bool? retain_graph=None, bool "
     "create_graph=False) -> ()",
     call<backward_list>, AliasAnalysisKind::CONSERVATIVE},
    {"aten::grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None, bool? retain_graph=None, bool "
     "create_graph=False, bool allow_unused=False) -> Tensor?[]",
     call<grad>},
    {"aten::is_grad_enabled() -> bool", call<[] { return c10::GradMode::is_enabled(); }>,
     AliasAnalysisKind::CONSERVATIVE},
    {"aten::set_grad_enabled(bool val) -> ()", call<[](bool val) { c10::GradMode::set_enabled(val); }>,
     AliasAnalysisKind::CONSERVATIVE},
    {"aten::is_autocast_enabled() -> bool", call<[] { return at::autocast::is_autocast_enabled(at::kCUDA); }>,
     AliasAnalysisKind::CONSERVATIVE},
    {"aten::is_autocast_cpu_enabled() -> bool", call<[] { return at::autocast::is_autocast_enabled(at::kCPU); }>,
     AliasAnalysisKind::CONSERVATIVE},
    {"aten::get_autocast_dtype(str device_type) -> ScalarType", call<autocast_dtype>, AliasAnalysisKind::CONSERVATIVE},
    {"aten::manual_seed(int seed) -> ()", call<[](int64_t seed) { at::manual_seed(static_cast<uint64_t>(seed)); }>},
    {"aten::manual_seed.generator(Generator(a!) self, int seed) -> Generator(a!)", call<seed_generator>},
    {"aten::Generator(*, Device? device=None, int? seed=None) -> Generator", call<new_generator>},
    {"aten::initial_seed(Generator self) -> int",
     call<[](at::Generator self) { return static_cast<int64_t>(self.current_seed()); }>},
    {"aten::seed(Generator(a!) self) -> int",
     call<[](at::Generator self) { return static_cast<int64_t>(self.seed()); }>},
    {"aten::_no_grad_uniform_(Tensor(a!) tensor, float a, float b, Generator? generator=None) -> Tensor(a!)",
     call<no_grad_uniform>},
    {"aten::_no_grad_normal_(Tensor(a!) tensor, float mean, float std, Generator? generator=None) -> Tensor(a!)",
     call<no_grad_normal>},
    {"aten::_no_grad_fill_(Tensor(a!) tensor, float val) -> Tensor(a!)", call<no_grad_fill>},
    {"aten::_no_grad_zero_(Tensor(a!) tensor) -> Tensor(a!)", call<no_grad_zero>},
    {"aten::_no_grad_embedding_renorm_(Tensor weight, Tensor input, float max_norm, float norm_type) -> Tensor",
     call<no_grad_embedding_renorm>, AliasAnalysisKind::CONSERVATIVE},
    {"aten::warn(str message, int stacklevel=2) -> ()", call<warn>},
    {"aten::is_scripting() -> bool", call<[] { return true; }>},
    {"aten::_get_tracing_state() -> bool", call<never>},
    {"aten::_is_tracing() -> bool", call<never>},
    {"prim::TimePoint() -> int", call<time_point>, AliasAnalysisKind::CONSERVATIVE},
    {"prim::id(AnyClassType? x) -> int", call<identity>},
    {"aten::has_torch_function(...) -> bool", no_torch_function},
};

} // namespace

at::ArrayRef<OperatorRow> function_rows() {
  return kRows;
}

} // namespace torch::jit::ops
