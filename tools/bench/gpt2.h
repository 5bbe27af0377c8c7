// GPT-2 small, for the benchmarks on a GPU. Compiles against libtensor and against libtorch.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace gpt2 {

using at::Tensor;

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t width)
      : norm1(torch::nn::LayerNormOptions({width})),
        norm2(torch::nn::LayerNormOptions({width})),
        qkv(width, 3 * width),
        project(width, width),
        up(width, 4 * width),
        down(4 * width, width) {
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("qkv", qkv);
    register_module("project", project);
    register_module("up", up);
    register_module("down", down);
  }
  Tensor forward(Tensor x) {
    const int64_t batch = x.size(0), length = x.size(1), width = x.size(2), heads = width / 64;
    const auto parts = qkv(norm1(x)).view({batch, length, 3, heads, 64}).permute({2, 0, 3, 1, 4}).unbind(0);
    const Tensor seen = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, true);
    x = x + project(seen.transpose(1, 2).reshape({batch, length, width}));
    return x + down(at::gelu(up(norm2(x)), "tanh"));
  }
  torch::nn::LayerNorm norm1, norm2;
  torch::nn::Linear qkv, project, up, down;
};
TORCH_MODULE(Block);

struct Gpt2Impl : torch::nn::Module {
  static constexpr int64_t kWidth = 768, kLength = 1024, kVocabulary = 50304, kLayers = 12;
  Gpt2Impl() : tokens(kVocabulary, kWidth), places(kLength, kWidth), norm(torch::nn::LayerNormOptions({kWidth})) {
    register_module("tokens", tokens);
    register_module("places", places);
    register_module("norm", norm);
    for (int64_t i = 0; i < kLayers; ++i) {
      blocks->push_back(Block(kWidth));
    }
    register_module("blocks", blocks);
  }
  Tensor forward(const Tensor& text, const Tensor& next, const Tensor& positions) {
    Tensor x = tokens(text) + places(positions);
    for (const auto& block : *blocks) {
      x = block->as<BlockImpl>()->forward(x);
    }
    const Tensor logits = at::linear(norm(x), tokens->weight);
    return at::cross_entropy_loss(logits.view({-1, kVocabulary}).to(at::kFloat), next.view({-1}));
  }
  torch::nn::Embedding tokens, places;
  torch::nn::LayerNorm norm;
  torch::nn::ModuleList blocks;
};
TORCH_MODULE(Gpt2);

} // namespace gpt2
