// Attention's kernels in tiles, run by the emulator, against operators on whole matrices.
#include <aten/native/cuda/attention.h>
#include <aten/native/cuda/attention_matrices.h>
#include <aten/shape/functions.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

// Host side of the operators (attention.cpp), given CPU tensors.
namespace at::native {
namespace cuda {
void efficient_attention_kernel(
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const std::optional<Tensor>& attn_bias,
    bool compute_log_sumexp,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale,
    const TensorBase& output,
    const TensorBase& log_sumexp,
    const TensorBase& philox_seed,
    const TensorBase& philox_offset);
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
    bool return_debug_mask,
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
    const TensorBase& debug_attn_mask);
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
    const TensorBase& unused,
    std::optional<double> scale,
    std::optional<int64_t> window_size_left,
    std::optional<int64_t> window_size_right,
    const TensorBase& grad_query,
    const TensorBase& grad_key,
    const TensorBase& grad_value);
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
    std::optional<double> scale);
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
    std::optional<int64_t> window_size);
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
    std::optional<int64_t> num_splits_key,
    std::optional<int64_t> window_size,
    bool shared_storage_dqdkdv);
} // namespace at::native

namespace {

namespace cuda = at::native::cuda;
using at::Tensor;

struct Case {
  at::ScalarType dtype;
  int64_t heads, key_heads, query_length, key_length, head_size, value_size;
  bool causal;
  at::ScalarType mask; // Undefined: none
  double dropout = 0;
};

cuda::AttentionOperand operand(const Tensor& t) {
  return {t.data_ptr(), t.stride(0), t.stride(1), t.stride(2)};
}

struct Attention {
  explicit Attention(const Case& c) : c(c) {
    const auto numbers = [&](int64_t heads, int64_t length, int64_t size, double step) {
      return (at::arange(2 * heads * length * size, at::kDouble) * step)
          .sin()
          .reshape({2, heads, length, size})
          .to(c.dtype);
    };
    query = numbers(c.heads, c.query_length, c.head_size, 0.37) * 2;
    // As after a transposition.
    key = numbers(c.key_length, c.key_heads, c.head_size, 0.71).transpose(1, 2);
    value = numbers(c.key_heads, c.key_length, c.value_size, 0.53);
    grad = numbers(c.heads, c.query_length, c.value_size, 0.29);
    if (c.mask == at::kBool) {
      mask = (at::arange(c.query_length * c.key_length, at::kLong) % 5 != 1).reshape({c.query_length, c.key_length});
      mask.select(0, 3).fill_(false); // a query that sees nothing
    } else if (c.mask != at::ScalarType::Undefined) {
      mask =
          (at::arange(c.heads * c.key_length, at::kDouble) * 0.9).cos().reshape({c.heads, 1, c.key_length}).to(c.mask);
    }
    problem = {};
    problem.dtype = c.dtype;
    problem.batch = 2;
    problem.heads = static_cast<int>(c.heads);
    problem.key_heads = static_cast<int>(c.key_heads);
    problem.query_length = static_cast<int>(c.query_length);
    problem.key_length = static_cast<int>(c.key_length);
    problem.head_size = static_cast<int>(c.head_size);
    problem.value_size = static_cast<int>(c.value_size);
    problem.query = operand(query);
    problem.key = operand(key);
    problem.value = operand(value);
    if (mask.defined()) {
      const Tensor e = mask.expand({2, c.heads, c.query_length, c.key_length});
      using Kind = cuda::AttentionMask::Kind;
      const Kind kind = c.mask == at::kBool ? Kind::kBool : c.mask == c.dtype ? Kind::kSame : Kind::kFloat;
      problem.mask = {kind, mask.data_ptr(), {e.stride(0), e.stride(1), e.stride(2), e.stride(3)}};
    }
    problem.queries.rows = c.query_length;
    problem.keys.rows = c.key_length;
    problem.scale = 0.3f;
    problem.left = problem.right = static_cast<int>(c.query_length + c.key_length);
    if (c.causal) {
      problem.right = 0;
    }
    problem.sums_head_stride = c.query_length;
    problem.sums_batch_stride = c.heads * c.query_length;
    problem.dropout = static_cast<float>(c.dropout);
    logsumexp = at::empty({2, c.heads, c.query_length}, at::kFloat);
    problem.logsumexp = logsumexp.data_ptr<float>();
    place = at::zeros({2}, at::kLong);
  }

  Tensor forward(int splits = 1) {
    out = at::full({2, c.heads, c.query_length, c.value_size}, 99, c.dtype);
    int64_t* numbers = place.data_ptr<int64_t>();
    const auto launch = c.dtype == at::kFloat ? cuda::launch_float_attention_forward : cuda::launch_attention_forward;
    cuda::AttentionForward f{problem, operand(out), at::PhiloxCudaState(1234567890123, 8),
                             numbers, numbers + 1,  splits};
    const Tensor parts = at::full({cuda::attention_parts(f)}, NAN, at::kFloat);
    f.parts = parts.data_ptr<float>();
    launch(f);
    return out;
  }

  std::vector<Tensor> backward(int ordered_blocks = 0, int shared_kilobytes = 163) {
    const Tensor grad_query = at::full_like(query, 99), grad_key = at::full_like(key, 99),
                 grad_value = at::full_like(value, 99);
    const Tensor delta = at::empty_like(logsumexp);
    const int64_t* numbers = place.data_ptr<int64_t>();
    const auto launch = c.dtype == at::kFloat ? cuda::launch_float_attention_backward : cuda::launch_attention_backward;
    cuda::AttentionBackward b{
        problem,
        operand(out),
        operand(grad),
        operand(grad_query),
        operand(grad_key),
        operand(grad_value),
        {},
        delta.data_ptr<float>(),
        numbers,
        numbers + 1,
        nullptr,
        ordered_blocks,
        shared_kilobytes << 10};
    const Tensor sums = at::full({cuda::attention_query_sums(b)}, NAN, at::kFloat);
    b.query_sums = sums.data_ptr<float>();
    launch(b);
    return {grad_query, grad_key, grad_value};
  }

