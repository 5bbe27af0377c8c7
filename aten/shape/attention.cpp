#include <aten/shape/attention.h>

#include <aten/OpMathType.h>
#include <aten/core/Tensor.h>
#include <aten/shape/operand_checks.h>

namespace at::shape {
namespace {

void check_attention(const char* op, const TensorBase& query, const TensorBase& key, const TensorBase& value, double dropout_p, bool is_causal, const std::optional<Tensor>& attn_mask, bool may_drop = false) {
  for (const TensorBase* t : {&query, &key, &value}) {
    TORCH_CHECK(t->dim() == 4, op, ": expected query, key and value of 4 dimensions, got ", query.sizes(), ", ", key.sizes(), " and ", value.sizes());
    TORCH_CHECK(
        t->scalar_type() == query.scalar_type() && t->is_floating_point(),
        "Expected query, key, and value to have the same dtype, but got query.dtype: ", query.dtype().name(), " key.dtype: ",
        key.dtype().name(), " and value.dtype: ", value.dtype().name(), " instead.");
  }
  check_same_device(op, {&query, &key, &value});
  // The CPU has no kernel that drops weights on its way.
  TORCH_CHECK(
      dropout_p == 0 || (may_drop && query.is_cuda() && dropout_p > 0 && dropout_p < 1), op,
      ": dropout is not supported, got dropout_p = ", dropout_p, "; use scaled_dot_product_attention");
  TORCH_CHECK(
      query.size(3) == key.size(3), op, ": query and key must have the same size in the last dimension, got ", query.size(3), " and ", key.size(3));
  TORCH_CHECK(
      key.size(2) == value.size(2) && key.size(1) == value.size(1) && query.size(0) == key.size(0) && query.size(0) == value.size(0), op,
      ": sizes do not fit: query ", query.sizes(), ", key ", key.sizes(), ", value ", value.sizes());
  TORCH_CHECK(
      key.size(1) > 0 && query.size(1) % key.size(1) == 0, "Number of heads in key and value must divide the number of heads in query, got ",
      key.size(1), " and ", query.size(1));
  if (!attn_mask.has_value() || !attn_mask->defined()) return;
  TORCH_CHECK(!is_causal, op, ": Explicit attn_mask should not be set when is_causal=True");
  const auto dtype = attn_mask->scalar_type();
  TORCH_CHECK(
      dtype == kBool || dtype == kFloat || dtype == query.scalar_type(),
      "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ", attn_mask->dtype().name(),
      " and  query.dtype: ", query.dtype().name(), " instead.");
  check_expandable(op, *attn_mask, {query.size(0), query.size(1), query.size(2), key.size(2)});
  check_same_device(op, {&query, &*attn_mask});
}

void check_results(const char* op, const TensorBase& grad_out, const TensorBase& query, const TensorBase& value, const TensorBase& out, const TensorBase& logsumexp) {
  const int64_t sizes[] = {query.size(0), query.size(1), query.size(2), value.size(3)};
  TORCH_CHECK(
      grad_out.sizes() == IntArrayRef(sizes) && out.sizes() == IntArrayRef(sizes) && grad_out.scalar_type() == query.scalar_type() &&
          out.scalar_type() == query.scalar_type(),
      op, ": grad_out and out must be like the result, ", IntArrayRef(sizes), " of ", query.scalar_type(), "; got ", grad_out.sizes(), " of ",
      grad_out.scalar_type(), " and ", out.sizes(), " of ", out.scalar_type());
  TORCH_CHECK(
      logsumexp.sizes() == IntArrayRef(sizes, 3) && logsumexp.scalar_type() == toOpMathType(query.scalar_type()), op,
      ": logsumexp must be that of the forward pass, got ", logsumexp.sizes(), " of ", logsumexp.scalar_type());
}

} // namespace

std::array<TensorSpec, 2> flash_attention(const char* op, const TensorBase& query, const TensorBase& key, const TensorBase& value, double dropout_p, bool is_causal, const std::optional<Tensor>& attn_mask, std::optional<double>) {
  check_attention(op, query, key, value, dropout_p, is_causal, attn_mask);
  const int64_t batch = query.size(0), heads = query.size(1), length = query.size(2);
  TensorSpec output = TensorSpec::like(query, {batch, heads, length, value.size(3)});
  // Laid out as the query, so that a transposition before is undone for free after.
  if (value.size(3) == query.size(3) && query.is_non_overlapping_and_dense() && query.stride(3) == 1) {
    output.strides = c10::DimVector(query.strides().begin(), query.strides().end());
  }
  TensorSpec logsumexp = TensorSpec::like(query, {batch, heads, length}, toOpMathType(query.scalar_type()));
  logsumexp.strides = c10::DimVector{length * heads, 1, heads};
  return {output, logsumexp};
}

std::array<TensorSpec, 3> flash_attention_backward(const char* op, const TensorBase& grad_out, const TensorBase& query, const TensorBase& key, const TensorBase& value, const TensorBase& out, const TensorBase& logsumexp, double dropout_p, bool is_causal, const std::optional<Tensor>& attn_mask, std::optional<double>) {
  check_attention(op, query, key, value, dropout_p, is_causal, attn_mask);
  check_results(op, grad_out, query, value, out, logsumexp);
  return {TensorSpec::like(query, query.sizes()), TensorSpec::like(key, key.sizes()), TensorSpec::like(value, value.sizes())};
}

std::array<TensorSpec, 4> efficient_attention(const char* op, const TensorBase& query, const TensorBase& key, const TensorBase& value, const std::optional<Tensor>& attn_bias, bool compute_log_sumexp, double dropout_p, bool is_causal, std::optional<double> scale) {
  check_attention(op, query, key, value, dropout_p, is_causal, attn_bias, /*may_drop=*/true);
  const TensorSpec output = flash_attention(op, query, key, value, 0, is_causal, attn_bias, scale)[0];
  const int64_t length = compute_log_sumexp ? query.size(2) : 0;
  const TensorSpec place = TensorSpec::like(query, {}, kLong);
  return {output, TensorSpec::like(query, {query.size(0), query.size(1), length}, toOpMathType(query.scalar_type())), place, place};
}

void check_efficient_attention_backward(const char* op, const TensorBase& grad_out, const TensorBase& query, const TensorBase& key, const TensorBase& value, const Tensor& attn_bias, const TensorBase& out, const TensorBase& logsumexp, double dropout_p, std::array<bool, 4> grad_input_mask, bool is_causal) {
  check_attention(op, query, key, value, dropout_p, is_causal, attn_bias, /*may_drop=*/true);
  check_results(op, grad_out, query, value, out, logsumexp);
  TORCH_CHECK(
      !grad_input_mask[3], op, ": there is no gradient of attn_bias here; _scaled_dot_product_attention_math has one");
}

} // namespace at::shape
