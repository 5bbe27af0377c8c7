// Host side of the kernels attention_*.cu; arguments are checked by aten/shape/attention.cpp.
#include <aten/native/cuda/attention.h>
#include <aten/native/cuda/attention_matrices.h>

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/cuda/CUDAGeneratorImpl.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/support/attention.h>
#include <aten/shape/attention_checks.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <tuple>

namespace at::native {

namespace cuda {

namespace {

/// What all operators of attention ask. Tensors are [batch, heads, length, size], or, with the first rows of sequences
/// of several lengths, [1, heads, rows of all sequences, size].
struct AttentionCall {
  const char* op;
  Tensor query, key, value;
  Tensor mask;
  Tensor query_starts, key_starts; // int32
  Tensor keys_used; // int32, how many keys of each sequence count
  Tensor pages; // int32, [batch, pages of a sequence]: which of the pages [pages, heads, rows of a page, size] that key
                // and value are
  Tensor slopes;
  int64_t max_query, max_key; // the greatest lengths
  double dropout, scale;
  std::optional<int64_t> left,
      right; // positions before and behind a query's own that it sees; none, or below zero: all
  bool from_the_end = false; // own places are counted from the last query and key
  int64_t splits = 0; // blocks that share the keys of a query; 0: as many as keep the device busy
};

double scale_or_usual(std::optional<double> scale, const TensorBase& query) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

/// Whether the kernels read and write it as it lies: rows in one piece, which for tensor cores begin at multiples of 16
/// bytes.
bool has_contiguous_rows(const Tensor& t) {
  const bool one_piece = t.size(3) == 1 || t.stride(3) == 1;
  const bool aligned = t.size(3) % 8 == 0 && t.stride(0) % 8 == 0 && t.stride(1) % 8 == 0 && t.stride(2) % 8 == 0 &&
      reinterpret_cast<std::uintptr_t>(t.const_data_ptr()) % 16 == 0;
  return one_piece && (aligned || t.scalar_type() == kFloat);
}

/// The size of rows as the kernels read them.
int64_t kernel_size(const Tensor& t) {
  return t.scalar_type() == kFloat ? t.size(3) : (t.size(3) + 7) / 8 * 8;
}

/// A copy where it is not row-major; zeros fill up what tensor cores read beyond them.
Tensor in_rows(const Tensor& t) {
  if (has_contiguous_rows(t)) {
    return t;
  }
  const int64_t more = kernel_size(t) - t.size(3);
  return more == 0 ? t.clone(MemoryFormat::Contiguous) : at::constant_pad_nd(t, {0, more}, 0).contiguous();
}

/// A tensor that a kernel writes: the given one if it is row-major, otherwise one that finish() copies to it.
struct Written {
  explicit Written(const Tensor& target)
      : target(target),
        rows(
            has_contiguous_rows(target)
                ? target
                : at::empty({target.size(0), target.size(1), target.size(2), kernel_size(target)}, target.options())) {}
  void finish() const {
    if (!rows.is_same(target)) {
      copy_on_device(target, rows.narrow(3, 0, target.size(3)));
    }
  }
  Tensor target, rows;
};

AttentionOperand operand(const TensorBase& t) {
  return {const_cast<void*>(t.const_data_ptr()), t.size(0) == 1 ? 0 : t.stride(0), t.stride(1), t.stride(2)};
}

AttentionMask mask_of(const Tensor& mask, c10::ScalarType dtype, IntArrayRef sizes) {
  if (!mask.defined()) {
    return {AttentionMask::Kind::kNone, nullptr, {}};
  }
  const Tensor expanded = mask.expand(sizes);
  const auto kind = mask.scalar_type() == kBool ? AttentionMask::Kind::kBool
      : mask.scalar_type() == dtype             ? AttentionMask::Kind::kSame
                                                : AttentionMask::Kind::kFloat;
  return {
      kind, mask.const_data_ptr(), {expanded.stride(0), expanded.stride(1), expanded.stride(2), expanded.stride(3)}};
}

AttentionSequences sequences_of(const Tensor& starts, int64_t rows) {
  return {starts.defined() ? static_cast<const std::int32_t*>(starts.const_data_ptr()) : nullptr, rows};
}

/// Logsumexp is [batch, heads, at least the length], or [heads, rows of all sequences]; undefined where it is not
/// wanted.
AttentionProblem problem_of(
    const AttentionCall& c, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& logsumexp) {
  const bool packed = c.query_starts.defined();
  AttentionProblem p{};
  p.dtype = query.scalar_type();
  p.batch = static_cast<int>(packed ? c.query_starts.size(0) - 1 : query.size(0));
  p.heads = static_cast<int>(query.size(1));
  p.key_heads = static_cast<int>(key.size(1));
  // No sequence is longer than all of them.
  p.query_length = static_cast<int>(std::min(c.max_query, query.size(2)));
  p.key_length = static_cast<int>(std::min(c.max_key, c.pages.defined() ? c.pages.size(1) * key.size(2) : key.size(2)));
  constexpr int64_t kLeastTile = 16;
  TORCH_CHECK(
      static_cast<int64_t>(p.batch) * p.heads * ((int64_t{p.query_length} + p.key_length) / kLeastTile + 2) <
          std::numeric_limits<int>::max(),
      c.op, ": sequences of up to ", p.query_length, " queries and ", p.key_length, " keys, in ", p.batch,
      " batches of ", p.heads, " heads, are more tiles than a launch takes");
  p.head_size = static_cast<int>(query.size(3));
  p.value_size = static_cast<int>(value.size(3));
  p.query = operand(query);
  p.key = operand(key);
  p.value = operand(value);
  if (c.pages.defined()) {
    p.pages = {
        static_cast<const std::int32_t*>(c.pages.const_data_ptr()), c.pages.stride(0), static_cast<int>(key.size(2)),
        static_cast<int>(key.size(0))};
  }
  p.queries = sequences_of(c.query_starts, query.size(2));
  p.keys = sequences_of(c.key_starts, key.size(2));
  p.keys_used = c.keys_used.defined() ? static_cast<const std::int32_t*>(c.keys_used.const_data_ptr()) : nullptr;
  p.mask = mask_of(c.mask, p.dtype, {query.size(0), query.size(1), query.size(2), key.size(2)});
  p.slopes = c.slopes.defined() ? static_cast<const float*>(c.slopes.const_data_ptr()) : nullptr;
  p.slopes_batch_stride = c.slopes.defined() && c.slopes.dim() == 2 ? c.slopes.stride(0) : 0;
  p.scale = static_cast<float>(c.scale);
  const auto window = [&](std::optional<int64_t> places) {
    const int64_t all = int64_t{p.query_length} + p.key_length;
    return static_cast<int>(places.has_value() && *places >= 0 ? std::min(*places, all) : all);
  };
  p.left = window(c.left);
  p.right = window(c.right);
  p.from_the_end = c.from_the_end;
  p.dropout = static_cast<float>(c.dropout);
  if (logsumexp.defined()) {
    p.logsumexp = const_cast<float*>(static_cast<const float*>(logsumexp.const_data_ptr()));
    p.sums_batch_stride = logsumexp.dim() == 3 ? logsumexp.stride(0) : 0;
    p.sums_head_stride = logsumexp.stride(-2);
  }
  p.stream = c10::cuda::getCurrentCUDAStream();
  return p;
}

/// The problem for whole matrices, where no kernel works in tiles.
AttentionMatrices matrices_of(const AttentionCall& c) {
  const bool plain = c.dropout == 0 && !c.query_starts.defined() && !c.keys_used.defined() && !c.slopes.defined() &&
      !c.left.has_value() && (!c.right.has_value() || (*c.right == 0 && (!c.from_the_end || c.max_query == c.max_key)));
  TORCH_CHECK_NOT_IMPLEMENTED(
      plain, c.op,
      " on CUDA: dropout, windows and sequences of several lengths are for Float and sizes of heads up to 128, for "
      "Half and "
      "BFloat16 up to 256, got ",
      c.query.scalar_type(), " and ", c.query.size(3), ", ", c.value.size(3),
      ". scaled_dot_product_attention takes dropout for others, too");
  return {c.query, c.key, c.value, c.mask, c.right.has_value(), c.scale};
}

/// One query a head, and several heads that share keys, which it sees all: they are queries of one head, so that keys
/// are read once. `t` is [batch, heads, 1, ...], and gets [batch, key heads, heads of each, ...].
void fold_heads(Tensor& t, int64_t key_heads) {
  t = t.unflatten(1, {key_heads, t.size(1) / key_heads}).select(3, 0);
}
bool folds(const AttentionCall& c, const Tensor& logsumexp) {
  const bool sees_all = c.left.value_or(-1) < 0 && (c.right.value_or(-1) < 0 || c.from_the_end);
  return !c.query_starts.defined() && c.query.size(2) == 1 && c.query.size(1) != c.key.size(1) && sees_all &&
      !c.slopes.defined() && c.dropout == 0 &&
      (logsumexp.numel() == 0 || (logsumexp.is_contiguous() && logsumexp.size(2) == 1));
}

/// The keys, or values, of pages that do not have whole tiles: [batch, heads, length, size].
Tensor out_of_pages(const Tensor& rows, const Tensor& pages) {
  const Tensor chosen = rows.index_select(0, pages.clamp(0, rows.size(0) - 1).reshape({-1}));
  return chosen.unflatten(0, {pages.size(0), pages.size(1)}).transpose(1, 2).flatten(2, 3);
}

/// Fills `out`, and `logsumexp` if it has elements; `seed` and `offset` too, one number each.
void attend(AttentionCall c, Tensor out, Tensor logsumexp, const Tensor& seed, const Tensor& offset) {
  const bool sums = logsumexp.numel() != 0,
             nothing = c.max_query == 0 || c.max_key == 0 || c.key.numel() == 0 || out.numel() == 0;
  if (nothing || !fits_tiles(c.query, c.key, c.value)) {
    seed.zero_();
    offset.zero_();
    if (!nothing) {
      attention_by_matrices(matrices_of(c), out, logsumexp);
      return;
    }
    out.zero_();
    if (sums) {
      logsumexp.fill_(std::numeric_limits<double>::infinity());
    }
    return;
  }
  if (c.pages.defined() && c.key.size(2) % kAttentionPageRows != 0) {
    c.key = out_of_pages(c.key, c.pages);
    c.value = out_of_pages(c.value, c.pages);
    c.pages = Tensor();
  }
  if (folds(c, logsumexp)) {
    if (c.mask.defined()) {
      c.mask = c.mask.expand({c.query.size(0), c.query.size(1), 1, c.key.size(2)});
      fold_heads(c.mask, c.key.size(1));
    }
    if (sums) {
      logsumexp = logsumexp.view({c.query.size(0), c.key.size(1), -1});
    }
    fold_heads(out, c.key.size(1));
    fold_heads(c.query, c.key.size(1));
    c.max_query = c.query.size(2);
    c.right = std::nullopt;
  }
  const Tensor query = in_rows(c.query), key = in_rows(c.key), value = in_rows(c.value);
  const Written result(out);
  AttentionForward forward{};
  forward.problem = problem_of(c, query, key, value, sums ? logsumexp : Tensor());
  forward.out = operand(result.rows);
  forward.seed = static_cast<std::int64_t*>(seed.mutable_data_ptr());
  forward.offset = static_cast<std::int64_t*>(offset.mutable_data_ptr());
  if (c.dropout > 0) {
    auto* generator =
        at::get_generator_or_default<CUDAGeneratorImpl>(std::nullopt, at::cuda::detail::getDefaultCUDAGenerator());
    const std::lock_guard<std::mutex> lock(generator->mutex_);
    forward.philox = generator->philox_cuda_state(4); // each draw has a subsequence of its own
  }
  if (query.scalar_type() == kFloat) {
    launch_float_attention_forward(forward);
  } else {
    forward.splits = attention_splits(forward, c.splits, at::cuda::getCurrentDeviceProperties()->multiProcessorCount);
    Tensor parts;
    if (forward.splits > 1) {
      parts = at::empty({attention_parts(forward)}, query.options().dtype(kFloat));
      forward.parts = static_cast<float*>(parts.mutable_data_ptr());
    }
    launch_attention_forward(forward);
  }
  result.finish();
}

/// Blocks for AttentionBackward::ordered_blocks: enough to keep the device busy twice over.
int ordered_blocks(const AttentionBackward& a) {
  const int tiles = attention_key_tiles(a), heads = a.problem.batch * a.problem.key_heads;
  const int wanted = 2 * at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  return std::clamp((wanted + heads - 1) / heads, 1, tiles);
}

/// The gradient of a mask that is added: the sum of those of the scores, [batch, heads, query length, key length], that
/// it went to.
Tensor gradient_of_mask(const Tensor& of_scores, const Tensor& mask) {
  c10::DimVector added;
  for (int64_t dim = 0; dim < 4; ++dim) {
    const int64_t own = dim - (4 - mask.dim());
    if (of_scores.size(dim) != 1 && (own < 0 || mask.size(own) == 1)) {
      added.push_back(dim);
    }
  }
  const Tensor sums =
      added.empty() ? of_scores.to(mask.scalar_type()) : of_scores.sum(added, /*keepdim=*/true, mask.scalar_type());
  return sums.reshape(mask.sizes());
}

/// Fills the three gradients, and returns that of the mask if it is wanted.
Tensor attend_backward(
    const AttentionCall& c,
    const Tensor& grad_out,
    const Tensor& out,
    const Tensor& logsumexp,
    const Tensor& seed,
    const Tensor& offset,
    const Tensor& grad_query,
    const Tensor& grad_key,
    const Tensor& grad_value,
    bool of_mask) {
  // Rows of keys that belong to no sequence, or do not count, are written by nobody.
  const bool gaps = c.query_starts.defined() || c.keys_used.defined();
  const bool nothing =
      c.query.numel() == 0 || c.key.numel() == 0 || c.value.numel() == 0 || c.max_query == 0 || c.max_key == 0;
  if (gaps || nothing) {
    for (const Tensor* t : {&grad_query, &grad_key, &grad_value}) {
      t->zero_();
    }
  }
  if (nothing) {
    return of_mask ? at::zeros_like(c.mask, MemoryFormat::Contiguous) : Tensor();
  }
  const auto by_matrices = [&] {
    const Tensor of_scores = attention_by_matrices_backward(
        matrices_of(c), grad_out, out, logsumexp.narrow(-1, 0, c.max_query), grad_query, grad_key, grad_value);
    return of_mask ? gradient_of_mask(of_scores, c.mask) : Tensor();
  };
  if (!fits_tiles(c.query, c.key, c.value)) {
    return by_matrices();
  }
  const Tensor query = in_rows(c.query), key = in_rows(c.key), value = in_rows(c.value);
  const Tensor result = in_rows(out), grad = in_rows(grad_out), sums = logsumexp.contiguous(),
               delta = at::empty_like(sums);
  const Written of_query(grad_query), of_key(grad_key), of_value(grad_value);
  for (const Written* w : {&of_query, &of_key, &of_value}) {
    if (gaps && !w->rows.is_same(w->target)) {
      w->rows.zero_();
    }
  }
  AttentionBackward backward{};
  backward.problem = problem_of(c, query, key, value, sums);
  backward.shared_bytes = static_cast<int>(at::cuda::getCurrentDeviceProperties()->sharedMemPerBlockOptin);
  if (query.scalar_type() != kFloat && !fits_attention_backward(backward)) {
    return by_matrices();
  }
  backward.out = operand(result);
  backward.grad_out = operand(grad);
  backward.grad_query = operand(of_query.rows);
  backward.grad_key = operand(of_key.rows);
  backward.grad_value = operand(of_value.rows);
  Tensor of_scores;
  if (of_mask) {
    of_scores = at::empty({query.size(0), query.size(1), query.size(2), (key.size(2) + 7) / 8 * 8}, query.options());
    if (c.left.has_value() || c.right.has_value()) {
      of_scores.zero_();
    }
    backward.grad_scores = operand(of_scores);
  }
  backward.delta = static_cast<float*>(delta.mutable_data_ptr());
  backward.seed = c.dropout > 0 ? static_cast<const std::int64_t*>(seed.const_data_ptr()) : nullptr;
  backward.offset = c.dropout > 0 ? static_cast<const std::int64_t*>(offset.const_data_ptr()) : nullptr;
  if (query.scalar_type() == kFloat) {
    launch_float_attention_backward(backward);
  } else {
    if (at::globalContext().deterministicAlgorithms()) {
      backward.ordered_blocks = ordered_blocks(backward);
    }
    const Tensor query_sums = at::empty({attention_query_sums(backward)}, query.options().dtype(kFloat));
    backward.query_sums = static_cast<float*>(query_sums.mutable_data_ptr());
    launch_attention_backward(backward);
  }
  of_query.finish();
  of_key.finish();
  of_value.finish();
  return of_mask ? gradient_of_mask(of_scores.narrow(3, 0, key.size(2)), c.mask) : Tensor();
}

Tensor or_undefined(const std::optional<Tensor>& t) {
  return t.value_or(Tensor());
}

AttentionCall efficient_call(
    const char* op,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& mask,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale) {
  AttentionCall c{};
  c.op = op;
  c.query = query;
  c.key = key;
  c.value = value;
  c.mask = mask;
  c.max_query = query.size(2);
  c.max_key = key.size(2);
  c.dropout = dropout_p;
  c.scale = scale_or_usual(scale, query);
  if (is_causal) {
    c.right = 0;
  }
  return c;
}

/// [batch, length, heads, size] or [rows, heads, size], as kernels name the dimensions.
Tensor by_heads(const Tensor& t) {
  return (t.dim() == 3 ? t.unsqueeze(0) : t).transpose(1, 2);
}

AttentionCall flash_call(
    const char* op,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& cum_seq_q,
    const Tensor& cum_seq_k,
    int64_t max_q,
    int64_t max_k,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale,
    std::optional<int64_t> left,
    std::optional<int64_t> right) {
  AttentionCall c{};
  c.op = op;
  c.query = by_heads(query);
  c.key = by_heads(key);
  c.value = by_heads(value);
  c.query_starts = cum_seq_q;
  c.key_starts = cum_seq_k;
  c.max_query = cum_seq_q.defined() ? max_q : query.size(1);
  c.max_key = cum_seq_q.defined() ? max_k : key.size(1);
  c.dropout = dropout_p;
  c.scale = scale_or_usual(scale, query);
  c.left = left;
  c.right = is_causal ? std::optional<int64_t>(0) : right;
  c.from_the_end = true;
  return c;
}

AttentionCall efficient_call_of_sequences(
    const char* op, const at::shape::EfficientAttention& a, std::optional<double> scale) {
  at::shape::check_efficient_attention_of_sequences(op, a);
  AttentionCall c{};
  c.op = op;
  c.query = by_heads(Tensor(a.query));
  c.key = by_heads(Tensor(a.key));
  c.value = by_heads(Tensor(a.value));
  c.mask = or_undefined(a.bias);
  c.query_starts = or_undefined(a.cu_seqlens_q);
  c.key_starts = or_undefined(a.cu_seqlens_k);
  c.keys_used = or_undefined(a.seqlen_k);
  c.max_query = c.query_starts.defined() ? *a.max_seqlen_q : a.query.size(1);
  c.max_key = c.query_starts.defined() ? *a.max_seqlen_k : a.key.size(1);
  c.dropout = a.dropout_p;
  c.scale = scale_or_usual(scale, a.query);
  if (a.custom_mask_type != 0) {
    c.right = 0;
    c.from_the_end = a.custom_mask_type == 2;
    if (a.window_size.value_or(0) > 0) {
      c.left = *a.window_size - 1;
    }
  }
  return c;
}

} // namespace

void efficient_attention_kernel(
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const std::optional<Tensor>& attn_bias,
    bool,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale,
    const TensorBase& output,
    const TensorBase& log_sumexp,
    const TensorBase& philox_seed,
    const TensorBase& philox_offset) {
  attend(
      efficient_call(
          "_scaled_dot_product_efficient_attention", Tensor(query), Tensor(key), Tensor(value), or_undefined(attn_bias),
          dropout_p, is_causal, scale),
      Tensor(output), Tensor(log_sumexp), Tensor(philox_seed), Tensor(philox_offset));
}

void flash_attention_forward_kernel(
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const std::optional<Tensor>& cum_seq_q,
    const std::optional<Tensor>& cum_seq_k,
    int64_t max_q,
    int64_t max_k,
    double dropout_p,
    bool is_causal,
    bool,
    std::optional<double> scale,
    std::optional<int64_t> window_size_left,
    std::optional<int64_t> window_size_right,
    const std::optional<Tensor>& seqused_k,
    const std::optional<Tensor>& alibi_slopes,
    const std::optional<Tensor>& block_table,
    std::optional<int64_t> num_splits,
    const TensorBase& output,
    const TensorBase& softmax_logsumexp,
    const TensorBase& rng_state,
    const TensorBase& unused,
    const TensorBase&) {
  AttentionCall c = flash_call(
      "_flash_attention_forward", Tensor(query), Tensor(key), Tensor(value), or_undefined(cum_seq_q),
      or_undefined(cum_seq_k), max_q, max_k, dropout_p, is_causal, scale, window_size_left, window_size_right);
  c.keys_used = or_undefined(seqused_k);
  c.slopes = or_undefined(alibi_slopes);
  c.splits = num_splits.value_or(0);
  if (block_table.has_value() && block_table->defined()) {
    c.pages = *block_table;
    c.key_starts = Tensor();
    const int64_t all = c.pages.size(1) * key.size(1);
    c.max_key = c.query_starts.defined() ? std::min(max_k, all) : all;
  }
  const Tensor numbers(rng_state);
  Tensor(unused).zero_();
  attend(c, by_heads(Tensor(output)), Tensor(softmax_logsumexp), numbers.select(0, 0), numbers.select(0, 1));
}

void flash_attention_backward_kernel(
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
    bool is_causal,
    const TensorBase& rng_state,
    const TensorBase&,
    std::optional<double> scale,
    std::optional<int64_t> window_size_left,
    std::optional<int64_t> window_size_right,
    const TensorBase& grad_query,
    const TensorBase& grad_key,
    const TensorBase& grad_value) {
  const AttentionCall c = flash_call(
      "_flash_attention_backward", Tensor(query), Tensor(key), Tensor(value), Tensor(cum_seq_q), Tensor(cum_seq_k),
      max_q, max_k, dropout_p, is_causal, scale, window_size_left, window_size_right);
  const Tensor numbers(rng_state);
  const bool drops = dropout_p > 0;
  attend_backward(
      c, by_heads(Tensor(grad_out)), by_heads(Tensor(out)), Tensor(logsumexp), drops ? numbers.select(0, 0) : Tensor(),
      drops ? numbers.select(0, 1) : Tensor(), by_heads(Tensor(grad_query)), by_heads(Tensor(grad_key)),
      by_heads(Tensor(grad_value)),
      /*of_mask=*/false);
}

} // namespace cuda

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_attention_backward_cuda(
    const Tensor& grad_out,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& attn_bias,
    const Tensor& out,
    const Tensor& logsumexp,
    const Tensor& philox_seed,
    const Tensor& philox_offset,
    double dropout_p,
    std::array<bool, 4> grad_input_mask,
    bool is_causal,
    std::optional<double> scale) {
  constexpr const char* kOp = "_scaled_dot_product_efficient_attention_backward";
  at::shape::check_efficient_attention_backward(
      kOp, grad_out, query, key, value, attn_bias, out, logsumexp, dropout_p, grad_input_mask, is_causal);
  const Tensor grad_query = at::empty_like(query, MemoryFormat::Contiguous);
  const Tensor grad_key = at::empty_like(key, MemoryFormat::Contiguous);
  const Tensor grad_value = at::empty_like(value, MemoryFormat::Contiguous);
  const Tensor grad_bias = cuda::attend_backward(
      cuda::efficient_call(kOp, query, key, value, attn_bias, dropout_p, is_causal, scale), grad_out, out, logsumexp,
      philox_seed, philox_offset, grad_query, grad_key, grad_value, grad_input_mask[3] && attn_bias.defined());
  return {grad_query, grad_key, grad_value, grad_bias};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t, int64_t> efficient_attention_forward_cuda(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& bias,
    const std::optional<Tensor>& cu_seqlens_q,
    const std::optional<Tensor>& cu_seqlens_k,
    std::optional<int64_t> max_seqlen_q,
    std::optional<int64_t> max_seqlen_k,
    double dropout_p,
    int64_t custom_mask_type,
    bool compute_log_sumexp,
    std::optional<double> scale,
    const std::optional<Tensor>& seqlen_k,
    std::optional<int64_t> window_size) {
  const cuda::AttentionCall c = cuda::efficient_call_of_sequences(
      "_efficient_attention_forward",
      {query, key, value, bias, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, custom_mask_type,
       seqlen_k, window_size},
      scale);
  const Tensor output = at::empty({query.size(0), query.size(1), query.size(2), value.size(3)}, query.options());
  const int64_t batch = c.query_starts.defined() ? c.query_starts.size(0) - 1 : query.size(0);
  const int64_t length = compute_log_sumexp ? (c.max_query + 31) / 32 * 32 : 0;
  const auto sums_dtype = query.scalar_type() == kDouble ? kDouble : kFloat;
  const Tensor logsumexp = at::full(
      {batch, query.size(2), length}, std::numeric_limits<double>::infinity(), query.options().dtype(sums_dtype));
  const Tensor seed = at::empty({}, query.options().dtype(kLong)), offset = at::empty_like(seed);
  // Without tiles the matrices' sums have the queries' number.
  cuda::attend(
      c, cuda::by_heads(output),
      fits_tiles(c.query, c.key, c.value) || length == 0 ? logsumexp : logsumexp.narrow(2, 0, c.max_query), seed,
      offset);
  return {output, logsumexp, seed, offset, c.max_query, c.max_key};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_attention_of_sequences_backward_cuda(
    const Tensor& grad_out_,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& bias,
    const Tensor& out,
    const std::optional<Tensor>& cu_seqlens_q,
    const std::optional<Tensor>& cu_seqlens_k,
    int64_t max_seqlen_q,
    int64_t max_seqlen_k,
    const Tensor& logsumexp,
    double dropout_p,
    const Tensor& philox_seed,
    const Tensor& philox_offset,
    int64_t custom_mask_type,
    bool bias_requires_grad,
    std::optional<double> scale,
    std::optional<int64_t>,
    std::optional<int64_t> window_size,
    bool shared_storage_dqdkdv) {
  constexpr const char* kOp = "_efficient_attention_backward";
  const cuda::AttentionCall c = cuda::efficient_call_of_sequences(
      kOp,
      {query, key, value, bias, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, custom_mask_type,
       std::nullopt, window_size},
      scale);
  const int64_t batch = c.query_starts.defined() ? c.query_starts.size(0) - 1 : query.size(0);
  const int64_t sizes[] = {query.size(0), query.size(1), query.size(2), value.size(3)};
  TORCH_CHECK(
      grad_out_.sizes() == IntArrayRef(sizes) && out.sizes() == IntArrayRef(sizes) &&
          grad_out_.scalar_type() == query.scalar_type() && out.scalar_type() == query.scalar_type() &&
          grad_out_.device() == query.device() && out.device() == query.device(),
      kOp, ": grad_out_ and out must be like the result, ", IntArrayRef(sizes), " of ", query.scalar_type(), "; got ",
      grad_out_.sizes(), " of ", grad_out_.scalar_type(), " and ", out.sizes(), " of ", out.scalar_type());
  TORCH_CHECK(
      logsumexp.dim() == 3 && logsumexp.size(0) == batch && logsumexp.size(1) == query.size(2) &&
          logsumexp.size(2) >= c.max_query &&
          logsumexp.scalar_type() == (query.scalar_type() == kDouble ? kDouble : kFloat) &&
          logsumexp.device() == query.device(),
      kOp, ": logsumexp must be that of the forward pass, got ", logsumexp.sizes(), " of ", logsumexp.scalar_type());
  for (const Tensor* t : {&philox_seed, &philox_offset}) {
    TORCH_CHECK(
        dropout_p == 0 ||
            (t->defined() && t->numel() == 1 && t->scalar_type() == kLong && t->device() == query.device()),
        kOp, ": philox_seed and philox_offset must be those of the forward pass");
  }
  Tensor grad_query, grad_key, grad_value;
  if (shared_storage_dqdkdv) {
    TORCH_CHECK(
        query.sizes() == key.sizes() && query.sizes() == value.sizes(), kOp,
        ": gradients share a storage (shared_storage_dqdkdv) where query, key and value have the same sizes, got ",
        query.sizes(), ", ", key.sizes(), " and ", value.sizes());
    const Tensor all = at::empty({query.size(0), query.size(1), 3, query.size(2), query.size(3)}, query.options());
    grad_query = all.select(2, 0);
    grad_key = all.select(2, 1);
    grad_value = all.select(2, 2);
  } else {
    grad_query = at::empty_like(query, MemoryFormat::Contiguous);
    grad_key = at::empty_like(key, MemoryFormat::Contiguous);
    grad_value = at::empty_like(value, MemoryFormat::Contiguous);
  }
  const Tensor grad_bias = cuda::attend_backward(
      c, cuda::by_heads(grad_out_), cuda::by_heads(out), logsumexp, philox_seed, philox_offset,
      cuda::by_heads(grad_query), cuda::by_heads(grad_key), cuda::by_heads(grad_value),
      bias_requires_grad && c.mask.defined() && c.mask.is_floating_point());
  return {grad_query, grad_key, grad_value, grad_bias};
}

} // namespace at::native
