#include "support.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/autograd/gradcheck.h>
#include <torch/autograd/operator_formula.h>
#include <torch/library.h>

using namespace autograd_test;
using torch::autograd::autogradFormula;

namespace {

using Values = c10::ArrayRef<c10::IValue>;

Tensor scaled_product(const Tensor& x, const Tensor& y, double scale) {
  CHECK_FALSE((x.requires_grad() && torch::GradMode::is_enabled() && (x * 1).requires_grad()));
  return x * y * scale;
}

std::tuple<Tensor, Tensor> exp_and_sign(const Tensor& x) {
  return {x.exp(), x.sign()};
}

Tensor weighted_sum(at::TensorList xs, const std::optional<Tensor>& weight) {
  Tensor sum = xs[0];
  for (size_t i = 1; i < xs.size(); ++i) {
    sum = sum + xs[i];
  }
  return weight ? sum * *weight : sum * 1;
}

Tensor& doubled_in_place(Tensor& x) {
  return x.mul_(2);
}

TORCH_LIBRARY(formula_test, m) {
  m.def("scaled_product(Tensor x, Tensor y, float scale) -> Tensor");
  m.def("exp_and_sign(Tensor x) -> (Tensor, Tensor)");
  m.def("weighted_sum(Tensor[] xs, Tensor? weight) -> Tensor");
  m.def("doubled_(Tensor(a!) x) -> Tensor(a!)");
}

TORCH_LIBRARY_IMPL(formula_test, CPU, m) {
  m.impl("scaled_product", scaled_product);
  m.impl("exp_and_sign", exp_and_sign);
  m.impl("weighted_sum", weighted_sum);
  m.impl("doubled_", doubled_in_place);
}

TORCH_LIBRARY_IMPL(formula_test, Autograd, m) {
  m.impl(
      "scaled_product",
      autogradFormula(
          [](AutogradContext* ctx, variable_list grads) -> variable_list {
            const variable_list saved = ctx->get_saved_variables();
            const Tensor g = grads[0] * ctx->saved_data["scale"].toDouble();
            return {
                ctx->needs_input_grad(0) ? g * saved[1] : Tensor(), ctx->needs_input_grad(1) ? g * saved[0] : Tensor(),
                Tensor()};
          },
          [](AutogradContext* ctx, Values arguments, Values) {
            ctx->save_for_backward({arguments[0].toTensor(), arguments[1].toTensor()});
            ctx->saved_data["scale"] = arguments[2];
          }));
  m.impl(
      "exp_and_sign",
      autogradFormula(
          [](AutogradContext* ctx, variable_list grads) -> variable_list {
            return {grads[0] * ctx->get_saved_variables()[0]};
          },
          [](AutogradContext* ctx, Values, Values results) {
            ctx->save_for_backward({results[0].toTensor()});
            ctx->mark_non_differentiable({results[1].toTensor()});
          }));
  m.impl(
      "weighted_sum",
      autogradFormula(
          [](AutogradContext* ctx, variable_list grads) -> variable_list {
            const variable_list saved = ctx->get_saved_variables();
            const bool weighted = saved.size() > 2;
            const Tensor g = weighted ? grads[0] * saved[2] : grads[0];
            return {g, g, weighted ? grads[0] * (saved[0] + saved[1]) : Tensor()};
          },
          [](AutogradContext* ctx, Values arguments, Values) {
            variable_list saved = arguments[0].toTensorVector();
            if (arguments[1].isTensor()) {
              saved.push_back(arguments[1].toTensor());
            }
            ctx->save_for_backward(saved);
          }));
  m.impl("doubled_", autogradFormula([](AutogradContext*, variable_list grads) { return grads; }));
}

template <class Signature>
auto formula_op(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

} // namespace

TEST_CASE("a custom operator with a formula for its derivative", "[autograd][operators][formula]") {
  const auto call = formula_op<Tensor(const Tensor&, const Tensor&, double)>("formula_test::scaled_product");
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  const Tensor z = call.call(x, y, 10);
  CHECK(same(z.detach(), {30, 80}));
  CHECK(z.grad_fn()->name() == "formula_test::scaled_productBackward");
  z.sum().backward();
  CHECK(same(x.grad(), {30, 40}));
  CHECK(same(y.grad(), {10, 20}));
  const auto f = [&](const variable_list& in) { return call.call(in[0], in[1], 3); };
  CHECK(torch::autograd::gradcheck(f, {x, y}));
  CHECK(torch::autograd::gradgradcheck(f, {x, y}));

  SECTION("one input alone") {
    CHECK(same(torch::autograd::grad({call.call(x, y.detach(), 1).sum()}, {x})[0], {3, 4}));
  }
  SECTION("nothing is recorded where nothing is wanted") {
    CHECK_FALSE(call.call(values({1}), values({2}), 1).requires_grad());
    torch::NoGradGuard no_grad;
    CHECK_FALSE(call.call(x, y, 1).requires_grad());
  }
  SECTION("boxed") {
    torch::jit::Stack stack;
    torch::jit::push(stack, x, y, 10.0);
    c10::Dispatcher::singleton().findSchemaOrThrow("formula_test::scaled_product", "").callBoxed(&stack);
    CHECK(same(torch::autograd::grad({stack[0].toTensor().sum()}, {x})[0], {30, 40}));
  }
  SECTION("a second pass is refused") {
    CHECK_THAT(error_of([&] { z.sum().backward(); }), says("Trying to backward through the graph a second time"));
  }
}

TEST_CASE("a formula that keeps a result and marks another", "[autograd][operators][formula]") {
  const auto call = formula_op<std::tuple<Tensor, Tensor>(const Tensor&)>("formula_test::exp_and_sign");
  const Tensor x = leaf({0.5, -1});
  const auto [e, s] = call.call(x);
  CHECK(e.requires_grad());
  CHECK_FALSE(s.requires_grad());
  CHECK(torch::autograd::gradgradcheck([&](const variable_list& in) { return std::get<0>(call.call(in[0])); }, {x}));
  c10::weak_intrusive_ptr<c10::TensorImpl> watch(std::get<0>(call.call(x)).getIntrusivePtr());
  CHECK(watch.expired());
}

TEST_CASE("a formula over a list and an optional tensor", "[autograd][operators][formula]") {
  const auto call = formula_op<Tensor(at::TensorList, const std::optional<Tensor>&)>("formula_test::weighted_sum");
  const Tensor x = leaf({1});
  const Tensor y = leaf({2});
  const Tensor w = leaf({5});
  const std::vector<Tensor> xs{x, y};
  variable_list grads = torch::autograd::grad({call.call(xs, w)}, {x, y, w});
  CHECK(same(grads[0], {5}));
  CHECK(same(grads[1], {5}));
  CHECK(same(grads[2], {3}));
  grads = torch::autograd::grad({call.call(xs, std::nullopt)}, {x, y});
  CHECK(same(grads[1], {1}));
}

TEST_CASE("formulas are for operators that write nothing", "[autograd][operators][formula][errors]") {
  Tensor x = values({1});
  CHECK_THAT(
      error_of([&] { formula_op<Tensor&(Tensor&)>("formula_test::doubled_").call(x); }),
      says("Cannot register autograd formula for non-functional operator formula_test::doubled_"));
  CHECK_THAT(error_of([] { autogradFormula(nullptr); }), says("got no function for backward"));
}
