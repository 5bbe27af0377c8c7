// Operators and classes of a program's own, registered and called in the ways that extensions use.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/op_registration.h>
#include <ATen/core/stack.h>
#include <torch/autograd.h>
#include <torch/custom_class.h>
#include <torch/library.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "report.h"

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

#define CHECK_CPU(x) TORCH_CHECK(x.device().is_cpu(), #x " must be a CPU tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) \
  CHECK_CPU(x);        \
  CHECK_CONTIGUOUS(x)

// Boxes of a detector: keeps those that overlap no better one.
Tensor nms_kernel(const Tensor& boxes, const Tensor& scores, double threshold) {
  CHECK_INPUT(boxes);
  TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4, "boxes must be [n, 4], got ", boxes.sizes());
  const auto order = std::get<1>(scores.sort(0, /*descending=*/true));
  const auto count = boxes.size(0);
  auto suppressed = torch::zeros({count}, boxes.options().dtype(torch::kBool));
  auto keep = torch::empty({count}, boxes.options().dtype(torch::kLong));
  int64_t kept = 0;
  AT_DISPATCH_FLOATING_TYPES(boxes.scalar_type(), "nms_kernel", [&] {
    const auto box = boxes.accessor<scalar_t, 2>();
    const auto index = order.accessor<int64_t, 1>();
    auto out = suppressed.accessor<bool, 1>();
    auto result = keep.data_ptr<int64_t>();
    const auto area = [&](int64_t i) { return (box[i][2] - box[i][0]) * (box[i][3] - box[i][1]); };
    for (int64_t a = 0; a < count; ++a) {
      const auto i = index[a];
      if (out[i]) {
        continue;
      }
      result[kept++] = i;
      for (int64_t b = a + 1; b < count; ++b) {
        const auto j = index[b];
        const auto width = std::max<scalar_t>(0, std::min(box[i][2], box[j][2]) - std::max(box[i][0], box[j][0]));
        const auto height = std::max<scalar_t>(0, std::min(box[i][3], box[j][3]) - std::max(box[i][1], box[j][1]));
        const auto both = width * height;
        out[j] = out[j] || both / (area(i) + area(j) - both) > threshold;
      }
    }
  });
  return keep.narrow(0, 0, kept);
}

Tensor muladd(const Tensor& a, const Tensor& b, double c) {
  return a * b + c;
}
Tensor muladd_kernel(const Tensor& a, const Tensor& b, double c) {
  TORCH_CHECK(a.sizes() == b.sizes());
  TORCH_INTERNAL_ASSERT(a.device().type() == at::DeviceType::CPU);
  Tensor result = torch::empty(a.sizes(), a.options());
  const Tensor a_values = a.contiguous(), b_values = b.contiguous();
  for (int64_t i = 0; i < result.numel(); i++) {
    result.data_ptr<float>()[i] = a_values.data_ptr<float>()[i] * b_values.data_ptr<float>()[i] + static_cast<float>(c);
  }
  return result;
}
Tensor muladd_meta(const Tensor& a, const Tensor&, double) {
  return torch::empty_like(a);
}

class Muladd : public torch::autograd::Function<Muladd> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& a, const Tensor& b, double c) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({a, b});
    ctx->saved_data["c"] = c;
    static auto op = torch::Dispatcher::singleton()
                         .findSchemaOrThrow("peer::muladd", "")
                         .typed<Tensor(const Tensor&, const Tensor&, double)>();
    return op.call(a, b, c);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grad_outputs) {
    const auto saved = ctx->get_saved_variables();
    report::exact("c in backward", ctx->saved_data["c"].toDouble());
    return {grad_outputs[0] * saved[1], grad_outputs[0] * saved[0], Tensor()};
  }
};
Tensor muladd_autograd(const Tensor& a, const Tensor& b, double c) {
  return Muladd::apply(a, b, c);
}

std::tuple<Tensor, int64_t, std::string> everything(
    const std::vector<Tensor>& tensors,
    const std::optional<Tensor>& weight,
    at::IntArrayRef sizes,
    std::optional<int64_t> count,
    bool flag,
    const std::string& mode,
    std::optional<at::ScalarType> dtype) {
  Tensor sum = torch::zeros(sizes, dtype.value_or(torch::kFloat));
  for (const auto& tensor : tensors) {
    sum += flag ? tensor : -tensor;
  }
  return {weight.has_value() ? sum * *weight : sum, count.value_or(-1), mode + "!"};
}

