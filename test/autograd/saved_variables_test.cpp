#include "support.h"

using namespace autograd_test;

TEST_CASE("an input that was changed after use", "[autograd][saved][errors]") {
  const Tensor x = leaf({2, 3});
  Tensor y = x * 2;
  const Tensor z = y * y;
  y.add_(1);
  const std::string message = error_of([&] { z.sum().backward(); });
  CHECK_THAT(
      message, says("one of the variables needed for gradient computation has been modified by an inplace operation:"));
  CHECK_THAT(message, says("[2]], which is output 0 of Add"));
  CHECK_THAT(message, says("is at version 1; expected version 0 instead"));
  CHECK_THAT(message, says("Hint: enable anomaly detection"));
}

TEST_CASE("an output that was changed after it was kept", "[autograd][saved][errors]") {
  const Tensor x = leaf({2, 3});
  Tensor y = x.exp();
  y.add_(1);
  const std::string message = error_of([&] { y.sum().backward(); });
  CHECK_THAT(message, says("which is output 0 of Exp"));
  CHECK_THAT(message, says("is at version 1; expected version 0 instead"));
}

TEST_CASE("a change through another tensor over the same memory is noticed", "[autograd][saved][errors]") {
  const Tensor x = leaf({2, 3});
  const Tensor y = x * 1;
  const Tensor z = y * y;
  SECTION("a view") {
    y.detach()[0].zero_();
  }
  SECTION("without recording") {
    torch::NoGradGuard no_grad;
    y.zero_();
  }
  CHECK_THAT(error_of([&] { z.sum().backward(); }), says("modified by an inplace operation"));
}

TEST_CASE("a leaf that was changed without recording", "[autograd][saved][errors]") {
  Tensor x = leaf({2, 3});
  const Tensor z = x * x;
  {
    torch::NoGradGuard no_grad;
    x.add_(1);
  }
  const std::string message = error_of([&] { z.sum().backward(); });
  CHECK_THAT(message, says("is at version 1; expected version 0 instead"));
}

TEST_CASE("changes through .data() are not noticed", "[autograd][saved]") {
  Tensor x = leaf({2, 3});
  const Tensor z = x * x;
  x.data().add_(1);
  z.sum().backward();
  CHECK(same(x.grad(), {6, 8}));
}

TEST_CASE("operators that keep nothing do not mind", "[autograd][saved]") {
  const Tensor x = leaf({2, 3});
  Tensor y = x * 2;
  const Tensor z = y + y;
  y.add_(1);
  z.sum().backward();
  CHECK(same(x.grad(), {4, 4}));
}

TEST_CASE("only what is needed is kept", "[autograd][saved]") {
  const Tensor x = leaf({2});
  Tensor factor = values({3});
  const Tensor y = x * factor;
  SECTION("the factor is") {
    factor.add_(1);
    CHECK_THAT(error_of([&] { y.backward(); }), says("modified by an inplace operation"));
  }
  SECTION("x itself is not, as the factor requires no gradient") {
    Tensor inner = x * 1;
    const Tensor z = inner * factor;
    inner.mul_(5);
    z.backward();
    CHECK(same(x.grad(), {3}));
  }
}

TEST_CASE("a node does not keep its own output alive in a circle", "[autograd][saved]") {
  const Tensor x = leaf({2});
  c10::weak_intrusive_ptr<c10::TensorImpl> watch(x.getIntrusivePtr());
  {
    const Tensor y = x.exp().exp();
    watch = c10::weak_intrusive_ptr<c10::TensorImpl>(y.getIntrusivePtr());
    CHECK_FALSE(watch.expired());
  }
  CHECK(watch.expired());
}

TEST_CASE("kept outputs can be differentiated again", "[autograd][saved]") {
  const Tensor x = leaf({0.5});
  const Tensor y = x.exp();
  const Tensor g = torch::autograd::grad({y}, {x}, {}, std::nullopt, true)[0];
  const Tensor gg = torch::autograd::grad({g}, {x}, {}, std::nullopt, true)[0];
  const Tensor ggg = torch::autograd::grad({gg}, {x})[0];
  CHECK(same(ggg, x.detach().exp()));
}

TEST_CASE("inference tensors cannot be kept", "[autograd][saved][errors]") {
  Tensor inference;
  {
    c10::InferenceMode mode;
    inference = values({1, 2}) * 1;
  }
  const Tensor x = leaf({1, 2});
  CHECK_THAT(error_of([&] { x* inference; }), says("Inference tensors cannot be saved for backward"));
  const Tensor sum = x + inference;
  sum.sum().backward();
  CHECK(same(x.grad(), {1, 1}));
}
