// Recurrent layers as programs have them: on the GPU they give what they give on the CPU, and so do their gradients.
#include "support.h"

#include <ATen/autocast_mode.h>

using test::kGpu;
using test::near;

namespace {

namespace rnn = torch::nn::utils::rnn;

/// Copies of the parameters on the GPU.
template <class Layer>
Layer on_gpu(const Layer& layer) {
  auto copy = std::dynamic_pointer_cast<typename Layer::ContainedType>(layer->clone(kGpu));
  return Layer(copy);
}

template <class Layer>
void check_gradients(const Layer& cpu, const Layer& gpu, double tolerance) {
  for (const auto& parameter : cpu->named_parameters()) {
    INFO(parameter.key());
    CHECK(near(gpu->named_parameters()[parameter.key()].grad(), parameter.value().grad(), tolerance, tolerance));
  }
}

/// Forward and backward of sequences of one length, and of packed ones.
template <class Layer>
void check_layer(Layer cpu, int64_t width, double tolerance) {
  Layer gpu = on_gpu(cpu);
  const at::Tensor input = torch::randn({6, 4, width}, cpu->parameters()[0].scalar_type());
  const at::Tensor lengths = torch::tensor({6, 5, 5, 2}, at::kLong);
  for (const bool packed : {false, true}) {
    INFO("packed: " << packed);
    cpu->zero_grad();
    gpu->zero_grad();
    const auto run = [&](Layer& layer, const at::Device& device) {
      at::Tensor x = input.to(device).detach().requires_grad_(true), output;
      if (packed) {
        auto [out, state] = layer->forward_with_packed_input(rnn::pack_padded_sequence(x, lengths));
        output = out.data();
      } else {
        output = std::get<0>(layer->forward(x));
      }
      output.sin().sum().backward();
      return std::make_tuple(output.detach(), x.grad());
    };
    const auto [output, grad] = run(gpu, kGpu);
    const auto [wanted, wanted_grad] = run(cpu, at::kCPU);
    CHECK(near(output, wanted, tolerance, tolerance));
    CHECK(near(grad, wanted_grad, tolerance, tolerance));
    check_gradients(cpu, gpu, 10 * tolerance);
  }
}

} // namespace

TEST_CASE("recurrent layers and their gradients", "[cuda][rnn]") {
  torch::manual_seed(3);
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    const double tolerance = dtype == at::kDouble ? 1e-10 : 1e-4;
    const auto of_dtype = [&](auto layer) {
      layer->to(dtype);
      return layer;
    };
    for (const bool both_ways : {false, true}) {
      INFO(dtype << ", bidirectional: " << both_ways);
      check_layer(of_dtype(torch::nn::LSTM(torch::nn::LSTMOptions(5, 7).num_layers(2).bidirectional(both_ways))), 5, tolerance);
      check_layer(of_dtype(torch::nn::LSTM(torch::nn::LSTMOptions(5, 7).proj_size(3).bidirectional(both_ways))), 5, tolerance);
      check_layer(of_dtype(torch::nn::GRU(torch::nn::GRUOptions(5, 7).num_layers(2).bidirectional(both_ways))), 5, tolerance);
      check_layer(of_dtype(torch::nn::GRU(torch::nn::GRUOptions(5, 7).bias(false).bidirectional(both_ways))), 5, tolerance);
      check_layer(of_dtype(torch::nn::RNN(torch::nn::RNNOptions(5, 7).nonlinearity(torch::kReLU).bidirectional(both_ways))), 5, tolerance);
      check_layer(of_dtype(torch::nn::RNN(torch::nn::RNNOptions(5, 7).num_layers(2).bidirectional(both_ways))), 5, tolerance);
    }
  }
}

TEST_CASE("recurrent layers in half, and under autocast", "[cuda][rnn]") {
  torch::manual_seed(4);
  const torch::nn::LSTM cpu(torch::nn::LSTMOptions(8, 16).num_layers(2).bidirectional(true));
  const at::Tensor input = torch::randn({5, 3, 8});
  const at::Tensor wanted = std::get<0>(torch::nn::LSTM(cpu)->forward(input));
  for (const auto dtype : {at::kHalf, at::kBFloat16}) {
    INFO(dtype);
    const double tolerance = dtype == at::kHalf ? 1e-2 : 5e-2;
    torch::nn::LSTM low = on_gpu(cpu), cast = on_gpu(cpu);
    low->to(dtype);
    CHECK(near(std::get<0>(low->forward(input.to(kGpu).to(dtype))), wanted.to(dtype), tolerance, tolerance));
    at::autocast::set_autocast_dtype(at::kCUDA, dtype);
    at::autocast::set_autocast_enabled(at::kCUDA, true);
    const auto [output, states] = cast->forward(input.to(kGpu));
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, false);
    CHECK(near(output, wanted.to(dtype), tolerance, tolerance)); // in the lower precision
    CHECK(std::get<1>(states).scalar_type() == dtype);
    output.to(at::kFloat).sum().backward();
    for (const at::Tensor& parameter : cast->parameters()) {
      CHECK(parameter.grad().scalar_type() == at::kFloat);
    }
  }
  at::autocast::set_autocast_dtype(at::kCUDA, at::kHalf);
}

TEST_CASE("dropout between layers, and layers without steps to learn from", "[cuda][rnn]") {
  torch::nn::GRU layer(torch::nn::GRUOptions(4, 6).num_layers(3).dropout(0.5));
  layer->to(kGpu);
  const at::Tensor input = torch::randn({5, 2, 4}, kGpu);
  torch::manual_seed(5);
  const at::Tensor first = std::get<0>(layer->forward(input));
  torch::manual_seed(5);
  CHECK(near(std::get<0>(layer->forward(input)), first));
  CHECK(!near(std::get<0>(layer->forward(input)), first));
  layer->eval();
  CHECK(near(std::get<0>(layer->forward(input)), std::get<0>(layer->forward(input))));
}
