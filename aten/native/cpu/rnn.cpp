// Gates of LSTM and GRU cells: everything that is done element by element between two matrix products.

#include <aten/Parallel.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/gemm_kernels.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/vec/math.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

constexpr int64_t kGrain = 2048;

template <class V>
VEC_INLINE V sigmoid(V x) {
  return V(typename V::value_type(1)) / (V(typename V::value_type(1)) + vec::exp(-x));
}

TensorBase dense(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined() ? static_cast<const TensorBase&>(*t).contiguous() : TensorBase();
}

template <class T>
const T* data_or_null(const TensorBase& t) {
  return t.defined() ? t.const_data_ptr<T>() : nullptr;
}

/// Calls f(row) for the rows of a batch.
template <class F>
void for_batch(int64_t rows, int64_t size, const F& f) {
  at::parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, size)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) f(row);
  });
}

/// One of the parts of a row's gates: input, hidden and both biases summed.
template <class T>
struct GateSum {
  const T *input, *hidden, *input_bias, *hidden_bias;

  template <class Run>
  VEC_INLINE typename Lanes<T>::V in(int64_t i, Run run) const {
    auto v = load_run(input + i, run);
    return input_bias ? v + load_run(input_bias + i, run) : v;
  }
  template <class Run>
  VEC_INLINE typename Lanes<T>::V rec(int64_t i, Run run) const {
    auto v = load_run(hidden + i, run);
    return hidden_bias ? v + load_run(hidden_bias + i, run) : v;
  }
  template <class Run>
  VEC_INLINE typename Lanes<T>::V sum(int64_t i, Run run) const {
    return in(i, run) + rec(i, run);
  }
};

/// Opens the gates of an LSTM for one row and takes the step. `opened` may be where the sums lie.
template <class T>
VEC_INLINE void lstm_row(const GateSum<T>& gates, const T* old, int64_t size, T* opened, T* cell, T* hidden) {
  for_lanes<T>(size, [&](int64_t i, auto run) {
    const auto in = sigmoid(gates.sum(i, run)), forget = sigmoid(gates.sum(size + i, run));
    const auto candidate = vec::tanh(gates.sum(2 * size + i, run)), out = sigmoid(gates.sum(3 * size + i, run));
    const auto next = forget * load_run(old + i, run) + in * candidate;
    store_run<T>(in, opened + i, run);
    store_run<T>(forget, opened + size + i, run);
    store_run<T>(candidate, opened + 2 * size + i, run);
    store_run<T>(out, opened + 3 * size + i, run);
    store_run<T>(next, cell + i, run);
    store_run<T>(out * vec::tanh(next), hidden + i, run);
  });
}

/// Weights (out x in), laid out once for many products with a few rows.
template <class T>
class PackedWeights {
 public:
  explicit PackedWeights(const TensorBase& w)
      : in_(w.size(1)),
        vectors_(gemm_detail::ceil_div(w.size(0), kWide)),
        data_(c10::GetCPUAllocator()->allocate(static_cast<size_t>(in_ * width()) * sizeof(T))) {
    const T* from = w.const_data_ptr<T>();
    for_panels([&](int64_t col, int vectors) {
      const int64_t lanes = std::min(vectors * kWide, w.size(0) - col);
      gemm_detail::pack_panel<T>(
          from + col * w.stride(0), false, w.stride(0), w.stride(1), lanes, in_, vectors * kWide, panel(col));
    });
  }

  /// Elements of a row of products: `out`, in whole vectors.
  int64_t width() const { return vectors_ * kWide; }

  /// to (rows x width) = x (rows x in) times the transposed weights.
  void multiply(const T* x, int64_t rows, T* to) const {
    for_panels([&](int64_t col, int vectors) {
      for (int64_t row = 0; row < rows;) {
        const int height = gemm_detail::tile_height<1>(rows - row);
        gemm_detail::run_tile<T, 1>(
            height, vectors, in_, {x + row * in_, in_, 1, 0, panel(col), vectors * kWide, 0}, to + row * width() + col, width(),
            /*add=*/false);
        row += height;
      }
    });
  }

 private:
  static constexpr int64_t kWide = gemm_detail::kLanes<T>;

  T* panel(int64_t col) const { return static_cast<T*>(data_.get()) + col * in_; }
  /// Calls f with the first column and the vectors of each panel.
  template <class F>
  void for_panels(const F& f) const {
    for (int64_t v = 0; v < vectors_;) {
      const int vectors = gemm_detail::next_panel_vectors<T>(vectors_ - v);
      f(v * kWide, vectors);
      v += vectors;
    }
  }

  int64_t in_, vectors_;
  c10::DataPtr data_;
};

/// Sums over the batch of a gradient for gates, in double.
template <class T>
void sum_rows(const T* rows, int64_t count, int64_t width, T* to) {
  std::vector<double> sums(width, 0.0);
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t i = 0; i < width; ++i) sums[i] += static_cast<double>(rows[r * width + i]);
  }
  for (int64_t i = 0; i < width; ++i) to[i] = static_cast<T>(sums[i]);
}

} // namespace

