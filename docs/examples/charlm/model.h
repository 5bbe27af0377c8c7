#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

namespace charlm {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

struct ModelConfig {
  static constexpr int64_t kHeadWidth = 32;

  int64_t vocabulary = 0;
  int64_t layers = 3;
  int64_t width = 128;
  int64_t context = 64;

  int64_t heads() const {
    return width / kHeadWidth;
  }
  /// Of the feed-forward part: 8/3 of the width, as three matrices then cost what two of 4 times would.
  int64_t hidden() const {
    return (width * 8 / 3 + 31) / 32 * 32;
  }
};

/// A decoder-only transformer: pre-norm blocks of causal attention and SwiGLU, with the embedding as output matrix.
class Model {
 public:
  /// Random weights drawn from `generator` on the CPU, so that a seed means the same model on every device.
  Model(const ModelConfig& config, const at::Generator& generator, at::Device device);

  /// tokens [batch, time], time <= context -> logits [batch, time, vocabulary] of the character after each.
  at::Tensor logits(const at::Tensor& tokens) const;

  const ModelConfig& config() const {
    return config_;
  }
  /// Every weight, as a leaf that requires grad.
  const NamedTensors& parameters() const {
    return parameters_;
  }

 private:
  struct Block {
    at::Tensor norm_attention, qkv, project, norm_mlp, gate_up, down;
  };

  at::Tensor attention(const at::Tensor& x, const Block& block) const;

  ModelConfig config_;
  at::Tensor embedding_, position_, norm_, future_;
  std::vector<Block> blocks_;
  NamedTensors parameters_;
};

} // namespace charlm
