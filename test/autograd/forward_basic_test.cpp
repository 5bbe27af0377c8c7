// Forward mode: tangents and the levels they belong to.
#include "support.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/autograd/forward_ad.h>

#include <cmath>
#include <functional>

using namespace autograd_test;
namespace fwd = torch::autograd::forward_ad;

namespace {

using Function = std::function<Tensor(const Tensor&)>;

// The derivative of `f` at `x` in the direction `v`.
Tensor jvp(const Function& f, const Tensor& x, const Tensor& v) {
  const fwd::DualLevel level;
  return fwd::unpack_dual(f(fwd::make_dual(x, v))).tangent;
}

Tensor product_with_jacobian(const Function& f, const Tensor& x, const Tensor& v) {
  const Tensor input = x.detach().requires_grad_();
  const Tensor output = f(input);
  const Tensor weight = torch::zeros_like(output).detach().requires_grad_();
  const Tensor product = torch::autograd::grad({output}, {input}, {weight}, true, true)[0];
  return torch::autograd::grad({product}, {weight}, {v})[0];
}

struct Named {
  const char* name;
  Function f;
};

const std::vector<Named>& functions_of_a_matrix() {
  static const std::vector<Named> functions{
      {"sin", [](const Tensor& x) { return x.sin(); }},
      {"exp", [](const Tensor& x) { return x.exp(); }},
      {"tanh", [](const Tensor& x) { return x.tanh(); }},
      {"sigmoid", [](const Tensor& x) { return x.sigmoid(); }},
      {"mul by itself", [](const Tensor& x) { return x * x; }},
      {"mul broadcast", [](const Tensor& x) { return x * x[0]; }},
      {"add and number", [](const Tensor& x) { return x + 2 * x + 1; }},
      {"sub", [](const Tensor& x) { return 1 - x; }},
      {"div", [](const Tensor& x) { return x / (x.abs() + 1); }},
      {"pow", [](const Tensor& x) { return x.abs().pow(2.5); }},
      {"pow of tensors", [](const Tensor& x) { return x.abs().pow(x); }},
      {"where", [](const Tensor& x) { return torch::where(x > 0, x, x * 3); }},
      {"maximum", [](const Tensor& x) { return torch::maximum(x, x.t().sin()); }},
      {"clamp", [](const Tensor& x) { return x.clamp(-0.5, 0.5); }},
      {"relu", [](const Tensor& x) { return torch::relu(x); }},
      {"gelu", [](const Tensor& x) { return torch::gelu(x); }},
      {"silu", [](const Tensor& x) { return torch::silu(x); }},
      {"softplus", [](const Tensor& x) { return torch::softplus(x); }},
      {"lerp", [](const Tensor& x) { return torch::lerp(x, x.sin(), 0.3); }},
      {"addcmul", [](const Tensor& x) { return torch::addcmul(x, x, x.t(), 2); }},
      {"sum", [](const Tensor& x) { return x.sum(); }},
      {"sum of rows", [](const Tensor& x) { return x.sum(1); }},
      {"mean", [](const Tensor& x) { return x.mean(0, true); }},
      {"prod", [](const Tensor& x) { return x.prod(1); }},
      {"var", [](const Tensor& x) { return x.var(1); }},
      {"norm", [](const Tensor& x) { return x.norm(); }},
      {"logsumexp", [](const Tensor& x) { return x.logsumexp(1); }},
      {"amax", [](const Tensor& x) { return x.amax(1); }},
      {"cumsum", [](const Tensor& x) { return x.cumsum(1); }},
      {"cumprod", [](const Tensor& x) { return x.cumprod(1); }},
      {"softmax", [](const Tensor& x) { return x.softmax(1); }},
      {"log_softmax", [](const Tensor& x) { return x.log_softmax(0); }},
      {"t", [](const Tensor& x) { return x.t(); }},
      {"reshape", [](const Tensor& x) { return x.t().reshape({-1}); }},
      {"select", [](const Tensor& x) { return x[1]; }},
      {"slice", [](const Tensor& x) { return x.slice(1, 1, 3); }},
      {"expand",
       [](const Tensor& x) {
         return x.unsqueeze(0).expand({2, 3, 3});
       }},
      {"cat",
       [](const Tensor& x) {
         return torch::cat({x, x.sin(), torch::ones_like(x)}, 1);
       }},
      {"stack",
       [](const Tensor& x) {
         return torch::stack({x, x * x});
       }},
      {"index",
       [](const Tensor& x) {
         return x.index({torch::tensor({2, 0, 2})});
       }},
      {"index_select",
       [](const Tensor& x) {
         return x.index_select(1, torch::tensor({1, 1}));
       }},
      {"gather",
       [](const Tensor& x) {
         return x.gather(1, torch::tensor({{0, 2}, {1, 1}, {2, 0}}));
       }},
      {"masked_fill", [](const Tensor& x) { return x.masked_fill(x > 0.3, 7); }},
      {"tril", [](const Tensor& x) { return x.tril(); }},
      {"diag", [](const Tensor& x) { return x.diagonal(); }},
      {"flip", [](const Tensor& x) { return x.flip({1}); }},
      {"roll", [](const Tensor& x) { return x.roll({1}, {0}); }},
      {"pad",
       [](const Tensor& x) {
         return torch::constant_pad_nd(x, {1, 2}, 5);
       }},
      {"sort", [](const Tensor& x) { return std::get<0>(x.sort(1)); }},
      {"topk", [](const Tensor& x) { return std::get<0>(x.topk(2)); }},
      {"max with places", [](const Tensor& x) { return std::get<0>(x.max(1)); }},
      {"mm", [](const Tensor& x) { return x.mm(x.sin()); }},
      {"mv", [](const Tensor& x) { return x.mv(x[0]); }},
      {"bmm", [](const Tensor& x) { return x.unsqueeze(0).bmm(x.unsqueeze(0)); }},
      {"addmm", [](const Tensor& x) { return torch::addmm(x, x, x.t(), 0.5, 2); }},
      {"linear", [](const Tensor& x) { return torch::linear(x, x.sin(), x[0]); }},
      {"einsum",
       [](const Tensor& x) {
         return torch::einsum("ij,jk->ki", {x, x});
       }},
      {"inverse", [](const Tensor& x) { return torch::linalg_inv(x + 3 * torch::eye(3, doubles())); }},
      {"det", [](const Tensor& x) { return torch::linalg_det(x); }},
      {"solve", [](const Tensor& x) { return torch::linalg_solve(x + 3 * torch::eye(3, doubles()), x); }},
      {"conv1d",
       [](const Tensor& x) { return torch::conv1d(x.unsqueeze(0), x.unsqueeze(0), x[0].slice(0, 0, 1), 1, 1); }},
      {"layer_norm", [](const Tensor& x) { return torch::layer_norm(x, {3}, x[0], x[1]); }},
      {"batch_norm", [](const Tensor& x) { return torch::batch_norm(x, x[0], x[1], {}, {}, true, 0.1, 1e-5, false); }},
      {"mse_loss", [](const Tensor& x) { return torch::mse_loss(x, x.t()); }},
      {"cross entropy",
       [](const Tensor& x) {
         return torch::cross_entropy_loss(x, torch::tensor({0, 2, 1}));
       }},
      {"embedding",
       [](const Tensor& x) {
         return torch::embedding(x, torch::tensor({0, 2, 2}));
       }},
      {"avg_pool1d", [](const Tensor& x) { return torch::avg_pool1d(x.unsqueeze(0), 2); }},
      {"max_pool1d", [](const Tensor& x) { return torch::max_pool1d(x.unsqueeze(0), 2); }},
      {"real part of fft", [](const Tensor& x) { return torch::real(torch::fft_fft(x)); }},
      {"abs of complex", [](const Tensor& x) { return torch::complex(x, x.t()).abs(); }},
  };
  return functions;
}

Tensor matrix() {
  return torch::tensor(std::vector<double>{0.31, -0.72, 1.13, 0.84, 0.25, -0.46, -1.57, 0.68, 0.59}, doubles())
      .view({3, 3});
}

Tensor direction() {
  return torch::tensor(std::vector<double>{1.1, 0.2, -0.3, 0.4, -1.5, 0.6, 0.7, 0.8, -0.9}, doubles()).view({3, 3});
}

} // namespace

