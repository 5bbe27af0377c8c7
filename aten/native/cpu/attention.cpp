// Attention in blocks of queries and keys: scores are made, turned into weights and used while they are in the cache,
// so that memory grows with the length and not with its square. Rows keep their greatest score and the sum of their
// weights; when a block brings a greater score, what was summed before is scaled down. Dao, Fu, Ermon, Rudra, Ré:
// FlashAttention, 2022.

#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/gemm.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/cpu/softmax_exp.h>
#include <aten/native/onednn/matmul.h>
#include <aten/native/vec/math.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

constexpr int64_t kKeys = 512;

int64_t queries_per_block(int64_t length) {
  return length >= 768 ? 256 : length >= 192 ? 128 : 32;
}

/// Whole cache lines.
int64_t keys_per_block(int64_t length) {
  return std::min(kKeys, (length + 15) / 16 * 16);
}

/// A tensor [batch, heads, length, size] whose last dimension is adjacent.
struct Heads {
  TensorBase tensor;
  int64_t heads, length, size;

  explicit Heads(const TensorBase& t)
      : tensor(t.stride(3) == 1 || t.size(3) <= 1 ? t : t.contiguous()),
        heads(t.size(1)),
        length(t.size(2)),
        size(t.size(3)) {}

  int64_t row_stride() const {
    return tensor.stride(2);
  }
  template <class T>
  const T* rows(int64_t batch, int64_t head, int64_t first) const {
    return tensor.const_data_ptr<T>() + batch * tensor.stride(0) + head * tensor.stride(1) + first * tensor.stride(2);
  }
};

/// Rows of a head in the type of the sums: in place, or widened into a buffer.
template <class T>
class Rows {
 public:
  using R = at::opmath_type<T>;

  Matrix<const R> load(const Heads& h, int64_t batch, int64_t head, int64_t first, int64_t count) {
    const T* from = h.rows<T>(batch, head, first);
    if constexpr (std::is_same_v<T, R>) {
      return {from, h.row_stride(), 1};
    } else {
      buffer_.resize(static_cast<size_t>(count * h.size));
      for (int64_t r = 0; r < count; ++r) {
        R* to = buffer_.data() + r * h.size;
        for_lanes<T>(h.size, [&](int64_t i, auto run) {
          store_run<R>(load_run(from + r * h.row_stride() + i, run), to + i, run);
        });
      }
      return {buffer_.data(), h.size, 1};
    }
  }

 private:
  std::vector<R> buffer_;
};

template <class R>
void multiply(int64_t m, int64_t n, int64_t k, Matrix<const R> a, Matrix<const R> b, Matrix<R> c, R alpha, R beta) {
  if constexpr (std::is_same_v<R, float>) {
    // Below, the call costs more than it saves.
    constexpr int64_t kLeast = 60 * 60 * 60;
    const onednn::Matmul problem{
        c10::ScalarType::Float, 1,     m,   n, k, {0, a.row_stride, a.col_stride}, {0, b.row_stride, b.col_stride},
        {0, c.row_stride, 1},   alpha, beta};
    if (m >= 8 && n >= 8 && k >= 8 && m * n * k >= kLeast && onednn::matmul(problem, a.data, b.data, c.data, nullptr)) {
      return;
    }
  }
  Gemm<R> g;
  g.m = m;
  g.n = n;
  g.k = k;
  g.a = a;
  g.b = b;
  g.c = c;
  g.alpha = alpha;
  g.beta = beta;
  gemm(g);
}

/// What is added to scores, or which of them are kept.
struct Mask {
  TensorBase tensor;
  int64_t strides[4] = {0, 0, 0, 0};

  Mask(const std::optional<Tensor>& mask, IntArrayRef sizes) {
    if (!mask.has_value() || !mask->defined()) {
      return;
    }
    tensor = *mask;
    const int64_t lead = 4 - tensor.dim();
    for (int64_t d = lead; d < 4; ++d) {
      strides[d] = tensor.size(d - lead) == 1 && sizes[d] != 1 ? 0 : tensor.stride(d - lead);
    }
  }

