// Models of sequences: a character LSTM that samples, a GRU over packed sequences, a transformer written by hand and
// one of the library's modules.
#include <torch/torch.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "report.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

namespace {

const std::string kText =
    "the library reads what it wrote, and it writes what it can read again; the reader reads what the writer wrote. ";

struct CharModelImpl : nn::Module {
  CharModelImpl(int64_t vocabulary, int64_t hidden, int64_t layers)
      : embedding(register_module("embedding", nn::Embedding(vocabulary, 16))),
        lstm(register_module(
            "lstm", nn::LSTM(nn::LSTMOptions(16, hidden).num_layers(layers).batch_first(true).dropout(0.1)))),
        linear(register_module("linear", nn::Linear(hidden, vocabulary))) {}

  std::tuple<torch::Tensor, std::tuple<torch::Tensor, torch::Tensor>> forward(
      torch::Tensor x, torch::optional<std::tuple<torch::Tensor, torch::Tensor>> state = {}) {
    auto [output, next] = lstm->forward(embedding->forward(x), state);
    return {linear->forward(output), next};
  }

  nn::Embedding embedding;
  nn::LSTM lstm;
  nn::Linear linear;
};
TORCH_MODULE(CharModel);

void characters() {
  std::map<char, int64_t> index;
  for (const char c : kText) {
    index.emplace(c, 0);
  }
  int64_t next = 0;
  for (auto& entry : index) {
    entry.second = next++;
  }
  std::vector<int64_t> text;
  for (const char c : kText) {
    text.push_back(index[c]);
  }
  const auto data = torch::tensor(text);
  torch::manual_seed(11);
  CharModel model(next, 24, 2);
  std::cout << model << "\n";
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(5e-3).weight_decay(0.01));
  torch::optim::StepLR scheduler(optimizer, 20, 0.5);
  for (int step = 0; step < 50; ++step) {
    const int64_t start = step * 13 % (data.size(0) - 34);
    const auto input = data.slice(0, start, start + 32).view({2, 16});
    const auto target = data.slice(0, start + 1, start + 33).view({2, 16});
    optimizer.zero_grad();
    const auto logits = std::get<0>(model->forward(input));
    const auto loss = F::cross_entropy(logits.view({-1, logits.size(-1)}), target.reshape(-1));
    loss.backward();
    const double norm = nn::utils::clip_grad_norm_(model->parameters(), 0.5);
    optimizer.step();
    scheduler.step();
    report::number("char " + std::to_string(step), loss.item<double>());
    report::number("norm " + std::to_string(step), norm);
  }
  model->eval();
  torch::NoGradGuard no_grad;
  torch::Tensor token = data.slice(0, 0, 1).view({1, 1});
  torch::optional<std::tuple<torch::Tensor, torch::Tensor>> state;
  std::vector<int64_t> greedy;
  for (int i = 0; i < 10; ++i) {
    auto [logits, after] = model->forward(token, state);
    state = after;
    token = logits.select(1, -1).argmax(-1, true);
    greedy.push_back(token.item<int64_t>());
  }
  report::exact("greedy", greedy);
  report::close("hidden", std::get<0>(*state));
}

void packed() {
  torch::manual_seed(12);
  nn::GRU gru(nn::GRUOptions(5, 7).bidirectional(true).batch_first(true));
  nn::Linear head(14, 2);
  auto parameters = gru->parameters();
  const auto more = head->parameters();
  parameters.insert(parameters.end(), more.begin(), more.end());
  torch::optim::RMSprop optimizer(
      parameters, torch::optim::RMSpropOptions(1e-2).alpha(0.9).momentum(0.5).centered(true));
  const auto sequences = torch::randn({4, 9, 5});
  const auto lengths = torch::tensor({9, 6, 6, 2});
  const auto labels = torch::tensor({0, 1, 1, 0});
  for (int step = 0; step < 50; ++step) {
    optimizer.zero_grad();
    const auto input = nn::utils::rnn::pack_padded_sequence(sequences, lengths, /*batch_first=*/true);
    const auto output = std::get<0>(gru->forward_with_packed_input(input));
    const auto unpacked = nn::utils::rnn::pad_packed_sequence(output, true);
    const auto pooled = std::get<0>(unpacked).sum(1) / std::get<1>(unpacked).unsqueeze(1);
    const auto loss = torch::nll_loss(torch::log_softmax(head(pooled), 1), labels);
    loss.backward();
    optimizer.step();
    report::number("packed " + std::to_string(step), loss.item<double>());
  }
}

