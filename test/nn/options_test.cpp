// Options classes: defaults, chained settings, and arguments that come in more than one form.
#include <catch2/catch.hpp>

#include <torch/nn/functional.h>
#include <torch/nn/options/adaptive.h>
#include <torch/nn/options/rnn.h>
#include <torch/nn/options/transformerlayer.h>
#include <torch/torch.h>

#include <array>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

using namespace torch::nn;
namespace F = torch::nn::functional;

namespace {

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

} // namespace

TEST_CASE("settings chain and are read back", "[nn][options]") {
  auto options = Conv2dOptions(3, 64, {7, 5}).stride(2).padding({3, 1}).bias(false).padding_mode(torch::kReflect);
  CHECK(options.in_channels() == 3);
  CHECK(*options.kernel_size() == std::array<int64_t, 2>{7, 5});
  CHECK(*options.stride() == std::array<int64_t, 2>{2, 2});
  CHECK(*std::get<torch::ExpandingArray<2>>(options.padding()) == std::array<int64_t, 2>{3, 1});
  CHECK(torch::enumtype::get_enum_name(options.padding_mode()) == "kReflect");
  CHECK_FALSE(options.bias());
  options.padding(torch::kSame);
  CHECK(std::holds_alternative<torch::enumtype::kSame>(options.padding()));
  options.groups() = 4;
  CHECK(options.groups() == 4);
}

TEST_CASE("defaults are libtorch's", "[nn][options]") {
  CHECK(BatchNormOptions(4).momentum() == std::optional<double>(0.1));
  CHECK(BatchNormOptions(4).track_running_stats());
  CHECK_FALSE(InstanceNormOptions(4).affine());
  CHECK(DropoutOptions().p() == 0.5);
  CHECK(F::DropoutFuncOptions().training());
  CHECK_FALSE(F::AlphaDropoutFuncOptions().training());
  CHECK(NLLLossOptions().ignore_index() == -100);
  CHECK_FALSE(SmoothL1LossOptions().beta().has_value());
  CHECK(std::holds_alternative<torch::enumtype::kMean>(CrossEntropyLossOptions().reduction()));
  CHECK(std::holds_alternative<torch::enumtype::kMean>(EmbeddingBagOptions(2, 3).mode()));
  CHECK(*MaxPool2dOptions({3, 2}).stride() == std::array<int64_t, 2>{3, 2});
  CHECK(MultiheadAttentionOptions(8, 2).kdim() == 8);
  CHECK(TransformerEncoderLayerOptions(8, 2).dim_feedforward() == 2048);
  CHECK(LSTMOptions(3, 4).proj_size() == 0);
  CHECK(AdaptiveLogSoftmaxWithLossOptions(8, 10, {4}).div_value() == 4);
  CHECK(F::NormalizeFuncOptions().eps() == 1e-12);
}

TEST_CASE("one constant stands for the options of a loss", "[nn][options]") {
  const auto x = torch::rand({3}), y = torch::rand({3});
  CHECK(F::mse_loss(x, y, torch::kNone).dim() == 1);
  CHECK(F::mse_loss(x, y, torch::kSum).dim() == 0);
  const MSELossOptions options = torch::kSum;
  CHECK(std::holds_alternative<torch::enumtype::kSum>(options.reduction()));
}

TEST_CASE("an option that is one of some constants is read as a variant is", "[nn][options]") {
  namespace enumtype = torch::enumtype;
  RNNOptions options(3, 4);
  CHECK(std::get_if<enumtype::kTanh>(&options.nonlinearity()) != nullptr);
  CHECK(std::get_if<enumtype::kReLU>(&options.nonlinearity()) == nullptr);
  options.nonlinearity() = torch::kReLU;
  CHECK(options.nonlinearity() == RNNOptions::nonlinearity_t(torch::kReLU));
  CHECK(options.nonlinearity().index() == 1);
  CHECK_NOTHROW(std::get<enumtype::kReLU>(options.nonlinearity()));
  CHECK_THROWS_AS(std::get<enumtype::kTanh>(options.nonlinearity()), std::bad_variant_access);
  CHECK(std::visit([](const auto& constant) { return std::string(constant.name); }, options.nonlinearity()) == "kReLU");

  const std::variant<enumtype::kTanh, enumtype::kReLU> variant = options.nonlinearity();
  CHECK(torch::enumtype::get_enum_name(variant) == "kReLU");
  CHECK(
      torch::enumtype::get_enum_name(options.nonlinearity(std::variant<enumtype::kTanh>()).nonlinearity()) == "kTanh");
  STATIC_REQUIRE_FALSE(std::is_constructible_v<RNNOptions::nonlinearity_t, enumtype::kGELU>);
}

