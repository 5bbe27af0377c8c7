// All steps of one direction of a recurrent layer: by the kernel where it takes them, else step by step with operators.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/support/optional_tensor.h>
#include <aten/native/support/recurrence.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <tuple>

namespace at::native {

void check_batch_sizes(const char* op, IntArrayRef batch_sizes, int64_t rows) {
  int64_t total = 0;
  for (size_t i = 0; i < batch_sizes.size(); ++i) {
    const int64_t n = batch_sizes[i];
    TORCH_CHECK(
        n > 0 && (i == 0 || n <= batch_sizes[i - 1]), op, ": batch_sizes must be positive and not grow, got ", n,
        " at step ", i);
    TORCH_CHECK(
        n <= rows - total, op, ": batch_sizes must add up to the rows of data, ", rows, ", got ", n, " at step ", i);
    total += n;
  }
  TORCH_CHECK(total == rows, op, ": batch_sizes add up to ", total, ", but data has ", rows, " rows");
}

namespace {

using OptionalTensor = std::optional<Tensor>;

void check_steps(const char* op, const Tensor& input, std::initializer_list<Tensor> states, IntArrayRef batch_sizes) {
  if (batch_sizes.empty()) {
    TORCH_CHECK(
        input.dim() == 3 && input.size(0) > 0, op,
        ": expected an input of steps, batch and features, at least one step, got ", input.sizes());
  } else {
    TORCH_CHECK(input.dim() == 2, op, ": expected packed rows of features, got ", input.sizes());
    check_batch_sizes(op, batch_sizes, input.size(0));
  }
  const int64_t batch = batch_sizes.empty() ? input.size(1) : batch_sizes[0];
  for (const Tensor& state : states) {
    TORCH_CHECK(
        state.dim() == 2 && state.size(0) == batch && state.sizes() == states.begin()->sizes(), op,
        ": expected states of batch ", batch, " and one size, got ", state.sizes());
  }
}

/// Whether the kernel takes the steps: they are enough to lay out the weights anew for them, and all fits together. If
/// not, operators take the steps and say what does not fit; they take none of packed sequences.
bool takes_kernel(
    const char* op,
    const Tensor& gates,
    IntArrayRef batch_sizes,
    int64_t count,
    std::initializer_list<Tensor> states,
    const Tensor& w_hh,
    const Tensor& b_hh = {},
    const Tensor& w_hr = {}) {
  const auto fits = [&](const Tensor& t) {
    return t.device() == gates.device() && t.layout() == kStrided && t.scalar_type() == gates.scalar_type();
  };
  const int64_t width = states.begin()->size(1), size = std::prev(states.end())->size(1);
  const bool only_sizes = gates.is_meta() && !batch_sizes.empty() && c10::isFloatingType(gates.scalar_type());
  const bool fit = (only_sizes || steps_are_kernels(gates)) && std::all_of(states.begin(), states.end(), fits) &&
      fits(w_hh) && gates.numel() > 0 && gates.size(-1) == count * size && w_hh.dim() == 2 &&
      w_hh.size(0) == count * size && w_hh.size(1) == width &&
      (!b_hh.defined() || (fits(b_hh) && b_hh.sizes() == IntArrayRef{count * size})) &&
      (w_hr.defined() ? fits(w_hr) && w_hr.sizes() == IntArrayRef({width, size}) && !gates.is_cpu() : width == size);
  TORCH_CHECK(
      fit || batch_sizes.empty(), op,
      ": packed sequences take float or double tensors on the CPU or floating ones on a GPU, of one dtype and sizes "
      "that fit, got sums of sizes ",
      gates.sizes(), " of ", gates.scalar_type(), ", states of ", states.begin()->sizes(), " and weights of ",
      w_hh.sizes(), " of ", w_hh.scalar_type());
  return fit && (!batch_sizes.empty() || !gates.is_cpu() || gates.size(0) >= kWorthPacking);
}

/// The kernel, where there are data.
void take_steps(const Recurrence& r) {
  if (!r.gates.is_meta()) {
    recurrence(r);
  }
}

/// Sizes like those of the gates, for states.
DimVector sizes_of_states(const Tensor& gates, int64_t size) {
  DimVector sizes(gates.sizes().begin(), gates.sizes().end());
  sizes.back() = size;
  return sizes;
}

/// Calls f(step, state before) for all steps in order; f writes the step's states into `output`.
template <class F>
void take_steps(const Tensor& output, const Tensor& hx, bool reverse, const F& f) {
  const int64_t steps = output.size(0);
  Tensor hidden = hx;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t t = reverse ? steps - 1 - i : i;
    f(t, hidden);
    hidden = output.select(0, t);
  }
}

} // namespace

