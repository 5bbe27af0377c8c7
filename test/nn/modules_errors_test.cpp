// What modules refuse, and what they say.
#include <torch/torch.h>

#include "test/support/matchers.h"

using namespace torch;
using test::Says;

TEST_CASE("sizes that 64 bits do not hold are refused", "[nn][modules]") {
  constexpr int64_t kHuge = int64_t{1} << 62;
  CHECK_THROWS_WITH(torch::nn::LSTM(3, kHuge), Catch::Contains("is too large for 4 gates"));
  CHECK_THROWS_WITH(torch::nn::GRUCell(3, kHuge), Catch::Contains("is too large for 3 gates"));
  torch::nn::MaxUnpool1d unpool(torch::nn::MaxUnpool1dOptions(2).stride(kHuge));
  CHECK_THROWS_WITH(
      unpool(torch::zeros({1, 1, 9}), torch::zeros({1, 1, 9}, torch::kLong)), Catch::Contains("no tensor is as large"));
}

TEST_CASE("options that cannot be are refused", "[nn][modules]") {
  CHECK_THROWS_MATCHES(nn::Conv2d(3, 4, 0)(torch::ones({1, 3, 4, 4})), c10::Error, Says("kernel"));
  CHECK_THROWS_MATCHES(
      nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2)), c10::Error, Says("in_channels must be divisible by groups"));
  CHECK_THROWS_MATCHES(
      nn::Conv2d(nn::Conv2dOptions(0, 4, 3)), c10::Error,
      Says("in_channels, groups and out_channels must be a positive integer"));
  CHECK_THROWS_MATCHES(
      nn::Conv2d(nn::Conv2dOptions(2, 4, 3).stride(2).padding(torch::kSame)), c10::Error,
      Says("padding='same' is not supported for strided convolutions"));
  CHECK_THROWS_MATCHES(
      nn::Dropout(1.5), c10::Error, Says("dropout probability has to be between 0 and 1, but got 1.5"));
  CHECK_THROWS_MATCHES(nn::MultiheadAttention(5, 2), c10::Error, Says("embed_dim must be divisible by num_heads"));
  CHECK_THROWS_MATCHES(nn::LSTM(nn::LSTMOptions(3, 4).proj_size(4)), c10::Error, Says("smaller than hidden_size"));
  CHECK_THROWS_MATCHES(
      nn::GRU(nn::GRUOptions(3, 4).num_layers(0)), c10::Error, Says("num_layers must be greater than zero"));
  CHECK_THROWS_MATCHES(
      nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(3)), c10::Error,
      Says("Padding_idx must be within num_embeddings"));
  CHECK_THROWS_MATCHES(nn::FractionalMaxPool2d(2), c10::Error, Says("requires specifying"));
  CHECK_THROWS_MATCHES(
      nn::AdaptiveLogSoftmaxWithLoss(8, 10, std::vector<int64_t>{5, 5}), c10::Error,
      Says("cutoffs should be a sequence of unique"));
}

TEST_CASE("inputs of the wrong shape are refused", "[nn][modules]") {
  CHECK_THROWS_MATCHES(nn::BatchNorm2d(3)(torch::ones({2, 3})), c10::Error, Says("expected 4D input (got 2D input"));
  CHECK_THROWS_MATCHES(
      nn::BatchNorm1d(3)(torch::ones({2, 3, 4, 5})), c10::Error, Says("expected 2D or 3D input (got 4D input"));
  CHECK_THROWS_MATCHES(
      nn::LSTM(3, 4)(torch::ones({2, 3, 5})), c10::Error,
      Says("input.size(-1) must be equal to input_size. Expected 3, got 5"));
  CHECK_THROWS_MATCHES(
      nn::GRU(3, 4)(torch::ones({5, 2, 3}), torch::ones({2, 2, 4})), c10::Error,
      Says("Expected hidden size [1, 2, 4], got [2, 2, 4]"));
  CHECK_THROWS_MATCHES(
      nn::RNN(3, 4)(torch::ones({5, 2, 3}), torch::ones({2, 4})), c10::Error, Says("hx should also be 3-D"));
  CHECK_THROWS_MATCHES(
      nn::RNNCell(3, 4)(torch::ones({1, 2, 3})), c10::Error, Says("Expected input to be 1D or 2D, got 3D"));
  CHECK_THROWS_MATCHES(
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 2, 3).stride(2))
          ->forward(torch::ones({1, 2, 3, 3}), std::vector<int64_t>{20, 20}),
      c10::Error, Says("requested an output size of [20, 20]"));
  CHECK_THROWS_MATCHES(nn::Softmax2d()(torch::ones({2})), c10::Error, Says("Softmax2d requires a 3D or 4D tensor"));
}

TEST_CASE("output_size chooses the size of a transposed convolution", "[nn][modules]") {
  nn::ConvTranspose2d up(nn::ConvTranspose2dOptions(2, 3, 3).stride(2));
  CHECK(up(torch::ones({1, 2, 4, 4})).sizes() == IntArrayRef({1, 3, 9, 9}));
  CHECK(up(torch::ones({1, 2, 4, 4}), std::vector<int64_t>{10, 9}).sizes() == IntArrayRef({1, 3, 10, 9}));
  CHECK(up(torch::ones({2, 4, 4}), std::vector<int64_t>{3, 9, 10}).sizes() == IntArrayRef({3, 9, 10}));
}

TEST_CASE("RMSNorm divides by the root mean square", "[nn][modules]") {
  nn::RMSNorm norm(nn::RMSNormOptions({4}).eps(0.5));
  const Tensor x = torch::tensor({1.0f, 2.0f, 3.0f, 4.0f});
  CHECK_THAT(norm(x), test::AllClose(x / std::sqrt(7.5 + 0.5)));
}

TEST_CASE("trunc_normal_ stays within its bounds", "[nn][init]") {
  torch::manual_seed(3);
  for (const auto& [mean, low, high] : {std::tuple{0.0, -2.0, 2.0}, std::tuple{0.0, 1.0, 3.0}}) {
    const Tensor values = nn::init::trunc_normal_(torch::empty({2000}), mean, 1.0, low, high);
    CHECK(values.min().item<double>() >= low);
    CHECK(values.max().item<double>() <= high);
    CHECK(values.std().item<double>() > 0.3);
  }
  // Draws that would go on for ever.
  for (const auto& [std, high] : {std::pair(1.0, 1e19), std::pair(1e-300, 2.0)}) {
    CHECK_THROWS_AS(nn::init::trunc_normal_(torch::empty({3}), 0.2, std, 1.0, high), c10::Error);
  }
}
