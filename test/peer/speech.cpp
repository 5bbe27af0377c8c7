// Sequences of different lengths: a recognizer trained with CTC, its greedy and beam decoding, and a translator of
// encoder, attention and decoder with packed sequences, teacher forcing and masked losses.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "report.h"

namespace nn = torch::nn;
namespace rnn = torch::nn::utils::rnn;
using torch::Tensor;
using torch::indexing::Slice;

namespace {

struct RecognizerImpl : nn::Module {
  RecognizerImpl(int64_t features, int64_t hidden, int64_t symbols)
      : conv(nn::Conv1dOptions(features, hidden, 3).stride(2).padding(1)),
        norm(nn::LayerNormOptions({hidden})),
        lstm(nn::LSTMOptions(hidden, hidden / 2).num_layers(2).bidirectional(true).batch_first(true).dropout(0.1)),
        head(hidden, symbols) {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("lstm", lstm);
    register_module("head", head);
  }
  std::tuple<Tensor, Tensor> forward(const Tensor& x, const Tensor& lengths) {
    const Tensor h = torch::gelu(norm(conv(x.transpose(1, 2)).transpose(1, 2)));
    const Tensor shorter = (lengths - 1).div(2, "floor") + 1;
    auto packed = rnn::pack_padded_sequence(h, shorter, /*batch_first=*/true, /*enforce_sorted=*/false);
    const auto out = lstm->forward_with_packed_input(packed);
    const auto [padded, sizes] = rnn::pad_packed_sequence(std::get<0>(out), true, -1.0);
    return {torch::log_softmax(head(padded), -1), sizes};
  }
  nn::Conv1d conv;
  nn::LayerNorm norm;
  nn::LSTM lstm;
  nn::Linear head;
};
TORCH_MODULE(Recognizer);

std::vector<int64_t> greedy(const Tensor& log_probs, int64_t blank) {
  const Tensor best = log_probs.argmax(-1);
  const Tensor runs = std::get<0>(torch::unique_consecutive(best));
  const Tensor kept = runs.masked_select(runs != blank);
  return {kept.data_ptr<int64_t>(), kept.data_ptr<int64_t>() + kept.numel()};
}

/// Prefix beam search.
std::pair<std::vector<int64_t>, double> beam(const Tensor& log_probs, int64_t blank, size_t width) {
  const auto plus = [](double a, double b) {
    const double top = std::max(a, b);
    return std::isinf(top) ? top : top + std::log(std::exp(a - top) + std::exp(b - top));
  };
  const double never = -std::numeric_limits<double>::infinity();
  std::map<std::vector<int64_t>, std::pair<double, double>> beams{{{}, {0.0, never}}};
  auto rows = log_probs.accessor<float, 2>();
  for (int64_t t = 0; t < rows.size(0); ++t) {
    std::map<std::vector<int64_t>, std::pair<double, double>> next;
    const auto at = [&](const std::vector<int64_t>& key) -> std::pair<double, double>& {
      return next.emplace(key, std::make_pair(never, never)).first->second;
    };
    for (const auto& [prefix, p] : beams) {
      for (int64_t s = 0; s < rows.size(1); ++s) {
        const double score = rows[t][s];
        if (s == blank) {
          at(prefix).first = plus(at(prefix).first, plus(p.first, p.second) + score);
          continue;
        }
        auto longer = prefix;
        longer.push_back(s);
        if (!prefix.empty() && prefix.back() == s) {
          at(prefix).second = plus(at(prefix).second, p.second + score);
          at(longer).second = plus(at(longer).second, p.first + score);
        } else {
          at(longer).second = plus(at(longer).second, plus(p.first, p.second) + score);
        }
      }
    }
    std::vector<std::pair<std::vector<int64_t>, std::pair<double, double>>> all(next.begin(), next.end());
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      return plus(a.second.first, a.second.second) > plus(b.second.first, b.second.second);
    });
    all.resize(std::min(width, all.size()));
    beams = {all.begin(), all.end()};
  }
  auto best = std::max_element(beams.begin(), beams.end(), [&](const auto& a, const auto& b) {
    return plus(a.second.first, a.second.second) < plus(b.second.first, b.second.second);
  });
  return {best->first, plus(best->second.first, best->second.second)};
}