std::tuple<Tensor, Tensor, Tensor> lstm_steps(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& cx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const OptionalTensor& bias,
    bool reverse,
    IntArrayRef batch_sizes,
    const OptionalTensor& w_hr) {
  const Tensor projection = defined_or_empty(w_hr);
  if (projection.defined()) {
    check_steps("_lstm_steps", input, {hx}, batch_sizes);
    check_steps("_lstm_steps", input, {cx}, batch_sizes);
    TORCH_CHECK(
        projection.sizes() == IntArrayRef({hx.size(1), cx.size(1)}), "_lstm_steps: w_hr must have sizes [", hx.size(1),
        ", ", cx.size(1), "], got ", projection.sizes());
  } else {
    check_steps("_lstm_steps", input, {hx, cx}, batch_sizes);
  }
  const Tensor gates = at::linear(input, w_ih, bias).contiguous();
  Tensor output = at::empty(sizes_of_states(gates, hx.size(1)), hx.options()),
         cells = at::empty(sizes_of_states(gates, cx.size(1)), cx.options());
  if (takes_kernel("_lstm_steps", gates, batch_sizes, 4, {hx, cx}, w_hh, {}, projection)) {
    take_steps(
        {.cell = RecurrentCell::lstm,
         .reverse = reverse,
         .batch_sizes = batch_sizes,
         .hx = hx.contiguous(),
         .cx = cx.contiguous(),
         .w_hh = w_hh,
         .w_hr = projection,
         .b_hh = {},
         .gates = gates,
         .recurrent = {},
         .output = output,
         .cells = cells,
         .hidden = projection.defined() ? at::empty_like(cells) : Tensor()});
    return {output, cells, gates};
  }
  Tensor open = at::empty(gates.sizes(), gates.options()),
         recurrent = at::empty({gates.size(1), gates.size(2)}, gates.options());
  const Tensor weight = w_hh.t();
  Tensor cell = cx;
  take_steps(output, hx, reverse, [&](int64_t t, const Tensor& hidden) {
    at::mm_out(recurrent, hidden, weight);
    Tensor next = output.select(0, t), next_cell = cells.select(0, t), opened = open.select(0, t);
    Tensor put_out = projection.defined() ? at::empty_like(next_cell) : next;
    at::_thnn_fused_lstm_cell_out(put_out, next_cell, opened, gates.select(0, t), recurrent, cell);
    if (projection.defined()) {
      at::mm_out(next, put_out, projection.t());
    }
    cell = next_cell;
  });
  return {output, cells, open};
}

std::tuple<Tensor, Tensor, Tensor> gru_steps(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const OptionalTensor& b_ih,
    const OptionalTensor& b_hh,
    bool reverse,
    IntArrayRef batch_sizes) {
  check_steps("_gru_steps", input, {hx}, batch_sizes);
  const Tensor gates = at::linear(input, w_ih, b_ih).contiguous(), bias = defined_or_empty(b_hh);
  const int64_t size = hx.size(1);
  const DimVector sizes = sizes_of_states(gates, size);
  Tensor output = at::empty(sizes, hx.options()), recurrent = at::empty(sizes, hx.options());
  if (takes_kernel("_gru_steps", gates, batch_sizes, 3, {hx}, w_hh, bias)) {
    take_steps(
        {.cell = RecurrentCell::gru,
         .reverse = reverse,
         .batch_sizes = batch_sizes,
         .hx = hx.contiguous(),
         .cx = {},
         .w_hh = w_hh,
         .w_hr = {},
         .b_hh = bias,
         .gates = gates,
         .recurrent = recurrent,
         .output = output,
         .cells = {},
         .hidden = {}});
    return {output, gates, recurrent};
  }
  take_steps(output, hx, reverse, [&](int64_t t, const Tensor& hidden) {
    Tensor sums = gates.select(0, t);
    const auto [next, open] = at::_thnn_fused_gru_cell(sums, at::linear(hidden, w_hh, b_hh), hidden);
    sums.copy_(open.narrow(1, 0, 3 * size));
    recurrent.select(0, t).copy_(open.narrow(1, 4 * size, size));
    output.select(0, t).copy_(next);
  });
  return {output, gates, recurrent};
}

Tensor rnn_steps(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const OptionalTensor& bias,
    bool relu,
    bool reverse,
    IntArrayRef batch_sizes) {
  check_steps("_rnn_steps", input, {hx}, batch_sizes);
  const Tensor output = at::linear(input, w_ih, bias).contiguous();
  if (takes_kernel("_rnn_steps", output, batch_sizes, 1, {hx}, w_hh)) {
    take_steps(
        {.cell = relu ? RecurrentCell::relu : RecurrentCell::tanh,
         .reverse = reverse,
         .batch_sizes = batch_sizes,
         .hx = hx.contiguous(),
         .cx = {},
         .w_hh = w_hh,
         .w_hr = {},
         .b_hh = {},
         .gates = output,
         .recurrent = {},
         .output = output,
         .cells = {},
         .hidden = {}});
    return output;
  }
  take_steps(output, hx, reverse, [&](int64_t t, const Tensor& hidden) {
    Tensor sums = output.select(0, t).add_(at::linear(hidden, w_hh));
    relu ? sums.relu_() : sums.tanh_();
  });
  return output;
}

} // namespace at::native
