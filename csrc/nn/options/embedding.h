// Options of embeddings and bags of them.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <cstdint>
#include <optional>
#include <variant>

namespace torch::nn {

/// Options of Embedding.
struct TORCH_API EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim);
  /// Rows of the table.
  TORCH_ARG(int64_t, num_embeddings);
  /// Features of a row.
  TORCH_ARG(int64_t, embedding_dim);
  /// A row that gets no gradient, counted from the end when negative. Throws outside of [-rows, rows).
  TORCH_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  /// Rows that are looked up are first scaled down, in the table itself, to at most this norm.
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;
  /// The p of that norm.
  TORCH_ARG(double, norm_type) = 2.;
  /// Divides the gradient of a row by how often the batch looks it up.
  TORCH_ARG(bool, scale_grad_by_freq) = false;
  /// Gives the table a sparse gradient; only the rows that were looked up are stored.
  TORCH_ARG(bool, sparse) = false;
  /// The table [num_embeddings, embedding_dim] itself, taken without a copy. Throws for other sizes.
  TORCH_ARG(torch::Tensor, _weight);
};

/// Options of Embedding::from_pretrained.
struct TORCH_API EmbeddingFromPretrainedOptions {
  /// Whether the table is kept from being trained.
  TORCH_ARG(bool, freeze) = true;
  /// A row that gets no gradient, counted from the end when negative. Throws outside of [-rows, rows).
  TORCH_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  /// Rows that are looked up are first scaled down, in the table itself, to at most this norm.
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;
  /// The p of that norm.
  TORCH_ARG(double, norm_type) = 2.;
  /// Divides the gradient of a row by how often the batch looks it up.
  TORCH_ARG(bool, scale_grad_by_freq) = false;
  /// Gives the table a sparse gradient; only the rows that were looked up are stored.
  TORCH_ARG(bool, sparse) = false;
};

/// How the rows of a bag become one.
using EmbeddingBagMode = enumtype::Choice<enumtype::kSum, enumtype::kMean, enumtype::kMax>;

/// Options of EmbeddingBag.
struct TORCH_API EmbeddingBagOptions {
  EmbeddingBagOptions(int64_t num_embeddings, int64_t embedding_dim);
  /// Rows of the table.
  TORCH_ARG(int64_t, num_embeddings);
  /// Features of a row.
  TORCH_ARG(int64_t, embedding_dim);
  /// Rows that are looked up are first scaled down, in the table itself, to at most this norm.
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;
  /// The p of that norm.
  TORCH_ARG(double, norm_type) = 2.;
  /// Divides the gradient of a row by how often the batch looks it up.
  TORCH_ARG(bool, scale_grad_by_freq) = false;
  /// kSum, kMean or kMax of a bag's rows.
  TORCH_ARG(EmbeddingBagMode, mode) = torch::kMean;
  /// Gives the table a sparse gradient; only the rows that were looked up are stored.
  TORCH_ARG(bool, sparse) = false;
  /// The table [num_embeddings, embedding_dim] itself, taken without a copy. Throws for other sizes.
  TORCH_ARG(torch::Tensor, _weight);
  /// Whether the last element of `offsets` is the end of the last bag, not the begin of one more.
  TORCH_ARG(bool, include_last_offset) = false;
  /// A row that counts for nothing in its bag and gets no gradient.
  TORCH_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

/// Options of EmbeddingBag::from_pretrained.
struct TORCH_API EmbeddingBagFromPretrainedOptions {
  /// Whether the table is kept from being trained.
  TORCH_ARG(bool, freeze) = true;
  /// Rows that are looked up are first scaled down, in the table itself, to at most this norm.
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;
  /// The p of that norm.
  TORCH_ARG(double, norm_type) = 2.;
  /// Divides the gradient of a row by how often the batch looks it up.
  TORCH_ARG(bool, scale_grad_by_freq) = false;
  /// kSum, kMean or kMax of a bag's rows.
  TORCH_ARG(EmbeddingBagMode, mode) = torch::kMean;
  /// Gives the table a sparse gradient; only the rows that were looked up are stored.
  TORCH_ARG(bool, sparse) = false;
  /// Whether the last element of `offsets` is the end of the last bag, not the begin of one more.
  TORCH_ARG(bool, include_last_offset) = false;
  /// A row that counts for nothing in its bag and gets no gradient.
  TORCH_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

namespace functional {

/// Options of F::embedding.
struct TORCH_API EmbeddingFuncOptions {
  /// A row that gets no gradient, counted from the end when negative. Throws outside of [-rows, rows).
  TORCH_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  /// Rows that are looked up are first scaled down, in the table itself, to at most this norm.
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;
  /// The p of that norm.
  TORCH_ARG(double, norm_type) = 2.;
  /// Divides the gradient of a row by how often the batch looks it up.
  TORCH_ARG(bool, scale_grad_by_freq) = false;
  /// Gives the table a sparse gradient; only the rows that were looked up are stored.
  TORCH_ARG(bool, sparse) = false;
};

/// Options of F::embedding_bag.
struct TORCH_API EmbeddingBagFuncOptions {
  /// The first index of each bag of a 1-D input; undefined for a 2-D one.
  TORCH_ARG(torch::Tensor, offsets);
  /// Rows that are looked up are first scaled down, in the table itself, to at most this norm.
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;
  /// The p of that norm.
  TORCH_ARG(double, norm_type) = 2.;
  /// Divides the gradient of a row by how often the batch looks it up.
  TORCH_ARG(bool, scale_grad_by_freq) = false;
  /// kSum, kMean or kMax of a bag's rows.
  TORCH_ARG(EmbeddingBagMode, mode) = torch::kMean;
  /// Gives the table a sparse gradient; only the rows that were looked up are stored.
  TORCH_ARG(bool, sparse) = false;
  /// A factor for each index, of the input's sizes; only with kSum.
  TORCH_ARG(torch::Tensor, per_sample_weights);
  /// Whether the last element of `offsets` is the end of the last bag, not the begin of one more.
  TORCH_ARG(bool, include_last_offset) = false;
  /// A row that counts for nothing in its bag and gets no gradient.
  TORCH_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

} // namespace functional
} // namespace torch::nn
