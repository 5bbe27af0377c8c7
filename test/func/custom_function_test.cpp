// Custom torch::autograd::Functions inside of transforms.
#include "support.h"

#include <optional>
#include <utility>

using namespace func_test;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;
using torch::autograd::VmapDims;
using torch::autograd::VmapInfo;
namespace func = torch::func;

namespace {

// sin(x) * exp(y), which keeps an input, an output and a number.
struct SinExp : Function<SinExp> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double scale, const Tensor& y) {
    const Tensor result = x.sin() * y.exp() * scale;
    ctx->saved_data["scale"] = scale;
    ctx->save_for_backward({x, y, result, Tensor()});
    return result;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    CHECK_FALSE(saved[3].defined());
    const double scale = ctx->saved_data["scale"].toDouble();
    return {
        grads[0] * saved[0].cos() * saved[1].exp() * scale, Tensor(),
        (grads[0] * saved[2]).sum_to_size(saved[1].sizes())};
  }
  static variable_list jvp(AutogradContext* ctx, variable_list tangents) {
    const variable_list saved = ctx->get_saved_variables();
    const double scale = ctx->saved_data["scale"].toDouble();
    return {tangents[0] * saved[0].cos() * saved[1].exp() * scale + tangents[1] * saved[2]};
  }
};

Tensor custom(const Tensor& x, const Tensor& y) {
  return SinExp::apply(x, 0.5, y);
}
Tensor plain(const Tensor& x, const Tensor& y) {
  return x.sin() * y.exp() * 0.5;
}

// Of each transform the same with both functions.
template <class Transform>
void check_same(const Transform& transform, const std::vector<Tensor>& inputs) {
  const auto got = transform(&custom)(inputs[0], inputs[1]);
  const auto wanted = transform(&plain)(inputs[0], inputs[1]);
  const std::vector<Tensor> got_tensors = func::detail::tensors_of(got), tensors = func::detail::tensors_of(wanted);
  REQUIRE(got_tensors.size() == tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    check_close(got_tensors[i], tensors[i]);
  }
}

const auto total = [](auto f) { return [f](const Tensor& x, const Tensor& y) { return f(x, y).sum(); }; };

// x^2 y, which keeps tensors beside what save_for_backward is for: alone, in a list, a tuple and a dictionary.
struct Weighted : Function<Weighted> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& y) {
    c10::Dict<std::string, Tensor> named;
    named.insert("square", x.square());
    ctx->saved_data["x"] = x;
    ctx->saved_data["list"] = std::vector<Tensor>{y, x};
    ctx->saved_data["tuple"] = std::make_tuple(x * 2, int64_t{3});
    ctx->saved_data["named"] = named;
    return x.square() * y;
  }
  static variable_list slopes(AutogradContext* ctx) {
    const Tensor x = ctx->saved_data["x"].toTensor();
    const std::vector<Tensor> list = ctx->saved_data["list"].toTensorVector();
    const auto& tuple = ctx->saved_data["tuple"].toTupleRef().elements();
    const Tensor square = ctx->saved_data["named"].toGenericDict().at("square").toTensor();
    CHECK(x.sizes() == list[1].sizes());
    CHECK(tuple[1].toInt() == 3);
    return {tuple[0].toTensor() * list[0], square + 0 * x};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list by = slopes(ctx);
    return {grads[0] * by[0], grads[0] * by[1]};
  }
  static variable_list jvp(AutogradContext* ctx, variable_list tangents) {
    const variable_list by = slopes(ctx);
    return {tangents[0] * by[0] + tangents[1] * by[1]};
  }
};

struct Twice : Function<Twice> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * 2};
  }
  static variable_list jvp(AutogradContext*, variable_list tangents) {
    return {tangents[0].mul_(2)};
  }
};

// The sum of a list, how many elements are positive, the input itself, and nothing.
struct Several : Function<Several> {
  static variable_list forward(AutogradContext* ctx, at::TensorList list, const std::optional<Tensor>& more) {
    Tensor sum = list[0] * 1;
    for (const Tensor& tensor : list.slice(1)) {
      sum = sum + tensor;
    }
    const Tensor count = (list[0] > 0).to(at::kDouble);
    ctx->mark_non_differentiable({count});
    return {more ? sum * *more : sum, count, list[0], Tensor()};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    CHECK(grads[0].defined());
    return {grads[0] * 2 + grads[2], grads[0] * 2, Tensor()};
  }
};

int rule_calls = 0;

struct Cube : Function<Cube> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t times, const std::optional<Tensor>& w) {
    ctx->save_for_backward({x});
    ctx->saved_data["times"] = times;
    return w ? x.pow(3) * times * *w : x.pow(3) * times;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {
        grads[0] * 3 * ctx->get_saved_variables()[0].square() * ctx->saved_data["times"].toInt(), Tensor(), Tensor()};
  }
  static std::pair<Tensor, VmapDims> vmap(
      const VmapInfo& info, const VmapDims& in_dims, const Tensor& x, int64_t times, const std::optional<Tensor>& w) {
    ++rule_calls;
    CHECK(in_dims.size() == 3);
    CHECK_FALSE(in_dims[1].has_value());
    CHECK(x.size(*in_dims[0]) == info.batch_size);
    return {Cube::apply(x, times, w), {in_dims[0]}};
  }
};

