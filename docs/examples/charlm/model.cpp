#include "model.h"

#include <cmath>
#include <limits>

#include "swiglu.h"

namespace charlm {

namespace {

at::Tensor norm(const at::Tensor& x, const at::Tensor& weight) {
  return at::layer_norm(x, {x.size(-1)}, weight);
}

} // namespace

Model::Model(const ModelConfig& config, const at::Generator& generator, at::Device device) : config_(config) {
  const auto keep = [&](const std::string& name, const at::Tensor& weight) {
    parameters_.emplace_back(name, weight.to(device).requires_grad_());
    return parameters_.back().second;
  };
  const auto normal = [&](const std::string& name, at::IntArrayRef sizes, double deviation) {
    return keep(name, at::randn(sizes, generator, at::kFloat) * deviation);
  };
  const auto ones = [&](const std::string& name) { return keep(name, at::ones({config.width}, at::kFloat)); };

  const int64_t width = config.width;
  const double deviation = 1 / std::sqrt(static_cast<double>(width));
  // What a block adds to the stream starts small, the smaller the more blocks there are.
  const double into_stream = 0.5 / std::sqrt(2.0 * static_cast<double>(config.layers));
  embedding_ = normal("embedding", {config.vocabulary, width}, 0.02);
  position_ = normal("position", {config.context, width}, 0.02);
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::string prefix = "block" + std::to_string(i) + ".";
    Block block;
    block.norm_attention = ones(prefix + "norm_attention");
    block.qkv = normal(prefix + "qkv", {3 * width, width}, deviation);
    block.project = normal(prefix + "project", {width, width}, deviation * into_stream);
    block.norm_mlp = ones(prefix + "norm_mlp");
    block.gate_up = normal(prefix + "gate_up", {2 * config.hidden(), width}, deviation);
    block.down = normal(
        prefix + "down", {width, config.hidden()}, into_stream / std::sqrt(static_cast<double>(config.hidden())));
    blocks_.push_back(std::move(block));
  }
  norm_ = ones("norm");
  future_ = at::ones({config.context, config.context}, at::TensorOptions(at::kBool)).triu(1).to(device);
}

at::Tensor Model::attention(const at::Tensor& x, const Block& block) const {
  const int64_t batch = x.size(0);
  const int64_t time = x.size(1);
  const std::vector<at::Tensor> qkv = at::linear(x, block.qkv)
                                          .view({batch, time, 3, config_.heads(), ModelConfig::kHeadWidth})
                                          .permute({2, 0, 3, 1, 4})
                                          .unbind(0);
  const at::Tensor query = qkv[0] * (1 / std::sqrt(static_cast<double>(ModelConfig::kHeadWidth)));
  const at::Tensor scores = at::matmul(query, qkv[1].transpose(-2, -1));
  const at::Tensor future = future_.slice(0, 0, time).slice(1, 0, time);
  const at::Tensor weights = at::softmax(scores.masked_fill(future, -std::numeric_limits<double>::infinity()), -1);
  const at::Tensor mixed = at::matmul(weights, qkv[2]).transpose(1, 2).reshape({batch, time, config_.width});
  return at::linear(mixed, block.project);
}

at::Tensor Model::logits(const at::Tensor& tokens) const {
  at::Tensor x = at::embedding(embedding_, tokens) + position_.slice(0, 0, tokens.size(1));
  for (const Block& block : blocks_) {
    x = x + attention(norm(x, block.norm_attention), block);
    x = x + at::linear(swiglu(at::linear(norm(x, block.norm_mlp), block.gate_up)), block.down);
  }
  return at::linear(norm(x, norm_), embedding_);
}

} // namespace charlm