  /// Result and gradients in double: by the CPU's kernel, or, given what is kept of the weights, by operators.
  std::vector<Tensor> reference(const Tensor& kept = Tensor()) const {
    const auto leaf = [](const Tensor& t) { return t.to(at::kDouble).contiguous().requires_grad_(true); };
    const Tensor q = leaf(query), k = leaf(key), v = leaf(value);
    std::optional<Tensor> m;
    if (mask.defined()) {
      m = mask.scalar_type() == at::kBool ? mask : mask.to(at::kDouble);
    }
    const Tensor result = kept.defined()
        ? std::get<0>(at::_scaled_dot_product_attention_math(q, k, v, m, c.dropout, c.causal, kept, double{0.3f}))
        : std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, c.causal, m, double{0.3f}));
    std::vector<Tensor> all = torch::autograd::grad({result}, {q, k, v}, {grad.to(at::kDouble)});
    all.insert(all.begin(), result.detach());
    return all;
  }

  Case c;
  Tensor query, key, value, grad, mask, out, logsumexp, place;
  cuda::AttentionProblem problem;
};

void check_close(const Tensor& got, const Tensor& wanted, at::ScalarType dtype) {
  const double tolerance = dtype == at::kFloat ? 1e-5 : dtype == at::kHalf ? 4e-3 : 3e-2;
  const Tensor difference = (got.to(at::kDouble) - wanted).abs();
  const double scale = std::max(wanted.abs().max().item<double>(), 0.5);
  INFO("largest difference " << difference.max().item<double>() << " at scale " << scale);
  CHECK(difference.isfinite().all().item<bool>());
  CHECK(difference.max().item<double>() < tolerance * scale);
}

} // namespace

TEST_CASE("attention in tiles: values and gradients", "[cuda][emulated][attention]") {
  constexpr auto kNone = at::ScalarType::Undefined;
  const Case c = GENERATE(values<Case>({
      {at::kHalf, 1, 1, 16, 64, 64, 64, false, kNone},
      {at::kHalf, 2, 2, 70, 90, 64, 64, false, kNone},
      {at::kBFloat16, 2, 1, 70, 90, 40, 24, true, kNone},
      {at::kHalf, 2, 2, 65, 33, 128, 72, false, at::kBool},
      {at::kHalf, 2, 1, 40, 100, 16, 64, false, at::kHalf},
      {at::kBFloat16, 1, 1, 20, 70, 96, 128, false, at::kFloat},
      {at::kHalf, 1, 1, 130, 70, 32, 32, true, kNone},
      {at::kHalf, 1, 1, 1, 1, 8, 8, false, kNone},
      {at::kHalf, 1, 1, 130, 150, 128, 128, true, kNone},
      {at::kBFloat16, 2, 1, 70, 90, 256, 200, true, kNone},
      {at::kHalf, 1, 1, 40, 70, 136, 256, false, at::kBool},
      {at::kFloat, 2, 2, 70, 90, 64, 64, false, kNone},
      {at::kFloat, 2, 1, 70, 45, 40, 23, true, kNone},
      {at::kFloat, 2, 2, 65, 33, 128, 72, false, at::kBool},
      {at::kFloat, 2, 1, 40, 50, 3, 128, false, at::kFloat},
      {at::kFloat, 1, 1, 1, 1, 1, 1, true, kNone},
  }));
  CAPTURE(c.dtype, c.heads, c.key_heads, c.query_length, c.key_length, c.head_size, c.value_size, c.causal, c.mask);
  Attention attention(c);
  const std::vector<Tensor> wanted = attention.reference();
  check_close(attention.forward(), wanted[0], c.dtype);
  const std::vector<Tensor> got = attention.backward();
  for (size_t i = 0; i < 3; ++i) {
    INFO("gradient " << i);
    check_close(got[i], wanted[i + 1], c.dtype);
  }
}

TEST_CASE("attention in tiles: backward drops what forward dropped", "[cuda][emulated][attention]") {
  const at::ScalarType dtype = GENERATE(at::kHalf, at::kFloat);
  const Case c{dtype, 2, 2, 70, 64, 32, 64, false, at::ScalarType::Undefined, 0.25};
  Attention attention(c);
  // With the identity as values the result is the matrix of weights.
  const Tensor values = attention.value.clone();
  attention.value.copy_(at::eye(64).expand({2, 2, 64, 64}));
  const Tensor kept = attention.forward() != 0;
  const double part = kept.to(at::kDouble).mean().item<double>();
  CHECK(part > 0.73);
  CHECK(part < 0.77);
  CHECK(attention.place[0].item<int64_t>() == 1234567890123);
  CHECK(attention.place[1].item<int64_t>() == 8);
  CHECK_FALSE(at::equal(kept[0][0], kept[1][0]));

  attention.value.copy_(values);
  const std::vector<Tensor> wanted = attention.reference(kept);
  check_close(attention.forward(), wanted[0], c.dtype);
  const std::vector<Tensor> got = attention.backward();
  for (size_t i = 0; i < 3; ++i) {
    INFO("gradient " << i);
    check_close(got[i], wanted[i + 1], c.dtype);
  }
}

namespace {

/// Sequences of several lengths, one behind the other, and windows that count from the last query and key.
struct PackedCase {
  at::ScalarType dtype;
  int64_t heads, key_heads, size;
  std::vector<int> queries, keys; // lengths
  int left, right; // places before and behind a query's own; -1: all
  bool slopes = false, used = false;
};

/// In double, for one sequence: [heads, length, size].
std::vector<Tensor> packed_reference(
    const PackedCase& c,
    const Tensor& q,
    const Tensor& k,
    const Tensor& v,
    const Tensor& g,
    int64_t used,
    const Tensor& slopes) {
  const auto leaf = [](const Tensor& t) { return t.to(at::kDouble).contiguous().requires_grad_(true); };
  const Tensor lq = leaf(q), lk = leaf(k), lv = leaf(v);
  const auto repeated = [&](const Tensor& t) { return t.repeat_interleave(c.heads / c.key_heads, 0); };
  const Tensor key_place = at::arange(k.size(1)), place = at::arange(q.size(1)).unsqueeze(1) + (used - q.size(1));
  Tensor seen = key_place < used;
  if (c.left >= 0) {
    seen = seen & (key_place >= place - c.left);
  }
  if (c.right >= 0) {
    seen = seen & (key_place <= place + c.right);
  }
  Tensor scores = at::matmul(lq, repeated(lk).transpose(1, 2)) * double{0.3f};
  if (slopes.defined()) {
    scores = scores - slopes.to(at::kDouble).view({c.heads, 1, 1}) * (place - key_place).abs();
  }
  scores = scores.masked_fill(seen.logical_not(), -INFINITY);
  const Tensor weights = at::_safe_softmax(scores, -1);
  const Tensor out = at::matmul(weights, repeated(lv));
  std::vector<Tensor> all = torch::autograd::grad({out}, {lq, lk, lv}, {g.to(at::kDouble)});
  all.insert(all.begin(), {out.detach(), at::logsumexp(scores, {-1}).detach()});
  return all;
}

} // namespace

