// Gates of recurrent cells, everything that is done element by element between two matrix products, and all steps of a
// layer.

#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/gemm_kernels.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/support/recurrence.h>
#include <aten/native/vec/math.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
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
    for (int64_t row = begin; row < end; ++row) {
      f(row);
    }
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

/// Opens the gates of a GRU for one row and takes the step. `opened` may be where the inputs' sums lie; `recurrent`
/// receives the recurrent sums of the candidates.
template <class T>
VEC_INLINE void gru_row(const GateSum<T>& gates, const T* old, int64_t size, T* opened, T* recurrent, T* hidden) {
  for_lanes<T>(size, [&](int64_t i, auto run) {
    const auto reset = sigmoid(gates.sum(i, run)), update = sigmoid(gates.sum(size + i, run));
    const auto back = gates.rec(2 * size + i, run);
    const auto candidate = vec::tanh(gates.in(2 * size + i, run) + reset * back);
    store_run<T>(reset, opened + i, run);
    store_run<T>(update, opened + size + i, run);
    store_run<T>(candidate, opened + 2 * size + i, run);
    store_run<T>(back, recurrent + i, run);
    store_run<T>((load_run(old + i, run) - candidate) * update + candidate, hidden + i, run);
  });
}

/// A gradient that is the sum of some rows, those that are not null.
template <class T>
struct RowSum {
  std::array<const T*, 3> rows;

  template <class Run>
  VEC_INLINE typename Lanes<T>::V at(int64_t i, Run run) const {
    typename Lanes<T>::V sum(typename Lanes<T>::R(0));
    for (const T* row : rows) {
      if (row) {
        sum = sum + load_run(row + i, run);
      }
    }
    return sum;
  }
};

/// One step of an LSTM back, for one row: gradients of the sums and of the cell state before.
template <class T>
VEC_INLINE void lstm_row_backward(
    const RowSum<T>& dh,
    const RowSum<T>& dc,
    const T* opened,
    const T* before,
    const T* after,
    int64_t size,
    T* to,
    T* to_cell) {
  using V = typename Lanes<T>::V;
  for_lanes<T>(size, [&](int64_t i, auto run) {
    const V one(typename Lanes<T>::R(1));
    const V in = load_run(opened + i, run), forget = load_run(opened + size + i, run),
            candidate = load_run(opened + 2 * size + i, run), out = load_run(opened + 3 * size + i, run);
    const V squashed = vec::tanh(load_run(after + i, run));
    const V for_h = dh.at(i, run), for_c = dc.at(i, run) + for_h * out * (one - squashed * squashed);
    store_run<T>(for_c * candidate * in * (one - in), to + i, run);
    store_run<T>(for_c * load_run(before + i, run) * forget * (one - forget), to + size + i, run);
    store_run<T>(for_c * in * (one - candidate * candidate), to + 2 * size + i, run);
    store_run<T>(for_h * squashed * out * (one - out), to + 3 * size + i, run);
    store_run<T>(for_c * forget, to_cell + i, run);
  });
}

/// One step of a GRU back, for one row: gradients of both kinds of sums, and of the state before but through its
/// product.
template <class T>
VEC_INLINE void gru_row_backward(
    const RowSum<T>& dh,
    const T* opened,
    const T* recurrent,
    const T* old,
    int64_t size,
    T* to_in,
    T* to_rec,
    T* to_hidden) {
  using V = typename Lanes<T>::V;
  for_lanes<T>(size, [&](int64_t i, auto run) {
    const V one(typename Lanes<T>::R(1)), grad = dh.at(i, run);
    const V reset = load_run(opened + i, run), update = load_run(opened + size + i, run),
            candidate = load_run(opened + 2 * size + i, run);
    const V for_candidate = grad * (one - update) * (one - candidate * candidate);
    const V for_update = grad * (load_run(old + i, run) - candidate) * update * (one - update);
    const V for_reset = for_candidate * load_run(recurrent + i, run) * reset * (one - reset);
    store_run<T>(for_reset, to_in + i, run);
    store_run<T>(for_update, to_in + size + i, run);
    store_run<T>(for_candidate, to_in + 2 * size + i, run);
    store_run<T>(for_reset, to_rec + i, run);
    store_run<T>(for_update, to_rec + size + i, run);
    store_run<T>(for_candidate * reset, to_rec + 2 * size + i, run);
    store_run<T>(grad * update, to_hidden + i, run);
  });
}

