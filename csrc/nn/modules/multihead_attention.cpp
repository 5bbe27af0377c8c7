#include <csrc/nn/modules/activation.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <c10/util/safe_numerics.h>
#include <csrc/nn/functional/activation.h>
#include <csrc/nn/init.h>

namespace F = torch::nn::functional;

namespace torch::nn {

MultiheadAttentionImpl::MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
    : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}

// Prints, unlike most modules, its children, under this name.
MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options_)
    : Cloneable("torch::nn::MultiheadAttention"), options(options_) {
  MultiheadAttentionImpl::reset();
}

void MultiheadAttentionImpl::reset() {
  const int64_t embed_dim = options.embed_dim();
  TORCH_CHECK(
      embed_dim > 0 && options.num_heads() > 0 && embed_dim % options.num_heads() == 0,
      "embed_dim must be divisible by num_heads: they are ", embed_dim, " and ", options.num_heads());
  int64_t projections = 0; // rows of the weights of query, key and value
  TORCH_CHECK(
      !c10::mul_overflows(int64_t{3}, embed_dim, &projections),
      "embed_dim must be small enough for three rows of it: it is ", embed_dim);
  head_dim = embed_dim / options.num_heads();
  _qkv_same_embed_dim = options.kdim() == embed_dim && options.vdim() == embed_dim;
  const auto parameter = [this](const char* name, bool present, at::IntArrayRef sizes) {
    return register_parameter(name, present ? at::empty(sizes) : Tensor(), /*requires_grad=*/present);
  };
  in_proj_weight = parameter("in_proj_weight", _qkv_same_embed_dim, {projections, embed_dim});
  q_proj_weight = parameter("q_proj_weight", !_qkv_same_embed_dim, {embed_dim, embed_dim});
  k_proj_weight = parameter("k_proj_weight", !_qkv_same_embed_dim, {embed_dim, options.kdim()});
  v_proj_weight = parameter("v_proj_weight", !_qkv_same_embed_dim, {embed_dim, options.vdim()});
  in_proj_bias = parameter("in_proj_bias", options.bias(), {projections});
  out_proj = register_module("out_proj", Linear(LinearOptions(embed_dim, embed_dim).bias(options.bias())));
  bias_k = parameter("bias_k", options.add_bias_kv(), {1, 1, embed_dim});
  bias_v = parameter("bias_v", options.add_bias_kv(), {1, 1, embed_dim});
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  if (_qkv_same_embed_dim) {
    init::xavier_uniform_(in_proj_weight);
  } else {
    init::xavier_uniform_(q_proj_weight);
    init::xavier_uniform_(k_proj_weight);
    init::xavier_uniform_(v_proj_weight);
  }
  if (in_proj_bias.defined()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj->bias);
  }
  if (bias_k.defined()) {
    init::xavier_normal_(bias_k);
    init::xavier_normal_(bias_v);
  }
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& key_padding_mask,
    bool need_weights,
    const Tensor& attn_mask,
    bool average_attn_weights) {
  return F::multi_head_attention_forward(
      query, key, value,
      F::MultiheadAttentionForwardFuncOptions(
          options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias, bias_k, bias_v,
          options.add_zero_attn(), options.dropout(), out_proj->weight, out_proj->bias)
          .training(is_training())
          .key_padding_mask(key_padding_mask)
          .need_weights(need_weights)
          .attn_mask(attn_mask)
          .use_separate_proj_weight(!_qkv_same_embed_dim)
          .q_proj_weight(q_proj_weight)
          .k_proj_weight(k_proj_weight)
          .v_proj_weight(v_proj_weight)
          .average_attn_weights(average_attn_weights));
}

Module::DefaultArgs MultiheadAttentionImpl::_forward_default_args() {
  return {{3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())}, {6, AnyValue(true)}};
}

} // namespace torch::nn
