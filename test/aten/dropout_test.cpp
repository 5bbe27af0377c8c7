// Dropout in one pass: noise, mask, gradients.
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <limits>

namespace {

using torch::Tensor;

/// What dropout multiplies by, made by operators one after the other.
Tensor noise_like(const Tensor& input, double p) {
  return torch::empty_like(input).bernoulli_(1 - p).div_(1 - p);
}

} // namespace

TEST_CASE("dropout in one pass multiplies by the noise that bernoulli_ makes", "[random]") {
  for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16}) {
    for (const double p : {0.1, 0.37, 0.5, 0.9}) {
      const Tensor base = torch::linspace(-3, 3, 60 * 40, torch::kDouble).to(dtype).view({60, 40});
      base[0][0].fill_(std::numeric_limits<float>::infinity());
      const Tensor rows[] = {
          base, base.t(), base.slice(1, 0, 40, 3), base.select(1, 5), base.slice(0, 0, 1).expand({9, 40})};
      for (const Tensor& input : rows) {
        INFO(dtype << ", p " << p << ", strides " << input.strides());
        torch::manual_seed(5);
        const Tensor noise = noise_like(input, p);
        const Tensor want = input * noise;
        torch::manual_seed(5);
        const Tensor got = at::dropout(input, p, true);
        CHECK(torch::allclose(got, want, 0, 0, true));
        CHECK(got.strides() == want.strides());

        const Tensor x = input.clone().requires_grad_();
        torch::manual_seed(5);
        at::dropout(x, p, true).sum().backward();
        CHECK(torch::equal(x.grad(), noise));
      }
    }
  }
}

TEST_CASE("dropout differentiates twice, and its mask says what was kept", "[random]") {
  torch::manual_seed(3);
  const Tensor x = torch::randn({50}, torch::kDouble).requires_grad_();
  const auto [kept, mask] = at::_fused_dropout(x, 0.75);
  CHECK(mask.scalar_type() == torch::kBool);
  CHECK(torch::equal(kept.detach(), x.detach() * mask * (1 / 0.75)));
  const Tensor slope = torch::autograd::grad({(kept * kept).sum()}, {x}, {}, true, true)[0];
  const Tensor second = torch::autograd::grad({slope.sum()}, {x})[0];
  CHECK(torch::allclose(second, mask.to(torch::kDouble) * (2 / (0.75 * 0.75))));

  const auto [native, native_mask] = at::native_dropout(x, 1, true);
  CHECK(torch::equal(native.detach().abs(), torch::zeros({50}, torch::kDouble)));
  CHECK_FALSE(native_mask.any().item<bool>());
}