TEST_CASE("forward mode gives the product with the Jacobian", "[autograd][forward]") {
  for (const Named& function : functions_of_a_matrix()) {
    INFO(function.name);
    const Tensor x = matrix();
    const Tensor got = jvp(function.f, x, direction());
    REQUIRE(got.defined());
    CHECK(same(got, product_with_jacobian(function.f, x, direction())));
    CHECK_FALSE(got.requires_grad());
    const fwd::DualLevel level;
    const Tensor value = fwd::unpack_dual(function.f(fwd::make_dual(x, direction()))).primal;
    CHECK(same(value, function.f(x)));
    CHECK_FALSE(value.requires_grad());
  }
}

TEST_CASE("a tangent ends with its level", "[autograd][forward]") {
  Tensor dual, result;
  {
    const fwd::DualLevel level;
    dual = fwd::make_dual(values({1, 2}), values({3, 4}));
    result = dual * dual;
    CHECK(same(fwd::unpack_dual(result).tangent, {6, 16}));
    CHECK(result.key_set().has(c10::DispatchKey::ForwardAD));
  }
  CHECK_FALSE(dual._fw_grad(0).defined());
  CHECK_FALSE(dual.key_set().has(c10::DispatchKey::ForwardAD));
  CHECK_FALSE(result.key_set().has(c10::DispatchKey::ForwardAD));
  CHECK(same(result, {1, 4}));
}

