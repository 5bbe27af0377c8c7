#include "support.h"

#include <torch/csrc/autograd/anomaly_mode.h>

using namespace autograd_test;

TEST_CASE("nothing is recorded under NoGradGuard", "[autograd][modes]") {
  const Tensor x = leaf({1});
  {
    torch::NoGradGuard no_grad;
    CHECK_FALSE((x * 2).requires_grad());
    {
      torch::AutoGradMode on(true);
      CHECK((x * 2).requires_grad());
    }
    CHECK_FALSE(torch::GradMode::is_enabled());
  }
  CHECK((x * 2).requires_grad());
}

TEST_CASE("requires_grad", "[autograd][modes]") {
  Tensor x = values({1, 2});
  CHECK_FALSE(x.requires_grad());
  CHECK(x.is_leaf());
  x.requires_grad_();
  CHECK(x.requires_grad());
  x.requires_grad_(false);
  CHECK_FALSE(x.requires_grad());
  x.set_requires_grad(true);
  const Tensor y = x * 2;
  CHECK_THAT(
      error_of([&] { y.requires_grad_(false); }), says("you can only change requires_grad flags of leaf variables"));
  y.requires_grad_(true);
  CHECK_THAT(
      error_of([] { torch::zeros({2}, torch::kLong).requires_grad_(); }),
      says("Only Tensors of floating point and complex dtype can require gradients"));
  CHECK(torch::zeros({2}, torch::requires_grad()).requires_grad());
}

TEST_CASE("integers that numbers are written into take no part", "[autograd][modes]") {
  const Tensor x = leaf({1, 2});
  for (const auto type : {torch::kLong, torch::kBool}) {
    Tensor whole = torch::zeros({2}, type);
    whole.copy_(x);
    whole.view({2}).fill_(x[0]);
    whole.masked_fill_(whole == 0, x[1]);
    CHECK_FALSE(whole.requires_grad());
    CHECK(whole.is_leaf());
    CHECK(whole._version() == 3);
  }
}

TEST_CASE("integers take no part", "[autograd][modes]") {
  const Tensor x = leaf({1, 2});
  CHECK_FALSE((x > 1).requires_grad());
  CHECK_FALSE(x.argmax().requires_grad());
  CHECK_FALSE(x.to(torch::kLong).requires_grad());
}

TEST_CASE("set_data gives a tensor other contents", "[autograd][modes]") {
  Tensor x = leaf({1, 2});
  x.set_data(values({3, 4, 5}));
  CHECK(x.requires_grad());
  CHECK(same(x.detach(), {3, 4, 5}));
  (x * x).sum().backward();
  CHECK(same(x.grad(), {6, 8, 10}));
  CHECK_THAT(
      error_of([&] { x.set_data(torch::zeros({2}, torch::kLong)); }),
      says("data set to a tensor that requires gradients must be floating point or complex dtype"));

  SECTION("of another dtype") {
    Tensor y = leaf({1, 2});
    (y * 2).sum().backward();
    y.mutable_grad().reset();
    y.set_data(torch::ones({2}, torch::kFloat));
    (y * 2).sum().backward();
    CHECK(y.grad().dtype() == torch::kFloat);
  }
}

