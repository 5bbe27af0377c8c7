// Forward mode through custom functions, and through tensors that share memory or threads.
#include "support.h"

#include <torch/autograd/forward_ad.h>

#include <thread>

using namespace autograd_test;
namespace fwd = torch::autograd::forward_ad;

namespace {

// x * y, with a rule that says that it was asked.
struct Product : torch::autograd::Function<Product> {
  static inline int asked = 0;
  static Variable forward(AutogradContext* ctx, const Variable& x, double factor, const Variable& y) {
    ctx->save_for_backward({x, y});
    ctx->saved_data["factor"] = factor;
    return x * y * factor;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    const double factor = ctx->saved_data["factor"].toDouble();
    return {grads[0] * saved[1] * factor, Variable(), grads[0] * saved[0] * factor};
  }
  static variable_list jvp(AutogradContext* ctx, variable_list tangents) {
    ++asked;
    const variable_list saved = ctx->get_saved_variables();
    return {(tangents[0] * saved[1] + saved[0] * tangents[1]) * ctx->saved_data["factor"].toDouble()};
  }
};

struct WithoutRule : torch::autograd::Function<WithoutRule> {
  static Variable forward(AutogradContext*, const Variable& x) {
    return x * 2;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * 2};
  }
};

struct DoubledInPlace : torch::autograd::Function<DoubledInPlace> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    ctx->mark_dirty({x});
    return x.mul_(2);
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * 2};
  }
  static variable_list jvp(AutogradContext*, variable_list tangents) {
    return {tangents[0] * 2};
  }
};

struct WrongRule : torch::autograd::Function<WrongRule> {
  static Variable forward(AutogradContext*, const Variable& x) {
    return x * 2;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return grads;
  }
  static variable_list jvp(AutogradContext*, variable_list tangents) {
    return {tangents[0], tangents[0]};
  }
};

Tensor tangent(const Tensor& t) {
  return fwd::unpack_dual(t).tangent;
}

} // namespace

TEST_CASE("a custom function gives tangents by its member jvp", "[autograd][forward]") {
  const Tensor x = values({1, 2}), y = values({3, 5}), v = values({1, -1});
  const fwd::DualLevel level;
  Product::asked = 0;
  CHECK(same(tangent(Product::apply(fwd::make_dual(x, v), 2.0, y)), {6, -10}));
  CHECK(same(tangent(Product::apply(x, 2.0, fwd::make_dual(y, v))), {2, -4}));
  CHECK(same(tangent(Product::apply(fwd::make_dual(x, v), 1.0, fwd::make_dual(y, v))), {4, -7}));
  CHECK(Product::asked == 3);
  CHECK_FALSE(tangent(Product::apply(x, 2.0, y)).defined());
  CHECK(Product::asked == 3);
}

TEST_CASE("the rule of a custom function nests, and is recorded", "[autograd][forward]") {
  const Tensor x = values({2, 3}), one = values({1, 1});
  const auto cube = [](const Tensor& t) { return Product::apply(t, 1.0, Product::apply(t, 1.0, t)); };
  {
    const fwd::DualLevel outer;
    const Tensor at_outer = fwd::make_dual(x, one);
    Tensor first;
    {
      const fwd::DualLevel inner;
      first = tangent(cube(fwd::make_dual(at_outer, one)));
    }
    CHECK(same(fwd::unpack_dual(first).primal, {12, 27}));
    CHECK(same(tangent(first), {12, 18}));
  }
  const fwd::DualLevel level;
  const Tensor leaf = values({2, 3}).requires_grad_();
  const Tensor dual = fwd::make_dual(leaf, one);
  const Tensor gradient = torch::autograd::grad({tangent(cube(dual)).sum()}, {leaf})[0];
  CHECK(same(fwd::unpack_dual(gradient).primal, {12, 18}));
  const Tensor over_reverse = torch::autograd::grad({cube(dual).sum()}, {dual})[0];
  CHECK(same(tangent(over_reverse), {12, 18}));
}

TEST_CASE("a custom function without a rule refuses tangents", "[autograd][forward]") {
  const fwd::DualLevel level;
  const Tensor dual = fwd::make_dual(values({1}), values({1}));
  CHECK_THAT(
      error_of([&] { WithoutRule::apply(dual); }),
      says("You must implement the jvp function for custom autograd.Function to use it with forward mode AD."));
  CHECK(same(WithoutRule::apply(fwd::unpack_dual(dual).primal), {2}));
  CHECK_THAT(error_of([&] { WrongRule::apply(dual); }), says("returned 2 tangents, but there are 1 outputs"));
}