class SelfAttentionImpl : public nn::Module {
 public:
  SelfAttentionImpl(int64_t width, int64_t heads) : heads_(heads) {
    qkv = register_module("qkv", nn::Linear(nn::LinearOptions(width, 3 * width).bias(false)));
    proj = register_module("proj", nn::Linear(width, width));
    mask = register_buffer("mask", torch::tril(torch::ones({64, 64})).view({1, 1, 64, 64}));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const auto batch = x.size(0), length = x.size(1), width = x.size(2);
    auto parts = qkv(x).split(width, 2);
    for (auto& part : parts) {
      part = part.view({batch, length, heads_, width / heads_}).transpose(1, 2);
    }
    using namespace torch::indexing;
    auto scores = torch::matmul(parts[0], parts[1].transpose(-2, -1)) / std::sqrt(double(width / heads_));
    scores = scores.masked_fill(mask.index({Slice(), Slice(), Slice(None, length), Slice(None, length)}) == 0, -1e9);
    const auto mixed = torch::matmul(F::softmax(scores, F::SoftmaxFuncOptions(-1)), parts[2]);
    return proj(mixed.transpose(1, 2).contiguous().view({batch, length, width}));
  }

 private:
  int64_t heads_;
  nn::Linear qkv{nullptr}, proj{nullptr};
  torch::Tensor mask;
};
TORCH_MODULE(SelfAttention);

struct GptImpl : nn::Module {
  GptImpl(int64_t vocabulary, int64_t width, int64_t layers) {
    token = register_module("token", nn::Embedding(nn::EmbeddingOptions(vocabulary, width)));
    position = register_parameter("position", torch::randn({1, 64, width}) * 0.02);
    for (int64_t i = 0; i < layers; ++i) {
      attentions->push_back(SelfAttention(width, 4));
      norms->push_back(nn::LayerNorm(nn::LayerNormOptions({width})));
      feed->push_back(
          nn::Sequential(nn::Linear(width, 4 * width), nn::GELU(), nn::Linear(4 * width, width), nn::Dropout(0.0)));
    }
    register_module("attentions", attentions);
    register_module("norms", norms);
    register_module("feed", feed);
    head = register_module("head", nn::Linear(nn::LinearOptions(width, vocabulary).bias(false)));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = token(x) + position.slice(1, 0, x.size(1));
    for (size_t i = 0; i < attentions->size(); ++i) {
      x = x + attentions[i]->as<SelfAttention>()->forward(norms[i]->as<nn::LayerNorm>()->forward(x));
      x = x + feed->at<nn::SequentialImpl>(i).forward(x);
    }
    return head(x);
  }
  nn::Embedding token{nullptr};
  torch::Tensor position;
  nn::ModuleList attentions, norms, feed;
  nn::Linear head{nullptr};
};
TORCH_MODULE(Gpt);

void gpt() {
  torch::manual_seed(13);
  Gpt model(20, 32, 2);
  std::cout << model << "\n";
  std::vector<torch::Tensor> decayed, plain;
  for (const auto& item : model->named_parameters()) {
    (item.value().dim() > 1 ? decayed : plain).push_back(item.value());
  }
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(
      decayed, std::make_unique<torch::optim::AdamWOptions>(torch::optim::AdamWOptions(1e-3).weight_decay(0.1)));
  groups.emplace_back(
      plain, std::make_unique<torch::optim::AdamWOptions>(torch::optim::AdamWOptions(1e-3).weight_decay(0)));
  torch::optim::AdamW optimizer(groups, torch::optim::AdamWOptions(1e-3).amsgrad(true));
  const auto data = torch::arange(132).remainder(7).mul(3).remainder(20);
  const auto input = data.slice(0, 0, 64).view({4, 16}), target = data.slice(0, 1, 65).view({4, 16});
  for (int step = 0; step < 50; ++step) {
    for (auto& group : optimizer.param_groups()) {
      static_cast<torch::optim::AdamWOptions&>(group.options()).lr(1e-3 * std::min(1.0, (step + 1) / 10.0));
    }
    optimizer.zero_grad();
    const auto logits = model->forward(input);
    const auto loss = F::cross_entropy(
        logits.reshape({-1, 20}), target.reshape({-1}), F::CrossEntropyFuncOptions().label_smoothing(0.05));
    loss.backward();
    optimizer.step();
    report::number("gpt " + std::to_string(step), loss.item<double>());
  }
}

void transformer() {
  torch::manual_seed(14);
  nn::Transformer model(
      nn::TransformerOptions(16, 2).num_encoder_layers(1).num_decoder_layers(1).dim_feedforward(32).dropout(0.0));
  std::cout << model << "\n";
  torch::optim::SGD optimizer(
      model->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9).nesterov(true).weight_decay(1e-4));
  const auto source = torch::randn({6, 3, 16}), target = torch::randn({4, 3, 16});
  const auto mask = nn::TransformerImpl::generate_square_subsequent_mask(4);
  auto padding = torch::zeros({3, 6}, torch::kBool);
  padding[2][5] = true;
  for (int step = 0; step < 50; ++step) {
    optimizer.zero_grad();
    const auto output = model->forward(source, target, {}, mask, {}, padding, {}, padding);
    const auto loss = F::mse_loss(output, target.roll(1, 0));
    loss.backward();
    optimizer.step();
    report::number("transformer " + std::to_string(step), loss.item<double>());
  }
  nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(16, 4).dropout(0));
  const auto [output, weights] = attention->forward(target, source, source, padding, true, {});
  report::close("attention", output);
  report::close("weights", weights);
}

} // namespace

int main() {
  characters();
  packed();
  gpt();
  transformer();
  return 0;
}
