// Attention by scaled dot products.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/native/support/attention.h>
#include <aten/native/support/differentiated.h>
#include <aten/ops/_scaled_dot_product_efficient_attention.h>
#include <aten/ops/_scaled_dot_product_efficient_attention_backward.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>

namespace at::native {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

void check_attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_mask,
    bool is_causal) {
  TORCH_CHECK(
      query.scalar_type() == key.scalar_type() && query.scalar_type() == value.scalar_type(),
      "Expected query, key, and value to have the same dtype, but got query.dtype: ", query.dtype().name(),
      " key.dtype: ", key.dtype().name(), " and value.dtype: ", value.dtype().name(), " instead.");
  TORCH_CHECK(
      query.device() == key.device() && query.device() == value.device(),
      "Expected query, key, and value to have the same device type, but got query.device: ", query.device(),
      " key.device: ", key.device(), " and value.device: ", value.device(), " instead.");
  TORCH_CHECK(
      query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
      "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: ", query.dim(),
      " key.dim: ", key.dim(), " and value.dim: ", value.dim(), " instead.");
  if (!attn_mask.has_value() || !attn_mask->defined()) {
    return;
  }
  TORCH_CHECK(!is_causal, "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  const auto dtype = attn_mask->scalar_type();
  TORCH_CHECK(
      dtype == kBool || dtype == kFloat || dtype == query.scalar_type(),
      "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ",
      attn_mask->dtype().name(), " and  query.dtype: ", query.dtype().name(), " instead.");
}

/// The mask as terms to add to the scores: where a bool mask is false, minus infinity.
Tensor additive_mask(const Tensor& mask, const Tensor& query) {
  if (mask.scalar_type() != kBool) {
    return mask;
  }
  return at::zeros_like(mask, query.options()).masked_fill(mask.logical_not(), kMinusInfinity);
}

/// Softmax that is zero, and so is its gradient, for rows that are masked as a whole: they are filled before, too,
/// because the NaN of their softmax would reach the gradient.
Tensor masked_softmax(const Tensor& scores, int64_t dim, std::optional<ScalarType> dtype) {
  const Tensor empty_rows = (scores == kMinusInfinity).all(dim, /*keepdim=*/true);
  return at::softmax(scores.masked_fill(empty_rows, 0), dim, dtype).masked_fill(empty_rows, 0);
}

/// Repeats key and value heads until there are as many as the query has.
Tensor repeat_heads(const Tensor& t, const Tensor& query, bool enable_gqa) {
  if (!enable_gqa || t.size(-3) == query.size(-3)) {
    return t;
  }
  TORCH_CHECK(
      t.size(-3) != 0 && query.size(-3) % t.size(-3) == 0,
      "Number of heads in key and value must divide the number of heads in query, got ", t.size(-3), " and ",
      query.size(-3));
  return t.repeat_interleave(query.size(-3) / t.size(-3), -3);
}

/// Whether the kernel that works in blocks, without the matrix of all weights in memory, takes these arguments.
bool fits_blocks(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_mask,
    double dropout_p,
    bool enable_gqa) {
  if ((!query.is_cpu() && !query.is_cuda()) || !query.is_floating_point()) {
    return false;
  }
  if (dropout_p != 0 && !(query.is_cuda() && dropout_p > 0 && dropout_p < 1)) {
    return false;
  }
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4 || query.size(3) != key.size(3) ||
      key.size(2) != value.size(2)) {
    return false;
  }
  if (query.numel() == 0 || key.numel() == 0 || value.numel() == 0) {
    return false;
  }
  if (query.size(0) != key.size(0) || query.size(0) != value.size(0) || key.size(1) != value.size(1)) {
    return false;
  }
  if (query.size(1) != key.size(1) && !(enable_gqa && query.size(1) % key.size(1) == 0)) {
    return false;
  }
  if (query.is_cuda() && !fits_tiles(query, key, value)) {
    return false;
  }
  if (!attn_mask.has_value() || !attn_mask->defined()) {
    return true;
  }
  // On the CPU only operators on whole matrices have the gradient of a mask.
  return (query.is_cuda() || !is_differentiated(*attn_mask)) &&
      at::is_expandable_to(attn_mask->sizes(), {query.size(0), query.size(1), query.size(2), key.size(2)});
}

} // namespace

std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_mask,
    double dropout_p,
    bool is_causal,
    const std::optional<Tensor>& dropout_mask,
    std::optional<double> scale,
    bool enable_gqa) {
  check_attention(query, key, value, attn_mask, is_causal);
  std::optional<Tensor> mask = attn_mask;
  if (is_causal) {
    mask = at::ones({query.size(-2), key.size(-2)}, query.options().dtype(kBool)).tril();
  }
  const bool has_mask = mask.has_value() && mask->defined();
  // The square root of the scale goes to either factor: products of halves stay in range.
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  const double root = std::sqrt(std::abs(factor));
  const Tensor keys = repeat_heads(key, query, enable_gqa), values = repeat_heads(value, query, enable_gqa);
  Tensor scores = (query * (factor < 0 ? -root : root)).matmul(keys.transpose(-2, -1) * root);
  if (has_mask) {
    scores = scores + additive_mask(*mask, query);
  }
  Tensor attention = has_mask ? masked_softmax(scores, -1, std::nullopt) : at::softmax(scores, -1);
  if (attention.scalar_type() != values.scalar_type()) {
    attention = attention.to(values.scalar_type());
  }
  if (dropout_p > 0) {
    if (dropout_mask.has_value() && dropout_mask->defined()) {
      const Tensor dropped = attention.masked_fill(dropout_mask->logical_not(), 0);
      return {dropped.matmul(values * (1 / (1 - dropout_p))), dropped};
    }
    attention = at::dropout(attention, dropout_p, true);
  }
  return {attention.matmul(values), attention};
}

