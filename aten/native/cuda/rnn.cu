#include <aten/native/cuda/rnn.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class R>
__device__ R sigmoid(R x) {
  return R(1) / (R(1) + ::exp(-x));
}

template <class T, class R>
__device__ R at_or_zero(const void* array, std::int64_t i) {
  return array != nullptr ? static_cast<R>(widen(static_cast<const T*>(array)[i])) : R(0);
}

/// Which unit of which row a thread has.
struct Unit {
  std::int64_t row, i;
  bool exists;

  __device__ explicit Unit(const CellRows& p) {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    row = at / p.size;
    i = at - row * p.size;
    exists = row < p.rows;
  }
};

/// Part `part` of the sums of a unit.
template <class T, class R>
struct Gates {
  const CellRows& p;
  const GateSums& sums;
  const Unit& unit;
  int parts;

  __device__ R input(int part) const {
    const std::int64_t at = part * p.size + unit.i;
    return at_or_zero<T, R>(sums.input, unit.row * parts * p.size + at) + at_or_zero<T, R>(sums.input_bias, at);
  }
  __device__ R hidden(int part) const {
    const std::int64_t at = part * p.size + unit.i;
    return at_or_zero<T, R>(sums.hidden, unit.row * parts * p.size + at) + at_or_zero<T, R>(sums.hidden_bias, at);
  }
  __device__ R sum(int part) const {
    return input(part) + hidden(part);
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) lstm_cell(CellRows p, GateSums sums, const T* cx, T* hy, T* cy, T* open) {
  using R = opmath_type<T>;
  const Unit unit(p);
  if (!unit.exists) {
    return;
  }
  const Gates<T, R> gates{p, sums, unit, 4};
  const std::int64_t at = unit.row * p.size + unit.i;
  const R in = sigmoid(gates.sum(0)), forget = sigmoid(gates.sum(1)), candidate = ::tanh(gates.sum(2)),
          out = sigmoid(gates.sum(3));
  const R cell = forget * widen(cx[at]) + in * candidate;
  const R kept[4] = {in, forget, candidate, out};
  for (int part = 0; part < 4; ++part) {
    open[(unit.row * 4 + part) * p.size + unit.i] = narrow<T>(kept[part]);
  }
  cy[at] = narrow<T>(cell);
  hy[at] = narrow<T>(out * ::tanh(cell));
}

template <class T>
__global__ void __launch_bounds__(kThreads) lstm_cell_backward(
    CellRows p,
    const T* grad_hy,
    const T* grad_cy,
    const T* cx,
    const T* cy,
    const T* open,
    T* grad_gates,
    T* grad_cx) {
  using R = opmath_type<T>;
  const Unit unit(p);
  if (!unit.exists) {
    return;
  }
  const std::int64_t at = unit.row * p.size + unit.i, first = unit.row * 4 * p.size + unit.i;
  const R in = widen(open[first]), forget = widen(open[first + p.size]), candidate = widen(open[first + 2 * p.size]),
          out = widen(open[first + 3 * p.size]), squashed = ::tanh(R(widen(cy[at])));
  const R for_h = at_or_zero<T, R>(grad_hy, at);
  const R for_c = for_h * out * (1 - squashed * squashed) + at_or_zero<T, R>(grad_cy, at);
  grad_gates[first] = narrow<T>(for_c * candidate * in * (1 - in));
  grad_gates[first + p.size] = narrow<T>(for_c * R(widen(cx[at])) * forget * (1 - forget));
  grad_gates[first + 2 * p.size] = narrow<T>(for_c * in * (1 - candidate * candidate));
  grad_gates[first + 3 * p.size] = narrow<T>(for_h * squashed * out * (1 - out));
  grad_cx[at] = narrow<T>(for_c * forget);
}

template <class T>
__global__ void __launch_bounds__(kThreads) gru_cell(CellRows p, GateSums sums, const T* hx, T* hy, T* open) {
  using R = opmath_type<T>;
  const Unit unit(p);
  if (!unit.exists) {
    return;
  }
  const Gates<T, R> gates{p, sums, unit, 3};
  const std::int64_t at = unit.row * p.size + unit.i;
  const R reset = sigmoid(gates.sum(0)), update = sigmoid(gates.sum(1)), recurrent = gates.hidden(2),
          old = widen(hx[at]);
  const R candidate = ::tanh(gates.input(2) + reset * recurrent);
  const R kept[5] = {reset, update, candidate, old, recurrent};
  for (int part = 0; part < 5; ++part) {
    open[(unit.row * 5 + part) * p.size + unit.i] = narrow<T>(kept[part]);
  }
  hy[at] = narrow<T>((old - candidate) * update + candidate);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    gru_cell_backward(CellRows p, const T* grad_hy, const T* open, T* grad_input, T* grad_hidden, T* grad_hx) {
  using R = opmath_type<T>;
  const Unit unit(p);
  if (!unit.exists) {
    return;
  }
  const std::int64_t at = unit.row * p.size + unit.i, kept = unit.row * 5 * p.size + unit.i,
                     to = unit.row * 3 * p.size + unit.i;
  const R reset = widen(open[kept]), update = widen(open[kept + p.size]), candidate = widen(open[kept + 2 * p.size]),
          old = widen(open[kept + 3 * p.size]), recurrent = widen(open[kept + 4 * p.size]), g = widen(grad_hy[at]);
  const R for_candidate = g * (1 - update) * (1 - candidate * candidate);
  const R for_update = g * (old - candidate) * update * (1 - update);
  const R for_reset = for_candidate * recurrent * reset * (1 - reset);
  grad_input[to] = grad_hidden[to] = narrow<T>(for_reset);
  grad_input[to + p.size] = grad_hidden[to + p.size] = narrow<T>(for_update);
  grad_input[to + 2 * p.size] = narrow<T>(for_candidate);
  grad_hidden[to + 2 * p.size] = narrow<T>(for_candidate * reset);
  grad_hx[at] = narrow<T>(g * update);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    gru_step(CellRows p, T* gates, const T* hidden_sums, const T* hx, T* hy, T* recurrent) {
  using R = opmath_type<T>;
  const Unit unit(p);
  if (!unit.exists) {
    return;
  }
  const std::int64_t at = unit.row * p.size + unit.i, first = unit.row * 3 * p.size + unit.i;
  const auto gate = [&](int part) { return R(widen(gates[first + part * p.size])); };
  const auto back = [&](int part) { return R(widen(hidden_sums[first + part * p.size])); };
  const R reset = sigmoid(gate(0) + back(0)), update = sigmoid(gate(1) + back(1)), kept = back(2), old = widen(hx[at]);
  const R candidate = ::tanh(gate(2) + reset * kept);
  gates[first] = narrow<T>(reset);
  gates[first + p.size] = narrow<T>(update);
  gates[first + 2 * p.size] = narrow<T>(candidate);
  recurrent[at] = narrow<T>(kept);
  hy[at] = narrow<T>((old - candidate) * update + candidate);
}

template <class T>
__global__ void __launch_bounds__(kThreads) gru_step_backward(
    CellRows p,
    const T* grad_hy,
    const T* open,
    const T* recurrent,
    const T* hx,
    T* grad_gates,
    T* grad_hidden_sums,
    T* grad_hx) {
  using R = opmath_type<T>;
  const Unit unit(p);
  if (!unit.exists) {
    return;
  }
  const std::int64_t at = unit.row * p.size + unit.i, first = unit.row * 3 * p.size + unit.i;
  const R reset = widen(open[first]), update = widen(open[first + p.size]), candidate = widen(open[first + 2 * p.size]),
          g = widen(grad_hy[at]);
  const R for_candidate = g * (1 - update) * (1 - candidate * candidate);
  const R for_update = g * (R(widen(hx[at])) - candidate) * update * (1 - update);
  const R for_reset = for_candidate * R(widen(recurrent[at])) * reset * (1 - reset);
  grad_gates[first] = grad_hidden_sums[first] = narrow<T>(for_reset);
  grad_gates[first + p.size] = grad_hidden_sums[first + p.size] = narrow<T>(for_update);
  grad_gates[first + 2 * p.size] = narrow<T>(for_candidate);
  grad_hidden_sums[first + 2 * p.size] = narrow<T>(for_candidate * reset);
  grad_hx[at] = narrow<T>(g * update);
}

unsigned cell_blocks(const CellRows& p) {
  return blocks_of(p.rows * p.size, kThreads);
}

} // namespace

void launch_lstm_cell(const CellRows& p, const GateSums& gates, const void* cx, void* hy, void* cy, void* open) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    lstm_cell<T><<<cell_blocks(p), kThreads, 0, p.stream>>>(
        p, gates, static_cast<const T*>(cx), static_cast<T*>(hy), static_cast<T*>(cy), static_cast<T*>(open));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_lstm_cell_backward(
    const CellRows& p,
    const void* grad_hy,
    const void* grad_cy,
    const void* cx,
    const void* cy,
    const void* open,
    void* grad_gates,
    void* grad_cx) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    lstm_cell_backward<T><<<cell_blocks(p), kThreads, 0, p.stream>>>(
        p, static_cast<const T*>(grad_hy), static_cast<const T*>(grad_cy), static_cast<const T*>(cx),
        static_cast<const T*>(cy), static_cast<const T*>(open), static_cast<T*>(grad_gates), static_cast<T*>(grad_cx));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_gru_cell(const CellRows& p, const GateSums& gates, const void* hx, void* hy, void* open) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    gru_cell<T><<<cell_blocks(p), kThreads, 0, p.stream>>>(
        p, gates, static_cast<const T*>(hx), static_cast<T*>(hy), static_cast<T*>(open));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_gru_cell_backward(
    const CellRows& p, const void* grad_hy, const void* open, void* grad_input, void* grad_hidden, void* grad_hx) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    gru_cell_backward<T><<<cell_blocks(p), kThreads, 0, p.stream>>>(
        p, static_cast<const T*>(grad_hy), static_cast<const T*>(open), static_cast<T*>(grad_input),
        static_cast<T*>(grad_hidden), static_cast<T*>(grad_hx));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_gru_step(
    const CellRows& p, void* gates, const void* hidden_sums, const void* hx, void* hy, void* recurrent) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    gru_step<T><<<cell_blocks(p), kThreads, 0, p.stream>>>(
        p, static_cast<T*>(gates), static_cast<const T*>(hidden_sums), static_cast<const T*>(hx), static_cast<T*>(hy),
        static_cast<T*>(recurrent));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_gru_step_backward(
    const CellRows& p,
    const void* grad_hy,
    const void* open,
    const void* recurrent,
    const void* hx,
    void* grad_gates,
    void* grad_hidden_sums,
    void* grad_hx) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    gru_step_backward<T><<<cell_blocks(p), kThreads, 0, p.stream>>>(
        p, static_cast<const T*>(grad_hy), static_cast<const T*>(open), static_cast<const T*>(recurrent),
        static_cast<const T*>(hx), static_cast<T*>(grad_gates), static_cast<T*>(grad_hidden_sums),
        static_cast<T*>(grad_hx));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
