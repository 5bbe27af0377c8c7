#include "support.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

using namespace autograd_test;

namespace {

Tensor doubled(const Tensor& x) {
  return x * 2;
}

Tensor& doubled_(Tensor& x) {
  return x.mul_(2);
}

Tensor first(const Tensor& x) {
  return x.select(0, 0);
}

TORCH_LIBRARY(autograd_test, m) {
  m.def("doubled(Tensor x) -> Tensor");
  m.def("doubled_(Tensor(a!) x) -> Tensor(a!)");
  m.def("first(Tensor(a) x) -> Tensor(a)");
}

TORCH_LIBRARY_IMPL(autograd_test, CPU, m) {
  m.impl("doubled", doubled);
  m.impl("doubled_", doubled_);
  m.impl("first", first);
}

TORCH_LIBRARY_IMPL(autograd_test, Autograd, m) {
  m.impl("doubled", torch::autograd::autogradNotImplementedFallback());
  m.impl("doubled_", torch::autograd::autogradNotImplementedFallback());
  m.impl("first", torch::autograd::autogradNotImplementedFallback());
}

TORCH_LIBRARY_IMPL(autograd_test, ADInplaceOrView, m) {
  m.impl("doubled_", torch::autograd::autogradNotImplementedInplaceOrViewFallback());
  m.impl("first", torch::autograd::autogradNotImplementedInplaceOrViewFallback());
}

template <class Signature>
auto op(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

} // namespace

TEST_CASE("an operator without a derivative says so when a gradient reaches it", "[autograd][operators]") {
  const auto call = op<Tensor(const Tensor&)>("autograd_test::doubled");
  CHECK_FALSE(call.call(values({1})).requires_grad());
  const Tensor x = leaf({3});
  const Tensor y = call.call(x);
  CHECK(same(y.detach(), {6}));
  CHECK(y.requires_grad());
  CHECK_THAT(
      error_of([&] { (y + x).sum().backward(); }), says("derivative for autograd_test::doubled is not implemented"));
  torch::NoGradGuard no_grad;
  CHECK_FALSE(call.call(x).requires_grad());
}

TEST_CASE("an in-place operator without a derivative", "[autograd][operators][inplace]") {
  const auto call = op<Tensor&(Tensor&)>("autograd_test::doubled_");
  Tensor plain = values({1, 2});
  call.call(plain);
  CHECK(plain._version() == 1);
  CHECK(same(plain, {2, 4}));

  Tensor x = leaf({3});
  CHECK_THAT(error_of([&] { call.call(x); }), says("a leaf Variable that requires grad"));
  Tensor y = x * 1;
  call.call(y);
  CHECK_THAT(error_of([&] { y.backward(); }), says("derivative for autograd_test::doubled_ is not implemented"));
}

TEST_CASE("a view operator without a derivative", "[autograd][operators][views]") {
  const auto call = op<Tensor(const Tensor&)>("autograd_test::first");
  Tensor x = values({1, 2});
  const Tensor view = call.call(x);
  CHECK(view.is_view());
  CHECK(view._base().is_same(x));
  x.add_(1);
  view.mul_(2); // nothing is recorded
  CHECK(view._version() == 2);
  CHECK(same(x, {4, 3}));

  SECTION("the view may not be changed where that is recorded, nor a view of it") {
    const std::string message = "Mutating the view autograd_test::first which does not have a derivative implemented";
    const Tensor w = leaf({3});
    CHECK_THAT(error_of([&] { view.mul_(w[0]); }), says(message));
    CHECK_THAT(error_of([&] { view.view({1}).mul_(w); }), says(message));
    CHECK(same(x, {4, 3}));
    Tensor y = leaf({1, 2}) * 1;
    const Tensor other = call.call(y);
    CHECK_THAT(error_of([&] { other.mul_(2); }), says(message));
    CHECK(same(y.detach(), {1, 2}));
    y.mul_(2);
    CHECK_THAT(error_of([&] { other.sum(); }), says(message));
    y.sum().backward();
  }
  SECTION("one of several views, made without recording: as others of that kind") {
    torch::NoGradGuard no_grad;
    const Tensor quiet = call.call(x);
    torch::AutoGradMode record(true);
    CHECK_THAT(error_of([&] { quiet.mul_(leaf({3})[0]); }), says("A view was created in no_grad mode"));
  }
}

namespace {

struct Tripled final : torch::autograd::Node {
  torch::autograd::variable_list apply(torch::autograd::variable_list&& grads) override {
    return {grads[0] * 3};
  }
};

} // namespace

TEST_CASE("a node made by hand has the edges of all tensors among the arguments", "[custom]") {
  const Tensor x = torch::ones({2}, torch::requires_grad());
  const std::vector<Tensor> list{torch::ones({1}), torch::zeros({1})};
  const std::optional<Tensor> none, some = torch::zeros({3});
  const torch::autograd::variable_list all = torch::autograd::flatten_tensor_args(x, at::TensorList(list), none, some);
  REQUIRE(all.size() == 4);
  CHECK(all[0].is_same(x));
  CHECK(all[2].is_same(list[1]));
  CHECK(all[3].is_same(*some));

  const std::shared_ptr<Tripled> node(new Tripled(), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  Tensor y = x.detach() * 3;
  torch::autograd::set_history(y, node);
  y.sum().backward();
  CHECK(x.grad().equal(torch::full({2}, 3.f)));
}
