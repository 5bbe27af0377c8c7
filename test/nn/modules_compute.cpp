// Modules at work: forward, backward, training. The source compiles against libtorch too.
#include "modules_list.h"

#include <functional>

namespace modules_list {

using namespace torch;
namespace rnn_utils = torch::nn::utils::rnn;

namespace {

std::vector<Value> values;

void add(std::string name, const Tensor& value) {
  values.push_back({std::move(name), value.detach().to(kDouble)});
}

Tensor numbers(IntArrayRef sizes, double scale = 1) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return (torch::arange(count, torch::kFloat) * 0.37 + 0.1).sin().mul(scale).view(sizes);
}

// 20 steps of gradient descent on the mean square of what a module gives for one input.
template <class Model>
void train(const std::string& name, Model model, const Tensor& input, const Tensor& target) {
  for (int step = 0; step < 20; ++step) {
    model->zero_grad();
    const Tensor loss = torch::mse_loss(model->forward(input), target);
    loss.backward();
    if (step % 5 == 4) {
      add(name + " loss " + std::to_string(step), loss);
    }
    torch::NoGradGuard no_grad;
    for (Tensor& parameter : model->parameters()) {
      parameter.sub_(0.05 * parameter.grad());
    }
  }
  for (const auto& item : model->named_parameters()) {
    add(name + " " + item.key(), item.value());
  }
  for (const auto& item : model->named_buffers()) {
    add(name + " " + item.key(), item.value());
  }
}

void compute_feed_forward() {
  torch::manual_seed(1);
  train("mlp", nn::Sequential(nn::Linear(6, 8), nn::Tanh(), nn::Linear(8, 3)), numbers({5, 6}), numbers({5, 3}, 0.5));
  torch::manual_seed(2);
  train(
      "convolutional net",
      nn::Sequential(
          nn::Conv2d(nn::Conv2dOptions(2, 4, 3).padding(1).padding_mode(torch::kReflect)), nn::BatchNorm2d(4),
          nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(4, 6, 3).padding(torch::kSame)),
          nn::GroupNorm(2, 6), nn::GELU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(6, 2)),
      numbers({3, 2, 8, 8}), numbers({3, 2}));
  torch::manual_seed(3);
  train(
      "upward",
      nn::Sequential(
          nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 3, 3).stride(2).output_padding(1)),
          nn::InstanceNorm2d(nn::InstanceNorm2dOptions(3).affine(true)), nn::LeakyReLU(),
          nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kNearest))),
      numbers({2, 2, 3, 3}), numbers({2, 3, 16, 16}));
  torch::manual_seed(4);
  nn::Sequential dropped(nn::Dropout(0.3), nn::Linear(4, 4), nn::LayerNorm(nn::LayerNormOptions({4})));
  add("dropout in training", dropped->forward(numbers({3, 4})));
  dropped->eval();
  add("dropout in evaluation", dropped->forward(numbers({3, 4})));
}

void compute_embeddings() {
  torch::manual_seed(5);
  nn::Embedding embedding(nn::EmbeddingOptions(7, 3).padding_idx(0));
  const Tensor indices = torch::tensor({{1, 0, 3}, {6, 6, 2}});
  const Tensor looked_up = embedding(indices);
  add("embedding", looked_up);
  looked_up.pow(2).sum().backward();
  add("embedding gradient", embedding->weight.grad());
  nn::EmbeddingBag bag(nn::EmbeddingBagOptions(7, 3).mode(torch::kSum));
  add("bag", bag(indices));
  add("bag with offsets", bag(indices.view(-1), torch::tensor({0, 2, 2})));
  nn::Bilinear bilinear(2, 3, 4);
  add("bilinear", bilinear(numbers({5, 2}), numbers({5, 3})));
  nn::PReLU prelu;
  add("prelu", prelu(numbers({2, 3})));
}

void compute_recurrent() {
  const Tensor input = numbers({5, 3, 4});
  torch::manual_seed(6);
  nn::LSTM lstm(nn::LSTMOptions(4, 6).num_layers(2).bidirectional(true).proj_size(2));
  const auto lstm_result = lstm(input);
  add("lstm output", std::get<0>(lstm_result));
  add("lstm h", std::get<0>(std::get<1>(lstm_result)));
  add("lstm c", std::get<1>(std::get<1>(lstm_result)));
  std::get<0>(lstm_result).sum().backward();
  add("lstm gradient", lstm->named_parameters()["weight_hh_l0"].grad());
  nn::GRU gru(nn::GRUOptions(4, 3).batch_first(true));
  const auto gru_result = gru(input, numbers({1, 5, 3}));
  add("gru output", std::get<0>(gru_result));
  add("gru h", std::get<1>(gru_result));
  nn::RNN rnn(nn::RNNOptions(4, 3).nonlinearity(torch::kReLU).num_layers(2));
  add("rnn output", std::get<0>(rnn(input)));
  const auto packed =
      rnn_utils::pack_padded_sequence(input, torch::tensor({2, 5, 3}), /*batch_first=*/false, /*enforce_sorted=*/false);
  const auto packed_result = gru->forward_with_packed_input(packed);
  const auto padded = rnn_utils::pad_packed_sequence(std::get<0>(packed_result), /*batch_first=*/true, -1.0, 6);
  add("packed gru", std::get<0>(padded));
  add("packed gru lengths", std::get<1>(padded));
  add("packed gru h", std::get<1>(packed_result));
  const auto sequence = rnn_utils::pack_sequence({numbers({3, 4}), numbers({2, 4})});
  const auto lstm_packed = lstm->forward_with_packed_input(sequence);
  add("packed lstm", std::get<0>(lstm_packed).data());
  nn::LSTMCell lstm_cell(4, 3);
  const auto cell_result = lstm_cell(numbers({2, 4}));
  add("lstm cell h", std::get<0>(cell_result));
  add("lstm cell c", std::get<1>(cell_result));
  nn::GRUCell gru_cell(4, 3);
  add("gru cell", gru_cell(numbers({2, 4}), numbers({2, 3})));
  nn::RNNCell rnn_cell(4, 3);
  add("rnn cell", rnn_cell(numbers({1, 4})));
}

