// torch::compile over transforms: what they do is recorded as operators, and nothing of them is left.
#include "support.h"

#include <torch/compile.h>

#include <tuple>

using namespace func_test;
namespace func = torch::func;

namespace {

/// Compiled and as it is for inputs of several sizes, each of them twice.
template <class F>
void check_compiled(const F& f, const std::vector<std::vector<Tensor>>& calls) {
  torch::CompileOptions options;
  options.fullgraph = true; // throws where it cannot be captured
  const auto compiled = torch::compile(
      [&](const std::vector<Tensor>& in) { return func::detail::tensors_of(f(in)); }, std::move(options));
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const std::vector<Tensor>& inputs : calls) {
      const std::vector<Tensor> got = compiled(inputs), wanted = func::detail::tensors_of(f(inputs));
      REQUIRE(got.size() == wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i].requires_grad() == wanted[i].requires_grad());
        check_close(got[i].detach(), wanted[i].detach());
      }
    }
  }
  CHECK(compiled.core().num_replays() > 0);
  CHECK(compiled.core().last_not_compiled().empty());
}

Tensor energy(const Tensor& x) {
  return (x.sin() * x.square()).sum();
}

} // namespace

TEST_CASE("compile over vmap") {
  const auto row = [](const Tensor& t, const Tensor& w) { return (t * w).softmax(0) + t.sum(); };
  const auto f = [&](const std::vector<Tensor>& in) { return func::vmap(row, {0, std::nullopt})(in[0], in[1]); };
  check_compiled(f, {{randn({4, 3}), randn({3})}, {randn({7, 3}), randn({3})}, {randn({2, 5}), randn({5})}});
  const auto nested = [&](const std::vector<Tensor>& in) {
    const auto dot = [](const Tensor& a, const Tensor& b) { return a.dot(b); };
    return func::vmap(func::vmap(dot, {std::nullopt, 0}), {0, std::nullopt}, 1)(in[0], in[1]);
  };
  check_compiled(nested, {{randn({4, 3}), randn({2, 3})}, {randn({5, 3}), randn({6, 3})}});
}

TEST_CASE("compile over gradients") {
  check_compiled(
      [](const std::vector<Tensor>& in) { return func::grad(energy)(in[0]); },
      {{randn({3})}, {randn({4})}, {randn({2, 3})}});
  check_compiled(
      [](const std::vector<Tensor>& in) { return func::vmap(func::grad(energy))(in[0]); },
      {{randn({3, 2})}, {randn({4, 2})}, {randn({4, 5})}});
  check_compiled(
      [](const std::vector<Tensor>& in) {
        return func::grad([](const Tensor& t) { return func::grad(energy)(t).square().sum(); })(in[0]);
      },
      {{randn({3})}, {randn({4})}});
  check_compiled(
      [](const std::vector<Tensor>& in) {
        const auto [y, pull] = func::vjp([](const Tensor& t) { return t.tanh() * t; }, in[0]);
        return std::make_pair(y, pull(in[1]));
      },
      {{randn({3}), randn({3})}, {randn({4}), randn({4})}});
}

TEST_CASE("compile over forward mode, jacobians and hessians") {
  check_compiled(
      [](const std::vector<Tensor>& in) { return func::jvp(energy, std::make_tuple(in[0]), std::make_tuple(in[1])); },
      {{randn({3}), randn({3})}, {randn({4}), randn({4})}});
  const auto outer = [](const Tensor& t) { return t.tanh().outer(t); };
  check_compiled(
      [&](const std::vector<Tensor>& in) { return func::jacrev(outer)(in[0]); }, {{randn({3})}, {randn({4})}});
  check_compiled(
      [&](const std::vector<Tensor>& in) { return func::jacfwd(outer)(in[0]); }, {{randn({3})}, {randn({4})}});
  check_compiled(
      [](const std::vector<Tensor>& in) { return func::hessian(energy)(in[0]); }, {{randn({3})}, {randn({4})}});
  check_compiled(
      [](const std::vector<Tensor>& in) { return func::vmap(func::hessian(energy))(in[0]); },
      {{randn({2, 3})}, {randn({4, 3})}});
  check_compiled(
      [](const std::vector<Tensor>& in) {
        return func::functionalize([](const Tensor& t) { return at::zeros_like(t).add_(t); })(in[0]);
      },
      {{randn({3})}, {randn({4})}});
}

TEST_CASE("compile over vmap of a function that is made functional") {
  const auto sums = [](const Tensor& t) {
    Tensor total = at::zeros({t.size(1)}, t.options()); // one for all samples
    for (const Tensor& row : t.unbind()) {
      total.add_(row.sin());
    }
    return total;
  };
  check_compiled(
      [&](const std::vector<Tensor>& in) { return func::vmap(func::functionalize(sums))(in[0]); },
      {{randn({2, 4, 3})}, {randn({5, 4, 3})}, {randn({2, 3, 2})}});
  check_compiled(
      [&](const std::vector<Tensor>& in) {
        const auto loss = [&](const Tensor& t) { return func::functionalize(sums)(t).square().sum(); };
        return func::vmap(func::grad(loss))(in[0]);
      },
      {{randn({2, 4, 3})}, {randn({3, 4, 3})}});
  check_compiled(
      [&](const std::vector<Tensor>& in) {
        const auto inner = func::vmap(func::functionalize(sums, "mutations_and_views"));
        return func::vmap(inner, 1)(in[0]);
      },
      {{randn({2, 3, 4, 3})}, {randn({3, 2, 4, 3})}});
}

TEST_CASE("compile over transforms whose results have gradients") {
  const Tensor w = randn({3, 3}).requires_grad_();
  const auto penalty = [&](const Tensor& x) {
    const auto f = [&](const Tensor& t) { return w.mv(t).sin().sum(); };
    return func::vmap(func::grad(f))(x).square().sum();
  };
  const auto compiled = torch::compile(penalty);
  for (const int64_t samples : {2, 4, 2, 4, 5}) {
    const Tensor x = randn({samples, 3});
    check_close(torch::autograd::grad({compiled(x)}, {w})[0], torch::autograd::grad({penalty(x)}, {w})[0]);
  }
}
