// Loss scaling: operators and torch::amp::GradScaler.
#include <catch2/catch.hpp>

#include <aten/core/ivalue.h>
#include <csrc/amp/grad_scaler.h>
#include <csrc/optim/sgd.h>

#include "test/optim/support.h"
#include "test/support/matchers.h"

#include <cmath>
#include <limits>

using at::Tensor;
using test::EqualsTensor;
using test::Says;
using torch::amp::GradScaler;
using torch::amp::GradScalerOptions;

TEST_CASE("gradients are unscaled and looked through for infinities", "[optim][amp]") {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    Tensor found = at::zeros({}), inverse = at::scalar_tensor(0.25, at::kFloat);
    const std::vector<Tensor> grads{torch::tensor({8.0, -4.0}).to(dtype), at::zeros({0}, dtype)};
    at::_amp_foreach_non_finite_check_and_unscale_(grads, found, inverse);
    CHECK_THAT(grads[0].to(at::kFloat), EqualsTensor({2, -1}));
    CHECK(found.item<float>() == 0);
    for (const double bad : std::vector<double>{INFINITY, -INFINITY, NAN}) {
      found.zero_();
      at::_amp_foreach_non_finite_check_and_unscale_(
          std::vector<Tensor>{grads[0], torch::tensor({1.0, bad}).to(dtype)}, found, inverse);
      CHECK(found.item<float>() == 1);
    }
  }
  Tensor found = at::zeros({}), wide = at::ones({}, at::kDouble);
  CHECK_THROWS_MATCHES(
      (at::_amp_foreach_non_finite_check_and_unscale_(std::vector<Tensor>{at::ones({1})}, found, wide)), c10::Error,
      Says("inv_scale must be a Float tensor"));
  const Tensor huge = at::full({3}, 3e38);
  at::_amp_foreach_non_finite_check_and_unscale_(std::vector<Tensor>{huge}, found, at::ones({}));
  CHECK(found.item<float>() == 0);
}

TEST_CASE("the scale grows after quiet steps and falls after an infinity", "[optim][amp]") {
  Tensor scale = at::full({}, 8.0f), tracker = at::zeros({}, at::kInt), found = at::zeros({});
  const auto update = [&] { at::_amp_update_scale_(scale, tracker, found, 2.0, 0.5, 3); };
  for (int i = 0; i < 2; ++i) {
    update();
  }
  CHECK(scale.item<float>() == 8);
  CHECK(tracker.item<int>() == 2);
  update();
  CHECK(scale.item<float>() == 16);
  CHECK(tracker.item<int>() == 0);
  update();
  found.fill_(1);
  update();
  CHECK(scale.item<float>() == 8);
  CHECK(tracker.item<int>() == 0);
  found.zero_();
  scale.fill_(std::numeric_limits<float>::max());
  for (int i = 0; i < 3; ++i) {
    update();
  }
  CHECK(scale.item<float>() == std::numeric_limits<float>::max());
}

TEST_CASE("GradScaler skips steps whose gradients are not finite", "[optim][amp]") {
  const Tensor p = torch::tensor({1.0f}).set_requires_grad(true);
  torch::optim::SGD optimizer({p}, 0.5);
  GradScaler scaler(GradScalerOptions().init_scale(16).growth_interval(2));
  const auto iterate = [&](double slope) {
    optimizer.zero_grad();
    scaler.scale((p * slope).sum()).backward();
    const bool stepped = scaler.step(optimizer);
    scaler.update();
    return stepped;
  };
  CHECK(iterate(1));
  CHECK(p.item<float>() == 0.5f);
  CHECK(scaler.get_scale() == 16);
  CHECK(iterate(1));
  CHECK(scaler.get_scale() == 32);
  CHECK_FALSE(iterate(INFINITY));
  CHECK(p.item<float>() == 0.0f);
  CHECK(scaler.get_scale() == 16);

  GradScaler other;
  other.load_state_dict(scaler.state_dict());
  CHECK(other.get_scale() == 16);
  CHECK(other.get_growth_interval() == 2);

  // Looking at gradients before the step.
  optimizer.zero_grad();
  scaler.scale((p * 3).sum()).backward();
  scaler.unscale_(optimizer);
  CHECK(p.grad().item<float>() == 3);
  CHECK_THROWS_MATCHES(
      scaler.unscale_(optimizer), c10::Error,
      Says("unscale_() has already been called on this optimizer since the last update()"));
  scaler.step(optimizer);
  CHECK(p.item<float>() == -1.5f);
  CHECK_THROWS_MATCHES(
      scaler.step(optimizer), c10::Error, Says("step() has already been called since the last update()"));
  CHECK_THROWS_MATCHES(scaler.unscale_(optimizer), c10::Error, Says("unscale_() is being called after step()"));
  scaler.update(64.0);
  CHECK(scaler.get_scale() == 64);
  CHECK_THROWS_MATCHES(scaler.update(), c10::Error, Says("No inf checks were recorded prior to update"));
  optimizer.zero_grad();
  CHECK_THROWS_MATCHES(scaler.step(optimizer), c10::Error, Says("No inf checks were recorded for this optimizer"));

  GradScaler fresh;
  CHECK_THROWS_MATCHES(fresh.unscale_(optimizer), c10::Error, Says("Attempted unscale_ but _scale is None"));
  CHECK_THROWS_MATCHES(
      GradScaler(GradScalerOptions().growth_factor(1)), c10::Error, Says("The growth factor must be > 1.0"));
  CHECK_THROWS_MATCHES(
      GradScaler(GradScalerOptions().backoff_factor(1)), c10::Error, Says("The backoff factor must be < 1.0"));
  GradScaler off(GradScalerOptions().enabled(false));
  CHECK(off.scale(p).is_same(p));
  CHECK(off.step(optimizer));
}