TEST_CASE("a constant stands in place of a padding or an activation", "[nn][options]") {
  namespace enumtype = torch::enumtype;
  auto padding = Conv2dOptions(3, 4, 5).padding(torch::kValid).padding();
  CHECK(std::get_if<enumtype::kValid>(&padding) != nullptr);
  CHECK(std::get_if<torch::ExpandingArray<2>>(&padding) == nullptr);
  CHECK_THROWS_AS(std::get<torch::ExpandingArray<2>>(padding), std::bad_variant_access);
  padding = 3;
  CHECK(*std::get<torch::ExpandingArray<2>>(padding) == std::array<int64_t, 2>{3, 3});
  CHECK_FALSE(std::holds_alternative<enumtype::kSame>(padding));
  padding = std::vector<int64_t>{1, 2};
  CHECK(*std::get<torch::ExpandingArray<2>>(padding) == std::array<int64_t, 2>{1, 2});
  const auto is_array = [](const auto& held) {
    return std::is_same_v<std::decay_t<decltype(held)>, torch::ExpandingArray<2>>;
  };
  CHECK(std::visit(is_array, padding));
  padding = torch::kSame;
  CHECK_FALSE(std::visit(is_array, padding));

  auto options = TransformerEncoderLayerOptions(8, 2).activation(torch::kGELU);
  using Function = std::function<torch::Tensor(const torch::Tensor&)>;
  CHECK(std::holds_alternative<enumtype::kGELU>(options.activation()));
  CHECK_FALSE(std::holds_alternative<Function>(options.activation()));
  options.activation([](const torch::Tensor& x) { return x + 1; });
  CHECK(std::get<Function>(options.activation())(torch::ones({1})).item<float>() == 2);
}

TEST_CASE("names of functional options are those of modules where they agree", "[nn][options]") {
  STATIC_REQUIRE(std::is_same_v<F::BinaryCrossEntropyFuncOptions, BCELossOptions>);
  STATIC_REQUIRE(std::is_same_v<F::CrossEntropyFuncOptions, CrossEntropyLossOptions>);
  STATIC_REQUIRE(std::is_same_v<BatchNorm2dOptions, BatchNormOptions>);
  STATIC_REQUIRE(std::is_same_v<F::MaxPool3dFuncOptions, MaxPoolOptions<3>>);
  STATIC_REQUIRE_FALSE(std::is_same_v<F::SoftmaxFuncOptions, SoftmaxOptions>);
}

TEST_CASE("expanding arrays take one value or one for each dimension", "[nn][options]") {
  const torch::ExpandingArray<3> same = 5;
  CHECK(*same == std::array<int64_t, 3>{5, 5, 5});
  CHECK(printed(same) == "[5, 5, 5]");
  CHECK(printed(torch::ExpandingArray<1>(5)) == "5");
  CHECK(printed(torch::ExpandingArray<2, double>({0.5, 2})) == "[0.5, 2]");
  const torch::ExpandingArrayWithOptionalElem<2> part = {std::nullopt, 3};
  CHECK(printed(part) == "[None, 3]");
  CHECK(printed(torch::ExpandingArrayWithOptionalElem<2>(4)) == "[4, 4]");
  CHECK(printed(torch::ExpandingArrayWithOptionalElem<2>(std::vector<int64_t>{1, 2})) == "[1, 2]");
  CHECK(same.size() == 3);
  CHECK(torch::IntArrayRef(same) == torch::IntArrayRef({5, 5, 5}));
  CHECK_THROWS_AS(torch::ExpandingArray<2>(std::vector<int64_t>{1}), c10::Error);
}

TEST_CASE("an options class of a program's own", "[nn][options]") {
  struct NetOptions {
    TORCH_ARG(int64_t, hidden) = 16;
    TORCH_ARG(std::vector<int64_t>, sizes) = {1, 2};
  };
  std::vector<int64_t> sizes = {3};
  const auto options = NetOptions().hidden(4).sizes(sizes).sizes({5, 6});
  CHECK(options.hidden() == 4);
  CHECK(options.sizes() == std::vector<int64_t>{5, 6});
}