TEST_CASE("what does not depend on a dual tensor has no tangent", "[autograd][forward]") {
  const fwd::DualLevel level;
  const Tensor dual = fwd::make_dual(values({1, 2}), values({3, 4}));
  CHECK_FALSE(fwd::unpack_dual(dual.detach()).tangent.defined());
  CHECK_FALSE(fwd::unpack_dual(dual == 1).tangent.defined());
  CHECK_FALSE(fwd::unpack_dual(torch::zeros_like(dual)).tangent.defined());
  CHECK_FALSE(fwd::unpack_dual(dual.data()).tangent.defined());
  CHECK_FALSE(fwd::unpack_dual(values({1})).tangent.defined());
  {
    const c10::AutoFwGradMode off(false);
    CHECK_FALSE(fwd::unpack_dual(dual * 2).tangent.defined());
  }
  {
    const torch::NoGradGuard no_grad;
    CHECK(same(fwd::unpack_dual(dual * 2).tangent, {6, 8}));
  }
}

TEST_CASE("levels nest: the derivative of a derivative", "[autograd][forward]") {
  const Tensor x = values({0.3, -1.2}), ones = values({1, 1});
  const Function derivative = [&](const Tensor& t) {
    return jvp([](const Tensor& u) { return u.sin() * u; }, t, ones);
  };
  const Tensor second = jvp(derivative, x, ones);
  CHECK(same(second, 2 * x.cos() - x * x.sin()));
  const Function third = [&](const Tensor& t) { return jvp(derivative, t, ones); };
  CHECK(same(jvp(third, x, ones), -3 * x.sin() - x * x.cos()));
}

TEST_CASE("an outer level is not mixed up with an inner one", "[autograd][forward]") {
  // d/dx (x * d/dy (x + y)) is 1, and not 2.
  const Tensor one = values({1});
  const Tensor got =
      jvp([&](const Tensor& x) { return x * jvp([&](const Tensor& y) { return x + y; }, one, one); }, values({3}), one);
  CHECK(same(got, {1}));
}

TEST_CASE("forward over reverse gives the Hessian times a vector", "[autograd][forward]") {
  const Tensor x = matrix();
  const auto f = [](const Tensor& t) { return (t.sin() * t.mm(t)).exp().sum(); };
  const auto gradient = [&](const Tensor& t, bool create_graph) {
    return torch::autograd::grad({f(t)}, {t}, {}, true, create_graph)[0];
  };
  const Tensor leaf = x.clone().requires_grad_();
  const Tensor want = torch::autograd::grad({gradient(leaf, true)}, {leaf}, {direction()})[0];
  for (const bool create_graph : {false, true}) {
    const fwd::DualLevel level;
    const Tensor dual = fwd::make_dual(x.clone().requires_grad_(), direction());
    const Tensor got = gradient(dual, create_graph);
    CHECK(same(fwd::unpack_dual(got).tangent, want));
  }
}

