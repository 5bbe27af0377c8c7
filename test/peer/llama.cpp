// A language model in the manner of LLaMA: rotary positions by complex numbers, fewer heads for keys than for queries,
// a cache of keys and values, RMS norms, and samples by top-k and by top-p; in float, and in bfloat16 with the largest
// score.
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report.h"

using namespace torch::indexing;
using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

namespace {

struct ModelArgs {
  int64_t dim = 32, n_layers = 2, n_heads = 4, n_kv_heads = 2, vocab_size = 50, max_seq_len = 32;
  c10::optional<int64_t> hidden_dim;
  double norm_eps = 1e-5, rope_theta = 10000.0;
};

Tensor rotations(int64_t dim, int64_t end, double theta) {
  auto freqs = 1.0 / torch::pow(theta, torch::arange(0, dim, 2).index({Slice(None, dim / 2)}).to(torch::kFloat) / dim);
  freqs = torch::outer(torch::arange(end, freqs.options()), freqs);
  return torch::polar(torch::ones_like(freqs), freqs);
}

Tensor as_complex(const Tensor& x) {
  auto sizes = x.sizes().vec();
  sizes.back() = -1;
  sizes.push_back(2);
  return torch::view_as_complex(x.to(torch::kFloat).reshape(sizes).contiguous());
}

std::pair<Tensor, Tensor> rotated(const Tensor& queries, const Tensor& keys, const Tensor& freqs) {
  const auto turns = freqs.view({1, freqs.size(0), 1, freqs.size(1)});
  return {
      torch::view_as_real(as_complex(queries) * turns).flatten(3).type_as(queries),
      torch::view_as_real(as_complex(keys) * turns).flatten(3).type_as(keys)};
}

class RMSNormImpl : public nn::Module {
 public:
  explicit RMSNormImpl(int64_t dim, double eps = 1e-6) : eps_(eps) {
    weight = register_parameter("weight", torch::ones({dim}));
  }
  Tensor forward(Tensor x) {
    const auto wide = x.to(torch::kFloat32);
    return weight * (wide * torch::rsqrt(wide.pow(2).mean({-1}, /*keepdim=*/true) + eps_)).to(x.dtype());
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "RMSNorm(" << weight.sizes() << ", eps=" << eps_ << ")";
  }

 private:
  double eps_;
  Tensor weight;
};
TORCH_MODULE(RMSNorm);

struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const ModelArgs& a)
      : args(a),
        head_dim(a.dim / a.n_heads),
        repeats(a.n_heads / a.n_kv_heads),
        wq(nn::LinearOptions(a.dim, a.n_heads * head_dim).bias(false)),
        wk(register_module("wk", nn::Linear(nn::LinearOptions{a.dim, a.n_kv_heads * head_dim}.bias(false)))) {
    register_module("wq", wq);
    wv = register_module("wv", nn::Linear(nn::LinearOptions(a.dim, a.n_kv_heads * head_dim).bias(false)));
    wo = register_module<nn::LinearImpl>(
        "wo", nn::Linear(nn::LinearOptions(a.n_heads * head_dim, a.dim).bias(false)).ptr());
    cache_k = register_buffer("cache_k", torch::zeros({2, a.max_seq_len, a.n_kv_heads, head_dim}));
    cache_v = register_buffer("cache_v", torch::zeros_like(cache_k));
  }

  Tensor forward(Tensor x, int64_t start, const Tensor& freqs, const c10::optional<Tensor>& mask) {
    const auto batch = x.size(0), length = x.size(1), end = start + length;
    auto xq = wq(x).view({batch, length, args.n_heads, head_dim});
    auto xk = wk->forward(x).view({batch, length, args.n_kv_heads, head_dim});
    const auto xv = wv(x).view({batch, length, -1, head_dim});
    std::tie(xq, xk) = rotated(xq, xk, freqs);
    cache_k.index_put_({Slice(None, batch), Slice(start, end)}, xk);
    cache_v.index({Slice(0, batch), Slice(start, end)}) = xv;
    const auto keys = cache_k.index({Slice(0, batch), Slice(0, end)}).repeat_interleave(repeats, 2).transpose(1, 2);
    const auto values = cache_v.narrow(0, 0, batch)
                            .narrow(1, 0, end)
                            .unsqueeze(3)
                            .expand({-1, -1, -1, repeats, -1})
                            .reshape({batch, end, args.n_heads, head_dim})
                            .transpose(1, 2);
    xq = xq.transpose(1, 2);
    auto scores = torch::matmul(xq, keys.transpose(2, 3)) / std::sqrt(head_dim);
    if (mask.has_value()) {
      scores = scores + *mask;
    }
    scores = F::softmax(scores.to(torch::kFloat), F::SoftmaxFuncOptions(-1)).type_as(xq);
    const auto output = torch::matmul(scores, values);
    const auto at_once = torch::scaled_dot_product_attention(
        xq, keys, values,
        mask ? c10::optional<Tensor>(mask->to(xq.dtype()).expand({batch, 1, length, end})) : c10::nullopt);
    agrees = agrees && torch::allclose(output.to(torch::kFloat), at_once.to(torch::kFloat), 1e-2, 1e-2);
    return wo(output.transpose(1, 2).contiguous().view({batch, length, -1}));
  }

  ModelArgs args;
  int64_t head_dim, repeats;
  bool agrees = true;
  nn::Linear wq{nullptr}, wk{nullptr}, wv{nullptr}, wo{nullptr};
  Tensor cache_k, cache_v;
};
TORCH_MODULE(Attention);