TEST_CASE(".grad() can be set and cleared", "[autograd][modes]") {
  Tensor x = leaf({1, 2});
  x.mutable_grad() = values({10, 20});
  (x * 2).sum().backward();
  CHECK(same(x.grad(), {12, 22}));
  x.mutable_grad().reset();
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("backward() for an empty list of inputs is refused", "[autograd][errors]") {
  const Tensor x = leaf({1, 2}), loss = (x * 2).sum();
  CHECK_THROWS_WITH(
      loss.backward({}, std::nullopt, false, torch::TensorList()),
      Catch::Contains("'inputs' argument to backward cannot be empty"));
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("names", "[autograd][modes]") {
  CHECK(values({1}).name().empty());
}

TEST_CASE("inference mode", "[autograd][modes][inference]") {
  const Tensor x = leaf({1, 2});
  Tensor made;
  Tensor view;
  {
    c10::InferenceMode mode;
    CHECK(c10::InferenceMode::is_enabled());
    CHECK_FALSE(torch::GradMode::is_enabled());
    made = x * 2;
    CHECK(made.is_inference());
    CHECK_FALSE(made.requires_grad());
    made.add_(1);
    CHECK_THAT(error_of([&] { made._version(); }), says("Inference tensors do not track version counter"));
    view = x.view({2, 1});
    CHECK_FALSE(view.is_inference());
    {
      c10::InferenceMode off(false);
      CHECK_FALSE((x * 2).is_inference());
      CHECK((x * 2).requires_grad());
    }
  }
  CHECK_THAT(
      error_of([&] { made.add_(1); }), says("Inplace update to inference tensor outside InferenceMode is not allowed"));
  CHECK_THAT(
      error_of([&] { made.requires_grad_(); }),
      says("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"));
  CHECK_FALSE((made * 2).is_inference());
  CHECK(made.view({2, 1}).is_inference());
  CHECK_FALSE(made.clone().is_inference());
  Tensor normal = x * 1;
  {
    c10::InferenceMode mode;
    view = normal.view({2, 1});
  }
  CHECK_THAT(
      error_of([&] { view.mul_(2); }),
      says("A view was created in inference mode and is being modified inplace in normal mode"));
}

TEST_CASE("detach_ within inference mode leaves histories alone", "[autograd][modes][inference]") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  {
    c10::InferenceMode mode;
    y.detach_();
    x.detach_();
  }
  y.sum().backward();
  CHECK(same(x.grad(), {2, 2}));
}

TEST_CASE("a backward pass within inference mode changes nothing outside", "[autograd][modes][inference]") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  y.backward();
  CHECK_FALSE(x.grad().is_inference());
}

TEST_CASE("anomaly mode finds NaN", "[autograd][modes][anomaly]") {
  const Tensor x = leaf({0});
  const Tensor plain = (x / x).sum();
  plain.backward();
  CHECK(x.grad().isnan().item<bool>());
  {
    torch::autograd::DetectAnomalyGuard guard;
    const Tensor y = (x.sqrt() * 0).sum();
    CHECK_THROWS_AS(y.backward({}, /*retain_graph=*/true), c10::Error);
    CHECK_THAT(error_of([&] { y.backward(); }), says("Function 'SqrtBackward0' returned nan values in its 0th output"));
  }
  {
    torch::autograd::DetectAnomalyGuard guard(/*check_nan=*/false);
    const Tensor y = (x.sqrt() * 0).sum();
    y.backward();
  }
  CHECK_FALSE(torch::autograd::AnomalyMode::is_enabled());
}

TEST_CASE("versions in the message of anomaly mode", "[autograd][modes][anomaly]") {
  torch::autograd::DetectAnomalyGuard guard;
  const Tensor x = leaf({2});
  Tensor y = x * 1;
  const Tensor z = y * y;
  y.add_(1);
  CHECK_THAT(error_of([&] { z.backward(); }), says("Hint: the backtrace further above shows the operation"));
}

TEST_CASE("operators without a derivative say so when it is asked for", "[autograd][errors]") {
  const Tensor x = torch::rand({4}, doubles()).requires_grad_();
  SECTION("random numbers do not depend on what was there") {
    Tensor y = x * 1;
    y.random_(3);
    y.sum().backward();
    CHECK(same(x.grad(), {0, 0, 0, 0}));
    Tensor leaf_tensor = x;
    CHECK_THAT(error_of([&] { leaf_tensor.random_(); }), says("a leaf Variable that requires grad"));
  }
  SECTION("histograms") {
    const Tensor counts = torch::bincount(torch::tensor({0, 1, 1, 2}), x);
    CHECK(counts.requires_grad());
    CHECK_THAT(error_of([&] { counts.sum().backward(); }), says("derivative for bincount is not implemented"));
    const Tensor histogram = std::get<0>(torch::histogram(x, 3));
    CHECK_THAT(error_of([&] { histogram.sum().backward(); }), says("derivative for histogram is not implemented"));
  }
  SECTION("by an argument that should not change") {
    const auto [result, buffer] = torch::log_sigmoid_forward(values({1, 2, 3, 4}));
    CHECK_THAT(
        error_of([&] { torch::log_sigmoid_backward(result, result, x); }),
        says("The function 'log_sigmoid_backward' is not differentiable with respect to argument 'buffer'"));
  }
}
