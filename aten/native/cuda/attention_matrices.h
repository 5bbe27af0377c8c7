// Attention by products of whole matrices, for what no kernel in tiles takes: double, any sizes of heads.
#pragma once

#include <aten/core/Tensor.h>

namespace at::native::cuda {

/// Query, key and value [batch, heads, length, size]; key heads are shared by as many query heads each, in order. The
/// mask, if defined, is added to the scores, or says where they count.
struct AttentionMatrices {
  Tensor query, key, value, mask;
  bool causal;
  double scale;
};

/// Fills `out`, and `logsumexp` if it has elements.
void attention_by_matrices(const AttentionMatrices& p, const Tensor& out, const Tensor& logsumexp);
/// Fills the gradients, and returns those of the scores, [batch, heads, query length, key length].
Tensor attention_by_matrices_backward(
    const AttentionMatrices& p,
    const Tensor& grad_out,
    const Tensor& out,
    const Tensor& logsumexp,
    const Tensor& grad_query,
    const Tensor& grad_key,
    const Tensor& grad_value);

} // namespace at::native::cuda
