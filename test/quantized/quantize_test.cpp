#include <catch2/catch.hpp>

#include <torch/quantization.h>
#include <torch/torch.h>

#include <sstream>
#include <string>

using at::Tensor;
using Catch::Contains;

namespace {

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() {
    reset();
  }
  void reset() override {
    first = register_module("first", torch::nn::Linear(128, 96));
    second = register_module("second", torch::nn::Linear(torch::nn::LinearOptions(96, 40).bias(false)));
  }
  Tensor forward(const Tensor& x) {
    return second(first(x).relu());
  }
  torch::nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Net);

/// Share of the difference in the whole.
double distance(const Tensor& a, const Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

} // namespace

TEST_CASE("quantize_ keeps a model's results within the error of its bits", "[quantized]") {
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  Net net;
  const Tensor x = torch::randn({5, 3, 128}), before = net(x);
  const auto [config, bound] = GENERATE(
      std::pair<torch::QuantizationConfig, double>(torch::Int8WeightOnly{}, 0.01),
      std::pair<torch::QuantizationConfig, double>(torch::Int8DynamicActivationInt8Weight{}, 0.02),
      std::pair<torch::QuantizationConfig, double>(torch::Int4WeightOnly{.group_size = 32}, 0.12),
      std::pair<torch::QuantizationConfig, double>(torch::Int8DynamicActivationInt4Weight{.group_size = 32}, 0.12));
  CHECK(torch::quantize_(*net, config) == 2);
  const Tensor after = net(x);
  CHECK(after.sizes() == before.sizes());
  CHECK(distance(after, before) < bound);
  CHECK(distance(after, before) > 1e-4);
  CHECK(torch::quantize_(*net, config) == 0);
}

TEST_CASE("a quantized layer computes with the numbers that its state stands for", "[quantized]") {
  torch::manual_seed(2);
  const torch::NoGradGuard no_grad;
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kBFloat16);
  torch::nn::Linear layer(64, 48);
  layer->to(dtype);
  const Tensor weight = layer->weight.clone(), bias = layer->bias, x = torch::randn({7, 64}).to(dtype);
  const double tolerance = dtype == at::kFloat ? 1e-5 : 0.02;
  SECTION("of 8 bits") {
    torch::quantize_(*layer, torch::Int8WeightOnly{});
    const auto state = torch::state_dict(*layer);
    REQUIRE(state.keys() == std::vector<std::string>{"bias", "weight.qdata", "weight.scale"});
    CHECK(state["weight.qdata"].scalar_type() == at::kChar);
    CHECK(state["weight.scale"].sizes() == at::IntArrayRef({48, 1}));
    CHECK(state["weight.scale"].scalar_type() == dtype);
    const Tensor numbers = state["weight.qdata"].to(at::kFloat) * state["weight.scale"].to(at::kFloat);
    CHECK((numbers - weight).abs().max().item<double>() < 0.6 * state["weight.scale"].max().item<double>());
    const Tensor expected = at::linear(x.to(at::kFloat), numbers, bias.to(at::kFloat));
    CHECK(at::allclose(layer(x).to(at::kFloat), expected, tolerance, tolerance));
  }
  SECTION("of 4 bits") {
    torch::quantize_(*layer, torch::Int4WeightOnly{.group_size = 32});
    const auto state = torch::state_dict(*layer);
    REQUIRE(state.keys() == std::vector<std::string>{"bias", "weight.qdata", "weight.scale", "weight.zero_point"});
    CHECK(state["weight.qdata"].sizes() == at::IntArrayRef({48, 32}));
    CHECK(state["weight.scale"].sizes() == at::IntArrayRef({2, 48}));
    Tensor numbers = torch::empty({48, 64});
    for (int64_t n = 0; n < 48; ++n) {
      for (int64_t k = 0; k < 64; ++k) {
        const int byte = state["weight.qdata"][n][k / 2].item<int8_t>() & 255;
        const int half = k % 2 == 0 ? byte & 15 : byte >> 4, code = half < 8 ? half : half - 16;
        numbers[n][k] = static_cast<float>(code) * state["weight.scale"][k / 32][n].item<float>() +
            state["weight.zero_point"][k / 32][n].item<float>();
      }
    }
    CHECK((numbers - weight).abs().max().item<double>() < 0.6 * state["weight.scale"].max().item<double>());
    const Tensor expected = at::linear(x.to(at::kFloat), numbers, bias.to(at::kFloat));
    CHECK(at::allclose(layer(x).to(at::kFloat), expected, tolerance, tolerance));
  }
}