/// Weights (out x in), laid out once for many products with a few rows.
template <class T>
class PackedWeights {
 public:
  explicit PackedWeights(const TensorBase& w, bool transposed = false)
      : in_(w.size(transposed ? 0 : 1)),
        vectors_(gemm_detail::ceil_div(w.size(transposed ? 1 : 0), kWide)),
        data_(c10::GetCPUAllocator()->allocate(static_cast<size_t>(in_ * width()) * sizeof(T))) {
    const T* from = w.const_data_ptr<T>();
    const int64_t out = w.size(transposed ? 1 : 0), out_stride = w.stride(transposed ? 1 : 0),
                  in_stride = w.stride(transposed ? 0 : 1);
    for_panels([&](int64_t col, int vectors) {
      const int64_t lanes = std::min(vectors * kWide, out - col);
      gemm_detail::pack_panel<T>(
          from + col * out_stride, false, out_stride, in_stride, lanes, in_, vectors * kWide, panel(col));
    });
  }

  /// Elements of a row of products: `out`, in whole vectors.
  int64_t width() const {
    return vectors_ * kWide;
  }

  /// to (rows x width) = x (rows x in) times the transposed weights.
  void multiply(const T* x, int64_t rows, T* to) const {
    for_panels([&](int64_t col, int vectors) {
      for (int64_t row = 0; row < rows;) {
        const int height = gemm_detail::tile_height<1>(rows - row);
        for (int64_t from = 0; from < in_; from += kDepth) {
          gemm_detail::run_tile<T, 1>(
              height, vectors, std::min(kDepth, in_ - from),
              {x + row * in_ + from, in_, 1, 0, panel(col) + from * vectors * kWide, vectors * kWide, 0},
              to + row * width() + col, width(),
              /*add=*/from != 0);
        }
        row += height;
      }
    });
  }

 private:
  static constexpr int64_t kWide = gemm_detail::kLanes<T>;
  static constexpr int64_t kDepth = gemm_detail::BlockShape<T>::kDepth; // elements summed before the next are begun

  T* panel(int64_t col) const {
    return static_cast<T*>(data_.get()) + col * in_;
  }
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
    for (int64_t i = 0; i < width; ++i) {
      sums[i] += static_cast<double>(rows[r * width + i]);
    }
  }
  for (int64_t i = 0; i < width; ++i) {
    to[i] = static_cast<T>(sums[i]);
  }
}

} // namespace

void fused_lstm_cell_kernel(
    const TensorBase& input_gates,
    const TensorBase& hidden_gates,
    const TensorBase& cx,
    const std::optional<Tensor>& input_bias,
    const std::optional<Tensor>& hidden_bias,
    const TensorBase& hy,
    const TensorBase& cy,
    const TensorBase& workspace) {
  const TensorBase ig = input_gates.contiguous(), hg = hidden_gates.contiguous(), c = cx.contiguous(),
                   ib = dense(input_bias), hb = dense(hidden_bias);
  const int64_t rows = cx.size(0), size = cx.size(1);
  dispatch("_thnn_fused_lstm_cell", cx.scalar_type(), kFloating, [&]<class T> {
    const T* old = c.const_data_ptr<T>();
    T *h = hy.mutable_data_ptr<T>(), *cell = cy.mutable_data_ptr<T>(), *open = workspace.mutable_data_ptr<T>();
    for_batch(rows, size, [&](int64_t row) {
      const GateSum<T> gates{
          ig.const_data_ptr<T>() + row * 4 * size, hg.const_data_ptr<T>() + row * 4 * size, data_or_null<T>(ib),
          data_or_null<T>(hb)};
      lstm_row<T>(gates, old + row * size, size, open + row * 4 * size, cell + row * size, h + row * size);
    });
  });
}

// ---- all steps
// -----------------------------------------------------------------------------------------------------------

