// functionalize: the same values, no writes, and what that is good for.
#include "support.h"

#include <ATen/record_function.h>

#include <tuple>
#include <utility>

using namespace func_test;
namespace func = torch::func;

namespace {

bool runs_function = false;
int open_calls = 0;
std::vector<std::string> operators;

// What operators call in turn does not count.
std::unique_ptr<at::ObserverContext> call_begins(const at::RecordFunction& call) {
  if (!runs_function && open_calls == 0) {
    operators.emplace_back(call.name());
  }
  ++open_calls;
  return nullptr;
}

void call_ends(const at::RecordFunction&, at::ObserverContext*) {
  --open_calls;
}

/// What `f` calls when functionalize has seen what it does.
template <class F>
std::vector<std::string> operators_of(const F& f, const Tensor& x, const char* remove) {
  const auto watched = [&](const Tensor& t) {
    runs_function = true;
    const Tensor result = f(t);
    runs_function = false;
    operators.clear();
    return result;
  };
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(&call_begins, &call_ends).scopes({at::RecordScope::FUNCTION}));
  func::functionalize(watched, remove)(x);
  at::removeCallback(handle);
  return operators;
}

bool is_called(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Tensor rotated(const Tensor& x) {
  Tensor y = at::zeros(x.sizes(), x.options());
  y.add_(x);
  Tensor row = y.select(0, 0);
  row.mul_(3);
  y.slice(0, 1).sub_(row.sum());
  return y.t();
}

} // namespace

TEST_CASE("functionalize gives the same values without writes") {
  const Tensor x = randn({3, 2});
  check_close(func::functionalize(&rotated)(x), rotated(x));
  check_close(func::functionalize(&rotated, "mutations_and_views")(x), rotated(x));
  const std::vector<std::string> plain = operators_of(&rotated, x, "mutations");
  CHECK(is_called(plain, "aten::select"));
  for (const std::string& name : plain) {
    CAPTURE(name);
    CHECK(name.back() != '_');
  }
  const std::vector<std::string> copies = operators_of(&rotated, x, "mutations_and_views");
  CHECK(is_called(copies, "aten::select_copy"));
  CHECK(is_called(copies, "aten::t_copy"));
}

TEST_CASE("functionalize makes code fit for vmap") {
  const Tensor x = randn({4, 3, 2});
  const auto f = [](const Tensor& t) {
    Tensor y = at::zeros({3, 2}, at::kDouble); // the same for all samples
    y.add_(t);
    y.select(0, 1).mul_(t.select(0, 0));
    return std::make_tuple(y, y.sum());
  };
  CHECK_THAT(error_of([&] { func::vmap(f)(x); }), Catch::Contains("inplace arithmetic"));
  const auto [y, sum] = func::vmap(func::functionalize(f))(x);
  for (int64_t i = 0; i < 4; ++i) {
    const auto [wanted, wanted_sum] = f(x[i]);
    check_close(y[i], wanted);
    check_close(sum[i], wanted_sum);
  }
  const auto [moved, moved_sum] = func::vmap(func::functionalize(f), 2)(x.permute({1, 2, 0}).contiguous());
  check_close(moved, y);
  const auto total = [&](const Tensor& t) { return std::get<0>(f(t)).square().sum(); };
  check_close(
      func::vmap(func::grad(func::functionalize(total)))(x),
      at::stack({func::grad(total)(x[0]), func::grad(total)(x[1]), func::grad(total)(x[2]), func::grad(total)(x[3])}));
}

TEST_CASE("functionalize and gradients, in both orders") {
  const Tensor x = randn({3, 2}), v = randn({3, 2});
  const auto f = [](const Tensor& t) { return rotated(t.sin()).square().sum(); };
  const auto pure = func::functionalize(f);
  check_close(func::grad(pure)(x), func::grad(f)(x));
  check_close(func::functionalize(func::grad(f))(x), func::grad(f)(x));
  check_close(
      func::grad([&](const Tensor& t) { return func::functionalize(func::grad(f))(t).sum(); })(x),
      func::grad([&](const Tensor& t) { return func::grad(f)(t).sum(); })(x));
  check_close(func::hessian(pure)(x), func::hessian(f)(x));
  check_close(
      std::get<1>(func::jvp(pure, std::make_tuple(x), std::make_tuple(v))),
      std::get<1>(func::jvp(f, std::make_tuple(x), std::make_tuple(v))));
  const Tensor leaf = x.clone().requires_grad_();
  pure(leaf).backward();
  check_close(leaf.grad(), func::grad(f)(x));
  // What the function itself does without recording stays so.
  const auto cut = func::functionalize([](const Tensor& t) {
    const torch::NoGradGuard none;
    return t * 2;
  });
  CHECK_FALSE(cut(leaf).requires_grad());
}

