#include "functional_cases.h"

namespace cases {

namespace {

constexpr int64_t kTargets = 4, kSources = 5, kBatch = 2, kEmbed = 6, kHeads = 3;

F::MultiheadAttentionForwardFuncOptions basic(bool bias = true) {
  return F::MultiheadAttentionForwardFuncOptions(
      kEmbed, kHeads, wave({3 * kEmbed, kEmbed}, 0.2) * 0.4, bias ? wave({3 * kEmbed}, 0.5) : Tensor(), {}, {},
      /*add_zero_attn=*/false,
      /*dropout_p=*/0.0, wave({kEmbed, kEmbed}, 0.9) * 0.3, bias ? wave({kEmbed}, 1.1) : Tensor());
}

Tensor causal_mask(int64_t rows, int64_t columns) {
  return torch::full({rows, columns}, -std::numeric_limits<double>::infinity(), torch::kDouble)
      .triu(columns - rows + 1);
}

/// Output and weights, gradients of query, key and value, with and without weights asked for.
void attention(Cases& out, const std::string& name, F::MultiheadAttentionForwardFuncOptions options) {
  const Tensor query = wave({kTargets, kBatch, kEmbed}, 0.1), key = wave({kSources, kBatch, kEmbed}, 0.7);
  const Tensor value = wave({kSources, kBatch, kEmbed}, 1.9);
  const auto result = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return std::get<0>(F::multi_head_attention_forward(q, k, v, options));
  };
  differentiable(
      out, name + " query", [&](const Tensor& t) { return result(t, key, value); }, query);
  differentiable(
      out, name + " key", [&](const Tensor& t) { return result(query, t, value); }, key);
  differentiable(
      out, name + " value", [&](const Tensor& t) { return result(query, key, t); }, value);
  differentiable(
      out, name + " key and value", [&](const Tensor& t) { return result(query, t, t); }, key);
  out.push_back({name + " weights", std::get<1>(F::multi_head_attention_forward(query, key, value, options))});
  options.average_attn_weights(false);
  out.push_back({name + " head weights", std::get<1>(F::multi_head_attention_forward(query, key, value, options))});
  options.need_weights(false);
  differentiable(
      out, name + " fused query", [&](const Tensor& t) { return result(t, key, value); }, query);
  differentiable(
      out, name + " fused key", [&](const Tensor& t) { return result(query, t, value); }, key);
  differentiable(
      out, name + " fused value", [&](const Tensor& t) { return result(query, key, t); }, value);
}

} // namespace

Cases attention_cases() {
  Cases out;
  const Tensor padding = torch::tensor({0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, torch::kBool).view({kBatch, kSources});
  attention(out, "attention", basic());
  attention(out, "attention without bias", basic(false));
  attention(out, "attention masked", basic().attn_mask(causal_mask(kTargets, kSources)));
  attention(out, "attention padded", basic().key_padding_mask(padding));
  attention(out, "attention both masks", basic().attn_mask(wave({kTargets, kSources})).key_padding_mask(padding));
  attention(out, "attention zero", basic().add_zero_attn(true).key_padding_mask(padding));
  attention(
      out, "attention bias",
      basic()
          .bias_k(wave({1, 1, kEmbed}, 3))
          .bias_v(wave({1, 1, kEmbed}, 4))
          .attn_mask(causal_mask(kTargets, kSources)));
  attention(
      out, "attention bias and zero",
      basic()
          .bias_k(wave({1, 1, kEmbed}, 3))
          .bias_v(wave({1, 1, kEmbed}, 4))
          .add_zero_attn(true)
          .key_padding_mask(padding));
  attention(
      out, "attention separate",
      basic()
          .use_separate_proj_weight(true)
          .q_proj_weight(wave({kEmbed, kEmbed}, 5) * 0.4)
          .k_proj_weight(wave({kEmbed, kEmbed}, 6) * 0.4)
          .v_proj_weight(wave({kEmbed, kEmbed}, 7) * 0.4));
  const int64_t kHeadFeatures = kEmbed / kHeads;
  const auto fixed = basic()
                         .static_k(wave({kBatch * kHeads, 3, kHeadFeatures}, 8))
                         .static_v(wave({kBatch * kHeads, 3, kHeadFeatures}, 9));
  const Tensor x = wave({kTargets, kBatch, kEmbed}, 0.1);
  differentiable(
      out, "attention static",
      [&](const Tensor& t) { return std::get<0>(F::multi_head_attention_forward(t, x, x, fixed)); }, x);
  differentiable(
      out, "self-attention",
      [&](const Tensor& t) { return std::get<0>(F::multi_head_attention_forward(t, t, t, basic())); }, x);
  return out;
}

} // namespace cases
