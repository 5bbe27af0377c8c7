// Attention's kernels in tiles, run by the emulator, against operators on whole matrices.
#include <aten/native/cuda/attention.h>
#include <aten/native/cuda/attention_matrices.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <optional>
#include <vector>

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
      return (at::arange(2 * heads * length * size, at::kDouble) * step).sin().reshape({2, heads, length, size}).to(c.dtype);
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
      mask = (at::arange(c.heads * c.key_length, at::kDouble) * 0.9).cos().reshape({c.heads, 1, c.key_length}).to(c.mask);
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
    problem.scale = 0.3f;
    problem.causal = c.causal;
    problem.dropout = static_cast<float>(c.dropout);
    logsumexp = at::empty({2, c.heads, c.query_length}, at::kFloat);
    problem.logsumexp = logsumexp.data_ptr<float>();
    place = at::zeros({2}, at::kLong);
  }

  Tensor forward() {
    out = at::full({2, c.heads, c.query_length, c.value_size}, 99, c.dtype);
    int64_t* numbers = place.data_ptr<int64_t>();
    const auto launch = c.dtype == at::kFloat ? cuda::launch_float_attention_forward : cuda::launch_attention_forward;
    launch({problem, operand(out), at::PhiloxCudaState(1234567890123, 8), numbers, numbers + 1});
    return out;
  }

  std::vector<Tensor> backward() {
    const Tensor grad_query = at::full_like(query, 99), grad_key = at::full_like(key, 99), grad_value = at::full_like(value, 99);
    const Tensor delta = at::empty_like(logsumexp);
    const int64_t* numbers = place.data_ptr<int64_t>();
    const auto launch = c.dtype == at::kFloat ? cuda::launch_float_attention_backward : cuda::launch_attention_backward;
    launch(
        {problem, operand(out), operand(grad), operand(grad_query), operand(grad_key), operand(grad_value),
         delta.data_ptr<float>(), numbers, numbers + 1});
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
  const Case c = GENERATE(
      values<Case>({
          {at::kHalf, 1, 1, 16, 64, 64, 64, false, kNone},
          {at::kHalf, 2, 2, 70, 90, 64, 64, false, kNone},
          {at::kBFloat16, 2, 1, 70, 90, 40, 24, true, kNone},
          {at::kHalf, 2, 2, 65, 33, 128, 72, false, at::kBool},
          {at::kHalf, 2, 1, 40, 100, 16, 64, false, at::kHalf},
          {at::kBFloat16, 1, 1, 20, 70, 96, 128, false, at::kFloat},
          {at::kHalf, 1, 1, 130, 70, 32, 32, true, kNone},
          {at::kHalf, 1, 1, 1, 1, 8, 8, false, kNone},
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

TEST_CASE("attention by whole matrices: any dtype and size of heads", "[cuda][emulated][attention]") {
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    for (const int kind : {0, 1, 2, 3}) { // without a mask, causal, a mask of flags, one that is added
      const auto numbers = [&](at::IntArrayRef sizes, double step) {
        int64_t n = 1;
        for (const int64_t size : sizes) n *= size;
        return (at::arange(n, at::kDouble) * step).sin().reshape(sizes).to(dtype);
      };
      const Tensor q = numbers({2, 4, 5, 3}, 0.37), k = numbers({2, 2, 7, 3}, 0.71), v = numbers({2, 2, 7, 6}, 0.53), g = numbers({2, 4, 5, 6}, 0.29);
      Tensor mask;
      if (kind == 2) {
        mask = (at::arange(35, at::kLong) % 4 != 1).reshape({5, 7});
        mask.select(0, 3).fill_(false); // a query that sees nothing
      } else if (kind == 3) {
        mask = numbers({4, 1, 7}, 0.9);
      }
      const cuda::AttentionMatrices p{q, k, v, mask, kind == 1, 0.4};
      const Tensor out = at::empty_like(g), sums = at::empty({2, 4, 5}, dtype == at::kDouble ? at::kDouble : at::kFloat);
      cuda::attention_by_matrices(p, out, sums);
      const Tensor dq = at::empty_like(q), dk = at::empty_like(k), dv = at::empty_like(v);
      cuda::attention_by_matrices_backward(p, g, out, sums, dq, dk, dv);

      const auto leaf = [](const Tensor& t) { return t.to(at::kDouble).requires_grad_(true); };
      const Tensor wq = leaf(q), wk = leaf(k), wv = leaf(v);
      const std::optional<Tensor> wide = !mask.defined() ? std::optional<Tensor>() : kind == 2 ? mask : mask.to(at::kDouble);
      const Tensor want = std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(wq, wk, wv, 0.0, kind == 1, wide, 0.4));
      const std::vector<Tensor> grads = torch::autograd::grad({want}, {wq, wk, wv}, {g.to(at::kDouble)});
      const double close = dtype == at::kDouble ? 1e-12 : dtype == at::kFloat ? 1e-5 : 2e-2;
      const auto near = [&](const Tensor& got, const Tensor& wanted) {
        return got.scalar_type() == (got.is_same(sums) ? sums.scalar_type() : dtype) && at::allclose(got.to(at::kDouble), wanted, close, close);
      };
      CAPTURE(dtype, kind);
      CHECK(near(out, want.detach()));
      CHECK(near(dq, grads[0]));
      CHECK(near(dk, grads[1]));
      CHECK(near(dv, grads[2]));
    }
  }
}