struct EncoderImpl : nn::Module {
  EncoderImpl(int64_t words, int64_t width)
      : embedding(register_module("embedding", nn::Embedding(nn::EmbeddingOptions(words, width).padding_idx(0)))),
        gru(register_module("gru", nn::GRU(nn::GRUOptions(width, width).bidirectional(true)))),
        bridge(register_module("bridge", nn::Linear(2 * width, width))) {}
  std::pair<Tensor, Tensor> forward(const Tensor& words, const Tensor& lengths) {
    auto packed = rnn::pack_padded_sequence(embedding(words), lengths.cpu());
    auto [out, last] = gru->forward_with_packed_input(packed);
    const Tensor states = std::get<0>(rnn::pad_packed_sequence(out));
    return {states, torch::tanh(bridge(torch::cat({last[-2], last[-1]}, 1)))};
  }
  nn::Embedding embedding;
  nn::GRU gru;
  nn::Linear bridge;
};
TORCH_MODULE(Encoder);

struct DecoderImpl : nn::Module {
  DecoderImpl(int64_t words, int64_t width)
      : embedding(register_module("embedding", nn::Embedding(words, width))),
        cell(register_module("cell", nn::GRUCell(3 * width, width))),
        attend(register_module("attend", nn::Linear(3 * width, width))),
        score(register_module("score", nn::Linear(nn::LinearOptions(width, 1).bias(false)))),
        head(register_module("head", nn::Linear(4 * width, words))) {}
  std::tuple<Tensor, Tensor, Tensor> forward(
      const Tensor& word, const Tensor& state, const Tensor& states, const Tensor& mask) {
    const Tensor repeated = state.unsqueeze(0).expand({states.size(0), -1, -1});
    Tensor energy = score(torch::tanh(attend(torch::cat({repeated, states}, 2)))).squeeze(2).t();
    energy = energy.masked_fill(mask.logical_not(), -1e10);
    const Tensor weights = energy.softmax(1);
    const Tensor context = weights.unsqueeze(1).bmm(states.transpose(0, 1)).squeeze(1);
    const Tensor given = embedding(word);
    const Tensor next = cell(torch::cat({given, context}, 1), state);
    return {head(torch::cat({next, context, given}, 1)), next, weights};
  }
  nn::Embedding embedding;
  nn::GRUCell cell;
  nn::Linear attend, score, head;
};
TORCH_MODULE(Decoder);

} // namespace

