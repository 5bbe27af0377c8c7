// Attention of queries with keys and values that lie in pages.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <optional>

namespace torch::llm {

/// How paged_attention weighs keys.
struct AttentionOptions {
  std::optional<at::Tensor> key_scales = std::nullopt; ///< for keys in int8: (blocks, block_size, kv_heads), float32
  std::optional<at::Tensor> value_scales = std::nullopt;
  std::optional<double> scale = std::nullopt; ///< of products; 1 / sqrt(head_dim) when it is not given
  int64_t window = 0; ///< a query sees this many positions, its own included; 0: all before it
  double softcap = 0; ///< cap * tanh(score / cap) instead of the score; 0: none
};

/// Causal attention for sequences whose keys and values lie in blocks, the operator tensor::paged_attention.
///
/// query: (tokens, heads, head_dim), float32, bfloat16 or float16, the sequences one after another.
/// key_cache, value_cache: (blocks, block_size, kv_heads, head_dim) in the query's dtype, float32, bfloat16, float16,
/// int8
///   (with scales) or float8_e4m3fn; heads is a multiple of kv_heads. The last dimension must be contiguous.
/// block_tables: (sequences, width), int64: position p of a sequence lies in block table[p / block_size % width], so a
///   table that is shorter than the sequence makes a ring.
/// lengths: (sequences), int64: positions of each sequence, those of its queries included, which are the last ones.
/// query_start: (sequences + 1), int64: where the queries of each sequence begin; without it each has one.
///
/// Gives (tokens, heads, head_dim) in the query's dtype; sums are in float32. Throws c10::Error where shapes, dtypes or
/// indices do not fit, also for a block outside the cache.
TORCH_API at::Tensor paged_attention(
    const at::Tensor& query,
    const at::Tensor& key_cache,
    const at::Tensor& value_cache,
    const at::Tensor& block_tables,
    const at::Tensor& lengths,
    const std::optional<at::Tensor>& query_start = std::nullopt,
    const AttentionOptions& options = {});

} // namespace torch::llm