TEST_CASE("attention in tiles: sequences of several lengths and windows", "[cuda][emulated][attention]") {
  const PackedCase c = GENERATE(values<PackedCase>({
      {at::kHalf, 2, 1, 64, {70, 0, 5, 33}, {90, 12, 0, 20}, -1, -1},
      {at::kBFloat16, 2, 2, 128, {20, 130}, {90, 70}, -1, 0},
      {at::kHalf, 1, 1, 64, {150, 30}, {200, 140}, 40, 3},
      {at::kHalf, 2, 2, 24, {30, 10}, {20, 70}, 5, 0, false, true},
      {at::kHalf, 2, 1, 256, {40, 9}, {50, 9}, -1, -1, true},
      {at::kHalf, 2, 1, 64, {40, 9}, {50, 9}, 20, 4, true, true},
      {at::kFloat, 2, 1, 64, {70, 0, 5}, {50, 12, 0}, -1, 0},
      {at::kFloat, 1, 1, 100, {40, 30}, {60, 70}, 9, 3, true, true},
  }));
  CAPTURE(c.dtype, c.size, c.queries, c.keys, c.left, c.right, c.slopes, c.used);
  const auto batch = static_cast<int64_t>(c.queries.size());
  std::vector<int> query_starts{0}, key_starts{0}, used;
  for (size_t i = 0; i < c.queries.size(); ++i) {
    query_starts.push_back(query_starts[i] + c.queries[i]);
    key_starts.push_back(key_starts[i] + c.keys[i]);
    used.push_back(c.used ? std::max(c.keys[i] - 7 * static_cast<int>(i), 0) : c.keys[i]);
  }
  const int64_t rows = query_starts.back(), key_rows = key_starts.back();
  const auto numbers = [&](int64_t length, int64_t heads, double step) {
    return (at::arange(length * heads * c.size, at::kDouble) * step).sin().reshape({length, heads, c.size}).to(c.dtype);
  };
  const Tensor q = numbers(rows, c.heads, 0.37) * 2, k = numbers(key_rows, c.key_heads, 0.71),
               v = numbers(key_rows, c.key_heads, 0.53);
  const Tensor g = numbers(rows, c.heads, 0.29),
               slopes = c.slopes ? at::arange(1, c.heads + 1).to(at::kFloat) * 0.1 : Tensor();
  const auto packed = [](const Tensor& t) { return cuda::AttentionOperand{t.data_ptr(), 0, t.stride(1), t.stride(0)}; };

  cuda::AttentionProblem p{};
  p.dtype = c.dtype;
  p.batch = static_cast<int>(batch);
  p.heads = static_cast<int>(c.heads);
  p.key_heads = static_cast<int>(c.key_heads);
  p.head_size = p.value_size = static_cast<int>(c.size);
  p.query_length = *std::max_element(c.queries.begin(), c.queries.end());
  p.key_length = *std::max_element(c.keys.begin(), c.keys.end());
  p.query = packed(q);
  p.key = packed(k);
  p.value = packed(v);
  p.queries = {query_starts.data(), rows};
  p.keys = {key_starts.data(), key_rows};
  p.keys_used = c.used ? used.data() : nullptr;
  p.slopes = c.slopes ? slopes.data_ptr<float>() : nullptr;
  p.scale = 0.3f;
  const int all = p.query_length + p.key_length;
  p.left = c.left < 0 ? all : c.left;
  p.right = c.right < 0 ? all : c.right;
  p.from_the_end = true;
  const Tensor sums = at::full({c.heads, rows}, 99, at::kFloat), out = at::full_like(q, 99);
  p.logsumexp = sums.data_ptr<float>();
  p.sums_head_stride = rows;
  const bool wide = c.dtype == at::kFloat;
  int64_t place[] = {99, 99};
  (wide ? cuda::launch_float_attention_forward
        : cuda::launch_attention_forward)({p, packed(out), at::PhiloxCudaState(), place, place + 1});
  CHECK((place[0] == 0 && place[1] == 0)); // nothing was drawn
  const Tensor dq = at::full_like(q, 99), dk = at::zeros_like(k), dv = at::zeros_like(v), delta = at::empty_like(sums);
  cuda::AttentionBackward b{
      p,       packed(out), packed(g), packed(dq), packed(dk), packed(dv), {}, delta.data_ptr<float>(),
      nullptr, nullptr,     nullptr,   0,          163 << 10};
  const Tensor query_sums = at::full({cuda::attention_query_sums(b)}, NAN, at::kFloat);
  b.query_sums = query_sums.data_ptr<float>();
  (wide ? cuda::launch_float_attention_backward : cuda::launch_attention_backward)(b);

  for (int64_t i = 0; i < batch; ++i) {
    const auto n = static_cast<size_t>(i);
    if (c.queries[n] == 0) {
      continue;
    }
    CAPTURE(i);
    const auto queries_of = [&](const Tensor& t) {
      return t.slice(0, query_starts[n], query_starts[n + 1]).transpose(0, 1);
    };
    const auto keys_of = [&](const Tensor& t) { return t.slice(0, key_starts[n], key_starts[n + 1]).transpose(0, 1); };
    const std::vector<Tensor> want =
        packed_reference(c, queries_of(q), keys_of(k), keys_of(v), queries_of(g), used[n], slopes);
    check_close(queries_of(out), want[0], c.dtype);
    check_close(queries_of(dq), want[2], c.dtype);
    if (c.keys[n] != 0) {
      check_close(keys_of(dk), want[3], c.dtype);
      check_close(keys_of(dv), want[4], c.dtype);
    }
    Tensor got = sums.slice(1, query_starts[n], query_starts[n + 1]).to(at::kDouble), wanted = want[1];
    // What sees no key has infinity there, as in PyTorch. With slopes and nothing behind a query, rows differ by a
    // number each.
    CHECK(at::equal(got == INFINITY, wanted == -INFINITY));
    if (!(c.slopes && c.right == 0)) {
      const Tensor there = wanted != -INFINITY;
      CHECK(at::allclose(got.masked_select(there), wanted.masked_select(there), 1e-3, 1e-2));
    }
  }
}

