// The layers of a model.
#pragma once

#include <csrc/llm/checkpoint.h>
#include <csrc/llm/config.h>
#include <csrc/llm/experts.h>
#include <csrc/llm/linear.h>
#include <csrc/llm/model.h>
#include <csrc/llm/rotary.h>

#include <array>
#include <vector>

namespace torch::llm {

struct Batch;

/// A norm with its weight.
class NormLayer {
 public:
  NormLayer() = default;
  NormLayer(Norm kind, double eps, const at::Tensor& weight, at::Tensor bias);
  /// Normalizes the last dimension; gives the dtype of x.
  at::Tensor operator()(const at::Tensor& x) const;
  bool defined() const {
    return weight_.defined();
  }

 private:
  Norm kind_ = Norm::RMS;
  double eps_ = 0;
  at::Tensor weight_, bias_;
};

/// The weights of one layer. Fused products are in the first of their group; the others are empty.
struct DecoderLayer {
  NormLayer input_norm, attention_norm, mlp_input_norm, mlp_norm, query_norm, key_norm;
  Linear query, key, value, output;
  Linear gate, up, down;
  Experts experts; // instead of gate, up, down

  std::array<const Linear*, 7> products() const {
    return {&query, &key, &value, &output, &gate, &up, &down};
  }
};

/// All weights, and what they do with a batch of steps.
class Decoder {
 public:
  Decoder(ModelConfig config, Checkpoint checkpoint, const LoadOptions& options);

  const ModelConfig& config() const {
    return config_;
  }
  at::ScalarType dtype() const {
    return dtype_;
  }
  int64_t nbytes() const {
    return nbytes_;
  }
  int64_t nbytes_of_products() const;
  std::string fingerprint() const;
  /// Logits of the steps; caches are advanced. They must have room; see Model::forward for what is checked.
  at::Tensor forward(c10::ArrayRef<SequenceStep> steps) const;

 private:
  friend class WeightLoader;

  at::Tensor embed(const Batch& batch) const;
  at::Tensor attention(int64_t index, const at::Tensor& x, const Batch& batch) const;
  at::Tensor attend(
      int64_t index, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Batch& batch) const;
  at::Tensor mlp(const DecoderLayer& layer, const at::Tensor& x) const;
  at::Tensor logits(const at::Tensor& x, const Batch& batch) const;

  ModelConfig config_;
  at::ScalarType dtype_ = at::kFloat; // of what layers give each other
  std::vector<Rotary> rotaries_;
  at::Tensor embedding_, position_embedding_, embedding_scale_;
  std::vector<DecoderLayer> layers_;
  NormLayer final_norm_;
  Linear head_;
  int64_t nbytes_ = 0;
  uint64_t weights_hash_ = 0xcbf29ce484222325; // FNV-1a over some bytes of each weight
};

} // namespace torch::llm
