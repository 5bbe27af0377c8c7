#include <csrc/nn/functional/activation.h>

#include <c10/util/Exception.h>

#include <cmath>
#include <limits>
#include <utility>

namespace torch::nn::functional {
namespace {

using AttentionOptions = MultiheadAttentionForwardFuncOptions;

// Letters in names of sizes: T targets (queries), S sources (keys), N batch, H heads, D features of a head, E = H * D.

void check_arguments(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options) {
  const auto is_sequence = [](const Tensor& t) { return t.defined() && t.dim() == 3; };
  TORCH_CHECK(
      is_sequence(query) && is_sequence(key) && is_sequence(value),
      "multi_head_attention_forward: query, key and value must have three dimensions, [time, batch, features]");
  TORCH_CHECK(
      query.size(2) == options.embed_dim_to_check(),
      "multi_head_attention_forward: was expecting embedding dimension of ", options.embed_dim_to_check(), ", but got ",
      query.size(2), ": query is ", query.sizes());
  TORCH_CHECK(
      key.size(0) == value.size(0) && key.size(1) == value.size(1) && key.size(1) == query.size(1),
      "multi_head_attention_forward: key's sequence and batch dims must equal value's, and the batch query's: query "
      "is ",
      query.sizes(), ", key ", key.sizes(), ", value ", value.sizes());
  TORCH_CHECK(options.num_heads() > 0, "num_heads must be greater than 0, but got ", options.num_heads());
  TORCH_CHECK(
      query.size(2) % options.num_heads() == 0, "embed_dim must be divisible by num_heads: got ", query.size(2),
      " features for ", options.num_heads(), " heads");
  TORCH_CHECK(
      options.bias_k().defined() == options.bias_v().defined(),
      "multi_head_attention_forward: bias_k and bias_v must be given together");
  TORCH_CHECK(!options.bias_k().defined() || !options.static_k().defined(), "bias cannot be added to static key.");
  TORCH_CHECK(!options.bias_v().defined() || !options.static_v().defined(), "bias cannot be added to static value.");
}

void check_projection(const char* name, const Tensor& weight, int64_t embed_dim, const Tensor& input) {
  TORCH_CHECK(
      weight.defined() && weight.dim() == 2 && weight.size(0) == embed_dim && weight.size(1) == input.size(2),
      "multi_head_attention_forward: ", name, " must be [", embed_dim, ", ", input.size(2),
      "], the features of the result and of its input, but got ", weight.defined() ? weight.sizes() : IntArrayRef());
}

Tensor rows(const Tensor& tensor, int64_t begin, int64_t end) {
  return tensor.defined() ? tensor.slice(/*dim=*/0, begin, end) : tensor;
}

struct Projected {
  Tensor query;
  Tensor key;
  Tensor value;
};

Projected project_separately(
    const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options) {
  const int64_t embed_dim = query.size(2);
  check_projection("q_proj_weight", options.q_proj_weight(), embed_dim, query);
  check_projection("k_proj_weight", options.k_proj_weight(), embed_dim, key);
  check_projection("v_proj_weight", options.v_proj_weight(), embed_dim, value);
  const Tensor& bias = options.in_proj_bias();
  return {
      at::linear(query, options.q_proj_weight(), rows(bias, 0, embed_dim)),
      at::linear(key, options.k_proj_weight(), rows(bias, embed_dim, 2 * embed_dim)),
      at::linear(value, options.v_proj_weight(), rows(bias, 2 * embed_dim, 3 * embed_dim))};
}

/// One product for inputs that are the same tensor, as in self-attention.
Projected project(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options) {
  if (options.use_separate_proj_weight()) {
    return project_separately(query, key, value, options);
  }
  const int64_t embed_dim = query.size(2);
  const Tensor& weight = options.in_proj_weight();
  const Tensor& bias = options.in_proj_bias();
  TORCH_CHECK(
      weight.defined() && weight.dim() == 2 && weight.size(0) == 3 * embed_dim,
      "multi_head_attention_forward: in_proj_weight must be [", 3 * embed_dim, ", ", embed_dim,
      "], three times the features of query, but got ", weight.defined() ? weight.sizes() : IntArrayRef());
  if (query.is_same(key) && key.is_same(value)) {
    const auto parts = at::linear(query, weight, bias).chunk(3, /*dim=*/-1);
    return {parts[0], parts[1], parts[2]};
  }
  const Tensor projected_query = at::linear(query, rows(weight, 0, embed_dim), rows(bias, 0, embed_dim));
  if (key.is_same(value)) {
    const auto parts =
        at::linear(key, rows(weight, embed_dim, 3 * embed_dim), rows(bias, embed_dim, 3 * embed_dim)).chunk(2, -1);
    return {projected_query, parts[0], parts[1]};
  }
  return {
      projected_query, at::linear(key, rows(weight, embed_dim, 2 * embed_dim), rows(bias, embed_dim, 2 * embed_dim)),
      at::linear(value, rows(weight, 2 * embed_dim, 3 * embed_dim), rows(bias, 2 * embed_dim, 3 * embed_dim))};
}

/// [T, N, E] to [N * H, T, D].
Tensor split_heads(const Tensor& input, int64_t num_heads) {
  return input.contiguous().view({input.size(0), input.size(1) * num_heads, input.size(2) / num_heads}).transpose(0, 1);
}

Tensor replace_static(const char* name, const Tensor& given, const Tensor& projected) {
  if (!given.defined()) {
    return projected;
  }
  TORCH_CHECK(
      given.dim() == 3 && given.size(0) == projected.size(0) && given.size(2) == projected.size(2),
      "multi_head_attention_forward: ", name, " must be [batch * heads, time, features of a head] = [",
      projected.size(0), ", any, ", projected.size(2), "], but got ", given.sizes());
  return given;
}

Tensor append_zero_row(const Tensor& input) {
  return at::cat({input, at::zeros({input.size(0), 1, input.size(2)}, input.options())}, /*dim=*/1);
}

/// A mask as terms to add: minus infinity where a bool mask (or uint8, which once stood for it) is true.
Tensor additive(const Tensor& mask, const Tensor& query) {
  if (mask.scalar_type() == kBool || mask.scalar_type() == kByte) {
    return at::zeros(mask.sizes(), query.options())
        .masked_fill_(mask.to(kBool), -std::numeric_limits<double>::infinity());
  }
  return mask;
}

/// Both masks as one that broadcasts to [N, H, T, S], or undefined. `appended` columns of the S were not the caller's.
Tensor join_masks(const AttentionOptions& options, const Tensor& query, IntArrayRef sizes, int64_t appended) {
  const int64_t batch = sizes[0], heads = sizes[1], targets = sizes[2], sources = sizes[3];
  const auto extend = [&](const Tensor& mask) { return appended ? at::constant_pad_nd(mask, {0, appended}) : mask; };
  Tensor joined;
  if (options.attn_mask().defined()) {
    const Tensor mask = extend(options.attn_mask());
    const bool per_head = mask.dim() == 3;
    TORCH_CHECK(
        mask.dim() == 2 ? mask.sizes() == IntArrayRef({targets, sources})
                        : per_head && mask.sizes() == IntArrayRef({batch * heads, targets, sources}),
        "multi_head_attention_forward: The shape of the attn_mask is ", options.attn_mask().sizes(),
        ", but should be [", targets, ", ", sources - appended, "], targets and sources, or [", batch * heads, ", ",
        targets, ", ", sources - appended, "] with one for each head of each sample");
    joined = additive(per_head ? mask.view({batch, heads, targets, sources}) : mask, query);
  }
  if (options.key_padding_mask().defined()) {
    const Tensor mask = extend(options.key_padding_mask());
    TORCH_CHECK(
        mask.sizes() == IntArrayRef({batch, sources}), "multi_head_attention_forward: key_padding_mask must be [",
        batch, ", ", sources - appended, "], batch and sources, but got ", options.key_padding_mask().sizes());
    const Tensor terms = additive(mask.view({batch, 1, 1, sources}), query);
    joined = joined.defined() ? joined + terms : terms;
  }
  return joined;
}

} // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options) {
  check_arguments(query, key, value, options);
  const int64_t targets = query.size(0), batch = query.size(1), heads = options.num_heads();
  const double dropout_p = options.training() ? options.dropout_p() : 0.0;
  int64_t appended = 0;