struct FeedForwardImpl : public nn::Module {
  nn::Linear w1 = nullptr, w2 = nullptr, w3 = nullptr;
  FeedForwardImpl(int64_t dim, int64_t hidden) {
    w1 = register_module("w1", nn::Linear(nn::LinearOptions(dim, hidden).bias(false)));
    w2 = register_module("w2", nn::Linear(nn::LinearOptions(hidden, dim).bias(false)));
    w3 = register_module("w3", nn::Linear(nn::LinearOptions(dim, hidden).bias(false)));
  }
  Tensor forward(Tensor x) {
    return w2(torch::silu(w1(x)).mul_(w3(x)));
  }
};
TORCH_MODULE(FeedForward);

struct BlockImpl : nn::Module {
  BlockImpl(int64_t id, const ModelArgs& a)
      : Module("block" + std::to_string(id)),
        attention(Attention(a)),
        feed_forward(a.dim, a.hidden_dim.value_or(4 * a.dim)),
        attention_norm(a.dim, a.norm_eps),
        ffn_norm(a.dim, a.norm_eps) {
    register_module("attention", attention);
    register_module("feed_forward", feed_forward);
    register_module("attention_norm", attention_norm);
    register_module("ffn_norm", ffn_norm);
  }
  Tensor forward(Tensor x, int64_t start, Tensor freqs, c10::optional<Tensor> mask) {
    const auto h = x + attention->forward(attention_norm->forward(x), start, freqs, mask);
    return h + feed_forward(ffn_norm(h));
  }
  Attention attention;
  FeedForward feed_forward;
  RMSNorm attention_norm, ffn_norm;
};
TORCH_MODULE(Block);

struct TransformerImpl : nn::Module {
  explicit TransformerImpl(ModelArgs a) : args(std::move(a)) {
    embeddings = register_module("tok_embeddings", nn::Embedding(args.vocab_size, args.dim));
    for (const auto i : c10::irange(args.n_layers)) {
      layers->push_back(Block(i, args));
    }
    register_module("layers", layers);
    norm = register_module("norm", RMSNorm(args.dim, args.norm_eps));
    output = register_module("output", nn::Linear(nn::LinearOptions(args.dim, args.vocab_size).bias(false)));
    freqs = rotations(args.dim / args.n_heads, args.max_seq_len * 2, args.rope_theta);
  }
  Tensor forward(Tensor tokens, int64_t start) {
    torch::NoGradGuard no_grad;
    const auto length = tokens.size(1);
    auto h = embeddings(tokens);
    const auto turns = freqs.slice(0, start, start + length);
    c10::optional<Tensor> mask = torch::nullopt;
    if (length > 1) {
      mask = torch::triu(torch::full({1, 1, length, length}, -std::numeric_limits<float>::infinity()), start + 1)
                 .type_as(h);
    }
    for (const auto& layer : *layers) {
      h = layer->as<Block>()->forward(h, start, turns, mask);
    }
    return output(norm(h)).to(torch::kFloat);
  }
  ModelArgs args;
  nn::Embedding embeddings{nullptr};
  nn::ModuleList layers;
  RMSNorm norm{nullptr};
  nn::Linear output{nullptr};
  Tensor freqs;
};
TORCH_MODULE(Transformer);