TEST_CASE("quantize_ takes the layers that a filter names", "[quantized]") {
  Net net;
  std::string names;
  const auto filter = [&](const std::string& name, const torch::nn::Module&) {
    names += name + " ";
    return name == "second";
  };
  CHECK(torch::quantize_(*net, torch::Int8WeightOnly{}, filter) == 1);
  CHECK(names == "first second ");
  CHECK(net->first->weight.defined());
  CHECK(!net->second->weight.defined());
  std::ostringstream text;
  text << *net;
  CHECK_THAT(text.str(), Contains("QuantizedWeight(bits=8"));
}

TEST_CASE("a quantized model is cloned, saved, loaded and converted", "[quantized]") {
  torch::manual_seed(3);
  const torch::NoGradGuard no_grad;
  const bool four = GENERATE(false, true);
  const torch::QuantizationConfig config = four ? torch::QuantizationConfig(torch::Int4WeightOnly{.group_size = 32})
                                                : torch::QuantizationConfig(torch::Int8WeightOnly{});
  Net net, other;
  torch::quantize_(*net, config);
  torch::quantize_(*other, config);
  const Tensor x = torch::randn({4, 128}), y = net(x);
  CHECK(!at::allclose(other(x), y));

  const auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  REQUIRE(copy != nullptr);
  CHECK(at::equal(copy->forward(x), y));
  for (auto& t : copy->buffers()) {
    t.zero_();
  }
  CHECK(at::equal(net(x), y));
  CHECK(!at::allclose(copy->forward(x), y));

  CHECK(torch::load_state_dict(*other, torch::state_dict(*net)).ok());
  CHECK(at::equal(other(x), y));

  std::stringstream file;
  torch::save(net, file);
  Net loaded;
  torch::quantize_(*loaded, config);
  torch::load(loaded, file);
  CHECK(at::equal(loaded(x), y));

  net->to(at::kBFloat16);
  CHECK(torch::state_dict(*net)["first.weight.qdata"].scalar_type() == at::kChar);
  const Tensor z = net(x.to(at::kBFloat16));
  CHECK(z.scalar_type() == at::kBFloat16);
  CHECK(distance(z.to(at::kFloat), y) < 0.02);
}

TEST_CASE("gradients flow through quantized layers to inputs and biases", "[quantized]") {
  torch::manual_seed(4);
  Net net;
  torch::quantize_(*net, torch::Int4WeightOnly{.group_size = 32});
  const Tensor x = torch::randn({3, 128}).requires_grad_();
  const Tensor y = net(x);
  CHECK(at::allclose(y, [&] {
    const torch::NoGradGuard no_grad;
    return net(x);
  }()));
  y.square().sum().backward();
  // A step against the gradient: the loss falls by its square.
  const torch::NoGradGuard no_grad;
  const double before = net(x).square().sum().item<double>(), step = 1e-4;
  const double after = net(x - step * x.grad()).square().sum().item<double>();
  const double slope = x.grad().square().sum().item<double>();
  CHECK((before - after) / step == Approx(slope).epsilon(0.02));
  CHECK(net->first->bias.grad().defined());
}

TEST_CASE("quantize_ refuses what does not fit and changes nothing", "[quantized]") {
  Net net;
  CHECK_THROWS_WITH(
      torch::quantize_(*net, torch::Int4WeightOnly{.group_size = 64}),
      Contains("the 96 inputs of 'second' do not divide into groups of 64"));
  CHECK(net->first->weight.defined());
  CHECK_THROWS_WITH(
      torch::quantize_(*net, torch::Int4WeightOnly{.group_size = 0}), Contains("must be a positive multiple of 8"));
  torch::quantize_(*net, torch::Int8WeightOnly{});
  CHECK_THROWS_WITH(net->to(at::kInt), Contains("quantized weights take floating dtypes"));
}