void fused_lstm_cell_kernel(const TensorBase& input_gates, const TensorBase& hidden_gates, const TensorBase& cx, const std::optional<Tensor>& input_bias, const std::optional<Tensor>& hidden_bias, const TensorBase& hy, const TensorBase& cy, const TensorBase& workspace) {
  const TensorBase ig = input_gates.contiguous(), hg = hidden_gates.contiguous(), c = cx.contiguous(), ib = dense(input_bias), hb = dense(hidden_bias);
  const int64_t rows = cx.size(0), size = cx.size(1);
  dispatch("_thnn_fused_lstm_cell", cx.scalar_type(), kFloating, [&]<class T> {
    const T* old = c.const_data_ptr<T>();
    T *h = hy.mutable_data_ptr<T>(), *cell = cy.mutable_data_ptr<T>(), *open = workspace.mutable_data_ptr<T>();
    for_batch(rows, size, [&](int64_t row) {
      const GateSum<T> gates{ig.const_data_ptr<T>() + row * 4 * size, hg.const_data_ptr<T>() + row * 4 * size, data_or_null<T>(ib), data_or_null<T>(hb)};
      lstm_row<T>(gates, old + row * size, size, open + row * 4 * size, cell + row * size, h + row * size);
    });
  });
}

void lstm_recurrence(const TensorBase& gates, const TensorBase& hx, const TensorBase& cx, const TensorBase& w_hh, bool reverse, const TensorBase& output, const TensorBase& cells) {
  const int64_t steps = gates.size(0), batch = gates.size(1), size = hx.size(1);
  dispatch("_lstm_steps", gates.scalar_type(), kFloatDouble, [&]<class T> {
    const PackedWeights<T> weights(w_hh);
    T *sums = gates.mutable_data_ptr<T>(), *out = output.mutable_data_ptr<T>(), *cell = cells.mutable_data_ptr<T>();
    // Rows do not know of each other: some of them take all steps, and what is between two steps stays in the cache.
    constexpr int64_t kRows = 2 * gemm_detail::kTileRows<T>;
    const int64_t grain = std::max<int64_t>(1, gemm_detail::kTaskWork / (steps * kRows * 4 * size * size));
    at::parallel_for(0, gemm_detail::ceil_div(batch, kRows), grain, [&](int64_t begin, int64_t end) {
      gemm_detail::Scratch scratch(kRows * weights.width() * static_cast<int64_t>(sizeof(T)));
      T* recurrent = scratch.as<T>();
      for (int64_t first = begin * kRows; first < std::min(end * kRows, batch); first += kRows) {
        const int64_t rows = std::min(kRows, batch - first);
        const T *hidden = hx.const_data_ptr<T>() + first * size, *old = cx.const_data_ptr<T>() + first * size;
        for (int64_t i = 0; i < steps; ++i) {
          weights.multiply(hidden, rows, recurrent);
          const int64_t at = (reverse ? steps - 1 - i : i) * batch + first;
          for (int64_t row = 0; row < rows; ++row) {
            T* const opened = sums + (at + row) * 4 * size;
            lstm_row<T>({opened, recurrent + row * weights.width(), nullptr, nullptr}, old + row * size, size, opened, cell + (at + row) * size, out + (at + row) * size);
          }
          hidden = out + at * size;
          old = cell + at * size;
        }
      }
    });
  });
}

void fused_lstm_cell_backward_kernel(const std::optional<Tensor>& grad_hy, const std::optional<Tensor>& grad_cy, const TensorBase& cx, const TensorBase& cy, const TensorBase& workspace, bool has_bias, const TensorBase& grad_gates, const TensorBase& grad_cx, const TensorBase& grad_bias) {
  const TensorBase gh = dense(grad_hy), gc = dense(grad_cy), before = cx.contiguous(), after = cy.contiguous(), open = workspace.contiguous();
  const int64_t rows = cx.size(0), size = cx.size(1);
  dispatch("_thnn_fused_lstm_cell_backward", cx.scalar_type(), kFloating, [&]<class T> {
    using V = typename Lanes<T>::V;
    using R = typename Lanes<T>::R;
    const T *dh = data_or_null<T>(gh), *dc = data_or_null<T>(gc);
    T *dgates = grad_gates.mutable_data_ptr<T>(), *dcx = grad_cx.mutable_data_ptr<T>();
    for_batch(rows, size, [&](int64_t row) {
      const T* kept = open.const_data_ptr<T>() + row * 4 * size;
      T* to = dgates + row * 4 * size;
      for_lanes<T>(size, [&](int64_t i, auto run) {
        const V one(R(1)), zero(R(0));
        const V in = load_run(kept + i, run), forget = load_run(kept + size + i, run), candidate = load_run(kept + 2 * size + i, run),
                out = load_run(kept + 3 * size + i, run);
        const int64_t at = row * size + i;
        const V squashed = vec::tanh(load_run(after.const_data_ptr<T>() + at, run));
        const V for_h = dh ? load_run(dh + at, run) : zero;
        const V for_c = (dc ? load_run(dc + at, run) : zero) + for_h * out * (one - squashed * squashed);
        const V old = load_run(before.const_data_ptr<T>() + at, run);
        store_run<T>(for_c * candidate * in * (one - in), to + i, run);
        store_run<T>(for_c * old * forget * (one - forget), to + size + i, run);
        store_run<T>(for_c * in * (one - candidate * candidate), to + 2 * size + i, run);
        store_run<T>(for_h * squashed * out * (one - out), to + 3 * size + i, run);
        store_run<T>(for_c * forget, dcx + at, run);
      });
    });
    if (has_bias) sum_rows(dgates, rows, 4 * size, grad_bias.mutable_data_ptr<T>());
  });
}