namespace {

/// What a step has of a row: pointers that are null where the cell has no such thing. T is constant on the way back.
template <class T>
struct StepRow {
  T *gates, *recurrent, *hidden, *cell;
  const T *hidden_before, *cell_before;
};

/// What a step back has of it besides.
template <class T>
struct GradRow {
  const T *output, *cells; // from above
  const T* product; // from the step after, through its recurrent sums
  T *gates, *recurrent;
  T *hidden, *cell; // of the first states; until then what goes from step to step besides products
  bool is_last; // nothing comes from a step after
};

struct LstmSteps {
  static constexpr int64_t kGates = 4;
  static constexpr bool kCarriesHidden = false; // whether the state before also takes part without a product
  template <class T>
  static void forward(const StepRow<T>& s, const T* product, const T*, int64_t size) {
    lstm_row<T>({s.gates, product, nullptr, nullptr}, s.cell_before, size, s.gates, s.cell, s.hidden);
  }
  template <class T>
  static void backward(const StepRow<const T>& s, const GradRow<T>& g, int64_t size) {
    lstm_row_backward<T>(
        {{g.output, g.product}}, {{g.cells, g.is_last ? nullptr : g.cell}}, s.gates, s.cell_before, s.cell, size,
        g.gates, g.cell);
  }
};

struct GruSteps {
  static constexpr int64_t kGates = 3;
  static constexpr bool kCarriesHidden = true;
  template <class T>
  static void forward(const StepRow<T>& s, const T* product, const T* bias, int64_t size) {
    gru_row<T>({s.gates, product, nullptr, bias}, s.hidden_before, size, s.gates, s.recurrent, s.hidden);
  }
  template <class T>
  static void backward(const StepRow<const T>& s, const GradRow<T>& g, int64_t size) {
    gru_row_backward<T>(
        {{g.output, g.product, g.is_last ? nullptr : g.hidden}}, s.gates, s.recurrent, s.hidden_before, size, g.gates,
        g.recurrent, g.hidden);
  }
};

struct TanhStep {
  template <class V>
  static VEC_INLINE V value(V sum) {
    return vec::tanh(sum);
  }
  template <class V>
  static VEC_INLINE V grad(V grad, V value) {
    return grad * (V(typename V::value_type(1)) - value * value);
  }
};

struct ReluStep {
  template <class V>
  static VEC_INLINE V value(V sum) {
    const V zero(typename V::value_type(0));
    return select(sum <= zero, zero, sum);
  }
  template <class V>
  static VEC_INLINE V grad(V grad, V value) {
    const V zero(typename V::value_type(0));
    return select(value <= zero, zero, grad);
  }
};

template <class Activation>
struct SimpleSteps {
  static constexpr int64_t kGates = 1;
  static constexpr bool kCarriesHidden = false;
  template <class T>
  static void forward(const StepRow<T>& s, const T* product, const T*, int64_t size) {
    for_lanes<T>(size, [&](int64_t i, auto run) {
      store_run<T>(Activation::value(load_run(s.gates + i, run) + load_run(product + i, run)), s.hidden + i, run);
    });
  }
  template <class T>
  static void backward(const StepRow<const T>& s, const GradRow<T>& g, int64_t size) {
    const RowSum<T> dh{{g.output, g.product}};
    for_lanes<T>(size, [&](int64_t i, auto run) {
      store_run<T>(Activation::grad(dh.at(i, run), load_run(s.hidden + i, run)), g.gates + i, run);
    });
  }
};

/// Calls f with a cell's steps and the type of the states.
template <class F>
void dispatch_steps(const Recurrence& r, const F& f) {
  dispatch("recurrence", r.hx.scalar_type(), kFloatDouble, [&]<class T> {
    switch (r.cell) {
      case RecurrentCell::lstm:
        return f.template operator()<LstmSteps, T>();
      case RecurrentCell::gru:
        return f.template operator()<GruSteps, T>();
      case RecurrentCell::tanh:
        return f.template operator()<SimpleSteps<TanhStep>, T>();
      case RecurrentCell::relu:
        return f.template operator()<SimpleSteps<ReluStep>, T>();
    }
  });
}

/// The rows of a tensor, or none where it is undefined.
template <class T>
struct Rows {
  T* data = nullptr;
  int64_t width;

  Rows(const TensorBase& t, int64_t width) : width(width) {
    if (!t.defined()) {
      return;
    }
    if constexpr (std::is_const_v<T>) {
      data = t.const_data_ptr<std::remove_const_t<T>>();
    } else {
      data = t.mutable_data_ptr<T>();
    }
  }
  T* operator[](int64_t row) const {
    return data ? data + row * width : nullptr;
  }
};

template <class T>
struct StepTensors {
  StepRows rows;
  int64_t size, gate_count;
  Rows<T> gates, recurrent, output, cells;
  Rows<const T> hx, cx;

  StepTensors(const Recurrence& r, int64_t gate_count)
      : rows(r.rows()),
        size(r.hx.size(1)),
        gate_count(gate_count),
        gates(r.gates, gate_count * size),
        recurrent(r.recurrent, size),
        output(r.output, size),
        cells(r.cells, size),
        hx(r.hx, size),
        cx(r.cx, size) {}