TEST_CASE("attention in tiles: blocks that share keys", "[cuda][emulated][attention]") {
  constexpr auto kNone = at::ScalarType::Undefined;
  struct SplitCase {
    Case c;
    int splits;
  };
  const auto [c, splits] = GENERATE(values<SplitCase>({
      {{at::kHalf, 2, 1, 3, 500, 64, 64, false, kNone}, 3},
      {{at::kBFloat16, 2, 2, 70, 300, 128, 72, true, kNone}, 2}, // some see no key of the second part
      {{at::kHalf, 1, 1, 5, 150, 256, 200, false, at::kBool}, 4},
      {{at::kHalf, 2, 1, 1, 90, 40, 24, false, at::kHalf}, 5}, // more than there are tiles
      {{at::kHalf, 1, 1, 20, 200, 64, 32, false, kNone, 0.25}, 3},
  }));
  CAPTURE(c.dtype, c.query_length, c.key_length, splits);
  Attention attention(c);
  const Tensor whole = attention.forward().clone(), sums = attention.logsumexp.clone();
  attention.logsumexp.fill_(99);
  const Tensor shared = attention.forward(splits);
  check_close(shared, c.dropout == 0 ? attention.reference()[0] : whole.to(at::kDouble), c.dtype);
  CHECK(at::allclose(attention.logsumexp, sums, 1e-5, 1e-5));
}

TEST_CASE("attention in tiles: how many blocks share keys", "[cuda][attention]") {
  cuda::AttentionForward f{};
  cuda::AttentionProblem& p = f.problem;
  p.batch = 1;
  p.heads = p.key_heads = 32;
  p.head_size = p.value_size = 128;
  p.query_length = 1;
  p.key_length = 4096;
  p.left = p.right = 4097;
  CHECK(cuda::attention_splits(f, 0, 132) == 12); // 384 blocks: three for each multiprocessor
  CHECK(cuda::attention_splits(f, 5, 132) == 5);
  CHECK(cuda::attention_splits(f, 1000, 132) == 64); // a tile for each
  p.heads = 120;
  CHECK(cuda::attention_splits(f, 0, 132) == 1); // nearly full as it is
  p.heads = 32;
  p.key_length = 300;
  CHECK(cuda::attention_splits(f, 0, 132) == 1); // five tiles are no work to share
  p.key_length = 4096;
  p.left = 100;
  p.right = 0;
  CHECK(cuda::attention_splits(f, 0, 132) == 1); // nor is what a window leaves
}

TEST_CASE("attention in tiles: gradients on devices with less shared memory", "[cuda][emulated][attention]") {
  Attention attention({at::kHalf, 2, 1, 70, 90, 128, 72, true, at::ScalarType::Undefined});
  attention.forward();
  const std::vector<Tensor> wanted = attention.reference(), got = attention.backward(0, 99);
  for (size_t i = 0; i < 3; ++i) {
    INFO("gradient " << i);
    check_close(got[i], wanted[i + 1], at::kHalf);
  }
}

TEST_CASE(
    "attention in tiles: ordered sums for queries are the same whatever comes first",
    "[cuda][slow][emulated][attention]") {
  const Case c{at::kHalf, 2, 1, 200, 420, 64, 64, true, at::ScalarType::Undefined};
  Attention attention(c);
  attention.forward();
  const std::vector<Tensor> first = attention.backward(2), wanted = attention.reference();
  for (int again = 0; again < 3; ++again) { // the emulator takes blocks in another order each time
    const std::vector<Tensor> next = attention.backward(2);
    for (size_t i = 0; i < 3; ++i) {
      INFO("gradient " << i);
      CHECK(at::equal(first[i], next[i]));
      check_close(next[i], wanted[i + 1], c.dtype);
    }
  }
}

namespace {

/// [batch, length, heads, size], in half.
Tensor by_length(int64_t length, int64_t heads, int64_t size, double step) {
  return (at::arange(2 * length * heads * size, at::kDouble) * step)
      .sin()
      .reshape({2, length, heads, size})
      .to(at::kHalf);
}

/// Result and gradients in double, of what the mask allows, with a bias.
std::vector<Tensor> by_operators(
    const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& g, const Tensor& seen, const Tensor& bias) {
  const auto leaf = [](const Tensor& t) { return t.to(at::kDouble).requires_grad_(true); };
  const Tensor lq = leaf(q), lk = leaf(k), lv = leaf(v);
  Tensor scores = at::matmul(lq.transpose(1, 2), lk.transpose(1, 2).transpose(2, 3)) * 0.3;
  if (bias.defined()) {
    scores = scores + bias.to(at::kDouble);
  }
  scores = scores.masked_fill(seen.logical_not(), -INFINITY);
  const Tensor out = at::matmul(at::_safe_softmax(scores, -1), lv.transpose(1, 2)).transpose(1, 2);
  std::vector<Tensor> all = torch::autograd::grad({out}, {lq, lk, lv}, {g.to(at::kDouble)});
  all.insert(all.begin(), {out.detach(), at::logsumexp(scores, {-1}).detach()});
  return all;
}

} // namespace

