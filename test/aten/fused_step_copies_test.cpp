// Steps of optimizers and of loss scaling on copies: what the in-place operators would write, and nothing is written.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <aten/ops/_amp_update_scale.h>
#include <aten/ops/_fused_adagrad.h>
#include <aten/ops/_fused_adam.h>
#include <aten/ops/_fused_adamw.h>
#include <aten/ops/_fused_sgd.h>

#include <cmath>
#include <limits>

#include "test/support/matchers.h"

using at::Tensor;
using test::EqualsTensor;
using test::Says;

namespace {

using List = std::vector<Tensor>;

/// Numbers of two parameters, others for each list.
List numbers(double first, at::ScalarType dtype) {
  return {
      at::arange(first, first + 3, at::TensorOptions(dtype)), at::full({2, 2}, first + 5, at::TensorOptions(dtype))};
}

List copies(const List& list) {
  List result;
  for (const Tensor& t : list) {
    result.push_back(t.clone());
  }
  return result;
}

void check_equal(const List& a, const List& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].equal(b[i]));
  }
}

} // namespace

TEST_CASE("fused steps on copies give what those in place write", "[optim]") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble, at::kHalf, at::kBFloat16);
  const List p = numbers(1, dtype), g = numbers(2, dtype), m = numbers(3, dtype), v = numbers(4, dtype),
             most = numbers(5, dtype);
  const List steps = {at::full({}, 3.f), at::full({}, 4.f)};
  const Tensor scale = at::full({}, 2.f), rate = at::full({}, 0.1, at::kDouble);
  const List before = copies(p);
  List P = copies(p), G = copies(g), M = copies(m), V = copies(v), X = copies(most);
  List out = {at::empty({0}, dtype), at::empty({0}, dtype)};

  SECTION("SGD") {
    at::_fused_sgd_(P, G, M, 0.01, 0.9, 0.1, 0.2, true, false, false, scale);
    const auto [p1, g1, m1] = at::_fused_sgd(p, g, m, 0.01, 0.9, 0.1, 0.2, true, false, false, scale);
    check_equal(p1, P);
    check_equal(g1, G);
    check_equal(m1, M);
    check_equal(std::get<0>(at::_fused_sgd(p, g, m, 0.01, 0.9, rate, 0.2, true, false, false, scale)), P);
    at::_fused_sgd_out(out, p, g, m, 0.01, 0.9, 0.1, 0.2, true, false, false, scale);
    check_equal(out, P);
  }
  SECTION("Adam") {
    at::_fused_adam_(P, G, M, V, X, steps, 0.1, 0.9, 0.99, 0.01, 1e-8, true, false, scale);
    const auto [p1, g1, m1, v1, x1] =
        at::_fused_adam(p, g, m, v, most, steps, 0.1, 0.9, 0.99, 0.01, 1e-8, true, false, scale);
    check_equal(p1, P);
    check_equal(g1, G);
    check_equal(m1, M);
    check_equal(v1, V);
    check_equal(x1, X);
    check_equal(
        std::get<0>(at::_fused_adam(p, g, m, v, most, steps, rate, 0.9, 0.99, 0.01, 1e-8, true, false, scale)), P);
    at::_fused_adam_out(out, p, g, m, v, most, steps, rate, 0.9, 0.99, 0.01, 1e-8, true, false, scale);
    check_equal(out, P);
  }
  SECTION("AdamW") {
    at::_fused_adamw_(P, G, M, V, {}, steps, 0.1, 0.9, 0.99, 0.01, 1e-8, false, true);
    const auto [p1, g1, m1, v1, x1] = at::_fused_adamw(p, g, m, v, {}, steps, 0.1, 0.9, 0.99, 0.01, 1e-8, false, true);
    check_equal(p1, P);
    check_equal(m1, M);
    check_equal(v1, V);
    CHECK(x1.empty());
    at::_fused_adamw_out(out, p, g, m, v, {}, steps, 0.1, 0.9, 0.99, 0.01, 1e-8, false, true);
    check_equal(out, P);
    check_equal(std::get<0>(at::_fused_adamw(p, g, m, v, {}, steps, rate, 0.9, 0.99, 0.01, 1e-8, false, true)), P);
  }
  SECTION("Adagrad") {
    at::_fused_adagrad_(P, G, M, copies(steps), 0.1, 0.01, 0.02, 1e-8, false);
    const auto [p1, g1, m1, s1] = at::_fused_adagrad(p, g, m, steps, 0.1, 0.01, 0.02, 1e-8, false);
    check_equal(p1, P);
    check_equal(m1, M);
    check_equal(s1, steps);
    check_equal(std::get<2>(at::_fused_adagrad(p, g, m, steps, rate, 0.01, 0.02, 1e-8, false)), M);
    at::_fused_adagrad_out(out, p, g, m, steps, 0.1, 0.01, 0.02, 1e-8, false);
    check_equal(out, P);
  }
  check_equal(p, before);
  List narrow = {at::empty({0}, at::kLong), at::empty({0}, dtype)};
  CHECK_THROWS_MATCHES(
      at::_fused_sgd_out(narrow, p, g, m, 0.01, 0.9, 0.1, 0.2, true, false, false), c10::Error,
      Says("Expected out tensor to have dtype"));
  CHECK_THROWS_AS(at::_fused_sgd({Tensor()}, g, m, 0.01, 0.9, 0.1, 0.2, true, false, false), c10::Error);
}

TEST_CASE("loss scaling on copies gives what that in place writes", "[amp]") {
  const List g = {at::tensor({1.f, std::numeric_limits<float>::infinity()}), at::tensor({4.f})};
  const Tensor found = at::zeros({1}), half = at::full({}, 0.5f);
  const auto [scaled, is_bad] = at::_amp_foreach_non_finite_check_and_unscale(g, found, half);
  CHECK(scaled[0][0].item<float>() == 0.5f);
  CHECK_THAT(scaled[1], EqualsTensor({2}));
  CHECK_THAT(is_bad, EqualsTensor({1}));
  CHECK_THAT(found, EqualsTensor({0}));
  CHECK_THAT(g[1], EqualsTensor({4}));
  Tensor found_out = at::zeros({1});
  const List out = {at::empty({0}), at::empty({0})};
  at::_amp_foreach_non_finite_check_and_unscale_out(out, g, found_out, half);
  CHECK_THAT(out[1], EqualsTensor({2}));

  const Tensor tracker = at::zeros({1}, at::kInt);
  const auto [grown, counted] = at::_amp_update_scale(at::ones({1}), tracker, found, 2, 0.5, 1);
  CHECK_THAT(grown, EqualsTensor({2}));
  CHECK(counted.item<int>() == 0);
  CHECK(std::get<1>(at::_amp_update_scale(at::ones({1}), tracker, found, 2, 0.5, 9)).item<int>() == 1);
  CHECK(tracker.item<int>() == 0);
  Tensor scale = at::empty({0}), tracker_out = tracker.clone();
  at::_amp_update_scale_out(scale, at::ones({1}), tracker_out, at::ones({1}), 2, 0.5, 1);
  CHECK_THAT(scale, EqualsTensor({0.5}));
}
