// Layers of transformers in one call, as modules use them when nothing is trained.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>

#include <cmath>

namespace at::native {
namespace {

void check_attention_layer(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    int64_t embed_dim,
    int64_t num_head,
    const Tensor& qkv_weight,
    const Tensor& qkv_bias) {
  TORCH_CHECK(query.dim() == 3, "expected 3-D `query`, got ", query.dim(), "-D tensor");
  TORCH_CHECK(
      query.size(2) == embed_dim, "passed-in embed_dim ", embed_dim, " didn't match last dim of query ", query.size(2));
  TORCH_CHECK(
      query.sizes() == key.sizes() && key.sizes() == value.sizes(),
      "expected `query`/`key`/`value` shapes to match, got ", query.sizes(), ", ", key.sizes(), " and ", value.sizes());
  TORCH_CHECK(qkv_weight.dim() == 2, "expected 2-D `qkv_weight`, got ", qkv_weight.dim(), "-D tensor");
  TORCH_CHECK(
      qkv_weight.size(0) % 3 == 0 && qkv_weight.size(0) / 3 == embed_dim,
      "expected `qkv_weight` first dim to be 3x embed_dim, got ", qkv_weight.sizes(), " for ", embed_dim);
  TORCH_CHECK(
      qkv_weight.size(1) == embed_dim, "expected `qkv_weight` second dim to be embed_dim, got ", qkv_weight.sizes(),
      " for ", embed_dim);
  TORCH_CHECK(qkv_bias.dim() == 1, "expected 1-D `qkv_bias`, got ", qkv_bias.dim(), "-D tensor");
  TORCH_CHECK(
      qkv_bias.size(0) == qkv_weight.size(0),
      "expected `qkv_bias` first dim and first dim of query to be equal: ", qkv_bias.size(0), " biases for ",
      qkv_weight.size(0), " rows of `qkv_weight`");
  TORCH_CHECK(
      num_head > 0 && embed_dim % num_head == 0, "`embed_dim` must divide evenly by `num_heads`, got ", embed_dim,
      " and ", num_head);
}

/// Rows of query, key and value times their thirds of the weight, side by side.
Tensor qkv_projection(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& qkv_weight) {
  if (query.is_same(key) && key.is_same(value)) {
    return at::matmul(query, qkv_weight.t());
  }
  const std::vector<Tensor> weights = qkv_weight.chunk(3, 0);
  return at::cat(
      {at::matmul(query, weights[0].t()), at::matmul(key, weights[1].t()), at::matmul(value, weights[2].t())}, 2);
}

} // namespace

std::tuple<Tensor, Tensor, Tensor> _transform_bias_rescale_qkv(
    const Tensor& qkv, const Tensor& qkv_bias, int64_t num_heads) {
  TORCH_CHECK(
      qkv.dim() == 3 && qkv.size(2) % 3 == 0,
      "_transform_bias_rescale_qkv: expected qkv of sizes [batch, rows, 3 * D], got ", qkv.sizes());
  TORCH_CHECK(
      qkv_bias.dim() == 1 && qkv_bias.size(0) == qkv.size(2),
      "_transform_bias_rescale_qkv: expected one bias for each column of qkv, got sizes ", qkv_bias.sizes(), " and ",
      qkv.sizes());
  TORCH_CHECK_NOT_IMPLEMENTED(
      qkv.is_floating_point(), "\"transform_bias_rescale_qkv\" not implemented for '", qkv.scalar_type(), "'");
  TORCH_CHECK(
      qkv_bias.scalar_type() == qkv.scalar_type(),
      "_transform_bias_rescale_qkv: expected qkv and qkv_bias of the same dtype, got ", qkv.scalar_type(), " and ",
      qkv_bias.scalar_type());
  const int64_t columns = qkv.size(2) / 3;
  TORCH_CHECK(
      num_heads > 0 && columns % num_heads == 0, "Expected D % num_head == 0 to be true, but got D = ", columns,
      " and num_heads = ", num_heads);
  const int64_t size = columns / num_heads;
  const Tensor parts = (qkv + qkv_bias).view({qkv.size(0), qkv.size(1), 3, num_heads, size}).permute({2, 0, 3, 1, 4});
  return {(parts[0] / std::sqrt(static_cast<double>(size))).contiguous(), parts[1].contiguous(), parts[2].contiguous()};
}

std::tuple<Tensor, Tensor> _native_multi_head_attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    int64_t embed_dim,
    int64_t num_head,
    const Tensor& qkv_weight,
    const Tensor& qkv_bias,
    const Tensor& proj_weight,
    const Tensor& proj_bias,
    const std::optional<Tensor>& mask,
    bool need_weights,
    bool average_attn_weights,
    std::optional<int64_t> mask_type) {
  check_attention_layer(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias);
  const auto [q, k, v] =
      native::_transform_bias_rescale_qkv(qkv_projection(query, key, value, qkv_weight), qkv_bias, num_head);
  const Tensor scores = at::matmul(q, k.transpose(-2, -1));
  Tensor weights;
  if (mask.has_value() && mask->defined()) {
    TORCH_CHECK(mask_type.has_value(), "Mask Type should be defined");
    TORCH_CHECK(
        *mask_type >= 0 && *mask_type <= 2,
        "Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask), got ", *mask_type);
    weights = at::_masked_softmax(scores, mask->scalar_type() == kBool ? *mask : mask->to(kBool), 3, mask_type);
  } else {
    weights = at::softmax(scores, 3);
  }
  const Tensor rows = at::matmul(weights, v).transpose(1, 2).reshape(query.sizes());
  const Tensor result = at::linear(rows, proj_weight, proj_bias);
  if (!need_weights) {
    return {result, Tensor()};
  }
  return {result, average_attn_weights ? weights.mean({1}) : weights};
}