TEST_CASE("reverse over forward gives the same", "[autograd][forward]") {
  const Tensor x = matrix().requires_grad_();
  const Function f = [](const Tensor& t) { return (t.sin() * t.mm(t)).exp().sum(); };
  const Tensor tangent = jvp(f, x, direction());
  REQUIRE(tangent.requires_grad());
  const Tensor got = torch::autograd::grad({tangent}, {x})[0];
  const Tensor gradient = torch::autograd::grad({f(x)}, {x}, {}, true, true)[0];
  CHECK(same(got, torch::autograd::grad({gradient}, {x}, {direction()})[0]));
}

TEST_CASE("changes in place change the tangent", "[autograd][forward]") {
  const fwd::DualLevel level;
  const Tensor x = values({1, 2, 3});
  Tensor y = fwd::make_dual(x, values({1, 1, 1})) * 1;
  y.mul_(y);
  CHECK(same(fwd::unpack_dual(y).tangent, {2, 4, 6}));
  y.add_(1);
  CHECK(same(fwd::unpack_dual(y).tangent, {2, 4, 6}));
  y[0].mul_(10);
  CHECK(same(fwd::unpack_dual(y).tangent, {20, 4, 6}));
  y.exp_();
  CHECK(same(fwd::unpack_dual(y).tangent, y.detach() * values({20, 4, 6})));
  y.zero_();
  CHECK(same(fwd::unpack_dual(y).tangent, {0, 0, 0}));
  Tensor constant = values({1, 1});
  constant.mul_(fwd::make_dual(values({2, 3}), values({1, 4})));
  CHECK(same(fwd::unpack_dual(constant).tangent, {1, 4}));
  Tensor base = torch::zeros({2, 2}, doubles());
  base[1].copy_(constant);
  CHECK(same(fwd::unpack_dual(base).tangent.view(-1), {0, 0, 1, 4}));
  base.t_();
  CHECK(same(fwd::unpack_dual(base).tangent.reshape({-1}), {0, 1, 0, 4}));
}

TEST_CASE("wrong use of forward mode is refused", "[autograd][forward]") {
  const Tensor x = values({1, 2, 3});
  CHECK_THAT(error_of([&] { fwd::make_dual(x, x); }), says("no level exists, make sure to enter_dual_level() first"));
  const fwd::DualLevel level;
  const Tensor dual = fwd::make_dual(x, x);
  CHECK_THAT(error_of([&] { fwd::make_dual(dual, x); }), says("already has a forward gradient at the same level"));
  CHECK_THAT(error_of([&] { fwd::make_dual(x, values({1})); }), says("a different size than that of the original"));
  CHECK_THAT(error_of([&] { fwd::make_dual(torch::arange(3), x); }), says("Expected primal to be floating point"));
  CHECK_THAT(error_of([&] { fwd::make_dual(x, torch::arange(3)); }), says("Expected tangent to be floating point"));
  CHECK_THAT(error_of([&] { fwd::make_dual(x, dual); }), says("itself has a forward gradient at the same level"));
  CHECK_THAT(error_of([&] { fwd::make_dual(x, x, 12345); }), says("forward AD level with an invalid index"));
  CHECK_THAT(error_of([&] { fwd::exit_dual_level(12345); }), says("not the last that was created"));
  Tensor out = torch::empty({3}, doubles());
  CHECK_THAT(
      error_of([&] { torch::mul_out(out, dual, x); }),
      says("Trying to use forward AD with mul_out that does not support it because it is an out= function"));
}

TEST_CASE("dual tensors are made and taken apart by libtorch's operators", "[autograd][forward]") {
  const fwd::DualLevel level;
  const auto number = static_cast<int64_t>(level.level());
  const Tensor dual = at::_make_dual(values({1, 2}), values({3, 4}), number);
  CHECK(same(std::get<1>(at::_unpack_dual(dual * 2, number)), {6, 8}));
  CHECK_FALSE(at::_fw_primal(dual, number)._fw_grad(level.level()).defined());
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::_unpack_dual", "");
  torch::jit::Stack stack{dual.sin(), number};
  op.callBoxed(stack);
  CHECK(same(stack[0].toTensor(), values({1, 2}).sin()));
  CHECK(same(stack[1].toTensor(), values({1, 2}).cos() * values({3, 4})));
  CHECK_THAT(error_of([&] { at::_fw_primal(dual, -1); }), says("Invalid level"));
}
