// Tables that are looked up by index.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/modules/common.h>
#include <csrc/nn/options/embedding.h>

#include <cstdint>
#include <memory>

namespace torch::nn {

/// The rows of a table: indices [...] to [..., embedding_dim].
class TORCH_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim);
  explicit EmbeddingImpl(EmbeddingOptions options_);

  void reset() override;
  /// Draws the table from N(0, 1); the row of padding_idx is 0.
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& indices);

  EmbeddingOptions options;
  /// [num_embeddings, embedding_dim].
  Tensor weight;
};

/// Sums, means or maxima of rows of a table: each bag of indices gives [embedding_dim].
class TORCH_API EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim);
  explicit EmbeddingBagImpl(EmbeddingBagOptions options_);

  void reset() override;
  /// Draws the table from N(0, 1). The row of padding_idx, which no bag uses, is not set to 0, as in libtorch.
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// The rows of a 2-d `input` are bags; a 1-d one is cut into bags at `offsets`.
  Tensor forward(const Tensor& input, const Tensor& offsets = {}, const Tensor& per_sample_weights = {});

  EmbeddingBagOptions options;
  /// [num_embeddings, embedding_dim].
  Tensor weight;

 protected:
  DefaultArgs _forward_default_args() override;
};

/// The holder of an EmbeddingImpl.
class Embedding : public torch::nn::ModuleHolder<EmbeddingImpl> {
 public:
  using torch::nn::ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = EmbeddingImpl;

  /// A module with this table [num_embeddings, embedding_dim], without a copy.
  TORCH_API static Embedding from_pretrained(
      const torch::Tensor& embeddings, const EmbeddingFromPretrainedOptions& options = {});
};

/// The holder of an EmbeddingBagImpl.
class EmbeddingBag : public torch::nn::ModuleHolder<EmbeddingBagImpl> {
 public:
  using torch::nn::ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = EmbeddingBagImpl;

  /// A module with this table [num_embeddings, embedding_dim], without a copy.
  TORCH_API static EmbeddingBag from_pretrained(
      const torch::Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options = {});
};

} // namespace torch::nn
