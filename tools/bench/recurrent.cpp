// Recurrent layers forward and back: processor time of one call on one thread. Compiles against libtensor and against
// libtorch, as calls.cpp does.
#include "measure.h"

#include <torch/torch.h>

namespace {

using torch::Tensor;

Tensor output_of(const Tensor& output) {
  return output;
}
template <class State>
Tensor output_of(const std::tuple<Tensor, State>& results) {
  return std::get<0>(results);
}

/// Sequences of 64 steps and 256 features, 256 states.
template <class Layer, class Options>
void add_cases(Cases& cases, const std::string& name, const Options& options) {
  for (const int64_t batch : {1, 32}) {
    Layer layer(options);
    const Tensor x = torch::randn({64, batch, 256}, torch::requires_grad());
    const std::string sizes = name + ", batch " + std::to_string(batch);
    cases.emplace_back(sizes + ", forward", [=]() mutable {
      const torch::NoGradGuard no_grad;
      output_of(layer->forward(x));
    });
    cases.emplace_back(sizes + ", training", [=]() mutable {
      layer->zero_grad();
      output_of(layer->forward(x)).sum().backward();
    });
  }
}

/// 32 packed sequences of 33 to 64 steps.
template <class Layer, class Options>
void add_packed(Cases& cases, const std::string& name, const Options& options) {
  Layer layer(options);
  const Tensor lengths = 64 - torch::arange(32), x = torch::randn({64, 32, 256}, torch::requires_grad());
  const auto packed = torch::nn::utils::rnn::pack_padded_sequence(x, lengths);
  cases.emplace_back(name + ", packed, forward", [=]() mutable {
    const torch::NoGradGuard no_grad;
    layer->forward_with_packed_input(packed);
  });
  cases.emplace_back(name + ", packed, training", [=]() mutable {
    layer->zero_grad();
    const auto sequences = torch::nn::utils::rnn::pack_padded_sequence(x, lengths);
    std::get<0>(layer->forward_with_packed_input(sequences)).data().sum().backward();
  });
}

template <class Layer, class Options>
void add_shapes(Cases& cases, const std::string& name, const Options& options) {
  add_cases<Layer>(cases, name, options);
  add_cases<Layer>(cases, name + ", 2 layers", Options(options).num_layers(2));
  add_cases<Layer>(cases, name + ", both ways", Options(options).bidirectional(true));
  add_packed<Layer>(cases, name, options);
  add_packed<Layer>(cases, name + ", both ways", Options(options).bidirectional(true));
}

} // namespace

int main() {
  torch::set_num_threads(1);
  Cases cases;
  add_shapes<torch::nn::LSTM>(cases, "LSTM", torch::nn::LSTMOptions(256, 256));
  add_shapes<torch::nn::GRU>(cases, "GRU", torch::nn::GRUOptions(256, 256));
  add_shapes<torch::nn::RNN>(cases, "RNN", torch::nn::RNNOptions(256, 256));
  report(cases);
}
