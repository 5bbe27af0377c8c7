// The operators of this project, registered in each of the ways there are. What they need comes with these headers, as
// in libtorch: the dispatcher and class_ with library.h, the guards of autograd with autograd.h.
#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/library.h>

namespace {

at::Tensor scale_add(const at::Tensor& self, const at::Tensor& other, double scale) {
  return self + other * scale;
}

at::Tensor scale_add_meta(const at::Tensor& self, const at::Tensor&, double) {
  return at::empty_like(self);
}

// The schema is inferred from this type: (Tensor _0, int _1, str _2) -> (Tensor _0, int _1).
std::tuple<at::Tensor, int64_t> shifted(const at::Tensor& self, int64_t by, const std::string& way) {
  return {way == "up" ? self + by : self - by, by};
}

// Takes its arguments from the stack, whatever the schema says, and leaves their number and the first of them.
void count_arguments(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto count = static_cast<int64_t>(op.schema().arguments().size());
  at::Tensor first = torch::jit::peek(*stack, 0, static_cast<size_t>(count)).toTensor();
  torch::jit::drop(*stack, static_cast<size_t>(count));
  torch::jit::push(*stack, count, first);
}

struct Counter : torch::CustomClassHolder {
  int64_t count = 0;
};

struct CubeFunction : torch::autograd::Function<CubeFunction> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& self) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({self});
    static const auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow("outside::cube", "").typed<at::Tensor(const at::Tensor&)>();
    return op.call(self);
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    const at::Tensor self = context->get_saved_variables()[0];
    return {grads[0] * self * self * 3};
  }
};

} // namespace

TORCH_LIBRARY(outside, m) {
  m.def("scale_add(Tensor self, Tensor other, *, float scale=2.0) -> Tensor");
  m.def("shifted", &shifted);
  m.def("sum_of(Tensor[] tensors) -> Tensor", [](const std::vector<at::Tensor>& tensors) {
    at::Tensor sum = tensors.at(0).clone();
    for (size_t i = 1; i < tensors.size(); ++i) {
      sum.add_(tensors[i]);
    }
    return sum;
  });
  m.def("count_arguments(Tensor self, int[] sizes, str? name=None) -> (int, Tensor)");
  m.def("cube(Tensor self) -> Tensor");
  m.class_<Counter>("Counter").def(torch::init<>()).def("next", [](const c10::intrusive_ptr<Counter>& self) {
    return ++self->count;
  });
}

TORCH_LIBRARY_FRAGMENT(outside, m) {
  m.def("added_later(Tensor(a!) self) -> Tensor(a!)", [](at::Tensor& self) -> at::Tensor& { return self.add_(1); });
}

TORCH_LIBRARY_IMPL(outside, CPU, m) {
  m.impl("scale_add", TORCH_FN(scale_add));
  m.impl("count_arguments", torch::CppFunction::makeFromBoxedFunction<&count_arguments>());
  m.impl("cube", [](const at::Tensor& self) { return self * self * self; });
}

TORCH_LIBRARY_IMPL(outside, Meta, m) {
  m.impl("scale_add", &scale_add_meta);
}

TORCH_LIBRARY_IMPL(outside, Autograd, m) {
  m.impl("cube", [](const at::Tensor& self) -> at::Tensor { return CubeFunction::apply(self); });
}