TEST_CASE("_efficient_attention_forward: any size, a bias, causal from either end", "[cuda][emulated][attention]") {
  const int64_t size = GENERATE(20, 24); // filled up to pieces of 16 bytes, or read as it lies
  const int64_t kind = GENERATE(0, 1, 2);
  CAPTURE(size, kind);
  const Tensor q = by_length(10, 2, size, 0.37), k = by_length(17, 2, size, 0.71), v = by_length(17, 2, size + 3, 0.53),
               g = by_length(10, 2, size + 3, 0.29);
  const Tensor bias = (at::arange(17, at::kDouble) * 0.9).cos().to(at::kHalf).view({1, 1, 1, 17});
  const Tensor seen = kind == 0 ? at::ones({10, 17}, at::kBool) : at::ones({10, 17}, at::kBool).tril(kind == 1 ? 0 : 7);
  const std::optional<int64_t> window = kind == 0 ? std::nullopt : std::optional<int64_t>(4);
  const std::vector<Tensor> want =
      by_operators(q, k, v, g, kind == 0 ? seen : seen & seen.triu(kind == 1 ? -3 : 4), bias);
  const auto [out, sums, seed, offset, max_q, max_k] =
      at::native::efficient_attention_forward_cuda(q, k, v, bias, {}, {}, {}, {}, 0.0, kind, true, 0.3, {}, window);
  check_close(out, want[0], at::kHalf);
  CHECK((max_q == 10 && max_k == 17 && seed.item<int64_t>() == 0 && offset.item<int64_t>() == 0));
  REQUIRE(sums.sizes() == at::IntArrayRef({2, 2, 32}));
  CHECK(at::allclose(sums.narrow(2, 0, 10).to(at::kDouble), want[1], 1e-3, 1e-3));
  CHECK((sums.narrow(2, 10, 22) == INFINITY).all().item<bool>());
  const auto [dq, dk, dv, none] = at::native::efficient_attention_of_sequences_backward_cuda(
      g, q, k, v, bias, out, {}, {}, 10, 17, sums, 0.0, seed, offset, kind, false, 0.3, {}, window, false);
  check_close(dq, want[2], at::kHalf);
  check_close(dk, want[3], at::kHalf);
  check_close(dv, want[4], at::kHalf);
  CHECK_FALSE(none.defined());
}

TEST_CASE("_efficient_attention_backward: gradients that share a storage", "[cuda][emulated][attention]") {
  const Tensor q = by_length(12, 2, 16, 0.37), k = by_length(12, 2, 16, 0.71), v = by_length(12, 2, 16, 0.53),
               g = by_length(12, 2, 16, 0.29);
  const std::vector<Tensor> want = by_operators(q, k, v, g, at::ones({12, 12}, at::kBool), Tensor());
  const auto [out, sums, seed, offset, max_q, max_k] =
      at::native::efficient_attention_forward_cuda(q, k, v, {}, {}, {}, {}, {}, 0.0, 0, true, 0.3, {}, {});
  const auto [dq, dk, dv, none] = at::native::efficient_attention_of_sequences_backward_cuda(
      g, q, k, v, {}, out, {}, {}, max_q, max_k, sums, 0.0, seed, offset, 0, false, 0.3, {}, {}, true);
  CHECK(dk.storage_offset() == 2 * 16);
  CHECK((dq.is_alias_of(dk) && dq.is_alias_of(dv)));
  check_close(dq, want[2], at::kHalf);
  check_close(dk, want[3], at::kHalf);
  check_close(dv, want[4], at::kHalf);
}

TEST_CASE(
    "_flash_attention_forward: causal attention counts from the last query and key", "[cuda][emulated][attention]") {
  const Tensor q = by_length(10, 2, 20, 0.37), k = by_length(17, 1, 20, 0.71), v = by_length(17, 1, 20, 0.53),
               g = by_length(10, 2, 20, 0.29);
  const std::vector<Tensor> want = by_operators(
      q, k.expand({2, 17, 2, 20}), v.expand({2, 17, 2, 20}), g, at::ones({10, 17}, at::kBool).tril(7), Tensor());
  const auto specs = at::shape::flash_attention_forward(
      "_flash_attention_forward", q, k, v, {}, {}, 10, 17, 0.0, true, false, 0.3, {}, {}, {}, {}, {}, {});
  std::vector<Tensor> made;
  for (const at::TensorSpec& spec : specs) {
    made.push_back(at::empty_spec(spec));
  }
  CHECK(made[1].sizes() == at::IntArrayRef({2, 2, 10}));
  CHECK(
      (made[2].sizes() == at::IntArrayRef({2}) && made[2].scalar_type() == at::kUInt64 &&
       made[3].scalar_type() == at::kUInt64));
  cuda::flash_attention_forward_kernel(
      q, k, v, {}, {}, 10, 17, 0.0, true, false, 0.3, {}, {}, {}, {}, {}, {}, made[0], made[1], made[2], made[3],
      made[4]);
  check_close(made[0], want[0], at::kHalf);
  CHECK(at::allclose(made[1].to(at::kDouble), want[1], 1e-3, 1e-3));
  const Tensor dq = at::empty_like(q), dk = at::empty_like(k), dv = at::empty_like(v);
  cuda::flash_attention_backward_kernel(
      g, q, k, v, made[0], made[1], Tensor(), Tensor(), 10, 17, 0.0, true, made[2], made[3], 0.3, {}, {}, dq, dk, dv);
  check_close(dq, want[2], at::kHalf);
  check_close(dk, want[3].sum({2}, true), at::kHalf); // both heads have the same keys
  check_close(dv, want[4].sum({2}, true), at::kHalf);
}