  template <class R>
  void apply(R* scores, int64_t batch, int64_t head, int64_t row, int64_t first, int64_t count) const {
    if (!tensor.defined()) {
      return;
    }
    const int64_t at = batch * strides[0] + head * strides[1] + row * strides[2] + first * strides[3];
    dispatch("flash_attention_mask", tensor.scalar_type(), kFloating | kBooleans, [&]<class M> {
      // Vectorised where the mask is row-major; bytes are, where bool is not.
      using Stored = std::conditional_t<std::is_same_v<M, bool>, unsigned char, M>;
      const Stored* from = reinterpret_cast<const Stored*>(tensor.const_data_ptr<M>() + at);
      const auto add = [&](auto stride) {
        for (int64_t i = 0; i < count; ++i) {
          const R score = scores[i];
          if constexpr (std::is_same_v<M, bool>) {
            scores[i] = from[i * stride] != 0 ? score : -std::numeric_limits<R>::infinity();
          } else {
            scores[i] = score + static_cast<R>(from[i * stride]);
          }
        }
      };
      if (strides[3] == 1) {
        add(std::integral_constant<int64_t, 1>());
      } else {
        add(strides[3]);
      }
    });
  }
};

/// Keys that query `row` may see.
int64_t visible_keys(bool is_causal, int64_t row, int64_t keys) {
  return is_causal ? std::min(keys, row + 1) : keys;
}

/// Scores of a block of queries for a block of keys, masked.
template <class R>
struct Scores {
  const Mask& mask;
  bool is_causal;
  R scale;
  int64_t width; // elements from row to row
  std::vector<R> values;

  Scores(const Mask& mask, bool is_causal, R scale, int64_t rows, int64_t width)
      : mask(mask), is_causal(is_causal), scale(scale), width(width), values(static_cast<size_t>(rows * width)) {}

  R* row(int64_t r) {
    return values.data() + r * width;
  }
  Matrix<const R> matrix() const {
    return {values.data(), width, 1};
  }

  void fill(
      Matrix<const R> query,
      int64_t rows,
      Matrix<const R> key,
      int64_t keys,
      int64_t size,
      int64_t batch,
      int64_t head,
      int64_t first_row,
      int64_t first_key) {
    multiply<R>(rows, keys, size, query, key.transposed(), {values.data(), width, 1}, scale, R(0));
    for (int64_t r = 0; r < rows; ++r) {
      mask.apply(row(r), batch, head, first_row + r, first_key, keys);
      const int64_t seen = std::max<int64_t>(0, visible_keys(is_causal, first_row + r, first_key + keys) - first_key);
      std::fill(row(r) + std::min(seen, keys), row(r) + keys, -std::numeric_limits<R>::infinity());
    }
  }
};

template <class R>
R greatest(const R* x, int64_t n, R top) {
  using V = typename Lanes<R>::V;
  V best(top);
  for_lanes<R>(n, [&](int64_t i, auto run) { best = vec::max(keep_run(load_run(x + i, run), top, run), best); });
  return vec::reduce_max(best);
}

/// x = exp(x - top); returns the sum. Masked elements are exactly zero.
template <class R>
R exponentials(R* x, int64_t n, R top) {
  using V = typename Lanes<R>::V;
  V sum(R(0));
  for_lanes<R>(n, [&](int64_t i, auto run) {
    const V e = exp_or_zero(load_run(x + i, run) - V(top));
    sum += keep_run(e, R(0), run);
    store_run<R>(e, x + i, run);
  });
  return vec::reduce_add(sum);
}

template <class T, class R>
void store_scaled(const R* from, R scale, T* to, int64_t n) {
  using V = typename Lanes<T>::V;
  for_lanes<T>(n, [&](int64_t i, auto run) { store_run<T>(load_run<R>(from + i, run) * V(scale), to + i, run); });
}

double scale_of(std::optional<double> scale, int64_t size) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, size))));
}

} // namespace

