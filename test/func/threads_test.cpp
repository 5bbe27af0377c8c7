// Transforms of several threads at once, tensors that outlive their vmap, and what is left behind.
#include "support.h"

#include <autograd/forward/levels.h>

#include <thread>
#include <tuple>

using namespace func_test;
namespace func = torch::func;

namespace {

/// Some of everything, with values that tell whether levels of other threads got mixed in.
bool works(double seed) {
  const Tensor x = at::full({4, 3}, seed, at::kDouble) + at::arange(12, at::kDouble).view({4, 3});
  const auto cube = [](const Tensor& t) { return t.pow(3).sum(); };
  const auto close = [](const Tensor& a, const Tensor& b) { return at::allclose(a, b); };
  const auto dot = [](const Tensor& a, const Tensor& b) { return a.dot(b); };
  const Tensor products = func::vmap(func::vmap(dot, {std::nullopt, 0}), {0, std::nullopt})(x, x);
  const auto [value, slope] = func::jvp(cube, std::make_tuple(x), std::make_tuple(x));
  const auto push = [&](const Tensor& t) {
    return std::get<1>(func::jvp(cube, std::make_tuple(t), std::make_tuple(t)));
  };
  return close(func::vmap(func::grad(cube))(x), 3 * x.square()) && close(products, x.matmul(x.t())) &&
      close(slope, 3 * x.pow(3).sum()) && close(func::vmap(push)(x), 3 * x.pow(3).sum(1)) &&
      close(func::vmap(func::hessian(cube))(x), (6 * x).diag_embed()) &&
      close(func::vmap(func::jacrev([](const Tensor& t) { return t.sin(); }))(x), x.cos().diag_embed()) &&
      close(func::functionalize([](const Tensor& t) { return at::zeros_like(t).add_(t); })(x), x);
}

} // namespace

TEST_CASE("transforms on eight threads at once", "[threads]") {
  std::vector<std::thread> threads;
  std::vector<int> right(8, 0);
  for (size_t i = 0; i < right.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        right[i] += works(static_cast<double>(i) + 0.1 * repeat) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(right == std::vector<int>(8, 5));
}

TEST_CASE("a level belongs to its thread") {
  const Tensor x = randn({3, 2});
  int64_t depth = -1;
  Tensor seen;
  const Tensor doubled = func::vmap([&](const Tensor& t) {
    std::thread([&] {
      depth = at::functorch::vmap_depth();
      seen = func::vmap([](const Tensor& s) { return s * 2; })(x);
    }).join();
    return t * 2;
  })(x);
  CHECK(depth == 0);
  check_close(seen, doubled);
}

TEST_CASE("tensors that outlive their vmap") {
  const Tensor x = randn({3, 2});
  Tensor escaped, inner;
  func::vmap([&](const Tensor& t) {
    escaped = t;
    return func::vmap([&](const Tensor& s) { return inner = s * t.sum(); })(t);
  })(x);
  const auto says_so = [&](const auto& call) { CHECK_THAT(error_of(call), Catch::Contains("may have escaped")); };
  for (const Tensor& kept : {escaped, inner}) {
    says_so([&] { return kept + 1; });
    says_so([&] { return kept.sum(); });
    says_so([&] { return Tensor(kept).add_(1); });
    says_so([&] { return func::grad([](const Tensor& t) { return t.sum(); })(kept); });
    says_so([&] { return func::jacrev([](const Tensor& t) { return t * 2; })(kept); });
    says_so([&] {
      return std::get<0>(
          func::jvp([](const Tensor& t) { return t * 2; }, std::make_tuple(kept), std::make_tuple(kept)));
    });
    // A vmap with the same number is another one.
    says_so([&] { return func::vmap([&](const Tensor& t) { return t + kept; })(x); });
    says_so([&] {
      return func::vmap(
          [&](const Tensor& t) { return func::grad([&](const Tensor& s) { return (s * kept).sum(); })(t); })(x);
    });
  }
}

TEST_CASE("transforms hold nothing when they are done, nor after an exception") {
  const Tensor x = randn({3, 2}), w = randn({2});
  const auto f = [&](const Tensor& t) { return (t * w).sin().sum(); };
  const auto fails = [&](const Tensor& t) -> Tensor {
    const Tensor y = (t * w).sin();
    TORCH_CHECK(false, "on purpose");
    return y.sum();
  };
  const auto all = [&](const auto& function) {
    error_of([&] { func::vmap(function)(x); });
    error_of([&] { func::vmap(func::grad(function))(x); });
    error_of([&] { func::jacrev(function)(w); });
    error_of([&] { func::hessian(function)(w); });
    error_of([&] { func::vmap(func::jacfwd(function))(x); });
    error_of([&] { func::jvp(function, std::make_tuple(w), std::make_tuple(w)); });
    error_of([&] { func::functionalize(function)(w); });
  };
  all(f);
  all(fails);
  CHECK(x.use_count() == 1);
  CHECK(w.use_count() == 1);
  CHECK(x.storage().use_count() == 1);
  CHECK(w.storage().use_count() == 1);
  CHECK(at::functorch::vmap_depth() == 0);
  CHECK_FALSE(torch::autograd::forward_ad::current_level().has_value());
  CHECK(torch::GradMode::is_enabled());
  check_close(func::vmap(f)(x), (x * w).sin().sum(1));
}