int main() {
  torch::manual_seed(77);
  // ---- CTC
  constexpr int64_t kSymbols = 6, kBatch = 4;
  Recognizer recognizer(5, 12, kSymbols);
  report::exact("recognizer", recognizer);
  const Tensor lengths = torch::tensor({24, 30, 17, 21}), counts = torch::tensor({4, 6, 2, 5});
  std::vector<Tensor> sounds, texts;
  for (int64_t i = 0; i < kBatch; ++i) {
    sounds.push_back(torch::randn({lengths[i].item<int64_t>(), 5}));
    texts.push_back(torch::randint(1, kSymbols, {counts[i].item<int64_t>()}));
  }
  const Tensor batch = rnn::pad_sequence(sounds, /*batch_first=*/true), targets = torch::cat(texts);
  const Tensor padded_targets = rnn::pad_sequence(texts, true, 0);
  report::shape("batch", batch);
  torch::optim::Adam optimizer(recognizer->parameters(), 1e-2);
  nn::CTCLoss ctc(nn::CTCLossOptions().blank(0).zero_infinity(true));
  for (int step = 0; step < 6; ++step) {
    const auto [log_probs, sizes] = recognizer->forward(batch, lengths);
    const Tensor loss = ctc(log_probs.transpose(0, 1), step % 2 ? padded_targets : targets, sizes, counts);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    report::number("ctc", loss.item<double>());
    if (step == 0) {
      report::shape("log_probs", log_probs);
    }
  }
  recognizer->eval();
  {
    torch::NoGradGuard guard;
    const auto [log_probs, sizes] = recognizer->forward(batch, lengths);
    for (int64_t i = 0; i < kBatch; ++i) {
      const Tensor row = log_probs[i].narrow(0, 0, sizes[i].item<int64_t>()).contiguous();
      report::exact("greedy", greedy(row, 0));
      const auto [text, score] = beam(row, 0, 8);
      report::exact("beam", text);
      report::number("score", score);
    }
    const Tensor raw = torch::ctc_loss(
        log_probs.transpose(0, 1).to(torch::kDouble), padded_targets, at::IntArrayRef({12, 15, 9, 11}),
        at::IntArrayRef({4, 6, 2, 5}), 0, at::Reduction::None, false);
    report::close("each", raw);
  }

  // ---- translation
  Encoder encoder(12, 8);
  Decoder decoder(10, 8);
  const Tensor source_lengths = torch::tensor({7, 5, 3});
  std::vector<Tensor> sources, wanted;
  for (int64_t i = 0; i < 3; ++i) {
    sources.push_back(torch::randint(3, 12, {source_lengths[i].item<int64_t>()}));
    wanted.push_back(torch::cat({torch::tensor({1}), torch::randint(3, 10, {4 - i}), torch::tensor({2})}));
  }
  const Tensor words = rnn::pad_sequence(sources), sentences = rnn::pad_sequence(wanted);
  const Tensor mask = (words != 0).t();
  std::vector<Tensor> parameters = encoder->parameters();
  for (const auto& p : decoder->parameters()) {
    parameters.push_back(p);
  }
  torch::optim::Adagrad adagrad(parameters, torch::optim::AdagradOptions(0.1).lr_decay(1e-3));
  for (int step = 0; step < 6; ++step) {
    auto [states, state] = encoder->forward(words, source_lengths);
    Tensor word = sentences[0], loss = torch::zeros({});
    for (int64_t t = 1; t < sentences.size(0); ++t) {
      Tensor logits, weights;
      std::tie(logits, state, weights) = decoder->forward(word, state, states, mask);
      loss = loss +
          nn::functional::cross_entropy(
                 logits, sentences[t],
                 nn::functional::CrossEntropyFuncOptions().ignore_index(0).reduction(torch::kSum).label_smoothing(0.1));
      const bool forced = torch::rand({}).item<double>() < 0.5;
      word = forced ? sentences[t] : logits.argmax(1);
    }
    loss = loss / (sentences.slice(0, 1) != 0).sum();
    adagrad.zero_grad();
    loss.backward();
    nn::utils::clip_grad_value_(parameters, 0.5);
    adagrad.step();
    report::number("translation", loss.item<double>());
  }
  report::close("padding grad", encoder->embedding->weight.grad()[0]);
  report::close("gru grad", encoder->gru->named_parameters()["weight_hh_l0_reverse"].grad());
  const torch::InferenceMode mode;
  auto [states, state] = encoder->forward(words, source_lengths);
  Tensor word = sentences[0];
  std::vector<Tensor> said;
  for (int i = 0; i < 5; ++i) {
    const auto [logits, next, weights] = decoder->forward(word, state, states, mask);
    state = next;
    said.push_back(word = logits.argmax(1));
    report::close("weights", weights);
  }
  report::close("said", torch::stack(said, 1).to(torch::kFloat));

  // ---- packed sequences by themselves
  auto packed = rnn::pack_sequence({torch::arange(3.), torch::arange(5.), torch::arange(1.)}, /*enforce_sorted=*/false);
  report::close("data", packed.data());
  report::close("batch sizes", packed.batch_sizes().to(torch::kFloat));
  report::close("sorted", packed.sorted_indices().to(torch::kFloat));
  report::close("unsorted", packed.unsorted_indices().to(torch::kFloat));
  const auto [back, sizes] = rnn::pad_packed_sequence(packed, true, -7, 6);
  report::close("back", back);
  report::close("sizes", sizes.to(torch::kFloat));
  report::throws("too short", [&] { rnn::pad_packed_sequence(packed, true, 0, 3); });
  report::exact("dtype", packed.to(torch::kDouble).data().dtype());
}