struct Counter : torch::CustomClassHolder {
  explicit Counter(int64_t start) : value(start) {}
  int64_t increase(int64_t by) {
    return value += by;
  }
  c10::intrusive_ptr<Counter> merge(const c10::intrusive_ptr<Counter>& other) const {
    return c10::make_intrusive<Counter>(value + other->value);
  }
  int64_t value;
};

Tensor times_counter(const Tensor& self, const c10::intrusive_ptr<Counter>& counter) {
  return self * counter->value;
}

void boxed_first(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  report::exact("boxed call of", op.schema());
  const auto count = op.schema().arguments().size();
  const auto first = torch::jit::peek(*stack, 0, count).toTensor();
  torch::jit::drop(*stack, count);
  torch::jit::push(*stack, first * 100);
}

} // namespace

TORCH_LIBRARY(peer, m) {
  m.def("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor");
  m.def("muladd(Tensor a, Tensor b, float c) -> Tensor");
  m.def("everything", &everything);
  m.def("boxed(Tensor self, int n=3, *, str? name=None) -> Tensor");
  m.def("composite(Tensor self) -> Tensor", [](const Tensor& self) { return self.relu() + 1; });
  m.def("add_one_(Tensor(a!) self) -> Tensor(a!)", [](Tensor& self) -> Tensor& { return self.add_(1); });
  m.class_<Counter>("Counter")
      .def(torch::init<int64_t>())
      .def("increase", &Counter::increase)
      .def("merge", &Counter::merge)
      .def("value", [](const c10::intrusive_ptr<Counter>& self) { return self->value; })
      .def_pickle(
          [](const c10::intrusive_ptr<Counter>& self) -> int64_t { return self->value; },
          [](int64_t state) { return c10::make_intrusive<Counter>(state); });
  m.def("times_counter(Tensor self, __torch__.torch.classes.peer.Counter counter) -> Tensor", &times_counter);
}

TORCH_LIBRARY_FRAGMENT(peer, m) {
  m.def(TORCH_SELECTIVE_SCHEMA("peer::later(Tensor self) -> (Tensor, Tensor)"));
}

TORCH_LIBRARY_IMPL(peer, CPU, m) {
  m.impl("nms", TORCH_FN(nms_kernel));
  m.impl("muladd", &muladd_kernel);
  m.impl(TORCH_SELECTIVE_NAME("peer::later"), [](const Tensor& self) { return std::make_tuple(self + 1, self + 2); });
  m.impl("boxed", torch::CppFunction::makeFromBoxedFunction<&boxed_first>());
}
TORCH_LIBRARY_IMPL(peer, Meta, m) {
  m.impl("muladd", &muladd_meta);
}
TORCH_LIBRARY_IMPL(peer, Autograd, m) {
  m.impl("muladd", &muladd_autograd);
}

static auto registry = torch::RegisterOperators()
                           .op("peer_old::scaled", [](Tensor self, double by) { return self * by; })
                           .op("peer_old::muladd(Tensor a, Tensor b, float c) -> Tensor", &muladd);

namespace {

template <typename Signature>
auto find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").template typed<Signature>();
}

void schemas() {
  for (const char* name :
       {"peer::nms", "peer::muladd", "peer::everything", "peer::boxed", "peer::add_one_", "peer::times_counter",
        "peer::later", "peer_old::scaled", "peer_old::muladd"}) {
    report::exact("schema", c10::Dispatcher::singleton().findSchemaOrThrow(name, "").schema());
  }
  for (const char* name :
       {"aten::add_", "aten::sum", "aten::split", "aten::max_pool2d", "aten::conv2d", "aten::index_put_"}) {
    for (const auto& overload : {"Tensor", "", "dim_IntList"}) {
      if (const auto op = c10::Dispatcher::singleton().findSchema({name, overload})) {
        report::exact("schema", op->schema());
      }
    }
  }
  report::exact("unknown", c10::Dispatcher::singleton().findSchema({"peer::nothing", ""}).has_value());
  report::throws("unknown", [] { find<void()>("peer::nothing"); });
  report::throws("another signature", [] { find<Tensor(int64_t)>("peer::nms"); });
}