Tensor scaled_dot_product_attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_mask,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale,
    bool enable_gqa) {
  check_attention(query, key, value, attn_mask, is_causal);
  if (fits_blocks(query, key, value, attn_mask, dropout_p, enable_gqa)) {
    if (query.is_cuda()) {
      const bool recorded = is_differentiated(query) || is_differentiated(key) || is_differentiated(value) ||
          (attn_mask.has_value() && is_differentiated(*attn_mask));
      return std::get<0>(at::_scaled_dot_product_efficient_attention(
          query, key, value, attn_mask, recorded, dropout_p, is_causal, scale));
    }
    return std::get<0>(
        at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, is_causal, attn_mask, scale));
  }
  return std::get<0>(at::_scaled_dot_product_attention_math(
      query, key, value, attn_mask, dropout_p, is_causal, std::nullopt, scale, enable_gqa));
}

std::tuple<Tensor, Tensor> _scaled_dot_product_attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_mask,
    double dropout_p,
    bool,
    bool is_causal) {
  return at::_scaled_dot_product_attention_math(query, key, value, attn_mask, dropout_p, is_causal);
}

Tensor _safe_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return masked_softmax(self, dim, dtype);
}

int64_t _fused_sdp_choice(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_mask,
    double dropout_p,
    bool is_causal,
    std::optional<double>,
    bool enable_gqa) {
  check_attention(query, key, value, attn_mask, is_causal);
  return fits_blocks(query, key, value, attn_mask, dropout_p, enable_gqa) ? 1 : 0;
}

std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t, int64_t, Tensor, Tensor, Tensor>
_scaled_dot_product_flash_attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    double dropout_p,
    bool is_causal,
    bool return_debug_mask,
    std::optional<double> scale) {
  TORCH_CHECK(
      !return_debug_mask,
      "_scaled_dot_product_flash_attention: there is no debug mask here; _scaled_dot_product_attention_math returns "
      "all weights");
  auto [output, logsumexp, seed, offset] = at::_scaled_dot_product_efficient_attention(
      query, key, value, /*attn_bias=*/std::nullopt, /*compute_log_sumexp=*/true, dropout_p, is_causal, scale);
  return {std::move(output), std::move(logsumexp), Tensor(),
          Tensor(),          query.size(2),        key.size(2),
          std::move(seed),   std::move(offset),    at::empty({0}, query.options())};
}

std::tuple<Tensor, Tensor, Tensor> _scaled_dot_product_flash_attention_backward(
    const Tensor& grad_out,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& out,
    const Tensor& logsumexp,
    const Tensor&,
    const Tensor&,
    int64_t,
    int64_t,
    double dropout_p,
    bool is_causal,
    const Tensor& philox_seed,
    const Tensor& philox_offset,
    std::optional<double> scale) {
  auto [grad_query, grad_key, grad_value, none] = at::_scaled_dot_product_efficient_attention_backward(
      grad_out, query, key, value, Tensor(), out, logsumexp, philox_seed, philox_offset, dropout_p,
      {true, true, true, false}, is_causal, scale);
  return {std::move(grad_query), std::move(grad_key), std::move(grad_value)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t, int64_t, Tensor, Tensor, Tensor>
_scaled_dot_product_cudnn_attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_bias,
    bool compute_log_sumexp,
    double dropout_p,
    bool is_causal,
    bool return_debug_mask,
    std::optional<double> scale) {
  TORCH_CHECK(
      !return_debug_mask,
      "_scaled_dot_product_cudnn_attention: there is no debug mask here; _scaled_dot_product_attention_math returns "
      "all weights");
  auto [output, logsumexp, seed, offset] = at::_scaled_dot_product_efficient_attention(
      query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, scale);
  return {std::move(output), logsumexp.unsqueeze(-1), Tensor(),          Tensor(), query.size(2),
          key.size(2),       std::move(seed),         std::move(offset), Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> _scaled_dot_product_cudnn_attention_backward(
    const Tensor& grad_out,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& out,
    const Tensor& logsumexp,
    const Tensor& philox_seed,
    const Tensor& philox_offset,
    const Tensor& attn_bias,
    const Tensor&,
    const Tensor&,
    int64_t,
    int64_t,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale) {
  TORCH_CHECK(
      logsumexp.dim() == 4 && logsumexp.size(3) == 1,
      "_scaled_dot_product_cudnn_attention_backward: logsumexp must be that of the forward pass, [batch, heads, "
      "length, 1], got ",
      logsumexp.sizes());
  auto [grad_query, grad_key, grad_value, none] = at::_scaled_dot_product_efficient_attention_backward(
      grad_out, query, key, value, attn_bias, out, logsumexp.squeeze(-1), philox_seed, philox_offset, dropout_p,
      {true, true, true, false}, is_causal, scale);
  return {std::move(grad_query), std::move(grad_key), std::move(grad_value)};
}

} // namespace at::native