void compute_attention() {
  torch::manual_seed(8);
  nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(8, 2).kdim(4).vdim(4).add_bias_kv(true));
  const auto result = attention(numbers({3, 2, 8}), numbers({5, 2, 4}), numbers({5, 2, 4}, 2));
  add("attention", std::get<0>(result));
  add("attention weights", std::get<1>(result));
  nn::Transformer transformer(
      nn::TransformerOptions(8, 2).num_encoder_layers(2).num_decoder_layers(2).dim_feedforward(16).dropout(0.0));
  const Tensor mask = nn::TransformerImpl::generate_square_subsequent_mask(4);
  const Tensor output = transformer->forward(numbers({3, 2, 8}), numbers({4, 2, 8}), {}, mask);
  add("transformer", output);
  output.pow(2).sum().backward();
  add("transformer gradient", transformer->named_parameters()["encoder.layers.0.self_attn.in_proj_weight"].grad());
  nn::TransformerEncoder encoder(
      nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(8, 4).activation(torch::kGELU)), 2);
  encoder->eval();
  add("encoder", encoder(numbers({3, 2, 8})));
}

void compute_losses() {
  torch::manual_seed(9);
  nn::AdaptiveLogSoftmaxWithLoss adaptive(nn::AdaptiveLogSoftmaxWithLossOptions(8, 10, {4, 7}).div_value(2.));
  const auto result = adaptive(numbers({4, 8}), torch::tensor({0, 3, 5, 9}));
  add("adaptive", result.output);
  add("adaptive loss", torch::tensor(result.loss));
  add("adaptive log_prob", adaptive->log_prob(numbers({4, 8})));
  add("adaptive predict", adaptive->predict(numbers({6, 8}, 5)));
  nn::CrossEntropyLoss entropy(
      nn::CrossEntropyLossOptions().weight(torch::tensor({1.0f, 2.0f, 0.5f})).label_smoothing(0.1));
  add("cross entropy", entropy(numbers({4, 3}), torch::tensor({0, 2, 1, 1})));
  nn::BCEWithLogitsLoss logits(nn::BCEWithLogitsLossOptions().pos_weight(torch::tensor({2.0f, 3.0f})));
  add("logits", logits(numbers({3, 2}), numbers({3, 2}).abs()));
  nn::CrossMapLRN2d local(3);
  add("cross map lrn", local(numbers({1, 5, 2, 2})));
}

void compute_utilities() {
  torch::manual_seed(10);
  Tensor weight = torch::empty({4, 3});
  add("normal", nn::init::normal_(weight, 1, 2));
  add("xavier normal", nn::init::xavier_normal_(weight, 1.5));
  add("xavier uniform", nn::init::xavier_uniform_(weight));
  add("kaiming normal", nn::init::kaiming_normal_(weight, 0, torch::kFanOut, torch::kReLU));
  add("kaiming uniform", nn::init::kaiming_uniform_(weight, 0.2, torch::kFanIn, torch::kLeakyReLU));
  add("sparse", nn::init::sparse_(weight, 0.3));
  add("orthogonal", nn::init::orthogonal_(weight, 2));
  add("orthogonal wide", nn::init::orthogonal_(weight.t().contiguous()));
  add("dirac", nn::init::dirac_(torch::empty({3, 2, 3})));
  add("eye", nn::init::eye_(torch::empty({3, 2})));
  Tensor a = numbers({2, 3}).clone().requires_grad_();
  Tensor b = numbers({4}).clone().requires_grad_();
  const auto fill = [&] {
    a.mutable_grad() = numbers({2, 3}, 3).clone();
    b.mutable_grad() = numbers({4}, 2).clone();
  };
  for (const double norm_type : {2.0, 1.0, 3.5, std::numeric_limits<double>::infinity()}) {
    fill();
    const double norm = nn::utils::clip_grad_norm_({a, b}, 1.5, norm_type);
    add("total norm " + std::to_string(norm_type), torch::tensor(norm));
    add("clipped by norm " + std::to_string(norm_type), a.grad());
  }
  fill();
  nn::utils::clip_grad_value_({a, b}, 0.7);
  add("clipped by value", b.grad());
  add("as vector", nn::utils::parameters_to_vector({a, b}));
  nn::utils::vector_to_parameters(numbers({10}, 7), {a, b});
  add("from vector", b);
  add("padded left", rnn_utils::pad_sequence({numbers({3, 2}), numbers({1, 2})}, true, 9.0, "left"));
}

} // namespace

std::vector<Value> compute_values() {
  values.clear();
  compute_feed_forward();
  compute_embeddings();
  compute_recurrent();
  compute_attention();
  compute_losses();
  compute_utilities();
  return values;
}

} // namespace modules_list
