#include "support.h"

#include <torch/autograd/gradcheck.h>

#include <cmath>

using namespace autograd_test;
using torch::autograd::Function;
using torch::autograd::gradcheck;
using torch::autograd::GradcheckError;
using torch::autograd::GradcheckOptions;
using torch::autograd::gradgradcheck;

namespace {

// x * y, whose derivative by y is wrong in one element.
struct WrongProduct : Function<WrongProduct> {
  static Variable forward(AutogradContext* ctx, const Variable& x, const Variable& y) {
    ctx->save_for_backward({x, y});
    return x * y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    return {grads[0] * saved[1], grads[0] * saved[0] * values({1, 1.5})};
  }
};

// x^2, whose derivative is right but counts as constant.
struct ConstantDerivative : Function<ConstantDerivative> {
  static Variable forward(AutogradContext* ctx, const Variable& x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * 2 * ctx->get_saved_variables()[0].detach()};
  }
};

// 2x, with a gradient that comes from nowhere: of nothing, or also of something.
template <int kKind>
struct Careless : Function<Careless<kKind>> {
  static Variable forward(AutogradContext* ctx, const Variable& x) {
    ctx->set_materialize_grads(kKind == 0);
    return x * 2;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    if (kKind == 0) {
      // Right for a weight of 1 in one place, but not linear.
      const Tensor none = (grads[0] == 0).all().to(torch::kDouble);
      return {grads[0] * 2 + none};
    }
    if (kKind == 1) {
      return {grads[0].defined() ? grads[0] * 2 : torch::ones({2}, doubles())};
    }
    return {grads[0] * 2}; // throws for an undefined one
  }
};

struct Noisy : Function<Noisy> {
  static Variable forward(AutogradContext*, const Variable& x) {
    return x * 2;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * (2 + 1e-9 * ++calls)};
  }
  static inline int calls = 0;
};

variable_list one(const Tensor& t) {
  return {t};
}

Tensor complex_leaf(std::initializer_list<double> pairs) {
  return torch::view_as_complex(values(pairs).view({-1, 2})).clone().requires_grad_();
}

template <class F>
std::string report_of(F f) {
  try {
    f();
  } catch (const GradcheckError& e) {
    return e.what_without_backtrace();
  }
  return {};
}

} // namespace

TEST_CASE("gradcheck passes right derivatives", "[autograd][gradcheck]") {
  const Tensor x = leaf({0.3, -0.7});
  const Tensor y = leaf({1.2, 0.4});
  const auto f = [](const variable_list& in) { return (in[0] * in[1]).sin() + in[0].exp(); };
  CHECK(gradcheck(f, {x, y}));
  CHECK(gradgradcheck(f, {x, y}));
  // The inputs are as before.
  CHECK(same(x.detach(), {0.3, -0.7}));
  CHECK(x._version() == 0);
  CHECK_FALSE(x.grad().defined());

  SECTION("several results, of which one has no derivative, and an input that needs none") {
    const auto several = [](const variable_list& in) {
      return variable_list{in[0] * in[1], in[0].sum() * in[2], in[2] + 1};
    };
    CHECK(gradcheck(several, {x, y, values({3, 4})}));
    CHECK(gradgradcheck(several, {x, y, values({3, 4})}));
  }
  SECTION("inputs with strides") {
    const Tensor t = torch::arange(6, doubles()).view({2, 3}).t().detach().requires_grad_();
    CHECK(gradcheck([](const variable_list& in) { return in[0].matmul(in[0].t()); }, {t}));
  }
  SECTION("under NoGradGuard") {
    torch::NoGradGuard no_grad;
    CHECK(gradcheck(f, {x, y}));
  }
}

TEST_CASE("gradcheck of complex functions", "[autograd][gradcheck][complex]") {
  const Tensor z = complex_leaf({0.3, 0.5, -0.2, 0.9});
  const Tensor w = complex_leaf({1.0, -0.5, 0.4, 0.1});
  CHECK(gradcheck([](const variable_list& in) { return in[0] * in[1].conj(); }, {z, w}));
  CHECK(gradcheck([](const variable_list& in) { return in[0].abs(); }, {z}));
  CHECK(gradcheck([](const variable_list& in) { return torch::complex(in[0], in[1]).exp(); }, {leaf({1}), leaf({2})}));
  CHECK(gradgradcheck([](const variable_list& in) { return in[0] * in[0] * in[1].conj(); }, {z, w}));

  // The conjugate forgotten.
  struct WrongConj : Function<WrongConj> {
    static Variable forward(AutogradContext* ctx, const Variable& x) {
      ctx->save_for_backward({x});
      return x * x;
    }
    static variable_list backward(AutogradContext* ctx, variable_list grads) {
      return {grads[0] * 2 * ctx->get_saved_variables()[0]};
    }
  };
  const std::string report =
      report_of([&] { gradcheck([](const variable_list& in) { return WrongConj::apply(in[0]); }, {z}); });
  CHECK_THAT(report, says("part of element"));
}

