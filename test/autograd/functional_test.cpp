// Jacobians, Hessians and products with them. Expected values are PyTorch's or by hand.
#include "support.h"

#include <torch/autograd/functional.h>

using namespace autograd_test;
namespace functional = torch::autograd::functional;

namespace {

Tensor matrix(std::initializer_list<double> list, std::vector<int64_t> sizes) {
  return values(list).view(sizes);
}

// f(x, y) = (x * y, sum(x^2)).
variable_list product_and_square(const variable_list& in) {
  return {in[0] * in[1], (in[0] * in[0]).sum()};
}

Tensor cube_of_sum(const Tensor& x) {
  return x.sum().pow(3);
}

// sum(x^2 * y), which has mixed second derivatives.
Tensor mixed(const variable_list& in) {
  return (in[0] * in[0] * in[1]).sum();
}

} // namespace

TEST_CASE("a vector times the Jacobian", "[autograd][functional]") {
  const auto [outputs, product] = functional::vjp(
      product_and_square, {values({1, 2}), values({3, 4})}, {values({1, 10}), torch::tensor(2.0, doubles())});
  CHECK(same(outputs[0], {3, 8}));
  CHECK(same(product[0], {3 + 4, 40 + 8}));
  CHECK(same(product[1], {1, 20}));

  SECTION("the vector may be left out for one element") {
    const auto [value, gradient] = functional::vjp([](const Tensor& x) { return x.exp().sum(); }, values({0, 1}));
    CHECK(same(gradient, values({0, 1}).exp()));
    CHECK_FALSE(value.requires_grad());
    CHECK_FALSE(gradient.requires_grad());
  }
}

TEST_CASE("the Jacobian times a vector", "[autograd][functional]") {
  const auto [outputs, product] =
      functional::jvp(product_and_square, {values({1, 2}), values({3, 4})}, {values({1, 10}), values({5, 7})});
  CHECK(same(outputs[1], torch::tensor(5.0, doubles())));
  CHECK(same(product[0], {3 + 5, 40 + 14}));
  CHECK(same(product[1], torch::tensor(2.0 + 40, doubles())));

  SECTION("the vector may be left out for an input of one element") {
    CHECK(same(functional::jvp([](const Tensor& x) { return x * values({1, 2}); }, values({3})).second, {1, 2}));
  }
}

TEST_CASE("inputs are left as they were", "[autograd][functional]") {
  const Tensor x = leaf({1, 2});
  (x * x).sum().backward();
  const Tensor plain = values({3, 4});
  functional::vjp(product_and_square, {x, plain}, {values({1, 1}), torch::tensor(1.0, doubles())});
  functional::hessian(mixed, {x, plain});
  CHECK(same(x.grad(), {2, 4}));
  CHECK_FALSE(plain.requires_grad());
  CHECK(x.is_leaf());
  torch::NoGradGuard no_grad;
  CHECK(same(functional::jacobian([](const Tensor& t) { return t * t; }, x), matrix({2, 0, 0, 4}, {2, 2})));
  CHECK_FALSE(torch::GradMode::is_enabled());
}

TEST_CASE("the Jacobian", "[autograd][functional]") {
  const std::vector<variable_list> j = functional::jacobian(product_and_square, {values({1, 2}), values({3, 4})});
  REQUIRE(j.size() == 2);
  CHECK(same(j[0][0], matrix({3, 0, 0, 4}, {2, 2})));
  CHECK(same(j[0][1], matrix({1, 0, 0, 2}, {2, 2})));
  CHECK(same(j[1][0], {2, 4}));
  CHECK(same(j[1][1], {0, 0})); // independent of it

  SECTION("has the sizes of the output, then of the input") {
    const Tensor x = torch::arange(6, doubles()).view({2, 3});
    const Tensor of_sum = functional::jacobian([](const Tensor& t) { return t.sum(0); }, x);
    CHECK(of_sum.sizes() == torch::IntArrayRef({3, 2, 3}));
    CHECK(same(of_sum.select(0, 1).select(0, 1), {0, 1, 0}));
  }
  SECTION("of no elements") {
    const Tensor none = functional::jacobian([](const Tensor& t) { return t.slice(0, 0, 0); }, values({1, 2}));
    CHECK(none.sizes() == torch::IntArrayRef({0, 2}));
  }
}

TEST_CASE("the Hessian", "[autograd][functional]") {
  CHECK(same(functional::hessian(cube_of_sum, values({1, 2})), matrix({18, 18, 18, 18}, {2, 2})));
  const std::vector<variable_list> h = functional::hessian(mixed, {values({1, 2}), values({3, 4})});
  CHECK(same(h[0][0], matrix({6, 0, 0, 8}, {2, 2})));
  CHECK(same(h[0][1], matrix({2, 0, 0, 4}, {2, 2})));
  CHECK(same(h[1][0], matrix({2, 0, 0, 4}, {2, 2})));
  CHECK(same(h[1][1], matrix({0, 0, 0, 0}, {2, 2})));
}

