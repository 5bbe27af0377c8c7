// Chains of layers in 8 bits: folding of normalizations, calibration, training with rounding.
#include <catch2/catch.hpp>

#include <torch/quantization.h>
#include <torch/torch.h>

#include <sstream>

using at::Tensor;
using Catch::Contains;
namespace nn = torch::nn;

namespace {

nn::Sequential small_net() {
  return nn::Sequential(
      nn::Conv2d(nn::Conv2dOptions(3, 8, 3).stride(2).bias(false)), nn::BatchNorm2d(8), nn::ReLU(),
      nn::Conv2d(nn::Conv2dOptions(8, 8, 3).padding(1).groups(8)), nn::BatchNorm2d(8), nn::ReLU(), nn::Dropout(),
      nn::MaxPool2d(2), nn::Conv2d(8, 6, 1), nn::ReLU(), nn::AdaptiveAvgPool2d(2), nn::Flatten(), nn::Linear(24, 10),
      nn::BatchNorm1d(10), nn::ReLU(), nn::Linear(10, 4));
}

/// A net whose normalizations have seen data.
nn::Sequential warmed_net() {
  auto net = small_net();
  const torch::NoGradGuard no_grad;
  for (int i = 0; i < 20; ++i) {
    net->forward(torch::randn({8, 3, 15, 15}) + 0.3);
  }
  net->eval();
  return net;
}

double relative_error(const Tensor& a, const Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

} // namespace

TEST_CASE("normalizations are folded into the layer in front of them", "[quantized]") {
  torch::manual_seed(1);
  auto net = warmed_net();
  auto fused = torch::fuse_conv_bn(net);
  CHECK(fused->size() == 13);
  std::ostringstream text;
  text << fused;
  CHECK_THAT(text.str(), !Contains("BatchNorm"));
  const torch::NoGradGuard no_grad;
  const Tensor x = torch::randn({5, 3, 15, 15});
  CHECK(at::allclose(fused->forward(x), net->forward(x), 1e-4, 1e-5));
  // Copies: the net keeps its weights.
  fused->parameters()[0].zero_();
  CHECK(net->parameters()[0].abs().sum().item<float>() > 0);
  // A normalization in front of the layer stays.
  nn::Sequential first(nn::BatchNorm1d(4), nn::Linear(4, 4));
  CHECK(torch::fuse_conv_bn(first)->size() == 2);
}

TEST_CASE("a calibrated chain computes in 8 bits about what it did", "[quantized]") {
  torch::manual_seed(2);
  auto net = warmed_net();
  auto prepared = torch::prepare_sequential(net);
  const torch::NoGradGuard no_grad;
  const Tensor x = torch::randn({16, 3, 15, 15}), expected = net->forward(x);
  CHECK(at::allclose(prepared->forward(x), expected, 1e-4, 1e-5));
  auto quantized = torch::convert(prepared);
  const Tensor y = quantized->forward(x);
  CHECK(relative_error(y, expected) < 0.05);
  // What training with rounding computes is what 8 bits compute, up to a step at ties.
  prepared->set_rounding(true);
  const Tensor rounded = prepared->forward(x);
  CHECK(relative_error(y, rounded) < 0.02);
  CHECK((y - rounded).abs().max().item<double>() <= 0.02 * (expected.max() - expected.min()).item<double>());
  std::ostringstream text;
  text << quantized;
  CHECK_THAT(text.str(), Contains("Conv2d+ReLU, Conv2d+ReLU, MaxPool2d"));
}

TEST_CASE("a chain learns while it is rounded", "[quantized]") {
  torch::manual_seed(3);
  auto prepared = torch::prepare_qat(warmed_net());
  const Tensor x = torch::randn({16, 3, 15, 15}), target = torch::randint(0, 4, {16}, at::kLong);
  torch::optim::SGD optimizer(prepared->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const auto loss_of = [&](const Tensor& y) { return torch::nn::functional::cross_entropy(y, target); };
  const double before = loss_of(prepared->forward(x)).item<double>();
  for (int step = 0; step < 100; ++step) {
    optimizer.zero_grad();
    loss_of(prepared->forward(x)).backward();
    optimizer.step();
  }
  const double after = loss_of(prepared->forward(x)).item<double>();
  CHECK(after < 0.8 * before);
  prepared->eval();
  auto quantized = torch::convert(prepared);
  CHECK(std::abs(loss_of(quantized->forward(x)).item<double>() - after) < 0.1 * before);
}

TEST_CASE("ranges of a prepared chain are saved with its weights", "[quantized]") {
  torch::manual_seed(4);
  auto net = warmed_net();
  auto prepared = torch::prepare_sequential(net), other = torch::prepare_sequential(small_net());
  const Tensor x = torch::randn({4, 3, 15, 15});
  prepared->forward(x);
  std::stringstream file;
  torch::serialize::OutputArchive out;
  prepared->save(out);
  out.save_to(file);
  torch::serialize::InputArchive in;
  in.load_from(file);
  other->load(in);
  CHECK(at::equal(torch::convert(other)->forward(x), torch::convert(prepared)->forward(x)));
}

TEST_CASE("chains that cannot be quantized are refused", "[quantized]") {
  CHECK_THROWS_WITH(
      torch::prepare_sequential(nn::Sequential(nn::Linear(2, 2), nn::Softmax(1))), Contains("is not supported"));
  CHECK_THROWS_WITH(
      torch::prepare_sequential(nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 2, 3).padding(torch::kSame)))),
      Contains("with zeros for padding, and numbers for how many"));
  CHECK_THROWS_WITH(torch::prepare_qat(nn::Sequential(nn::Linear(2, 2)), 2), Contains("must be from 0 to 1"));
  CHECK_THROWS_WITH(
      torch::convert(torch::prepare_sequential(nn::Sequential(nn::Linear(2, 2)))), Contains("has not run yet"));
}