struct WrongRule : Function<WrongRule> {
  static Tensor forward(AutogradContext*, const Tensor& x) {
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return grads;
  }
  static std::pair<Tensor, VmapDims> vmap(const VmapInfo&, const VmapDims&, const Tensor& x) {
    return {x, {}};
  }
};

} // namespace

TEST_CASE("gradients of custom functions for each sample") {
  const Tensor x = randn({4, 3}), y = randn({4, 3});
  check_same([](auto f) { return func::vmap(func::grad<0, 1>(total(f))); }, {x, y});
  check_same([](auto f) { return func::vmap(func::grad<0, 1>(total(f)), {0, std::nullopt}); }, {x, y[0]});
  check_same([](auto f) { return func::vmap(func::grad<0, 1>(total(f)), {1, 0}); }, {x.t().contiguous(), y});
  check_same(
      [](auto f) {
        return func::vmap(func::vmap(func::grad<0, 1>(total(f)), {0, std::nullopt}), {1, 0});
      },
      {x, x[0]});
}

TEST_CASE("gradients through a batch of custom functions") {
  const Tensor x = randn({4, 3}), y = randn({4, 3});
  check_same([](auto f) { return func::grad<0, 1>(total(func::vmap(f))); }, {x, y});
  check_same([](auto f) { return func::grad<0, 1>(total(func::vmap(f, {0, std::nullopt}))); }, {x, y[0]});
  check_same([](auto f) { return func::grad<0, 1>(total(func::vmap(f, {std::nullopt, 1}, 1))); }, {x.select(1, 0), y});
  check_same(
      [](auto f) {
        return func::grad<0, 1>(total(func::vmap(func::vmap(f, {std::nullopt, 0}), {0, std::nullopt})));
      },
      {x, y});

  const auto leaf = [](const Tensor& t) { return t.detach().clone().requires_grad_(); };
  const Tensor a = leaf(x), b = leaf(y[0]), c = leaf(x), d = leaf(y[0]);
  func::vmap(&custom, {0, std::nullopt})(a, b).square().sum().backward();
  func::vmap(&plain, {0, std::nullopt})(c, d).square().sum().backward();
  check_close(a.grad(), c.grad());
  check_close(b.grad(), d.grad());
}

TEST_CASE("forward mode of custom functions inside of vmap") {
  const Tensor x = randn({4, 3}), y = randn({4, 3}), v = randn({4, 3}), w = randn({4, 3});
  const auto directional = [&](auto f) {
    return [=](const Tensor& s, const Tensor& t) { return func::jvp(f, std::make_tuple(s, t), std::make_tuple(v, w)); };
  };
  check_same([&](auto f) { return directional(func::vmap(f)); }, {x, y});
  check_same([&](auto f) { return directional(func::vmap(f, {1, 1}, 1)); }, {x, y});
  const auto each = [](auto f) {
    return [=](const Tensor& s, const Tensor& t) { return func::jvp(f, std::make_tuple(s, t), std::make_tuple(t, s)); };
  };
  check_same([&](auto f) { return func::vmap(each(f)); }, {x, y});
  check_same([&](auto f) { return func::vmap(each(f), {0, std::nullopt}); }, {x, y[0]});
}

TEST_CASE("jacobians and second derivatives of custom functions") {
  const Tensor x = randn({2, 3}), y = randn({2, 3});
  check_same([](auto f) { return func::jacrev<0, 1>(f); }, {x, y});
  check_same([](auto f) { return func::jacfwd<0, 1>(f); }, {x, y});
  check_same([](auto f) { return func::jacrev<0, 1>(func::vmap(f)); }, {x, y});
  check_same([](auto f) { return func::jacfwd<0, 1>(func::vmap(f)); }, {x, y});
  check_same([](auto f) { return func::vmap(func::jacrev<0, 1>(f)); }, {x, y});
  check_same([](auto f) { return func::vmap(func::jacfwd<0, 1>(f), {0, std::nullopt}); }, {x, y[0]});
  check_same([](auto f) { return func::hessian<0, 1>(total(f)); }, {x, y});
  check_same([](auto f) { return func::vmap(func::hessian<0, 1>(total(f))); }, {x, y});
  check_same([](auto f) { return func::jacrev<0, 1>(func::jacrev<0, 1>(total(func::vmap(f)))); }, {x, y});
  check_same(
      [](auto f) {
        return func::jacrev<0, 1>(func::jacfwd<0, 1>(total(func::vmap(f, {0, std::nullopt}))));
      },
      {x, y[0]});
}