Tensor _transformer_encoder_layer_fwd(
    const Tensor& src,
    int64_t embed_dim,
    int64_t num_heads,
    const Tensor& qkv_weight,
    const Tensor& qkv_bias,
    const Tensor& proj_weight,
    const Tensor& proj_bias,
    bool use_gelu,
    bool norm_first,
    double eps,
    const Tensor& norm_weight_1,
    const Tensor& norm_bias_1,
    const Tensor& norm_weight_2,
    const Tensor& norm_bias_2,
    const Tensor& ffn_weight_1,
    const Tensor& ffn_bias_1,
    const Tensor& ffn_weight_2,
    const Tensor& ffn_bias_2,
    const std::optional<Tensor>& mask,
    std::optional<int64_t> mask_type) {
  const auto attention = [&](const Tensor& x) {
    return std::get<0>(native::_native_multi_head_attention(
        x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, /*need_weights=*/false,
        /*average_attn_weights=*/true, mask_type));
  };
  const auto feed_forward = [&](const Tensor& x) {
    const Tensor rows = x.reshape({x.size(0) * x.size(1), x.size(2)});
    const Tensor hidden = at::_addmm_activation(ffn_bias_1, rows, ffn_weight_1.t(), /*beta=*/1, /*alpha=*/1, use_gelu);
    return at::linear(hidden, ffn_weight_2, ffn_bias_2).view(x.sizes());
  };
  const auto norm_1 = [&](const Tensor& x) { return at::layer_norm(x, {embed_dim}, norm_weight_1, norm_bias_1, eps); };
  const auto norm_2 = [&](const Tensor& x) { return at::layer_norm(x, {embed_dim}, norm_weight_2, norm_bias_2, eps); };
  if (norm_first) {
    const Tensor x = src + attention(norm_1(src));
    return x + feed_forward(norm_2(x));
  }
  const Tensor x = norm_1(src + attention(src));
  return norm_2(x + feed_forward(x));
}

} // namespace at::native