TEST_CASE("gradcheck reports what is wrong", "[autograd][gradcheck][errors]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  const auto f = [](const variable_list& in) { return variable_list{in[0] + 1, WrongProduct::apply(in[0], in[1])}; };
  const std::string report = report_of([&] { gradcheck(f, {x, y}); });
  CHECK_THAT(report, says("Jacobian mismatch for output 1"));
  CHECK_THAT(report, says("WrongProduct"));
  CHECK_THAT(report, says("with respect to input 1"));
  CHECK_THAT(report, says("1 of 4 derivatives differ"));
  CHECK_THAT(report, says("element [1] of the output by element [1] of the input"));
  CHECK_THAT(report, says("by differences and 3 by backward"));
  CHECK_THAT(report, says("numerical:"));
  CHECK_THAT(report, says("analytical:"));
  GradcheckOptions quiet;
  quiet.raise_exception = false;
  CHECK_FALSE(gradcheck(f, {x, y}, quiet));

  SECTION("unless the tolerance allows it") {
    GradcheckOptions loose;
    loose.rtol = 0.6;
    CHECK(gradcheck(f, {x, y}, loose));
  }
}

TEST_CASE("gradgradcheck finds wrong second derivatives", "[autograd][gradcheck][errors]") {
  const auto f = [](const variable_list& in) { return one(ConstantDerivative::apply(in[0])); };
  const Tensor x = leaf({1, 2});
  CHECK(gradcheck(f, {x}));
  const std::string report = report_of([&] { gradgradcheck(f, {x}); });
  CHECK_THAT(report, says("Jacobian mismatch for output 0"));
  CHECK_THAT(report, says("with respect to input 0"));
  CHECK(gradgradcheck([](const variable_list& in) { return in[0] * in[0]; }, {x}, {leaf({3, 1})}));
}

TEST_CASE("gradcheck finds gradients from nowhere", "[autograd][gradcheck][errors]") {
  const Tensor x = leaf({1, 2});
  CHECK_THAT(
      report_of([&] { gradcheck([](const variable_list& in) { return Careless<0>::apply(in[0]); }, {x}); }),
      says("backward not multiplied by grad_output"));
  const auto of_nothing = [](const variable_list& in) { return Careless<1>::apply(in[0]); };
  CHECK_THAT(report_of([&] { gradcheck(of_nothing, {x}); }), says("Expected all input grads to be undefined or zero"));
  CHECK_THAT(
      report_of([&] { gradcheck([](const variable_list& in) { return Careless<2>::apply(in[0]); }, {x}); }),
      says("Expected backward function to handle undefined output grads"));
  GradcheckOptions options;
  options.check_undefined_grad = false;
  CHECK(gradcheck(of_nothing, {x}, options));
}

TEST_CASE("gradcheck finds what differs from pass to pass", "[autograd][gradcheck][errors]") {
  const auto f = [](const variable_list& in) { return Noisy::apply(in[0]); };
  const Tensor x = leaf({1});
  CHECK_THAT(report_of([&] { gradcheck(f, {x}); }), says("Backward is not reentrant"));
  GradcheckOptions options;
  options.nondet_tol = 1e-6;
  CHECK(gradcheck(f, {x}, options));
}

TEST_CASE("gradcheck finds derivatives that are not recorded", "[autograd][gradcheck][errors]") {
  const auto f = [](const variable_list& in) { return variable_list{in[0] * 2, in[0].detach() * 3}; };
  CHECK_THAT(
      report_of([&] { gradcheck(f, {leaf({1})}); }),
      says("Numerical gradient for function expected to be zero: output 1"));
}

TEST_CASE("inputs that gradcheck refuses", "[autograd][gradcheck][errors]") {
  const auto f = [](const variable_list& in) { return in[0] * 2; };
  CHECK_THAT(
      error_of([&] {
        gradgradcheck(f, {leaf({1, 2})}, {filled({3, 2}, 1).requires_grad_()});
      }),
      says("Mismatch in shape: grad_output[0] has a shape of [3, 2] and output[0] has a shape of [2]"));
  CHECK_THAT(error_of([&] { gradcheck(f, {values({1})}); }), says("at least one input tensor to require gradient"));
  CHECK_THAT(
      error_of([&] { gradcheck(f, {values({1}).expand({3}).requires_grad_()}); }),
      says("has a dimension with stride 0"));
  CHECK_THAT(
      error_of([&] { gradcheck(torch::autograd::GradcheckFunction(), {leaf({1})}); }),
      says("gradcheck: got no function to check"));
}