Tensor sample_top_p(const Tensor& probabilities, double p) {
  auto [sorted, order] = torch::sort(probabilities, /*dim=*/-1, /*descending=*/true);
  sorted.masked_fill_((torch::cumsum(sorted, -1) - sorted) > p, 0.0);
  sorted.div_(sorted.sum(-1, true));
  return torch::gather(order, -1, torch::multinomial(sorted, 1));
}

Tensor sample_top_k(const Tensor& given, int64_t k, double temperature) {
  const auto largest = std::get<0>(torch::topk(given, std::min<int64_t>(k, given.size(-1))));
  auto logits = given.clone();
  logits.index_put_({logits < largest.index({"...", Slice(-1, None)})}, -INFINITY);
  return torch::multinomial(torch::softmax(logits / temperature, -1), 1, false);
}

void generate(Transformer& model, const std::string& name, torch::ScalarType dtype) {
  model->to(dtype);
  for (auto& buffer : model->buffers()) {
    buffer.zero_();
  }
  const auto prompt = torch::tensor({{1, 5, 9, 13}, {2, 6, 10, 14}}, torch::dtype(torch::kLong));
  auto logits = model->forward(prompt, 0);
  if (dtype == torch::kFloat) {
    report::close(name + " logits", logits);
  }
  torch::manual_seed(7);
  auto next = torch::argmax(logits.select(1, -1), -1);
  auto tokens = prompt;
  for (int64_t i = 0; i < 8; ++i) {
    tokens = torch::cat({tokens, next.view({-1, 1})}, 1);
    logits = model(next.unsqueeze(1), prompt.size(1) + i);
    const auto last = logits.index({Slice(), -1});
    if (dtype != torch::kFloat) {
      next = last.argmax(-1);
    } else if (i % 2) {
      next = sample_top_p(torch::softmax(last / 0.8, -1), 0.9).squeeze(-1);
    } else {
      next = sample_top_k(last, 5, 0.7).reshape(-1);
    }
  }
  report::exact(name + " tokens", tokens);
  for (const auto& layer : *model->layers) {
    report::exact(name + " attention by one call agrees", layer->as<Block>()->attention->agrees);
  }
}

// Weights of 8 bits with a scale for each row, and two of 4 bits in a byte.
void quantized(const Tensor& weight) {
  const auto scale = weight.abs().amax(1, true) / 127.0;
  const auto rounded = torch::round(weight / scale).clamp(-128, 127).to(torch::kInt8);
  report::shape("int8", rounded);
  report::number("int8 sum", rounded.sum().item<int64_t>());
  report::number("largest error", (rounded.to(torch::kFloat) * scale - weight).abs().max().item<float>());
  const auto bytes = (rounded.to(torch::kInt) + 128).to(torch::kUInt8);
  const auto high = bytes.index({Slice(), Slice(0, None, 2)}).__rshift__(4);
  const auto low = bytes.index({Slice(), Slice(1, None, 2)}).bitwise_right_shift(4);
  const auto packed = torch::bitwise_or(torch::bitwise_left_shift(high, 4), low);
  report::shape("packed", packed);
  report::exact("unpacked", torch::equal((packed & 15).to(torch::kUInt8), low));
}

} // namespace

int main() {
  torch::manual_seed(1234);
  ModelArgs args;
  args.hidden_dim = 48;
  Transformer model(args);
  model->eval();
  std::cout << model << std::endl;
  for (const auto& parameter : model->named_parameters()) {
    report::shape(parameter.key(), parameter.value());
  }
  for (const auto& buffer : model->named_buffers()) {
    report::shape(buffer.key(), *buffer);
  }
  generate(model, "float", torch::kFloat);
  generate(model, "bfloat16", torch::kBFloat16);
  model->to(torch::kFloat32);
  report::throws("token out of range", [&] { model->forward(torch::tensor({{99}}), 0); });
  report::throws("longer than the cache", [&] { model->forward(torch::zeros({1, 40}, torch::kLong), 0); });
  quantized(model->output->weight.detach());
  return 0;
}
