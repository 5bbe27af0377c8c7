// Attention: a batch of queries, keys and values joins the one that is there.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <aten/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <c10/util/DimVector.h>

#include <optional>
#include <tuple>

namespace at::functorch {

namespace {

struct Joined {
  explicit Joined(VmapLevelPtr level) : level(std::move(level)) {}

  Tensor operator()(const Tensor& tensor) const {
    return value_at(tensor, *level).with_batch(level->batch_size).flatten(0, 1);
  }
  /// A mask of [L, S], or one that broadcasts over samples and heads, for all samples of all batches.
  std::optional<Tensor> mask(const std::optional<Tensor>& mask, const Tensor& query, const Tensor& key) const {
    if (!mask.has_value() || !mask->defined()) {
      return std::nullopt;
    }
    if (mask->dim() == 2 && !value_at(*mask, *level).is_batched()) {
      return mask;
    }
    const Tensor all = mask->expand({query.size(0), mask->dim() == 4 ? mask->size(1) : 1, query.size(2), key.size(2)});
    return (*this)(all);
  }
  Tensor separate(const Tensor& joined, int64_t samples) const {
    c10::DimVector sizes{level->batch_size, samples};
    sizes.append(joined.sizes().begin() + 1, joined.sizes().end());
    return makeBatched(joined.reshape(sizes), 0, level);
  }

  VmapLevelPtr level;
};

std::tuple<Tensor, Tensor> flash_attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    double dropout_p,
    bool is_causal,
    const std::optional<Tensor>& attn_mask,
    std::optional<double> scale) {
  const Joined joined(level_of({query, key, value, attn_mask.value_or(Tensor())}, "scaled_dot_product_attention"));
  const auto [output, logsumexp] = at::_scaled_dot_product_flash_attention_for_cpu(
      joined(query), joined(key), joined(value), dropout_p, is_causal, joined.mask(attn_mask, query, key), scale);
  return {joined.separate(output, query.size(0)), joined.separate(logsumexp, query.size(0))};
}

std::tuple<Tensor, Tensor, Tensor> flash_attention_backward(
    const Tensor& grad_out,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& out,
    const Tensor& logsumexp,
    double dropout_p,
    bool is_causal,
    const std::optional<Tensor>& attn_mask,
    std::optional<double> scale) {
  const Joined joined(level_of(
      {grad_out, query, key, value, out, logsumexp, attn_mask.value_or(Tensor())},
      "scaled_dot_product_attention_backward"));
  const auto [of_query, of_key, of_value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      joined(grad_out), joined(query), joined(key), joined(value), joined(out), joined(logsumexp), dropout_p, is_causal,
      joined.mask(attn_mask, query, key), scale);
  const int64_t samples = query.size(0);
  return {joined.separate(of_query, samples), joined.separate(of_key, samples), joined.separate(of_value, samples)};
}

constexpr c10::impl::BuiltinKernelRow kAttentionRules[] = {
    rule_for<&flash_attention>("aten::_scaled_dot_product_flash_attention_for_cpu"),
    rule_for<&flash_attention_backward>("aten::_scaled_dot_product_flash_attention_for_cpu_backward"),
};
const c10::impl::BuiltinKernels kAttentionRulesRegistered(kAttentionRules);

} // namespace

} // namespace at::functorch