  auto [q, k, v] = project(query, key, value, options);
  if (options.bias_k().defined()) {
    k = at::cat({k, options.bias_k().repeat({1, batch, 1})});
    v = at::cat({v, options.bias_v().repeat({1, batch, 1})});
    ++appended;
  }
  q = split_heads(q, heads);
  k = replace_static("static_k", options.static_k(), split_heads(k, heads));
  v = replace_static("static_v", options.static_v(), split_heads(v, heads));
  if (options.add_zero_attn()) {
    k = append_zero_row(k);
    v = append_zero_row(v);
    ++appended;
  }
  TORCH_CHECK(
      k.size(1) == v.size(1),
      "multi_head_attention_forward: static_k and static_v must be as long as the other one: got ", k.size(1),
      " keys and ", v.size(1), " values");
  const int64_t sources = k.size(1), features = q.size(2);
  const Tensor mask = join_masks(options, q, {batch, heads, targets, sources}, appended);

  Tensor output, weights;
  if (options.need_weights()) {
    Tensor scores = at::bmm(q * (1 / std::sqrt(static_cast<double>(features))), k.transpose(1, 2))
                        .view({batch, heads, targets, sources});
    if (mask.defined()) {
      scores = scores + mask;
    }
    weights = at::dropout(at::softmax(scores, -1), dropout_p, options.training());
    output = at::bmm(weights.view({batch * heads, targets, sources}), v);
    if (options.average_attn_weights()) {
      weights = weights.sum(/*dim=*/1) / heads;
    }
  } else {
    const auto by_head = [&](const Tensor& t) { return t.view({batch, heads, t.size(1), features}); };
    output =
        at::scaled_dot_product_attention(
            by_head(q), by_head(k), by_head(v), mask.defined() ? std::optional<Tensor>(mask) : std::nullopt, dropout_p)
            .reshape({batch * heads, targets, features});
  }
  output = output.transpose(0, 1).reshape({targets, batch, heads * features});
  return {at::linear(output, options.out_proj_weight(), options.out_proj_bias()), weights};
}

} // namespace torch::nn::functional