TEST_CASE("_efficient_attention_forward: lengths that no sequence has", "[cuda][emulated][attention]") {
  const Tensor q = by_length(6, 1, 8, 0.37)[0].unsqueeze(0), k = by_length(9, 1, 8, 0.71)[0].unsqueeze(0);
  // The second sequence claims rows that are not there, the third begins before the first row.
  const Tensor starts = at::tensor({0, 4, 900, -7}, at::kInt), key_starts = at::tensor({0, 5, 800, 9}, at::kInt);
  const auto [out, sums, seed, offset, max_q, max_k] = at::native::efficient_attention_forward_cuda(
      q, k, k, {}, starts, key_starts, 500, 700, 0.0, 0, true, 0.3, {}, {});
  const std::vector<Tensor> first = by_operators(
      q.narrow(1, 0, 4), k.narrow(1, 0, 5), k.narrow(1, 0, 5), q.narrow(1, 0, 4), at::ones({4, 5}, at::kBool),
      Tensor());
  const std::vector<Tensor> second = by_operators(
      q.narrow(1, 4, 2), k.narrow(1, 5, 4), k.narrow(1, 5, 4), q.narrow(1, 4, 2), at::ones({2, 4}, at::kBool),
      Tensor());
  check_close(out.narrow(1, 0, 4), first[0], at::kHalf);
  check_close(out.narrow(1, 4, 2), second[0], at::kHalf);
  CHECK((sums.sizes() == at::IntArrayRef({3, 1, 512}) && max_q == 500 && max_k == 700));
}

TEST_CASE("_flash_attention_forward: keys and values in pages", "[cuda][emulated][attention]") {
  const int64_t rows = GENERATE(64, 128, 16); // of a page: whole tiles, or not
  const int64_t splits = GENERATE(0, 1, 3);
  CAPTURE(rows, splits);
  const auto numbers = [](at::IntArrayRef sizes, double step) {
    int64_t n = 1;
    for (const int64_t size : sizes) {
      n *= size;
    }
    return (at::arange(n, at::kDouble) * step).sin().reshape(sizes).to(at::kHalf);
  };
  const int64_t pages = 9;
  const Tensor q = numbers({5, 4, 24}, 0.37), k = numbers({pages, rows, 2, 24}, 0.71),
               v = numbers({pages, rows, 2, 16}, 0.53);
  // Pages behind those that count may be any number.
  const Tensor table = at::tensor({7, 2, 0, 5, 8, -3, 1, 1, 4000, 9000}, at::kInt).view({2, 5});
  const int used[] = {static_cast<int>(4 * rows + 3), static_cast<int>(2 * rows - 7)};
  const Tensor used_keys = at::tensor({used[0], used[1]}, at::kInt), starts = at::tensor({0, 1, 5}, at::kInt),
               ignored = at::tensor({0, 0, 0}, at::kInt);
  const auto specs = at::shape::flash_attention_forward(
      "_flash_attention_forward", q, k, v, starts, ignored, 4, 5 * rows, 0.0, true, false, 0.3, {}, {}, used_keys, {},
      table, splits);
  std::vector<Tensor> made;
  for (const at::TensorSpec& spec : specs) {
    made.push_back(at::empty_spec(spec));
  }
  cuda::flash_attention_forward_kernel(
      q, k, v, starts, ignored, 4, 5 * rows, 0.0, true, false, 0.3, {}, {}, used_keys, {}, table, splits, made[0],
      made[1], made[2], made[3], made[4]);
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t first = i == 0 ? 0 : 1, length = i == 0 ? 1 : 4, keys = used[i];
    const auto rows_of = [&](const Tensor& t) {
      const Tensor all = t.index_select(0, table[i].clamp(0, pages - 1)).flatten(0, 1).narrow(0, 0, keys);
      return all.repeat_interleave(2, 1).unsqueeze(0);
    };
    const Tensor own = q.narrow(0, first, length).unsqueeze(0),
                 seen = at::ones({length, keys}, at::kBool).tril(keys - length);
    const std::vector<Tensor> want = by_operators(own, rows_of(k), rows_of(v), own.narrow(3, 0, 16), seen, Tensor());
    check_close(made[0].narrow(0, first, length), want[0][0], at::kHalf);
    CHECK(at::allclose(made[1].narrow(1, first, length).to(at::kDouble), want[1][0], 1e-3, 1e-3));
  }
}

TEST_CASE("_flash_attention_forward: one query, heads that share keys", "[cuda][emulated][attention]") {
  const Tensor q = by_length(1, 4, 24, 0.37), k = by_length(150, 2, 24, 0.71), v = by_length(150, 2, 24, 0.53);
  const auto each = [](const Tensor& t) { return t.repeat_interleave(2, 2); };
  const std::vector<Tensor> want = by_operators(q, each(k), each(v), q, at::ones({1, 150}, at::kBool), Tensor());
  const Tensor out = at::empty_like(q), sums = at::empty({2, 4, 1}, at::kFloat), state = at::empty({2}, at::kUInt64),
               unused = at::empty({}, at::kUInt64);
  cuda::flash_attention_forward_kernel(
      q, k, v, {}, {}, 1, 150, 0.0, true, false, 0.3, {}, {}, {}, {}, {}, {}, out, sums, state, unused, unused);
  check_close(out, want[0], at::kHalf);
  CHECK(at::allclose(sums.to(at::kDouble), want[1], 1e-3, 1e-3));
  // With a bias, no two of whose rows are the same.
  const Tensor bias = (at::arange(2 * 4 * 150, at::kDouble) * 0.9).cos().view({2, 4, 1, 150}).to(at::kHalf);
  const std::vector<Tensor> biased = by_operators(q, each(k), each(v), q, at::ones({1, 150}, at::kBool), bias);
  check_close(
      std::get<0>(
          at::native::efficient_attention_forward_cuda(q, k, v, bias, {}, {}, {}, {}, 0.0, 0, false, 0.3, {}, {})),
      biased[0], at::kHalf);
}