TEST_CASE("a custom function in place changes the tangent", "[autograd][forward]") {
  const fwd::DualLevel level;
  const Tensor dual = fwd::make_dual(values({1, 2}), values({3, 4})) * 1;
  DoubledInPlace::apply(dual);
  CHECK(same(fwd::unpack_dual(dual).primal, {2, 4}));
  CHECK(same(tangent(dual), {6, 8}));
}

TEST_CASE("results have tangents of their own", "[autograd][forward]") {
  const fwd::DualLevel level;
  const Tensor v = values({1, 1});
  const Tensor x = fwd::make_dual(values({1, 2}), v);
  Tensor y = x + 1;
  Tensor z = x.clone();
  Tensor w = torch::zeros({2}, doubles());
  w.add_(x);
  y.mul_(2);
  z.mul_(3);
  w.mul_(4);
  CHECK(same(tangent(x), {1, 1}));
  CHECK(same(v, {1, 1}));
  CHECK(same(tangent(y), {2, 2}));
  CHECK(same(tangent(z), {3, 3}));
  CHECK(same(tangent(w), {4, 4}));
}

TEST_CASE("views share the tangent of their base", "[autograd][forward]") {
  const fwd::DualLevel level;
  const Tensor x = fwd::make_dual(values({1, 2, 3, 4}), values({1, 1, 1, 1})).clone();
  const Tensor rows = x.view({2, 2});
  rows[0].mul_(5);
  CHECK(same(tangent(x), {5, 5, 1, 1}));
  CHECK(same(tangent(rows.t()).reshape({-1}), {5, 1, 5, 1}));
  x.mul_(2);
  CHECK(same(tangent(rows).reshape({-1}), {10, 10, 2, 2}));
  const std::vector<Tensor> halves = x.chunk(2);
  CHECK(same(tangent(halves[1]), {2, 2}));
}

TEST_CASE("a view of a constant gets its tangent when the constant gets one", "[autograd][forward]") {
  const fwd::DualLevel level;
  const Tensor base = torch::ones({2, 3}, doubles());
  const Tensor row = base[0], flat = base.view({6});
  row.mul_(fwd::make_dual(values({1, 2, 3}), values({4, 5, 6})));
  CHECK(same(tangent(row), {4, 5, 6}));
  CHECK(same(tangent(base).reshape({-1}), {4, 5, 6, 0, 0, 0}));
  CHECK(same(tangent(flat), {4, 5, 6, 0, 0, 0}));
  CHECK(same(tangent(flat * 2), {8, 10, 12, 0, 0, 0}));
}

TEST_CASE("levels of threads are apart", "[autograd][forward][threads]") {
  const Tensor shared = values({1, 2, 3});
  std::vector<Tensor> results(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const fwd::DualLevel level;
        const Tensor x = fwd::make_dual(shared, torch::full({3}, static_cast<double>(i + 1), doubles()));
        const fwd::DualLevel inner;
        const Tensor y = fwd::make_dual(x * x, values({1, 1, 1}));
        results[i] = fwd::unpack_dual(fwd::unpack_dual(y * y, inner.level()).tangent, level.level()).tangent;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    // d/dx 2 x^2 in the direction i + 1
    CHECK(same(results[i], 4 * shared * static_cast<double>(i + 1)));
  }
}

TEST_CASE("views in place change the tangent's sizes", "[autograd][forward]") {
  const fwd::DualLevel level;
  const Tensor v = torch::arange(6, doubles()).view({2, 3, 1});
  const Tensor x = fwd::make_dual(torch::ones({2, 3, 1}, doubles()), v).clone();
  x.transpose_(1, 2);
  CHECK(same(tangent(x), v.transpose(1, 2)));
  x.squeeze_(1);
  CHECK(same(tangent(x), v.squeeze(2)));
  x.unsqueeze_(0);
  CHECK(same(tangent(x * 2), 2 * v.view({1, 2, 3})));
}

TEST_CASE("the tangent of a value that fills a mask", "[autograd][forward]") {
  const fwd::DualLevel level;
  const Tensor mask = torch::tensor({{true, false}, {false, true}});
  const Tensor x = torch::ones({2, 2}, doubles()), value = torch::tensor(5.0, doubles());
  const Tensor dual = fwd::make_dual(value, torch::tensor(3.0, doubles()));
  CHECK(same(tangent(x.masked_fill(mask, dual)), mask * torch::tensor(3.0, doubles())));
  const Tensor both = fwd::make_dual(x, x * 7);
  CHECK(same(tangent(both.masked_fill(mask, dual)).view(-1), {3, 7, 7, 3}));
  const Tensor changed = both.clone();
  changed.masked_fill_(mask, dual);
  CHECK(same(tangent(changed).view(-1), {3, 7, 7, 3}));
}