TEST_CASE("drift says how far distributions have moved", "[quantized]") {
  const Tensor a = torch::tensor({{0.0, 1.0, 2.0}, {3.0, 0.0, 0.0}});
  const torch::Drift none = torch::measure_drift(a, a + 5);
  CHECK(none.mean_kl == Approx(0).margin(1e-12));
  CHECK(none.top1_agreement == 1);
  CHECK(none.rows == 2);
  const Tensor b = torch::tensor({{0.0, 2.0, 1.0}, {3.0, 0.0, 0.0}});
  const torch::Drift some = torch::measure_drift(a, b);
  const double total = 1 + std::exp(1.0) + std::exp(2.0);
  CHECK(some.max_kl == Approx((std::exp(2.0) - std::exp(1.0)) / total));
  CHECK(some.mean_kl == Approx(some.max_kl / 2));
  CHECK(some.top1_agreement == 0.5);
  CHECK_THROWS_WITH(torch::measure_drift(a, b[0]), Contains("of the same sizes"));
}

TEST_CASE("prepare_ watches the inputs of layers and convert_ fixes their ranges", "[quantized]") {
  torch::manual_seed(5);
  const torch::NoGradGuard no_grad;
  Net net;
  const Tensor x = torch::randn({50, 128});
  const torch::Calibration calibration = torch::prepare_(*net);
  CHECK(calibration.names() == std::vector<std::string>{"first", "second"});
  CHECK(calibration.range("first").calls == 0);
  const Tensor before = net(x);
  net(x * 0.5);
  const auto range = calibration.range("first");
  CHECK(range.calls == 2);
  CHECK(range.low == x.min().item<float>());
  CHECK(range.high == x.max().item<float>());
  CHECK(calibration.range("second").low == 0);
  CHECK(torch::convert_(*net, calibration) == 2);
  const Tensor after = net(x);
  CHECK(distance(after, before) < 0.03);
  CHECK(calibration.range("first").calls == 2);

  // By hand: bytes of the input, exact sums, one rounding.
  const auto state = torch::state_dict(*net);
  const double step = state["first.weight.act_scale"].item<double>();
  const double zero = state["first.weight.act_zero_point"].item<double>();
  const Tensor bytes = ((x / step).round() + zero).clamp(0, 255) - zero;
  const Tensor numbers = state["first.weight.qdata"].to(at::kDouble) * state["first.weight.scale"].to(at::kDouble);
  const Tensor expected = at::linear(bytes.to(at::kDouble) * step, numbers, net->first->bias.to(at::kDouble));
  CHECK((net->first(x).to(at::kDouble) - expected).abs().max().item<double>() < 1e-4);
  CHECK(net(x.to(at::kBFloat16)).scalar_type() == at::kBFloat16);

  const auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  CHECK(at::equal(copy->forward(x), after));
}

TEST_CASE("ranges follow an average, and layers that were not called stay as they are", "[quantized]") {
  const torch::NoGradGuard no_grad;
  torch::nn::Sequential net(torch::nn::Linear(8, 8), torch::nn::Linear(8, 8));
  const auto only_first = [](const std::string& name, const torch::nn::Module&) { return name == "0"; };
  const torch::Calibration calibration = torch::prepare_(*net, {.averaging_constant = 0.25}, only_first);
  CHECK(calibration.names() == std::vector<std::string>{"0"});
  net->forward(torch::full({1, 8}, 1.0));
  net->forward(torch::full({1, 8}, 5.0));
  CHECK(calibration.range("0").high == 2.0f);
  CHECK(torch::convert_(*net, calibration) == 1);
  const torch::Calibration unused = torch::prepare_(*net);
  CHECK(unused.names() == std::vector<std::string>{"1"});
  CHECK(torch::convert_(*net, unused) == 0);
  CHECK_THROWS_WITH(unused.range("2"), Contains("no layer '2' is watched"));
  torch::nn::Sequential other(torch::nn::Linear(8, 8));
  CHECK_THROWS_WITH(torch::convert_(*other, unused), Contains("'1' is not in the module any more"));
  CHECK_THROWS_WITH(torch::prepare_(*net, {.averaging_constant = 2}), Contains("must be from 0 to 1, got 2"));
}