TEST_CASE("_efficient_attention_backward: the gradient of a bias", "[cuda][emulated][attention]") {
  const at::ScalarType dtype = GENERATE(at::kHalf, at::kBFloat16, at::kFloat, at::kDouble);
  const int64_t kind = GENERATE(0, 1);
  const std::vector<int64_t> sizes = GENERATE(
      std::vector<int64_t>{2, 2, 70, 83}, std::vector<int64_t>{1, 2, 1, 83}, std::vector<int64_t>{70, 1},
      std::vector<int64_t>{2, 1, 70, 83});
  CAPTURE(dtype, kind, sizes);
  if (dtype == at::kDouble && kind == 1) {
    return; // whole matrices: not with every kind
  }
  const auto wide = [&](const Tensor& t) { return t.to(dtype); };
  const Tensor q = wide(by_length(70, 2, 24, 0.37)), k = wide(by_length(83, 2, 24, 0.71)),
               v = wide(by_length(83, 2, 16, 0.53)), g = wide(by_length(70, 2, 16, 0.29));
  int64_t n = 1;
  for (const int64_t size : sizes) {
    n *= size;
  }
  // Of another dtype than the operands, too.
  const Tensor bias = (at::arange(n, at::kDouble) * 0.9)
                          .cos()
                          .reshape(sizes)
                          .to(sizes.size() == 2 && dtype != at::kDouble ? at::kFloat : dtype);

  const auto leaf = [](const Tensor& t) { return t.to(at::kDouble).transpose(1, 2).requires_grad_(true); };
  const Tensor lq = leaf(q), lk = leaf(k), lv = leaf(v), lb = bias.to(at::kDouble).requires_grad_(true);
  const Tensor hidden = at::ones({70, 83}, at::kBool).triu(kind == 1 ? 1 : 1000);
  const Tensor scores = (at::matmul(lq, lk.transpose(2, 3)) * 0.3 + lb).masked_fill(hidden, -INFINITY);
  const Tensor result = at::matmul(at::softmax(scores, -1), lv);
  const std::vector<Tensor> want = torch::autograd::grad({result}, {lb, lq}, {g.to(at::kDouble).transpose(1, 2)});

  const auto [out, sums, seed, offset, max_q, max_k] =
      at::native::efficient_attention_forward_cuda(q, k, v, bias, {}, {}, {}, {}, 0.0, kind, true, 0.3, {}, {});
  const auto [dq, dk, dv, db] = at::native::efficient_attention_of_sequences_backward_cuda(
      g, q, k, v, bias, out, {}, {}, max_q, max_k, sums, 0.0, seed, offset, kind, true, 0.3, {}, {}, false);
  CHECK((db.sizes() == bias.sizes() && db.scalar_type() == bias.scalar_type()));
  check_close(db, want[0], dtype == at::kDouble ? at::kFloat : dtype);
  check_close(dq, want[1].transpose(1, 2), dtype == at::kDouble ? at::kFloat : dtype);
}

namespace {

/// A number from `least` to `most`.
int64_t drawn(std::mt19937& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random() % static_cast<unsigned>(most - least + 1));
}

/// Numbers of a size [batch, heads, length, size], that lie in memory in one of several ways.
Tensor drawn_operand(
    std::mt19937& random, at::ScalarType dtype, int64_t batch, int64_t heads, int64_t length, int64_t size) {
  const auto numbers = [&](at::IntArrayRef sizes) { return at::randn(sizes, at::kDouble).to(dtype); };
  switch (drawn(random, 0, 5)) {
    case 0:
      return numbers({batch, length, heads, size}).transpose(1, 2);
    case 1:
      return numbers({batch, heads, length, size + 3}).narrow(3, drawn(random, 0, 3), size); // rows begin anywhere
    case 2:
      return numbers({1, heads, length, size}).expand({batch, heads, length, size});
    case 3:
      return numbers({size, batch, heads, length}).permute({1, 2, 3, 0});
    case 4:
      return numbers({batch, heads, 1, size}).expand({batch, heads, length, size});
    default:
      return numbers({batch, heads, length, size});
  }
}

} // namespace

TEST_CASE("attention of any sizes, layouts and masks is that of whole matrices", "[cuda][slow][emulated][attention]") {
  constexpr unsigned kSeed = 2024;
  std::mt19937 random(kSeed);
  at::manual_seed(kSeed);
  for (int number = 0; number < 60; ++number) {
    const at::ScalarType dtype =
        std::array{at::kHalf, at::kBFloat16, at::kFloat}[static_cast<size_t>(drawn(random, 0, 2))];
    const auto size = [&] {
      return drawn(random, 0, 3) == 0 ? drawn(random, 1, dtype == at::kFloat ? 128 : 256) : drawn(random, 1, 10) * 8;
    };
    const int64_t batch = drawn(random, 1, 2), key_heads = drawn(random, 1, 2), heads = key_heads * drawn(random, 1, 3);
    const int64_t length = drawn(random, 0, 2) == 0 ? 1 : drawn(random, 1, 140), keys = drawn(random, 1, 200),
                  head = size(), width = size();
    const Tensor q = drawn_operand(random, dtype, batch, heads, length, head),
                 k = drawn_operand(random, dtype, batch, key_heads, keys, head);
    const Tensor v = drawn_operand(random, dtype, batch, key_heads, keys, width),
                 g = drawn_operand(random, dtype, batch, heads, length, width);
    const double scale = drawn(random, 0, 4) == 0 ? -0.2 : 1 / std::sqrt(static_cast<double>(head));
    const int64_t kind = drawn(random, 0, 4); // none, causal, flags, added in the same dtype, added in float
    Tensor mask;
    if (kind >= 2) {
      const auto or_one = [&](int64_t n) { return drawn(random, 0, 2) == 0 ? 1 : n; };
      const Tensor numbers = at::randn({or_one(batch), or_one(heads), or_one(length), or_one(keys)}, at::kDouble);
      const Tensor hidden = numbers > 0.8; // and so, at times, all keys of a query
      mask =
          kind == 2 ? hidden.logical_not() : numbers.masked_fill(hidden, -INFINITY).to(kind == 3 ? dtype : at::kFloat);
      if (drawn(random, 0, 1) == 0) {
        mask = mask.transpose(2, 3).contiguous().transpose(2, 3);
      }
    }
    const bool of_mask = kind >= 3;
    CAPTURE(
        number, dtype, batch, heads, key_heads, length, keys, head, width, kind, scale, q.strides(), k.strides(),
        v.strides(), g.strides());

    const auto leaf = [](const Tensor& t) { return t.to(at::kDouble).contiguous().requires_grad_(true); };
    const Tensor lq = leaf(q), lk = leaf(k), lv = leaf(v), lm = of_mask ? leaf(mask) : mask;
    const Tensor result = std::get<0>(at::_scaled_dot_product_attention_math(
        lq, lk, lv, lm.defined() ? std::optional(lm) : std::nullopt, 0.0, kind == 1, {}, scale, true));
    std::vector<Tensor> leaves{lq, lk, lv};
    if (of_mask) {
      leaves.push_back(lm);
    }
    const std::vector<Tensor> want = torch::autograd::grad({result}, leaves, {g.to(at::kDouble)});

    at::globalContext().setDeterministicAlgorithms(drawn(random, 0, 1) == 0, false);
    const Tensor out = at::empty({batch, heads, length, width}, dtype),
                 sums = at::empty({batch, heads, length}, at::kFloat);
    const Tensor seed = at::empty({}, at::kLong), offset = at::empty({}, at::kLong);
    cuda::efficient_attention_kernel(
        q, k, v, mask.defined() ? std::optional(mask) : std::nullopt, true, 0.0, kind == 1, scale, out, sums, seed,
        offset);
    CHECK((seed.item<int64_t>() == 0 && offset.item<int64_t>() == 0));
    check_close(out, result.detach(), dtype);
    const auto [dq, dk, dv, dm] = at::native::efficient_attention_backward_cuda(
        g, q, k, v, mask, out, sums, seed, offset, 0.0, {true, true, true, of_mask}, kind == 1, scale);
    at::globalContext().setDeterministicAlgorithms(false, false);
    check_close(dq, want[0], dtype);
    check_close(dk, want[1], dtype);
    check_close(dv, want[2], dtype);
    if (of_mask) {
      CHECK((dm.sizes() == mask.sizes() && dm.scalar_type() == mask.scalar_type()));
      check_close(dm, want[3], dtype);
    }
  }
}