namespace {

// x^2 whose rule for forward mode forgets the factor.
struct WrongTangent : torch::autograd::Function<WrongTangent> {
  static Variable forward(AutogradContext* ctx, const Variable& x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * 2 * ctx->get_saved_variables()[0]};
  }
  static variable_list jvp(AutogradContext* ctx, variable_list tangents) {
    return {tangents[0] * ctx->get_saved_variables()[0]};
  }
};

} // namespace

TEST_CASE("gradcheck compares forward mode when asked to", "[autograd][gradcheck]") {
  torch::autograd::GradcheckOptions options;
  options.check_forward_ad = true;
  const Tensor x = leaf({0.3, -1.2, 2}), y = leaf({1, 2, 3});
  const auto products = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[0] * in[1].sin(), in[0].cumsum(0).exp()};
  };
  CHECK(torch::autograd::gradcheck(torch::autograd::GradcheckFunction(products), {x, y}, options));
  const Tensor z = torch::complex(values({0.3, 1}), values({-0.4, 2})).requires_grad_();
  const auto complex_function = [](const std::vector<Tensor>& in) { return in[0].conj() * in[0].exp() * in[0].abs(); };
  CHECK(torch::autograd::gradcheck(torch::autograd::GradcheckFunctionOfOneResult(complex_function), {z}, options));
  const auto wrong = [](const std::vector<Tensor>& in) { return WrongTangent::apply(in[0]); };
  CHECK_THAT(
      error_of([&] { torch::autograd::gradcheck(torch::autograd::GradcheckFunctionOfOneResult(wrong), {x}, options); }),
      says("by forward mode; they differ by"));
  options.check_forward_ad = false;
  CHECK(torch::autograd::gradcheck(torch::autograd::GradcheckFunctionOfOneResult(wrong), {x}, options));
  options.check_forward_ad = true;
  options.check_backward_ad = false;
  CHECK(torch::autograd::gradgradcheck(
      torch::autograd::GradcheckFunctionOfOneResult([](const std::vector<Tensor>& in) { return in[0] * in[0].tanh(); }),
      {x}, {}, options));
}

namespace {

// Right for each gradient, but not for a batch of them.
struct ReadsMemory : torch::autograd::Function<ReadsMemory> {
  static Variable forward(AutogradContext*, const Variable& x) {
    return x * 2;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    Variable grad = at::empty_like(grads[0].contiguous());
    std::copy_n(grads[0].contiguous().data_ptr<double>(), grad.numel(), grad.data_ptr<double>());
    return {grad * 2};
  }
  static variable_list jvp(AutogradContext*, variable_list tangents) {
    // The sum of a batch: its first dimension is taken for one of the tensor's.
    return {tangents[0] * 2 + (tangents[0].has_storage() ? 0 : 1)};
  }
};

} // namespace

TEST_CASE("gradcheck compares batches of gradients and tangents when asked to", "[autograd][gradcheck]") {
  using torch::autograd::gradcheck;
  torch::autograd::GradcheckOptions options;
  options.check_forward_ad = options.check_batched_grad = options.check_batched_forward_grad = true;
  const Tensor x = leaf({0.3, -1.2, 2}), y = leaf({1, 2, 3});
  const auto products = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[0] * in[1].sin(), in[0].cumsum(0).exp()};
  };
  CHECK(gradcheck(torch::autograd::GradcheckFunction(products), {x, y}, options));
  const auto single = [](const std::vector<Tensor>& in) { return ReadsMemory::apply(in[0]); };
  const torch::autograd::GradcheckFunctionOfOneResult reads_memory(single);
  CHECK_THAT(
      error_of([&] { gradcheck(reads_memory, {x}, options); }),
      says("the derivatives in directions of input 0 differ in number 0 when they are computed for a batch at once"));
  options.check_batched_forward_grad = false;
  CHECK_THAT(
      error_of([&] { gradcheck(reads_memory, {x}, options); }),
      says("While the gradients of output 0") && says("were computed for a batch at once"));
  options.check_batched_grad = false;
  CHECK(gradcheck(reads_memory, {x}, options));
  options.check_batched_grad = true;
  options.check_backward_ad = false;
  CHECK_THAT(
      error_of([&] { gradcheck(reads_memory, {x}, options); }),
      says("check_batched_grad=True requires check_backward_ad"));
  options = {};
  options.check_batched_forward_grad = true;
  CHECK_THAT(
      error_of([&] { gradcheck(reads_memory, {x}, options); }),
      says("check_batched_forward_grad=True requires check_forward_ad"));
}
