// Anomaly mode: warnings tell where a node was made, and the search for NaN.
#include "support.h"

#include <torch/csrc/autograd/anomaly_mode.h>

#include <c10/util/Exception.h>

#include <limits>
#include <stdexcept>
#include <string>

using namespace autograd_test;
using torch::autograd::AnomalyMode;
using torch::autograd::DetectAnomalyGuard;

namespace {

class CollectedWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    text += warning.msg() + "\n";
  }
  std::string text;
};

// The warnings during `f`, and what it threw.
template <class F>
std::pair<std::string, std::string> warnings_and_error(F f) {
  CollectedWarnings warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  std::string error = error_of(f);
  return {warnings.text, std::move(error)};
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

struct DerivativeIsSqrt : torch::autograd::Function<DerivativeIsSqrt> {
  static Variable forward(AutogradContext* ctx, const Variable& x) {
    ctx->save_for_backward({x});
    return x * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0].sqrt()};
  }
};

} // namespace

TEST_CASE("asking an inner tensor for its gradient warns", "[autograd]") {
  const Tensor x = torch::ones({2}, torch::requires_grad()), y = x * 2;
  CollectedWarnings warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  CHECK_FALSE(x.grad().defined());
  CHECK(warnings.text.empty());
  CHECK_FALSE(y.grad().defined());
  CHECK(count(warnings.text, "is not a leaf Tensor is being accessed") == 1);
  y.retain_grad();
  CHECK_FALSE(y.grad().defined());
  CHECK(count(warnings.text, "is not a leaf") == 1);
}

TEST_CASE("anomaly mode tells where the node was made", "[autograd][anomaly]") {
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({0});
  const Tensor y = x.sqrt() * 0;
  const auto [warnings, error] = warnings_and_error([&] { y.backward(); });
  CHECK_THAT(error, says("Function 'SqrtBackward0' returned nan values in its 0th output"));
  CHECK_THAT(warnings, says("Error detected in SqrtBackward0. Traceback of forward call that caused the error:"));
  CHECK_THAT(warnings, says("frame #"));
}

TEST_CASE("anomaly mode tells which node led to one made in a backward pass", "[autograd][anomaly]") {
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({0});
  const Tensor g = torch::autograd::grad({DerivativeIsSqrt::apply(x)}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  const Tensor zero = g * 0;
  const auto [warnings, error] = warnings_and_error([&] { zero.backward(); });
  CHECK_THAT(error, says("Function 'SqrtBackward0' returned nan values"));
  CHECK_THAT(warnings, says("Error detected in SqrtBackward0."));
  CHECK_THAT(warnings, says("Previous calculation was induced by"));
  CHECK_THAT(warnings, says("DerivativeIsSqrt"));
}

TEST_CASE("any error of a node is told with its forward place", "[autograd][anomaly]") {
  const DetectAnomalyGuard guard(/*check_nan=*/false);
  const Tensor x = leaf({2});
  Tensor y = x * 1;
  const Tensor z = y * y;
  y.add_(1);
  const auto [warnings, error] = warnings_and_error([&] { z.backward(); });
  CHECK_THAT(error, says("modified by an inplace operation"));
  CHECK_THAT(warnings, says("Error detected in MulBackward0."));
  CHECK(count(warnings, "Error detected in") == 1);
}

TEST_CASE("anomaly mode switched on after the forward pass", "[autograd][anomaly]") {
  const Tensor x = leaf({0});
  const Tensor y = x.sqrt() * 0;
  const DetectAnomalyGuard guard;
  const auto [warnings, error] = warnings_and_error([&] { y.backward(); });
  CHECK_THAT(error, says("returned nan values"));
  CHECK_THAT(warnings, says("No forward pass information available. Enable detect anomaly during forward pass"));
}

TEST_CASE("anomaly mode looks at each output", "[autograd][anomaly]") {
  const DetectAnomalyGuard guard;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = leaf({1});
  const Tensor y = leaf({nan});
  // d(xy)/dx = y is NaN, d(xy)/dy = x is not.
  CHECK_THAT(
      error_of([&] { (x * y).backward(); }), says("Function 'MulBackward0' returned nan values in its 0th output"));
  CHECK_THAT(error_of([&] { (y * x).backward(); }), says("in its 1th output"));
  torch::autograd::grad({x * y}, {y});
}

TEST_CASE("guards of anomaly mode nest", "[autograd][anomaly]") {
  CHECK_FALSE(AnomalyMode::is_enabled());
  {
    const DetectAnomalyGuard outer;
    CHECK(AnomalyMode::should_check_nan());
    {
      const DetectAnomalyGuard inner(/*check_nan=*/false);
      CHECK(AnomalyMode::is_enabled());
      CHECK_FALSE(AnomalyMode::should_check_nan());
    }
    CHECK(AnomalyMode::is_enabled());
    CHECK(AnomalyMode::should_check_nan());
  }
  CHECK_FALSE(AnomalyMode::is_enabled());
}

TEST_CASE("anomaly mode switched by hand", "[autograd][anomaly]") {
  const Tensor x = leaf({0});
  AnomalyMode::set_enabled(true, /*check_nan=*/true);
  const Tensor y = x.sqrt() * 0;
  const auto [warnings, error] = warnings_and_error([&] { y.backward({}, true); });
  AnomalyMode::set_enabled(false);
  CHECK_THAT(error, says("returned nan values"));
  CHECK_THAT(warnings, says("Traceback of forward call"));
  y.backward();
}

TEST_CASE("the error of a changed value names all that is known", "[autograd][errors]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x.exp();
  Tensor z = y * 2;
  const Tensor w = z.sin();
  z.add_(1);
  z.add_(1);
  const std::string error = error_of([&] { w.sum().backward(); });
  CHECK_THAT(error, says("CPUDoubleType"));
  CHECK_THAT(error, says("[2]"));
  CHECK_THAT(error, says("is at version 2; expected version 0 instead"));
  CHECK_THAT(error, says("It is needed by SinBackward0."));
  CHECK_THAT(error, says("Hint: enable anomaly detection"));
}

TEST_CASE("the error of a second pass names the node", "[autograd][errors]") {
  const Tensor x = leaf({1});
  const Tensor y = x.exp();
  y.backward();
  const std::string error = error_of([&] { y.backward(); });
  CHECK_THAT(error, says("Trying to backward through the graph a second time"));
  CHECK_THAT(error, says("ExpBackward0"));
  CHECK_THAT(error, says("Specify retain_graph=True"));
}