void flash_attention_kernel(
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    double,
    bool is_causal,
    const std::optional<Tensor>& attn_mask,
    std::optional<double> scale,
    const TensorBase& output,
    const TensorBase& logsumexp) {
  if (output.numel() == 0 && logsumexp.numel() == 0) {
    return;
  }
  dispatch("flash_attention", query.scalar_type(), kFloating, [&]<class T> {
    using R = at::opmath_type<T>;
    constexpr R kNone = -std::numeric_limits<R>::infinity();
    const Heads q(query), k(key), v(value);
    const int64_t sizes[] = {query.size(0), q.heads, q.length, k.length};
    const Mask mask(attn_mask, sizes);
    const int64_t step = queries_per_block(q.length), blocks = (q.length + step - 1) / step, group = q.heads / k.heads;
    T* out = output.mutable_data_ptr<T>();
    R* lse = logsumexp.mutable_data_ptr<R>();
    at::parallel_for(0, query.size(0) * q.heads * blocks, 1, [&](int64_t begin, int64_t end) {
      Scores<R> scores(mask, is_causal, static_cast<R>(scale_of(scale, q.size)), step, keys_per_block(k.length));
      Rows<T> query_rows, key_rows, value_rows;
      std::vector<R> sums(step * v.size), top(step), total(step);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t batch = task / (q.heads * blocks), head = task / blocks % q.heads, first = task % blocks * step;
        const int64_t rows = std::min(step, q.length - first);
        const Matrix<const R> queries = query_rows.load(q, batch, head, first, rows);
        std::fill(sums.begin(), sums.end(), R(0));
        std::fill(top.begin(), top.end(), kNone);
        std::fill(total.begin(), total.end(), R(0));
        const int64_t last_key = visible_keys(is_causal, first + rows - 1, k.length);
        for (int64_t at = 0; at < last_key; at += kKeys) {
          const int64_t keys = std::min(kKeys, last_key - at);
          scores.fill(
              queries, rows, key_rows.load(k, batch, head / group, at, keys), keys, q.size, batch, head, first, at);
          for (int64_t r = 0; r < rows; ++r) {
            R* row = scores.row(r);
            const R next = greatest(row, keys, top[r]);
            if (next == kNone) {
              std::fill(row, row + keys, R(0));
              continue;
            }
            const R fade = std::exp(top[r] - next);
            total[r] = total[r] * fade + exponentials(row, keys, next);
            top[r] = next;
            if (fade != 1) {
              for (int64_t i = 0; i < v.size; ++i) {
                sums[r * v.size + i] *= fade;
              }
            }
          }
          multiply<R>(
              rows, v.size, keys, scores.matrix(), value_rows.load(v, batch, head / group, at, keys),
              {sums.data(), v.size, 1}, R(1), R(1));
        }
        for (int64_t r = 0; r < rows; ++r) {
          // A row that sees no key is zero.
          const R weight = total[r] == 0 ? R(0) : R(1) / total[r];
          store_scaled(
              sums.data() + r * v.size, weight,
              out + batch * output.stride(0) + head * output.stride(1) + (first + r) * output.stride(2), v.size);
          lse[batch * logsumexp.stride(0) + head * logsumexp.stride(1) + (first + r) * logsumexp.stride(2)] =
              top[r] + std::log(total[r]);
        }
      }
    });
  });
}

