// Operators of a program that take part in autocast.
#include <catch2/catch.hpp>

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include "test/amp/support.h"

using at::Tensor;
using test::EqualsTensor;
using torch::amp::AutocastGuard;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

at::ScalarType last_dtype = at::ScalarType::Undefined;

Tensor product_cpu(const Tensor& a, const Tensor& b, const std::optional<Tensor>& bias) {
  last_dtype = a.scalar_type();
  const Tensor result = at::mm(a, b);
  return bias.has_value() ? result + *bias : result;
}

Tensor product(const Tensor& a, const Tensor& b, const std::optional<Tensor>& bias) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("test_amp::product", "").typed<decltype(product_cpu)>();
  return op.call(a, b, bias);
}

// By hand, as libtorch's users write it.
Tensor product_autocast(const Tensor& a, const Tensor& b, const std::optional<Tensor>& bias) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCPU);
  const auto dtype = at::autocast::get_lower_precision_fp_from_device_type(at::kCPU);
  return product(
      at::autocast::cached_cast(dtype, a, at::kCPU), at::autocast::cached_cast(dtype, b, at::kCPU),
      at::autocast::cached_cast(dtype, bias, at::kCPU));
}

struct Product : torch::autograd::Function<Product> {
  static Tensor forward(AutogradContext* ctx, const Tensor& a, const Tensor& b, const std::optional<Tensor>& bias) {
    ctx->save_for_backward({a, b});
    const at::AutoDispatchBelowADInplaceOrView below;
    return product(a, b, bias);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    last_dtype = saved[0].scalar_type();
    return {grads[0].mm(saved[1].t()), saved[0].t().mm(grads[0]), Tensor()};
  }
};

Tensor widest_cpu(at::TensorList tensors) {
  return at::cat(tensors);
}

TORCH_LIBRARY(test_amp, m) {
  m.def("product(Tensor a, Tensor b, Tensor? bias=None) -> Tensor");
  m.def("widest(Tensor[] tensors) -> Tensor");
  m.def("single(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(test_amp, CPU, m) {
  m.impl("product", &product_cpu);
  m.impl("widest", &widest_cpu);
  m.impl("single", [](const Tensor& x) { return x.clone(); });
}
TORCH_LIBRARY_IMPL(test_amp, Autograd, m) {
  m.impl("product", [](const Tensor& a, const Tensor& b, const std::optional<Tensor>& bias) -> Tensor {
    return Product::apply(a, b, bias);
  });
}
TORCH_LIBRARY_IMPL(test_amp, AutocastCPU, m) {
  m.impl("product", &product_autocast);
  // By policy.
  m.impl(
      "widest",
      torch::CppFunction::makeFromBoxedFunction<
          &at::autocast::cast_kernel<at::autocast::CastPolicy::promote, at::kCPU>>());
  m.impl(
      "single",
      torch::CppFunction::makeFromBoxedFunction<
          &at::autocast::cast_kernel<at::autocast::CastPolicy::fp32, at::kCPU>>());
}
// As backends write their lists.
TORCH_LIBRARY_IMPL(aten, AutocastMTIA, m) {
  KERNEL_MTIA(mm, lower_precision_fp)
  KERNEL_MTIA(pow, Tensor_Scalar, fp32)
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_MTIA(
      ATEN_FN2(norm, Scalar), "norm.Scalar", Tensor(const Tensor&, const at::Scalar&),
      Tensor(const Tensor&, const std::optional<at::Scalar>&, at::ScalarType), fp32_append_dtype)
}

} // namespace

TEST_CASE("a custom operator casts with cached_cast", "[amp]") {
  const Tensor a = torch::ones({2, 3}), b = torch::ones({3, 2}).requires_grad_(), bias = torch::ones({2});
  CHECK(product(a, b, bias).scalar_type() == at::kFloat);
  CHECK(last_dtype == at::kFloat);
  Tensor result;
  {
    const AutocastGuard on(at::kCPU);
    result = product(a, b, bias);
    CHECK(last_dtype == at::kBFloat16);
    CHECK(product(a.to(at::kDouble), b.to(at::kDouble), std::nullopt).scalar_type() == at::kDouble);
    CHECK(product(a, b, std::nullopt).scalar_type() == at::kBFloat16);
  }
  CHECK(result.scalar_type() == at::kBFloat16);
  CHECK_THAT(result.to(at::kFloat).detach(), EqualsTensor(torch::full({2, 2}, 4.0)));
  result.sum().backward();
  CHECK(last_dtype == at::kBFloat16); // what was saved
  CHECK(b.grad().scalar_type() == at::kFloat);
  CHECK_THAT(b.grad(), EqualsTensor(torch::full({3, 2}, 2.0)));
}

TEST_CASE("a custom operator casts by a policy", "[amp]") {
  const auto call = [](const char* name, c10::IValue argument) {
    torch::jit::Stack stack{std::move(argument)};
    c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(&stack);
    return stack[0].toTensor();
  };
  const Tensor single = torch::ones({2}), low = single.to(at::kBFloat16);
  const AutocastGuard on(at::kCPU);
  CHECK(call("test_amp::widest", std::vector<Tensor>{low, single}).scalar_type() == at::kFloat);
  CHECK(call("test_amp::widest", std::vector<Tensor>{low, low}).scalar_type() == at::kBFloat16);
  CHECK(call("test_amp::single", low).scalar_type() == at::kFloat);
  CHECK(call("test_amp::single", single.to(at::kLong)).scalar_type() == at::kLong);
}

TEST_CASE("the macros of backends register kernels for autocast keys", "[amp]") {
  for (const auto& [name, overload] :
       {std::pair<const char*, const char*>{"aten::mm", ""},
        {"aten::pow", "Tensor_Scalar"},
        {"aten::norm", "Scalar"}}) {
    CAPTURE(name);
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
    CHECK(op.hasKernelForDispatchKey(c10::DispatchKey::AutocastMTIA));
    CHECK_FALSE(op.hasKernelForDispatchKey(c10::DispatchKey::AutocastMAIA));
  }
}
