// Shape functions of attention in blocks.
#include <aten/shape/attention_checks.h>

#include <aten/core/OpMathType.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/support/convert.h>
#include <aten/shape/operand_checks.h>

#include <array>
#include <optional>

namespace at::shape {
namespace {

void check_attention(
    const char* op,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    double dropout_p,
    bool is_causal,
    const std::optional<Tensor>& attn_mask,
    bool may_drop = false) {
  for (const TensorBase* t : {&query, &key, &value}) {
    TORCH_CHECK(
        t->dim() == 4, op, ": expected query, key and value of 4 dimensions, got ", query.sizes(), ", ", key.sizes(),
        " and ", value.sizes());
    TORCH_CHECK(
        t->scalar_type() == query.scalar_type() && t->is_floating_point(),
        "Expected query, key, and value to have the same dtype, but got query.dtype: ", query.dtype().name(),
        " key.dtype: ", key.dtype().name(), " and value.dtype: ", value.dtype().name(), " instead.");
  }
  check_same_device(op, {&query, &key, &value});
  // The CPU has no kernel that drops weights on its way.
  TORCH_CHECK(
      dropout_p == 0 || (may_drop && query.is_cuda() && dropout_p > 0 && dropout_p < 1), op,
      ": dropout is not supported, got dropout_p = ", dropout_p, "; use scaled_dot_product_attention");
  TORCH_CHECK(
      query.size(3) == key.size(3), op, ": query and key must have the same size in the last dimension, got ",
      query.size(3), " and ", key.size(3));
  TORCH_CHECK(
      key.size(2) == value.size(2) && key.size(1) == value.size(1) && query.size(0) == key.size(0) &&
          query.size(0) == value.size(0),
      op, ": sizes do not fit: query ", query.sizes(), ", key ", key.sizes(), ", value ", value.sizes());
  TORCH_CHECK(
      key.size(1) > 0 && query.size(1) % key.size(1) == 0,
      "Number of heads in key and value must divide the number of heads in query, got ", key.size(1), " and ",
      query.size(1));
  if (!attn_mask.has_value() || !attn_mask->defined()) {
    return;
  }
  TORCH_CHECK(!is_causal, op, ": Explicit attn_mask should not be set when is_causal=True");
  const auto dtype = attn_mask->scalar_type();
  TORCH_CHECK(
      dtype == kBool || dtype == kFloat || dtype == query.scalar_type(),
      "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ",
      attn_mask->dtype().name(), " and  query.dtype: ", query.dtype().name(), " instead.");
  check_expandable(op, *attn_mask, {query.size(0), query.size(1), query.size(2), key.size(2)});
  check_same_device(op, {&query, &*attn_mask});
}

void check_results(
    const char* op,
    const TensorBase& grad_out,
    const TensorBase& query,
    const TensorBase& value,
    const TensorBase& out,
    const TensorBase& logsumexp) {
  const int64_t sizes[] = {query.size(0), query.size(1), query.size(2), value.size(3)};
  TORCH_CHECK(
      grad_out.sizes() == IntArrayRef(sizes) && out.sizes() == IntArrayRef(sizes) &&
          grad_out.scalar_type() == query.scalar_type() && out.scalar_type() == query.scalar_type(),
      op, ": grad_out and out must be like the result, ", IntArrayRef(sizes), " of ", query.scalar_type(), "; got ",
      grad_out.sizes(), " of ", grad_out.scalar_type(), " and ", out.sizes(), " of ", out.scalar_type());
  TORCH_CHECK(
      logsumexp.sizes() == IntArrayRef(sizes, 3) && logsumexp.scalar_type() == toOpMathType(query.scalar_type()), op,
      ": logsumexp must be that of the forward pass, got ", logsumexp.sizes(), " of ", logsumexp.scalar_type());
}

} // namespace

std::array<TensorSpec, 2> flash_attention(
    const char* op,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    double dropout_p,
    bool is_causal,
    const std::optional<Tensor>& attn_mask,
    std::optional<double>) {
  check_attention(op, query, key, value, dropout_p, is_causal, attn_mask);
  const int64_t batch = query.size(0), heads = query.size(1), length = query.size(2);
  TensorSpec output = TensorSpec::like(query, {batch, heads, length, value.size(3)});
  // Laid out in the query's order, so that a transposition before is undone for free after; also where the query is a
  // part of a larger tensor, as of queries, keys and values side by side.
  if (query.stride(3) == 1) {
    output.strides = at::native::dense_strides_like(
        output.sizes, query.strides(), value.size(3) == query.size(3) && query.is_non_overlapping_and_dense());
  }
  TensorSpec logsumexp = TensorSpec::like(query, {batch, heads, length}, toOpMathType(query.scalar_type()));
  logsumexp.strides = c10::DimVector{length * heads, 1, heads};
  return {output, logsumexp};
}

std::array<TensorSpec, 3> flash_attention_backward(
    const char* op,
    const TensorBase& grad_out,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const TensorBase& out,
    const TensorBase& logsumexp,
    double dropout_p,
    bool is_causal,
    const std::optional<Tensor>& attn_mask,
    std::optional<double>) {
  check_attention(op, query, key, value, dropout_p, is_causal, attn_mask);
  check_results(op, grad_out, query, value, out, logsumexp);
  return {
      TensorSpec::like(query, query.sizes()), TensorSpec::like(key, key.sizes()),
      TensorSpec::like(value, value.sizes())};
}

std::array<TensorSpec, 4> efficient_attention(
    const char* op,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const std::optional<Tensor>& attn_bias,
    bool compute_log_sumexp,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale) {
  check_attention(op, query, key, value, dropout_p, is_causal, attn_bias, /*may_drop=*/true);
  const TensorSpec output = flash_attention(op, query, key, value, 0, is_causal, attn_bias, scale)[0];
  const int64_t length = compute_log_sumexp ? query.size(2) : 0;
  const TensorSpec place = TensorSpec::like(query, {}, kLong);
  return {
      output, TensorSpec::like(query, {query.size(0), query.size(1), length}, toOpMathType(query.scalar_type())), place,
      place};
}

void check_efficient_attention_backward(
    const char* op,
    const TensorBase& grad_out,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const Tensor& attn_bias,
    const TensorBase& out,
    const TensorBase& logsumexp,
    double dropout_p,
    std::array<bool, 4> grad_input_mask,
    bool is_causal) {
  check_attention(op, query, key, value, dropout_p, is_causal, attn_bias, /*may_drop=*/true);
  check_results(op, grad_out, query, value, out, logsumexp);
  TORCH_CHECK(
      !grad_input_mask[3] || !attn_bias.defined() || attn_bias.is_floating_point(), op,
      ": attn_bias must be floating to have a gradient (grad_input_mask[3]), got ", attn_bias.scalar_type());
}

namespace {

/// The first rows of sequences, one behind the other, and the row behind the last.
void check_starts(const char* op, const char* name, const TensorBase& starts, const TensorBase& rows) {
  TORCH_CHECK(
      starts.dim() == 1 && starts.scalar_type() == kInt && starts.size(0) >= 2 && starts.is_contiguous(), op, ": ",
      name, " must be a contiguous tensor of int32 with a number more than there are sequences, got ", starts.sizes(),
      " of ", starts.scalar_type());
  check_same_device(op, {&rows, &starts});
}

void check_numbers(
    const char* op, const char* name, const TensorBase& numbers, int64_t batch, const TensorBase& query) {
  TORCH_CHECK(
      numbers.dim() == 1 && numbers.scalar_type() == kInt && numbers.size(0) == batch && numbers.is_contiguous(), op,
      ": ", name, " must be a contiguous tensor of int32 with a number for each of ", batch, " sequences, got ",
      numbers.sizes(), " of ", numbers.scalar_type());
  check_same_device(op, {&query, &numbers});
}

bool was_given(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined();
}

/// Of [..., heads, size], whatever comes before: that of keys in pages has nothing to do with the queries'.
void check_heads(
    const char* op,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    int64_t dim,
    bool in_pages = false) {
  for (const TensorBase* t : {&query, &key, &value}) {
    const int64_t expected = in_pages && t != &query ? 4 : dim;
    TORCH_CHECK(
        t->dim() == expected, op, ": expected query, key and value of ", dim, " dimensions",
        in_pages ? ", or 4 for keys and values in pages" : "", ", got ", query.sizes(), ", ", key.sizes(), " and ",
        value.sizes());
    TORCH_CHECK(
        t->scalar_type() == query.scalar_type(), op, ": query, key and value must have the same dtype, got ",
        query.scalar_type(), ", ", key.scalar_type(), " and ", value.scalar_type());
  }
  check_same_device(op, {&query, &key, &value});
  TORCH_CHECK(
      query.size(-1) == key.size(-1) && query.size(-1) > 0 && value.size(-1) > 0, op,
      ": query and key must have the same size in the last dimension, and none may be 0, got ", query.size(-1), ", ",
      key.size(-1), " and ", value.size(-1));
  TORCH_CHECK(
      key.sizes().slice(0, static_cast<size_t>(key.dim()) - 1) ==
              value.sizes().slice(0, static_cast<size_t>(key.dim()) - 1) &&
          (dim == 3 || in_pages || query.size(0) == key.size(0)),
      op, ": sizes do not fit: query ", query.sizes(), ", key ", key.sizes(), ", value ", value.sizes());
  TORCH_CHECK(
      key.size(-2) > 0 && query.size(-2) % key.size(-2) == 0,
      "Number of heads in key/value must divide number of heads in query, got ", key.size(-2), " and ", query.size(-2));
}

void check_dropout(const char* op, double dropout_p) {
  TORCH_CHECK(dropout_p >= 0 && dropout_p < 1, op, ": dropout_p must be at least 0 and less than 1, got ", dropout_p);
}

void check_flash(
    const char* op,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const TensorBase* cum_seq_q,
    const TensorBase* cum_seq_k,
    int64_t max_q,
    int64_t max_k,
    double dropout_p,
    bool in_pages = false) {
  TORCH_CHECK(
      (cum_seq_q == nullptr) == (cum_seq_k == nullptr), op, ": cum_seq_q and cum_seq_k must be given both, or neither");
  check_heads(op, query, key, value, cum_seq_q == nullptr ? 4 : 3, in_pages);
  TORCH_CHECK(
      query.scalar_type() == kHalf || query.scalar_type() == kBFloat16,
      "FlashAttention only support fp16 and bf16 data type, got ", query.scalar_type());
  TORCH_CHECK(
      query.size(-1) <= 256 && value.size(-1) <= 256,
      "FlashAttention forward only supports head dimension at most 256, got ", query.size(-1), " and ", value.size(-1));
  check_dropout(op, dropout_p);
  if (cum_seq_q != nullptr) {
    check_starts(op, "cum_seq_q", *cum_seq_q, query);
    check_starts(op, "cum_seq_k", *cum_seq_k, key);
    TORCH_CHECK(
        cum_seq_q->numel() == cum_seq_k->numel(), op, ": cum_seq_q and cum_seq_k must be of the same sequences, got ",
        cum_seq_q->sizes(), " and ", cum_seq_k->sizes());
    TORCH_CHECK(max_q >= 0 && max_k >= 0, op, ": max_q and max_k are lengths, got ", max_q, " and ", max_k);
  }
}

c10::DimVector flash_sums(const TensorBase& query, bool packed) {
  return packed ? c10::DimVector{query.size(1), query.size(0)}
                : c10::DimVector{query.size(0), query.size(2), query.size(1)};
}

} // namespace

/// Query, key and value [batch, length, heads, size], or [rows of all sequences, heads, size] with the first rows of
/// the sequences. With block_table keys and values are pages, [pages, rows of a page, heads, size].
std::array<TensorSpec, 5> flash_attention_forward(
    const char* op,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const std::optional<Tensor>& cum_seq_q,
    const std::optional<Tensor>& cum_seq_k,
    int64_t max_q,
    int64_t max_k,
    double dropout_p,
    bool,
    bool return_debug_mask,
    std::optional<double>,
    std::optional<int64_t>,
    std::optional<int64_t>,
    const std::optional<Tensor>& seqused_k,
    const std::optional<Tensor>& alibi_slopes,
    const std::optional<Tensor>& block_table,
    std::optional<int64_t> num_splits) {
  const bool packed = was_given(cum_seq_q), in_pages = was_given(block_table);
  check_flash(
      op, query, key, value, packed ? &*cum_seq_q : nullptr, was_given(cum_seq_k) ? &*cum_seq_k : nullptr, max_q, max_k,
      dropout_p, in_pages);
  TORCH_CHECK(
      !return_debug_mask, op, ": there is no debug mask here; _scaled_dot_product_attention_math returns all weights");
  TORCH_CHECK(num_splits.value_or(0) >= 0, op, ": num_splits must not be negative, got ", *num_splits);
  const int64_t batch = packed ? cum_seq_q->size(0) - 1 : query.size(0);
  if (in_pages) {
    TORCH_CHECK(
        block_table->dim() == 2 && block_table->scalar_type() == kInt && block_table->size(0) == batch &&
            (block_table->size(1) <= 1 || block_table->stride(1) == 1),
        op, ": block_table must be a tensor of int32 with a row of pages, side by side, for each of ", batch,
        " sequences, got ", block_table->sizes(), " of ", block_table->scalar_type());
    check_same_device(op, {&query, &*block_table});
    constexpr int64_t kMost = int64_t{1} << 29;
    TORCH_CHECK(
        block_table->size(1) < kMost && key.size(1) < kMost && block_table->size(1) * key.size(1) < kMost &&
            key.size(0) < kMost,
        op, ": block_table must name less than 2^29 keys a sequence, got ", block_table->size(1), " pages of ",
        key.size(1), ", of ", key.size(0));
    TORCH_CHECK(
        was_given(seqused_k), op, ": keys and values in pages (block_table) need seqused_k, how many of them count");
  }
  if (was_given(seqused_k)) {
    check_numbers(op, "seqused_k", *seqused_k, batch, query);
  }
  if (was_given(alibi_slopes)) {
    const int64_t heads = query.size(-2);
    TORCH_CHECK(
        alibi_slopes->scalar_type() == kFloat &&
            (alibi_slopes->sizes() == IntArrayRef{heads} || alibi_slopes->sizes() == IntArrayRef{batch, heads}) &&
            alibi_slopes->stride(-1) == 1,
        op, ": alibi_slopes must be a float32 tensor [", heads, "] or [", batch, ", ", heads,
        "] with neighbours side by side, got ", alibi_slopes->sizes(), " of ", alibi_slopes->scalar_type());
    check_same_device(op, {&query, &*alibi_slopes});
  }
  c10::DimVector sizes(query.sizes().begin(), query.sizes().end());
  sizes.back() = value.size(-1);
  TensorSpec output = TensorSpec::like(query, sizes);
  // Laid out as the query, so that a transposition before is undone for free after.
  if (value.size(-1) == query.size(-1) && query.is_non_overlapping_and_dense() && query.stride(-1) == 1) {
    output.strides = c10::DimVector(query.strides().begin(), query.strides().end());
  }
  return {
      output, TensorSpec::like(query, flash_sums(query, packed), kFloat), TensorSpec::like(query, {2}, kUInt64),
      TensorSpec::like(query, {}, kUInt64), TensorSpec::like(query, {0})};
}

std::array<TensorSpec, 3> flash_attention_of_sequences_backward(
    const char* op,
    const TensorBase& grad_out,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const TensorBase& out,
    const TensorBase& logsumexp,
    const TensorBase& cum_seq_q,
    const TensorBase& cum_seq_k,
    int64_t max_q,
    int64_t max_k,
    double dropout_p,
    bool,
    const TensorBase& rng_state,
    const TensorBase&,
    std::optional<double>,
    std::optional<int64_t>,
    std::optional<int64_t>) {
  const bool packed = cum_seq_q.defined();
  check_flash(
      op, query, key, value, packed ? &cum_seq_q : nullptr, cum_seq_k.defined() ? &cum_seq_k : nullptr, max_q, max_k,
      dropout_p);
  c10::DimVector sizes(query.sizes().begin(), query.sizes().end());
  sizes.back() = value.size(-1);
  for (const TensorBase* t : {&grad_out, &out}) {
    TORCH_CHECK(
        t->sizes() == IntArrayRef(sizes) && t->scalar_type() == query.scalar_type(), op,
        ": grad_out and out must be like the result, ", IntArrayRef(sizes), " of ", query.scalar_type(), "; got ",
        t->sizes(), " of ", t->scalar_type());
  }
  TORCH_CHECK(
      logsumexp.sizes() == IntArrayRef(flash_sums(query, packed)) && logsumexp.scalar_type() == kFloat, op,
      ": logsumexp must be that of the forward pass, got ", logsumexp.sizes(), " of ", logsumexp.scalar_type());
  check_same_device(op, {&query, &grad_out, &out, &logsumexp});
  if (dropout_p > 0) {
    TORCH_CHECK(
        rng_state.defined() && rng_state.numel() == 2 &&
            (rng_state.scalar_type() == kUInt64 || rng_state.scalar_type() == kLong) && rng_state.is_contiguous(),
        op, ": rng_state must be that of the forward pass, two numbers");
    check_same_device(op, {&query, &rng_state});
  }
  return {
      TensorSpec::like(query, query.sizes()), TensorSpec::like(key, key.sizes()),
      TensorSpec::like(value, value.sizes())};
}

void check_efficient_attention_of_sequences(const char* op, const EfficientAttention& a) {
  check_heads(op, a.query, a.key, a.value, 4);
  TORCH_CHECK(a.query.is_floating_point(), op, ": expected floating tensors, got ", a.query.scalar_type());
  check_dropout(op, a.dropout_p);
  TORCH_CHECK(
      a.custom_mask_type >= 0 && a.custom_mask_type <= 2, op,
      ": custom_mask_type is 0 (none), 1 (causal from the first query and key on) or ",
      "2 (causal up to the last query and key), got ", a.custom_mask_type);
  TORCH_CHECK(
      !a.window_size.has_value() || *a.window_size <= 0 || a.custom_mask_type != 0, op,
      ": window_size counts keys up to the last that a query sees: it needs custom_mask_type 1 or 2");
  TORCH_CHECK(
      was_given(a.cu_seqlens_q) == was_given(a.cu_seqlens_k), op,
      ": cu_seqlens_q and cu_seqlens_k must be given both, or neither");
  int64_t batch = a.query.size(0);
  if (was_given(a.cu_seqlens_q)) {
    check_starts(op, "cu_seqlens_q", *a.cu_seqlens_q, a.query);
    check_starts(op, "cu_seqlens_k", *a.cu_seqlens_k, a.key);
    TORCH_CHECK(
        a.cu_seqlens_q->numel() == a.cu_seqlens_k->numel(), op,
        ": cu_seqlens_q and cu_seqlens_k must be of the same sequences");
    TORCH_CHECK(batch == 1, op, ": sequences one behind the other are one batch, got query ", a.query.sizes());
    TORCH_CHECK(
        a.max_seqlen_q.has_value() && a.max_seqlen_k.has_value() && *a.max_seqlen_q >= 0 && *a.max_seqlen_k >= 0, op,
        ": with cu_seqlens_q max_seqlen_q and max_seqlen_k must say the greatest lengths");
    TORCH_CHECK(!was_given(a.bias), op, ": there is no bias for sequences of several lengths (cu_seqlens_q)");
    batch = a.cu_seqlens_q->size(0) - 1;
  }
  if (was_given(a.seqlen_k)) {
    check_numbers(op, "seqlen_k", *a.seqlen_k, batch, a.query);
  }
  if (was_given(a.bias)) {
    const auto dtype = a.bias->scalar_type();
    TORCH_CHECK(
        dtype == a.query.scalar_type() || dtype == kFloat || dtype == kBool, op,
        ": bias must have the dtype of query, got ", dtype);
    check_expandable(op, *a.bias, {batch, a.query.size(2), a.query.size(1), a.key.size(1)});
    check_same_device(op, {&a.query, &*a.bias});
  }
}

} // namespace at::shape