void flash_attention_backward_kernel(
    const TensorBase& grad_out,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const TensorBase& out,
    const TensorBase& logsumexp,
    double,
    bool is_causal,
    const std::optional<Tensor>& attn_mask,
    std::optional<double> scale,
    const TensorBase& grad_query,
    const TensorBase& grad_key,
    const TensorBase& grad_value) {
  dispatch("flash_attention_backward", query.scalar_type(), kFloating, [&]<class T> {
    using R = at::opmath_type<T>;
    using V = typename Lanes<R>::V;
    const Heads q(query), k(key), v(value), g(grad_out), o(out);
    const int64_t sizes[] = {query.size(0), q.heads, q.length, k.length};
    const Mask mask(attn_mask, sizes);
    const TensorBase lse = logsumexp.contiguous();
    const R factor = static_cast<R>(scale_of(scale, q.size));
    const int64_t step = queries_per_block(q.length), group = q.heads / k.heads;
    at::parallel_for(0, query.size(0) * k.heads, 1, [&](int64_t begin, int64_t end) {
      const int64_t width = keys_per_block(k.length);
      Scores<R> scores(mask, is_causal, factor, step, width);
      Rows<T> query_rows, key_rows, value_rows, grad_rows, out_rows;
      std::vector<R> slopes(step * width), dots(q.length), dq(q.length * q.size), dk(k.length * k.size),
          dv(v.length * v.size);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t batch = task / k.heads, shared = task % k.heads;
        std::fill(dk.begin(), dk.end(), R(0));
        std::fill(dv.begin(), dv.end(), R(0));
        for (int64_t head = shared * group; head < (shared + 1) * group; ++head) {
          std::fill(dq.begin(), dq.end(), R(0));
          const R* own_lse = lse.const_data_ptr<R>() + (batch * q.heads + head) * q.length;
          for (int64_t first = 0; first < q.length; first += step) {
            const int64_t rows = std::min(step, q.length - first),
                          last_key = visible_keys(is_causal, first + rows - 1, k.length);
            const Matrix<const R> queries = query_rows.load(q, batch, head, first, rows),
                                  grads = grad_rows.load(g, batch, head, first, rows),
                                  results = out_rows.load(o, batch, head, first, rows);
            for (int64_t r = 0; r < rows; ++r) {
              V dot(R(0));
              for_lanes<R>(v.size, [&](int64_t i, auto run) {
                dot += load_run(grads.data + r * grads.row_stride + i, run) *
                    load_run(results.data + r * results.row_stride + i, run);
              });
              dots[r] = vec::reduce_add(dot);
            }
            for (int64_t at = 0; at < last_key; at += kKeys) {
              const int64_t keys = std::min(kKeys, last_key - at);
              const Matrix<const R> own_keys = key_rows.load(k, batch, shared, at, keys),
                                    values = value_rows.load(v, batch, shared, at, keys);
              scores.fill(queries, rows, own_keys, keys, q.size, batch, head, first, at);
              multiply<R>(rows, keys, v.size, grads, values.transposed(), {slopes.data(), width, 1}, R(1), R(0));
              for (int64_t r = 0; r < rows; ++r) {
                R *weight = scores.row(r), *slope = slopes.data() + r * width;
                // A row that saw no key has weights of zero.
                const bool blind = own_lse[first + r] == -std::numeric_limits<R>::infinity();
                const V shift(own_lse[first + r]), dot(dots[r]), f(factor);
                for_lanes<R>(keys, [&](int64_t i, auto run) {
                  const V w = blind ? V(R(0)) : exp_or_zero(load_run(weight + i, run) - shift);
                  store_run<R>(w * (load_run(slope + i, run) - dot) * f, slope + i, run);
                  store_run<R>(w, weight + i, run);
                });
              }
              const Matrix<const R> slope_matrix{slopes.data(), width, 1};
              multiply<R>(
                  keys, v.size, rows, scores.matrix().transposed(), grads, {dv.data() + at * v.size, v.size, 1}, R(1),
                  R(1));
              multiply<R>(
                  rows, q.size, keys, slope_matrix, own_keys, {dq.data() + first * q.size, q.size, 1}, R(1), R(1));
              multiply<R>(
                  keys, q.size, rows, slope_matrix.transposed(), queries, {dk.data() + at * k.size, k.size, 1}, R(1),
                  R(1));
            }
          }
          const auto store = [&](const std::vector<R>& from, const TensorBase& to, int64_t to_head, int64_t length,
                                 int64_t size) {
            T* data = to.mutable_data_ptr<T>() + batch * to.stride(0) + to_head * to.stride(1);
            for (int64_t r = 0; r < length; ++r) {
              store_scaled(from.data() + r * size, R(1), data + r * to.stride(2), size);
            }
          };
          store(dq, grad_query, head, q.length, q.size);
          if (head + 1 < (shared + 1) * group) {
            continue;
          }
          store(dk, grad_key, shared, k.length, k.size);
          store(dv, grad_value, shared, v.length, v.size);
        }
      }
    });
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
