// Rotary position embeddings.
#pragma once

#include <csrc/llm/config.h>
#include <aten/core/Tensor.h>

namespace torch::llm {

/// Angles by position for one set of rotary parameters.
class Rotary {
 public:
  explicit Rotary(const RopeConfig& config);

  /// Cosines and sines of some positions, (tokens, dim / 2) each, in float32.
  struct Turn {
    at::Tensor cos, sin;
  };
  /// positions: (tokens), int64; reaches, alike: where the sequence of each token ends, which LongRope asks for.
  Turn angles(const at::Tensor& positions, const at::Tensor& reaches) const;
  /// x: (tokens, heads, head_dim). Turns the first `dim` elements of each head, in place where x is float32.
  at::Tensor apply(const at::Tensor& x, const Turn& turn) const;

 private:
  int64_t dim_;
  double attention_factor_;
  int64_t original_max_position_;
  at::Tensor frequencies_; // (dim / 2), float32
  at::Tensor long_frequencies_; // of sequences beyond original_max_position; undefined without such
};

} // namespace torch::llm