TEST_CASE("_flash_attention_forward says what it does not take", "[cuda][attention]") {
  const Tensor q = by_length(4, 2, 8, 0.37), starts = at::tensor({0, 4}, at::kInt);
  const auto refused = [&](const Tensor& query, const std::optional<Tensor>& cum_q, const std::optional<Tensor>& cum_k,
                           double dropout, const std::optional<Tensor>& pages) {
    try {
      (void)at::shape::flash_attention_forward(
          "flash", query, query, query, cum_q, cum_k, 4, 4, dropout, true, false, {}, {}, {}, {}, {}, pages, {});
    } catch (const c10::Error& e) {
      return std::string(e.what_without_backtrace());
    }
    return std::string();
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(
      refused(q.to(at::kFloat), {}, {}, 0, {}),
      Contains("FlashAttention only support fp16 and bf16 data type, got Float"));
  CHECK_THAT(refused(q, starts, {}, 0, {}), Contains("cum_seq_q and cum_seq_k must be given both, or neither"));
  CHECK_THAT(refused(q, starts, starts, 0, {}), Contains("expected query, key and value of 3 dimensions"));
  CHECK_THAT(
      refused(q[0], starts.to(at::kLong), starts, 0, {}), Contains("cum_seq_q must be a contiguous tensor of int32"));
  CHECK_THAT(refused(q, {}, {}, 1, {}), Contains("dropout_p must be at least 0 and less than 1, got 1"));
  CHECK_THAT(refused(q, {}, {}, 0, starts), Contains("block_table must be a tensor of int32 with a row of pages"));
  CHECK_THAT(refused(q, {}, {}, 0, at::zeros({2, 3}, at::kInt)), Contains("(block_table) need seqused_k"));
  CHECK(refused(q, {}, {}, 0.5, {}).empty());
  CHECK(refused(q[0], starts, starts, 0, {}).empty());
}

TEST_CASE("attention by whole matrices: any dtype and size of heads", "[cuda][emulated][attention]") {
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    for (const int kind : {0, 1, 2, 3}) { // without a mask, causal, a mask of flags, one that is added
      const auto numbers = [&](at::IntArrayRef sizes, double step) {
        int64_t n = 1;
        for (const int64_t size : sizes) {
          n *= size;
        }
        return (at::arange(n, at::kDouble) * step).sin().reshape(sizes).to(dtype);
      };
      const Tensor q = numbers({2, 4, 5, 3}, 0.37), k = numbers({2, 2, 7, 3}, 0.71), v = numbers({2, 2, 7, 6}, 0.53),
                   g = numbers({2, 4, 5, 6}, 0.29);
      Tensor mask;
      if (kind == 2) {
        mask = (at::arange(35, at::kLong) % 4 != 1).reshape({5, 7});
        mask.select(0, 3).fill_(false); // a query that sees nothing
      } else if (kind == 3) {
        mask = numbers({4, 1, 7}, 0.9);
      }
      const cuda::AttentionMatrices p{q, k, v, mask, kind == 1, 0.4};
      const Tensor out = at::empty_like(g),
                   sums = at::empty({2, 4, 5}, dtype == at::kDouble ? at::kDouble : at::kFloat);
      cuda::attention_by_matrices(p, out, sums);
      const Tensor dq = at::empty_like(q), dk = at::empty_like(k), dv = at::empty_like(v);
      cuda::attention_by_matrices_backward(p, g, out, sums, dq, dk, dv);

      const auto leaf = [](const Tensor& t) { return t.to(at::kDouble).requires_grad_(true); };
      const Tensor wq = leaf(q), wk = leaf(k), wv = leaf(v);
      const std::optional<Tensor> wide = !mask.defined() ? std::optional<Tensor>()
          : kind == 2                                    ? mask
                                                         : mask.to(at::kDouble);
      const Tensor want =
          std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(wq, wk, wv, 0.0, kind == 1, wide, 0.4));
      const std::vector<Tensor> grads = torch::autograd::grad({want}, {wq, wk, wv}, {g.to(at::kDouble)});
      const double close = dtype == at::kDouble ? 1e-12 : dtype == at::kFloat ? 1e-5 : 2e-2;
      const auto near = [&](const Tensor& got, const Tensor& wanted) {
        return got.scalar_type() == (got.is_same(sums) ? sums.scalar_type() : dtype) &&
            at::allclose(got.to(at::kDouble), wanted, close, close);
      };
      CAPTURE(dtype, kind);
      CHECK(near(out, want.detach()));
      CHECK(near(dq, grads[0]));
      CHECK(near(dk, grads[1]));
      CHECK(near(dv, grads[2]));
    }
  }
}