void fused_gru_cell_kernel(const TensorBase& input_gates, const TensorBase& hidden_gates, const TensorBase& hx, const std::optional<Tensor>& input_bias, const std::optional<Tensor>& hidden_bias, const TensorBase& hy, const TensorBase& workspace) {
  const TensorBase ig = input_gates.contiguous(), hg = hidden_gates.contiguous(), h = hx.contiguous(), ib = dense(input_bias), hb = dense(hidden_bias);
  const int64_t rows = hx.size(0), size = hx.size(1);
  dispatch("_thnn_fused_gru_cell", hx.scalar_type(), kFloating, [&]<class T> {
    T *next = hy.mutable_data_ptr<T>(), *open = workspace.mutable_data_ptr<T>();
    for_batch(rows, size, [&](int64_t row) {
      const GateSum<T> gates{ig.const_data_ptr<T>() + row * 3 * size, hg.const_data_ptr<T>() + row * 3 * size, data_or_null<T>(ib), data_or_null<T>(hb)};
      T* kept = open + row * 5 * size;
      for_lanes<T>(size, [&](int64_t i, auto run) {
        const auto reset = sigmoid(gates.sum(i, run)), update = sigmoid(gates.sum(size + i, run));
        const auto recurrent = gates.rec(2 * size + i, run);
        const auto candidate = vec::tanh(gates.in(2 * size + i, run) + reset * recurrent);
        const auto old = load_run(h.const_data_ptr<T>() + row * size + i, run);
        store_run<T>(reset, kept + i, run);
        store_run<T>(update, kept + size + i, run);
        store_run<T>(candidate, kept + 2 * size + i, run);
        store_run<T>(old, kept + 3 * size + i, run);
        store_run<T>(recurrent, kept + 4 * size + i, run);
        store_run<T>((old - candidate) * update + candidate, next + row * size + i, run);
      });
    });
  });
}

void fused_gru_cell_backward_kernel(const TensorBase& grad_hy, const TensorBase& workspace, bool has_bias, const TensorBase& grad_input_gates, const TensorBase& grad_hidden_gates, const TensorBase& grad_hx, const TensorBase& grad_input_bias, const TensorBase& grad_hidden_bias) {
  const TensorBase g = grad_hy.contiguous(), open = workspace.contiguous();
  const int64_t rows = grad_hy.size(0), size = grad_hy.size(1);
  dispatch("_thnn_fused_gru_cell_backward", grad_hy.scalar_type(), kFloating, [&]<class T> {
    using V = typename Lanes<T>::V;
    using R = typename Lanes<T>::R;
    T *din = grad_input_gates.mutable_data_ptr<T>(), *drec = grad_hidden_gates.mutable_data_ptr<T>(), *dhx = grad_hx.mutable_data_ptr<T>();
    for_batch(rows, size, [&](int64_t row) {
      const T* kept = open.const_data_ptr<T>() + row * 5 * size;
      T *to_in = din + row * 3 * size, *to_rec = drec + row * 3 * size;
      for_lanes<T>(size, [&](int64_t i, auto run) {
        const V one(R(1)), dh = load_run(g.const_data_ptr<T>() + row * size + i, run);
        const V reset = load_run(kept + i, run), update = load_run(kept + size + i, run), candidate = load_run(kept + 2 * size + i, run),
                old = load_run(kept + 3 * size + i, run), recurrent = load_run(kept + 4 * size + i, run);
        const V for_candidate = dh * (one - update) * (one - candidate * candidate);
        const V for_update = dh * (old - candidate) * update * (one - update);
        const V for_reset = for_candidate * recurrent * reset * (one - reset);
        store_run<T>(for_reset, to_in + i, run);
        store_run<T>(for_update, to_in + size + i, run);
        store_run<T>(for_candidate, to_in + 2 * size + i, run);
        store_run<T>(for_reset, to_rec + i, run);
        store_run<T>(for_update, to_rec + size + i, run);
        store_run<T>(for_candidate * reset, to_rec + 2 * size + i, run);
        store_run<T>(dh * update, dhx + row * size + i, run);
      });
    });
    if (!has_bias) return;
    sum_rows(din, rows, 3 * size, grad_input_bias.mutable_data_ptr<T>());
    sum_rows(drec, rows, 3 * size, grad_hidden_bias.mutable_data_ptr<T>());
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