  /// What step t has of sequence r.
  StepRow<T> row(int64_t t, int64_t r) const {
    const int64_t now = rows.first(t) + r;
    if (r >= rows.continued(t)) {
      return {gates[now], recurrent[now], output[now], cells[now], hx[r], cx[r]};
    }
    const int64_t before = rows.first(rows.before(t)) + r;
    return {gates[now], recurrent[now], output[now], cells[now], output[before], cells[before]};
  }

  /// Calls f(first row, rows, scratch) for parts of the batch. Rows do not know of each other: some of them take all
  /// steps, and what is between two steps stays in the cache.
  template <class F>
  void for_rows(int64_t scratch_width, const F& f) const {
    using Scalar = std::remove_const_t<T>;
    constexpr int64_t kTile = gemm_detail::kTileRows<Scalar>;
    const int64_t batch = rows.batch(), share = gemm_detail::ceil_div(batch, at::get_num_threads());
    const int64_t part = std::min(2 * kTile, gemm_detail::ceil_div(share, kTile) * kTile);
    const int64_t grain = std::max<int64_t>(
        1, gemm_detail::kTaskWork / std::max<int64_t>(1, rows.steps() * part * gate_count * size * size));
    at::parallel_for(0, gemm_detail::ceil_div(batch, part), grain, [&](int64_t begin, int64_t end) {
      gemm_detail::Scratch scratch(part * scratch_width * static_cast<int64_t>(sizeof(T)));
      for (int64_t first = begin * part; first < std::min(end * part, batch); first += part) {
        f(first, std::min(part, batch - first), scratch.as<Scalar>());
      }
    });
  }
};

} // namespace

void recurrence_steps(const Recurrence& r) {
  dispatch_steps(r, [&]<class Cell, class T> {
    const StepTensors<T> t(r, Cell::kGates);
    const PackedWeights<T> weights(r.w_hh);
    const TensorBase bias = r.b_hh.defined() ? r.b_hh.contiguous() : TensorBase();
    t.for_rows(weights.width(), [&](int64_t first, int64_t rows, T* products) {
      for (int64_t i = 0; i < t.rows.steps(); ++i) {
        const int64_t step = t.rows.nth(i), live = std::min(rows, t.rows.live(step) - first);
        if (live <= 0) {
          continue;
        }
        const int64_t continued = std::clamp<int64_t>(t.rows.continued(step) - first, 0, live);
        if (continued > 0) {
          weights.multiply(t.row(step, first).hidden_before, continued, products);
        }
        if (continued < live) {
          weights.multiply(t.hx[first + continued], live - continued, products + continued * weights.width());
        }
        for (int64_t row = 0; row < live; ++row) {
          Cell::template forward<T>(
              t.row(step, first + row), products + row * weights.width(), data_or_null<T>(bias), t.size);
        }
      }
    });
  });
}

void recurrence_backward_steps(const Recurrence& r, const RecurrenceGrads& grads) {
  dispatch_steps(r, [&]<class Cell, class T> {
    const StepTensors<const T> t(r, Cell::kGates);
    const PackedWeights<T> weights(r.w_hh, /*transposed=*/true);
    const int64_t sums = Cell::kGates * t.size;
    const Rows<const T> for_output(grads.output, t.size), for_cells(grads.cells, t.size);
    const Rows<T> for_gates(grads.gates, sums), for_recurrent(grads.recurrent, sums), for_hx(grads.hx, t.size),
        for_cx(grads.cx, t.size);
    t.for_rows(weights.width(), [&](int64_t first, int64_t rows, T* products) {
      for (int64_t i = t.rows.steps(); i-- > 0;) {
        const int64_t step = t.rows.nth(i), live = std::min(rows, t.rows.live(step) - first);
        if (live <= 0) {
          continue;
        }
        const int64_t followed = t.rows.followed(step) - first, at = t.rows.first(step) + first;
        for (int64_t row = 0; row < live; ++row) {
          const bool is_last = row >= followed;
          Cell::template backward<T>(
              t.row(step, first + row),
              {for_output[at + row], for_cells[at + row], is_last ? nullptr : products + row * weights.width(),
               for_gates[at + row], for_recurrent[at + row], for_hx[first + row], for_cx[first + row], is_last},
              t.size);
        }
        weights.multiply(for_recurrent[at], live, products);
        // Gradients of the first states, for sequences that begin with this step.
        for (int64_t row = std::max<int64_t>(0, t.rows.continued(step) - first); row < live; ++row) {
          T* const to = for_hx[first + row];
          for (int64_t j = 0; j < t.size; ++j) {
            const T product = products[row * weights.width() + j];
            to[j] = Cell::kCarriesHidden ? to[j] + product : product;
          }
        }
      }
    });
  });
}