void calls() {
  const auto boxes =
      torch::tensor({{0., 0., 10., 10.}, {1., 1., 11., 11.}, {20., 20., 30., 30.}, {21., 20., 31., 29.}});
  const auto scores = torch::tensor({0.9, 0.8, 0.6, 0.7});
  const auto nms = find<Tensor(const Tensor&, const Tensor&, double)>("peer::nms");
  report::exact("nms", nms.call(boxes, scores, 0.5));
  report::throws("nms of a wrong shape", [&] { return nms.call(scores, scores, 0.5); });
  report::throws("nms of views", [&] { return nms.call(boxes.t(), scores, 0.5); });

  const auto muladd_op = find<Tensor(const Tensor&, const Tensor&, double)>("peer::muladd");
  const auto a = torch::tensor({1.f, 2.f}, torch::requires_grad());
  const auto b = torch::tensor({3.f, 4.f}, torch::requires_grad());
  const auto c = muladd_op.call(a, b, 0.5);
  report::exact("muladd", c);
  (c * c).sum().backward();
  report::exact("grad of a", a.grad());
  report::exact("grad of b", b.grad());
  report::shape("meta", muladd_op.call(a.to(torch::kMeta), b.to(torch::kMeta), 0.5).detach());

  const auto all = find<std::tuple<Tensor, int64_t, std::string>(
      const std::vector<Tensor>&, const std::optional<Tensor>&, at::IntArrayRef, std::optional<int64_t>, bool,
      const std::string&, std::optional<at::ScalarType>)>("peer::everything");
  const auto result =
      all.call({a.detach(), b.detach()}, torch::tensor({2.f, 10.f}), {2}, std::nullopt, false, "mode", torch::kDouble);
  report::exact("everything", std::get<0>(result));
  report::exact("everything", std::get<1>(result));
  report::exact("everything", std::get<2>(result));

  auto d = torch::zeros({2});
  find<Tensor&(Tensor&)>("peer::add_one_").call(d);
  report::exact("in place", d);
  const auto pair = find<std::tuple<Tensor, Tensor>(const Tensor&)>("peer::later").call(d);
  report::exact("pair", std::get<1>(pair));
  report::exact("old", find<Tensor(Tensor, double)>("peer_old::scaled").call(d, 4));
}

void boxed_calls() {
  torch::jit::Stack stack;
  torch::jit::push(stack, torch::ones({2}), torch::full({2}, 2.), 1.5);
  c10::Dispatcher::singleton().findSchemaOrThrow("peer::muladd", "").callBoxed(&stack);
  report::exact("boxed", stack.at(0).toTensor());
  stack.clear();
  torch::jit::push(stack, torch::ones({2}), int64_t{3}, c10::IValue());
  c10::Dispatcher::singleton().findSchemaOrThrow("peer::boxed", "").callBoxed(&stack);
  report::exact("boxed kernel", stack.at(0).toTensor());
  stack.clear();
  torch::jit::push(stack, torch::arange(4), torch::arange(4), 2);
  c10::Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor").callBoxed(&stack);
  report::exact("boxed add", stack.at(0).toTensor());
}

void classes() {
  auto counter = c10::make_intrusive<Counter>(3);
  counter->increase(4);
  torch::IValue value(counter);
  report::exact("is custom class", value.isCustomClass());
  report::exact("value", value.toCustomClass<Counter>()->value);
  report::exact(
      "times",
      find<Tensor(const Tensor&, const c10::intrusive_ptr<Counter>&)>("peer::times_counter")
          .call(torch::ones({2}), counter));
  report::exact("type", value.type()->annotation_str());
  const auto method = torch::getCustomClass("__torch__.torch.classes.peer.Counter")->getMethod("increase").getSchema();
  report::exact("method", method);
}

void values() {
  torch::IValue list(std::vector<int64_t>{1, 2});
  report::exact("list", list);
  report::exact("tag", list.tagKind());
  report::exact("type", list.type()->str());
  c10::Dict<std::string, Tensor> dict;
  dict.insert("w", torch::ones({2}));
  torch::IValue of_dict(dict);
  report::exact("dict type", of_dict.type()->str());
  report::exact("in dict", of_dict.toGenericDict().at("w").toTensor());
  torch::IValue tuple(std::make_tuple(int64_t{1}, std::string("two"), 3.5, torch::ones({1})));
  report::exact("tuple", tuple);
  report::exact("elements", tuple.toTuple()->elements().size());
  report::exact("third", tuple.toTupleRef().elements()[2].toDouble());
  report::exact("none", torch::IValue());
  report::exact("bool", torch::IValue(true));
  report::exact("device", torch::IValue(torch::Device("cpu")).toDevice());
  report::exact("equal", torch::IValue(3) == torch::IValue(3));
  report::throws("wrong type", [&] { return list.toTensor(); });
  c10::List<Tensor> tensors({torch::ones({1}), torch::zeros({1})});
  tensors.push_back(torch::full({1}, 2.));
  report::exact("tensor list", torch::IValue(tensors).toTensorVector().back().item<float>());
}

} // namespace

int main() {
  schemas();
  calls();
  boxed_calls();
  classes();
  values();
  return 0;
}