TEST_CASE("functionalize writes arguments and captured tensors once") {
  const Tensor x = randn({3}), counter = at::zeros({}, at::kDouble), before = x.clone();
  const auto f = [&](const Tensor& t, const std::vector<Tensor>& list) {
    t.mul_(2);
    t.add_(1);
    counter.add_(1);
    list[0].copy_(t);
    return std::make_pair(t.select(0, 0), 7.5);
  };
  const std::vector<Tensor> list{at::zeros({3}, at::kDouble)};
  const int64_t version = x._version();
  const auto [first, number] = func::functionalize(f)(x, list);
  CHECK(x._version() == version + 1);
  CHECK(number == 7.5);
  CHECK(counter.item<double>() == 1);
  check_close(x, before * 2 + 1);
  check_close(list[0], x);
  CHECK(first.data_ptr() == x.data_ptr());
  const Tensor batch = randn({2, 3}), batch_before = batch.clone();
  func::vmap(func::functionalize([](const Tensor& t) { return t.mul_(2); }))(batch);
  check_close(batch, batch_before * 2);
}

TEST_CASE("what functionalize refuses") {
  const Tensor x = randn({3});
  CHECK_THAT(
      error_of([&] { func::functionalize([](const Tensor& t) { return t.sum().item<double>() > 0 ? t : -t; })(x); }),
      Catch::Contains("functionalize: the function cannot be seen through") && Catch::Contains("reads values"));
  CHECK_THAT(
      error_of([&] {
        func::vmap([](const Tensor& t) {
          return func::functionalize([&](const Tensor& s) { return s + t; })(at::ones({3}, at::kDouble));
        })(randn({2, 3}));
      }),
      Catch::Contains("uses a tensor of a vmap around it that is none of its arguments"));
  CHECK_THAT(
      error_of([&] { func::functionalize(&rotated, "views"); }), Catch::Contains("remove must be 'mutations' or"));
}

TEST_CASE("arguments chosen when the program runs") {
  const Tensor x = randn({3}), y = randn({3});
  const auto f = [](const Tensor& a, double scale, const Tensor& b) { return (a.sin() * b * scale).sum(); };
  const std::vector<int64_t> last{-1}, both{2, 0};
  const std::vector<Tensor> by_last = func::grad(f, last)(x, 2.0, y);
  REQUIRE(by_last.size() == 1);
  check_close(by_last[0], x.sin() * 2);
  const auto [gradients, value] = func::grad_and_value(f, both)(x, 2.0, y);
  REQUIRE(gradients.size() == 2);
  check_close(gradients[0], x.sin() * 2);
  check_close(gradients[1], x.cos() * y * 2);
  check_close(value, f(x, 2.0, y));
  const auto hessian = func::hessian(f, both)(x, 2.0, y);
  check_close(hessian[0][1], (x.cos() * 2).diag());
  const auto product = [](const Tensor& a, const Tensor& b) { return a * b; };
  check_close(func::jacrev(product, last, 2)(x, y)[0], x.diag());
  check_close(func::jacfwd(product, {0, 1})(x, y)[1], x.diag());
  check_close(
      func::vmap(func::grad(f, both), {0, std::nullopt, std::nullopt})(at::stack({x, y}), 2.0, y)[1][0],
      x.cos() * y * 2);
  CHECK_THAT(
      error_of([&] { func::grad(f, std::vector<int64_t>{3})(x, 2.0, y); }),
      Catch::Contains("argnums: got 3, but there are 3 arguments"));
  CHECK_THAT(
      error_of([&] { func::grad(f, std::vector<int64_t>{1})(x, 2.0, y); }), Catch::Contains("argument 1 is no tensor"));
}