TEST_CASE("custom functions that change an input, inside of vmap") {
  const Tensor x = randn({4, 3});
  const auto f = [](const Tensor& t) { return Twice::apply(t * 1).square().sum(); };
  check_close(func::vmap(func::grad(f))(x), 8 * x);
  check_close(func::vmap(func::grad(f), 1, 1)(x), 8 * x);
  const auto direction = [&](const Tensor& t) {
    return std::get<1>(func::jvp(f, std::make_tuple(t), std::make_tuple(t)));
  };
  check_close(func::vmap(direction)(x), (8 * x * x).sum(1));

  const Tensor leaf = x.detach().clone().requires_grad_();
  const Tensor base = leaf * 1;
  const Tensor doubled = func::vmap([](const Tensor& t) { return Twice::apply(t); }, 1, 1)(base);
  (doubled * base).sum().backward();
  check_close(base.detach(), 2 * x);
  check_close(leaf.grad(), 8 * x);
}

TEST_CASE("custom functions with several outputs, inside of vmap") {
  const Tensor x = randn({4, 3}), y = randn({3});
  const auto f = [](const Tensor& s, const Tensor& t) {
    const variable_list results =
        Several::apply(at::TensorList({s, t}), std::optional<Tensor>(at::full({}, 2.0, at::kDouble)));
    CHECK_FALSE(results[1].requires_grad());
    CHECK_FALSE(results[3].defined());
    return results[0].sum() + results[1].sum() + results[2].square().sum();
  };
  const auto [by_x, by_y] = func::vmap(func::grad<0, 1>(f), {0, std::nullopt})(x, y);
  check_close(by_x, 2 + 2 * x);
  check_close(by_y, at::full({4, 3}, 2.0, at::kDouble));
  const auto all = [&](const Tensor& s, const Tensor& t) { return func::vmap(f, {0, std::nullopt})(s, t).sum(); };
  check_close(func::grad<1>(all)(x, y), at::full({3}, 8.0, at::kDouble));
}

TEST_CASE("a rule of a custom function for vmap") {
  const Tensor x = randn({4, 3});
  const auto f = [](const Tensor& t) { return Cube::apply(t, 2, std::nullopt); };
  rule_calls = 0;
  check_close(func::vmap(f, 1, 1)(x), 2 * x.pow(3));
  CHECK(rule_calls == 1);
  check_close(func::vmap(func::vmap(f))(x), 2 * x.pow(3));
  CHECK(rule_calls == 3);
  check_close(func::vmap(func::grad([&](const Tensor& t) { return f(t).sum(); }))(x), 6 * x.square());
  check_close(func::grad([&](const Tensor& t) { return func::vmap(f)(t).sum(); })(x), 6 * x.square());
  CHECK(rule_calls == 5);
  check_close(f(x), 2 * x.pow(3));
  CHECK(rule_calls == 5);
  CHECK_THAT(
      error_of([&] { func::vmap([](const Tensor& t) { return WrongRule::apply(t); })(x); }),
      Catch::Contains("vmap of a custom function returned 0 dimensions of batches, but there are 1 outputs"));
}

TEST_CASE("custom functions on tensors that are the same for all samples") {
  const Tensor x = randn({4, 3}), w = randn({3});
  const auto in_place = [&](const Tensor& t) {
    const Tensor copy = w * 1;
    return Twice::apply(copy) + t;
  };
  check_close(func::vmap(in_place)(x), x + 2 * w);
  const auto gradient = [&](const Tensor& t) {
    return func::vmap([&](const Tensor& s) { return custom(t, s); })(x).sum();
  };
  const auto expected = [&](const Tensor& t) { return plain(t, x).sum(); };
  check_close(func::grad(gradient)(w), func::grad(expected)(w));
}

TEST_CASE("tensors in saved_data are samples inside of vmap") {
  const Tensor x = randn({3, 4}), y = randn({3, 4}), v = randn({3, 4}), w = randn({3, 4});
  const auto total = [](const Tensor& a, const Tensor& b) { return Weighted::apply(a, b).sum(); };
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto [of_x, of_y] = func::vmap(func::grad<0, 1>(total))(x, y);
    check_close(of_x, 2 * x * y);
    check_close(of_y, x.square());
  }
  const Tensor by_columns = func::vmap(func::grad(total), {1, std::nullopt}, 1)(x, y.select(1, 0));
  check_close(by_columns, 2 * x * y.select(1, 0).unsqueeze(1));
  const auto along = [&](const Tensor& a, const Tensor& b, const Tensor& da, const Tensor& db) {
    return std::get<1>(func::jvp(
        [](const Tensor& s, const Tensor& t) { return Weighted::apply(s, t); }, std::make_tuple(a, b),
        std::make_tuple(da, db)));
  };
  check_close(func::vmap(along)(x, y, v, w), 2 * x * y * v + x.square() * w);
  // Backward after the vmap, and twice through one graph.
  const Tensor leaf = x.clone().requires_grad_();
  const Tensor sum = func::vmap(total)(leaf, y).sum();
  const Tensor first = torch::autograd::grad({sum}, {leaf}, {}, /*retain_graph=*/true)[0];
  check_close(first, 2 * x * y);
  check_close(torch::autograd::grad({sum}, {leaf})[0], first);
}
