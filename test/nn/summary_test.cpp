// torch::summary.
#include <torch/torch.h>

#include "test/support/matchers.h"

using namespace torch;
using test::Says;

namespace {

struct NetImpl : nn::Module {
  NetImpl() {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("fc", fc);
    register_module("unseen", unseen);
  }
  Tensor forward(const Tensor& x) {
    return fc(norm(conv(x)).relu().flatten(1)) + unseen->forward(torch::ones({1, 2}));
  }
  nn::Conv2d conv{nn::Conv2dOptions(1, 2, 3)};
  nn::BatchNorm2d norm{2};
  nn::Linear fc{8, 2}, unseen{2, 2};
};
TORCH_MODULE(Net);

} // namespace

TEST_CASE("a summary names layers, outputs and parameters, and leaves the module as it was", "[nn][summary]") {
  Net net;
  net->fc->eval();
  net->fc->weight.requires_grad_(false);
  const Tensor mean = net->norm->running_mean.clone();
  const ModelSummary summary = torch::summary(net, {1, 1, 4, 4});
  REQUIRE(summary.layers.size() == 5);
  CHECK(summary.layers[0].type == "Net");
  CHECK(summary.layers[0].output_sizes == std::vector<std::vector<int64_t>>{{1, 2}});
  CHECK(summary.layers[1].name == "conv");
  CHECK(summary.layers[1].type == "Conv2d");
  CHECK(summary.layers[1].output_sizes == std::vector<std::vector<int64_t>>{{1, 2, 2, 2}});
  CHECK(summary.layers[1].parameters == 20);
  CHECK(summary.layers[3].trainable == 2);
  CHECK(summary.layers[4].calls == 0);
  CHECK(summary.parameters == 20 + 4 + 18 + 6);
  CHECK(summary.trainable == summary.parameters - 16);
  CHECK(summary.parameter_bytes == 4 * summary.parameters);
  CHECK(summary.buffers == 5);
  CHECK(summary.buffer_bytes == 4 * 4 + 8);
  CHECK(summary.output_bytes == 4 * (8 + 8 + 2));
  CHECK_THAT(
      summary.text(),
      Catch::Contains("conv: Conv2d") && Catch::Contains("[1, 2, 2, 2]") && Catch::Contains("not seen"));
  CHECK_THAT(summary.text(), Catch::Contains("Parameters: 48, 32 of them trainable, 192 B"));

  CHECK(net->is_training());
  CHECK(net->conv->is_training());
  CHECK_FALSE(net->fc->is_training());
  CHECK(net->norm->running_mean.equal(mean));
  CHECK(net->norm->num_batches_tracked.item<int64_t>() == 0);
  CHECK_FALSE(nn::detail::has_hooks(*net->conv));
  CHECK(net(torch::ones({1, 1, 4, 4})).requires_grad());
}

TEST_CASE("a summary counts shared layers once and takes any inputs", "[nn][summary]") {
  nn::Linear shared(1000, 1000);
  nn::Sequential twice(shared, shared);
  const ModelSummary summary = torch::summary(twice, {7, 1000});
  CHECK(summary.parameters == 1001000);
  CHECK(summary.layers[1].calls == 2);
  CHECK_THAT(summary.text(), Catch::Contains("1,001,000"));

  nn::Embedding table(5, 3);
  CHECK(torch::summary(table, torch::tensor({1, 2})).layers[0].output_sizes[0] == std::vector<int64_t>{2, 3});
  nn::LSTM lstm(2, 3);
  CHECK(torch::summary(*lstm, {4, 1, 2}).layers[0].output_sizes.size() == 3);
}

TEST_CASE("a call that fails leaves no trace of the summary", "[nn][summary][errors]") {
  Net net;
  CHECK_THROWS_AS(torch::summary(net, {1, 3, 4, 4}), c10::Error);
  CHECK(net->is_training());
  CHECK(net->norm->is_training());
  CHECK_FALSE(nn::detail::has_hooks(*net->conv));
  CHECK(c10::GradMode::is_enabled());
}