TEST_CASE("products with the Hessian agree with it", "[autograd][functional]") {
  const variable_list at{values({1, 2}), values({3, 4})};
  const variable_list v{values({1, 10}), values({5, 7})};
  const auto [value, left] = functional::vhp(mixed, at, v);
  const auto [again, right] = functional::hvp(mixed, at, v);
  CHECK(value.item<double>() == 1 * 3 + 4 * 4);
  CHECK(again.item<double>() == value.item<double>());
  // Rows of the Hessian above.
  CHECK(same(left[0], {6 * 1 + 2 * 5, 8 * 10 + 4 * 7}));
  CHECK(same(left[1], {2 * 1, 4 * 10}));
  CHECK(same(right[0], left[0]));
  CHECK(same(right[1], left[1]));
}

TEST_CASE("create_graph makes results differentiable", "[autograd][functional]") {
  const Tensor x = leaf({2});
  const auto cube = [](const Tensor& t) { return t * t * t; };
  SECTION("vjp") {
    const Tensor g = functional::vjp(cube, x, values({1}), /*create_graph=*/true).second;
    CHECK(same(torch::autograd::grad({g}, {x})[0], {12}));
  }
  SECTION("jvp, also by its vector") {
    const Tensor v = leaf({5});
    const Tensor g = functional::jvp(cube, x, v, true).second;
    const variable_list gg = torch::autograd::grad({g}, {x, v});
    CHECK(same(gg[0], {60}));
    CHECK(same(gg[1], {12}));
  }
  SECTION("jacobian") {
    const Tensor j = functional::jacobian(cube, x, true);
    CHECK(same(torch::autograd::grad({j.sum()}, {x})[0], {12}));
  }
  SECTION("hessian") {
    const Tensor h = functional::hessian(cube_of_sum, x, true);
    CHECK(same(torch::autograd::grad({h.sum()}, {x})[0], {6}));
  }
  SECTION("hvp and vhp") {
    CHECK(same(torch::autograd::grad({functional::hvp(cube_of_sum, x, values({3}), true).second}, {x})[0], {18}));
    CHECK(same(torch::autograd::grad({functional::vhp(cube_of_sum, x, values({3}), true).second}, {x})[0], {18}));
  }
}

TEST_CASE("strict mode refuses what does not depend on an input", "[autograd][functional][errors]") {
  const Tensor x = values({1, 2});
  const auto constant = [](const Tensor&) { return values({1, 2}); };
  const auto first_only = [](const variable_list& in) { return variable_list{in[0] * 2}; };
  const auto linear = [](const Tensor& t) { return t.sum(); };
  CHECK(same(functional::vjp(constant, x, x).second, {0, 0}));
  CHECK_THAT(
      error_of([&] { functional::vjp(constant, x, x, false, true); }),
      says("Output 0 of the user-provided function does not require gradients."));
  CHECK_THAT(
      error_of([&] {
        functional::vjp(first_only, {x, x}, {x}, false, true);
      }),
      says("The output of the user-provided function is independent of input 1"));
  CHECK_THAT(
      error_of([&] {
        functional::jacobian(first_only, {x, x}, false, true);
      }),
      says("Output 0 of the user-provided function is independent of input 1"));
  CHECK(same(functional::hessian(linear, x), torch::zeros({2, 2}, doubles())));
  CHECK_THAT(
      error_of([&] { functional::hessian(linear, x, false, true); }),
      says("While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 "
           "is "
           "independent of the inputs"));
}

TEST_CASE("what does not fit is refused", "[autograd][functional][errors]") {
  const Tensor x = values({1, 2});
  const auto twice = [](const Tensor& t) { return t * 2; };
  CHECK_THAT(error_of([&] { functional::vjp(twice, x); }), says("v can only be left out"));
  CHECK_THAT(
      error_of([&] { functional::vjp(twice, x, values({1})); }),
      says("Entry 0 in v has invalid size: should be [2] but got [1]"));
  CHECK_THAT(
      error_of([&] {
        functional::jvp(product_and_square, {x, x}, {x});
      }),
      says("v is a tuple of invalid length: should be 2 but got 1"));
  CHECK_THAT(
      error_of([&] { functional::hessian(twice, x); }),
      says("The Tensor returned by the function given to hessian should contain a single element"));
  CHECK_THAT(error_of([&] { functional::jacobian(product_and_square, {}); }), says("functional: got no inputs"));
  CHECK_THAT(error_of([&] { functional::vjp(functional::TensorFunction(), x); }), says("functional: got no function"));
}