// ---- steps back of cells
// -------------------------------------------------------------------------------------------------

void fused_lstm_cell_backward_kernel(
    const std::optional<Tensor>& grad_hy,
    const std::optional<Tensor>& grad_cy,
    const TensorBase& cx,
    const TensorBase& cy,
    const TensorBase& workspace,
    bool has_bias,
    const TensorBase& grad_gates,
    const TensorBase& grad_cx,
    const TensorBase& grad_bias) {
  const TensorBase gh = dense(grad_hy), gc = dense(grad_cy), before = cx.contiguous(), after = cy.contiguous(),
                   open = workspace.contiguous();
  const int64_t rows = cx.size(0), size = cx.size(1);
  dispatch("_thnn_fused_lstm_cell_backward", cx.scalar_type(), kFloating, [&]<class T> {
    const T *dh = data_or_null<T>(gh), *dc = data_or_null<T>(gc);
    T *dgates = grad_gates.mutable_data_ptr<T>(), *dcx = grad_cx.mutable_data_ptr<T>();
    for_batch(rows, size, [&](int64_t row) {
      const int64_t at = row * size;
      lstm_row_backward<T>(
          {{dh ? dh + at : nullptr}}, {{dc ? dc + at : nullptr}}, open.const_data_ptr<T>() + 4 * at,
          before.const_data_ptr<T>() + at, after.const_data_ptr<T>() + at, size, dgates + 4 * at, dcx + at);
    });
    if (has_bias) {
      sum_rows(dgates, rows, 4 * size, grad_bias.mutable_data_ptr<T>());
    }
  });
}

void fused_gru_cell_kernel(
    const TensorBase& input_gates,
    const TensorBase& hidden_gates,
    const TensorBase& hx,
    const std::optional<Tensor>& input_bias,
    const std::optional<Tensor>& hidden_bias,
    const TensorBase& hy,
    const TensorBase& workspace) {
  const TensorBase ig = input_gates.contiguous(), hg = hidden_gates.contiguous(), h = hx.contiguous(),
                   ib = dense(input_bias), hb = dense(hidden_bias);
  const int64_t rows = hx.size(0), size = hx.size(1);
  dispatch("_thnn_fused_gru_cell", hx.scalar_type(), kFloating, [&]<class T> {
    T *next = hy.mutable_data_ptr<T>(), *open = workspace.mutable_data_ptr<T>();
    for_batch(rows, size, [&](int64_t row) {
      const GateSum<T> gates{
          ig.const_data_ptr<T>() + row * 3 * size, hg.const_data_ptr<T>() + row * 3 * size, data_or_null<T>(ib),
          data_or_null<T>(hb)};
      const T* old = h.const_data_ptr<T>() + row * size;
      T* kept = open + row * 5 * size;
      gru_row<T>(gates, old, size, kept, kept + 4 * size, next + row * size);
      std::copy_n(old, size, kept + 3 * size);
    });
  });
}

void fused_gru_cell_backward_kernel(
    const TensorBase& grad_hy,
    const TensorBase& workspace,
    bool has_bias,
    const TensorBase& grad_input_gates,
    const TensorBase& grad_hidden_gates,
    const TensorBase& grad_hx,
    const TensorBase& grad_input_bias,
    const TensorBase& grad_hidden_bias) {
  const TensorBase g = grad_hy.contiguous(), open = workspace.contiguous();
  const int64_t rows = grad_hy.size(0), size = grad_hy.size(1);
  dispatch("_thnn_fused_gru_cell_backward", grad_hy.scalar_type(), kFloating, [&]<class T> {
    T *din = grad_input_gates.mutable_data_ptr<T>(), *drec = grad_hidden_gates.mutable_data_ptr<T>(),
      *dhx = grad_hx.mutable_data_ptr<T>();
    for_batch(rows, size, [&](int64_t row) {
      const T* kept = open.const_data_ptr<T>() + row * 5 * size;
      gru_row_backward<T>(
          {{g.const_data_ptr<T>() + row * size}}, kept, kept + 4 * size, kept + 3 * size, size, din + row * 3 * size,
          drec + row * 3 * size, dhx + row * size);
    });
    if (!has_bias) {
      return;
    }
    sum_rows(din, rows, 3 * size, grad_input_bias.mutable_data_ptr<T>());
    sum_rows(drec, rows, 3 * size, grad_hidden_bias.mutable_data_ptr<T>());
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
