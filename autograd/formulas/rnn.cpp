#include <autograd/formulas/rnn.h>

#include <aten/Functions.h>
#include <aten/TensorOperators.h>
#include <aten/native/recurrence.h>
#include <autograd/grad_mode.h>

#include <vector>

namespace torch::autograd::formulas {

using at::Tensor;

FiveTensors fused_lstm_cell_backward(
    const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& input_bias,
    const Tensor& hidden_bias, const Tensor& cx, const Tensor& cy, const Tensor& workspace) {
  if (at::GradMode::is_enabled()) {
    return at::_thnn_differentiable_lstm_cell_backward(grad_hy, grad_cy, input_gates, hidden_gates, input_bias, hidden_bias, cx, cy);
  }
  return at::_thnn_fused_lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, input_bias.defined());
}

namespace {

Tensor sum_of_defined(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a + b;
}

Tensor step_of(const Tensor& sequence, int64_t step) {
  return sequence.defined() ? sequence.select(0, step) : sequence;
}

/// All rows of [steps, batch, width], those of some steps alone.
Tensor rows_of(const Tensor& sequence, int64_t first, int64_t count) {
  return sequence.narrow(0, first, count).reshape({-1, sequence.size(2)});
}

Tensor rows_of(const Tensor& sequence) {
  return rows_of(sequence, 0, sequence.size(0));
}

/// The step before t in the order they were taken.
int64_t step_before(int64_t t, bool reverse) {
  return reverse ? t + 1 : t - 1;
}

/// Whether the steps go back in one kernel: it cannot be differentiated again.
bool has_kernel(const Tensor& output) {
  return !at::GradMode::is_enabled() && output.is_cpu() && output.numel() > 0 &&
      (output.scalar_type() == at::kFloat || output.scalar_type() == at::kDouble);
}

at::TensorBase contiguous(const Tensor& t) {
  return t.defined() ? t.resolve_neg().contiguous() : t;
}

/// The gradient of the state's weights: one product of the gradients of all gates and the states before their steps.
Tensor for_recurrent_weights(const Tensor& for_gates, const Tensor& hx, const Tensor& output, bool reverse) {
  const int64_t steps = output.size(0), later = reverse ? 0 : 1;
  Tensor grad = at::mm(for_gates.select(0, reverse ? steps - 1 : 0).t(), hx);
  if (steps > 1) {
    grad.addmm_(rows_of(for_gates, later, steps - 1).t(), rows_of(output, 1 - later, steps - 1));
  }
  return grad;
}

/// Calls f(step, state before, gradient of the state that the step after has left) from the last step to the first; f returns the
/// gradient of the state before. Returns that of the first state.
template <class F>
Tensor take_steps_back(const Tensor& output, const Tensor& hx, bool reverse, const F& f) {
  const int64_t steps = output.size(0);
  Tensor for_hidden;
  for (int64_t i = steps; i-- > 0;) {
    const int64_t t = reverse ? steps - 1 - i : i;
    for_hidden = f(t, i == 0 ? hx : output.select(0, step_before(t, reverse)), for_hidden);
  }
  return for_hidden;
}

/// The steps of an LSTM back, operator by operator: gradients of all sums and of the first states.
std::tuple<Tensor, Tensor, Tensor> lstm_steps_back(
    const Tensor& grad_output, const Tensor& grad_cells, const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
    const Tensor& w_hh, const Tensor& bias, const Tensor& output, const Tensor& cells, const Tensor& open, bool reverse) {
  const bool differentiable = at::GradMode::is_enabled();
  const Tensor gates = differentiable ? at::linear(input, w_ih, bias) : Tensor();
  std::vector<Tensor> for_gates(output.size(0));
  const int64_t first = reverse ? output.size(0) - 1 : 0;
  Tensor for_cell;
  const Tensor for_hidden = take_steps_back(output, hx, reverse, [&](int64_t t, const Tensor& hidden, const Tensor& for_after) {
    const Tensor cell = t == first ? cx : cells.select(0, step_before(t, reverse));
    const Tensor grad_hy = sum_of_defined(step_of(grad_output, t), for_after), grad_cy = sum_of_defined(step_of(grad_cells, t), for_cell);
    if (differentiable) {
      std::tie(for_gates[t], std::ignore, for_cell, std::ignore, std::ignore) = at::_thnn_differentiable_lstm_cell_backward(
          grad_hy, grad_cy, gates.select(0, t), at::mm(hidden, w_hh.t()), {}, {}, cell, cells.select(0, t));
    } else {
      std::tie(for_gates[t], for_cell, std::ignore) =
          at::_thnn_fused_lstm_cell_backward_impl(grad_hy, grad_cy, cell, cells.select(0, t), open.select(0, t), false);
    }
    return at::mm(for_gates[t], w_hh);
  });
  return {at::stack(for_gates, 0), for_hidden, for_cell};
}

} // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> lstm_steps_backward(
    const Tensor& grad_output, const Tensor& grad_cells, const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
    const Tensor& w_hh, const Tensor& bias, const Tensor& output, const Tensor& cells, const Tensor& open, bool reverse,
    std::array<bool, 6> mask) {
  if (!grad_output.defined() && !grad_cells.defined()) {
    return {};
  }
  Tensor all_gates, for_hidden, for_cell; // of the state before the step
  if (has_kernel(output)) {
    all_gates = at::empty(open.sizes(), open.options());
    for_hidden = at::empty(hx.sizes(), hx.options());
    for_cell = at::empty(cx.sizes(), cx.options());
    at::native::recurrence_backward(
        {at::native::RecurrentCell::lstm, reverse, contiguous(hx), contiguous(cx), w_hh.resolve_neg(), {}, contiguous(open), {}, contiguous(output),
         contiguous(cells)},
        {contiguous(grad_output), contiguous(grad_cells), all_gates, all_gates, for_hidden, for_cell});
  } else {
    std::tie(all_gates, for_hidden, for_cell) =
        lstm_steps_back(grad_output, grad_cells, input, hx, cx, w_ih, w_hh, bias, output, cells, open, reverse);
  }
  const Tensor for_rows = rows_of(all_gates);
  return {
      mask[0] ? at::mm(for_rows, w_ih).view(input.sizes()) : Tensor(), mask[1] ? for_hidden : Tensor(), mask[2] ? for_cell : Tensor(),
      mask[3] ? at::mm(for_rows.t(), rows_of(input)) : Tensor(), mask[4] ? for_recurrent_weights(all_gates, hx, output, reverse) : Tensor(),
      mask[5] ? for_rows.sum(0) : Tensor()};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> gru_steps_backward(
    const Tensor& grad, const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
    const Tensor& b_hh, const Tensor& output, const Tensor& open, const Tensor& recurrent, bool reverse, std::array<bool, 6> mask) {
  if (!grad.defined()) {
    return {};
  }
  Tensor for_sums, for_recurrent, for_hidden;
  if (has_kernel(output)) {
    for_sums = at::empty(open.sizes(), open.options());
    for_recurrent = at::empty(open.sizes(), open.options());
    for_hidden = at::empty(hx.sizes(), hx.options());
    at::native::recurrence_backward(
        {at::native::RecurrentCell::gru, reverse, contiguous(hx), {}, w_hh.resolve_neg(), {}, contiguous(open), contiguous(recurrent), contiguous(output), {}},
        {contiguous(grad), {}, for_sums, for_recurrent, for_hidden, {}});
  } else {
    const Tensor sums = at::linear(input, w_ih, b_ih);
    std::vector<Tensor> for_step_sums(output.size(0)), for_step_recurrent(output.size(0));
    for_hidden = take_steps_back(output, hx, reverse, [&](int64_t t, const Tensor& hidden, const Tensor& for_after) {
      const auto [in, back, direct, b1, b2] = at::_thnn_differentiable_gru_cell_backward(
          sum_of_defined(grad.select(0, t), for_after), sums.select(0, t), at::linear(hidden, w_hh, b_hh), hidden, {}, {});
      for_step_sums[t] = in;
      for_step_recurrent[t] = back;
      return direct + at::mm(back, w_hh);
    });
    for_sums = at::stack(for_step_sums, 0);
    for_recurrent = at::stack(for_step_recurrent, 0);
  }
  const Tensor rows = rows_of(for_sums);
  return {
      mask[0] ? at::mm(rows, w_ih).view(input.sizes()) : Tensor(), mask[1] ? for_hidden : Tensor(),
      mask[2] ? at::mm(rows.t(), rows_of(input)) : Tensor(), mask[3] ? for_recurrent_weights(for_recurrent, hx, output, reverse) : Tensor(),
      mask[4] ? rows.sum(0) : Tensor(), mask[5] ? rows_of(for_recurrent).sum(0) : Tensor()};
}

FiveTensors rnn_steps_backward(
    const Tensor& grad, const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& output, bool relu,
    bool reverse, std::array<bool, 5> mask) {
  if (!grad.defined()) {
    return {};
  }
  Tensor for_sums, for_hidden;
  if (has_kernel(output)) {
    const at::TensorBase states = contiguous(output);
    for_sums = at::empty(output.sizes(), output.options());
    for_hidden = at::empty(hx.sizes(), hx.options());
    at::native::recurrence_backward(
        {relu ? at::native::RecurrentCell::relu : at::native::RecurrentCell::tanh, reverse, contiguous(hx), {}, w_hh.resolve_neg(), {}, states, {}, states, {}},
        {contiguous(grad), {}, for_sums, for_sums, for_hidden, {}});
  } else {
    std::vector<Tensor> for_step(output.size(0));
    for_hidden = take_steps_back(output, hx, reverse, [&](int64_t t, const Tensor&, const Tensor& for_after) {
      const Tensor state = output.select(0, t), for_state = sum_of_defined(grad.select(0, t), for_after);
      for_step[t] = relu ? at::threshold_backward(for_state, state, 0) : at::tanh_backward(for_state, state);
      return at::mm(for_step[t], w_hh);
    });
    for_sums = at::stack(for_step, 0);
  }
  const Tensor rows = rows_of(for_sums);
  return {
      mask[0] ? at::mm(rows, w_ih).view(input.sizes()) : Tensor(), mask[1] ? for_hidden : Tensor(),
      mask[2] ? at::mm(rows.t(), rows_of(input)) : Tensor(), mask[3] ? for_recurrent_weights(for_sums, hx, output, reverse) : Tensor(),
      mask[4] ? rows.sum(0) : Tensor()};
}

FiveTensors fused_gru_cell_backward(
    const Tensor& grad_hy, const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hx, const Tensor& input_bias,
    const Tensor& hidden_bias, const Tensor& workspace) {
  if (at::GradMode::is_enabled()) {
    return at::_thnn_differentiable_gru_cell_backward(grad_hy, input_gates, hidden_gates, hx, input_bias, hidden_bias);
  }
  return at::_thnn_fused_gru_cell_backward(grad_hy, workspace, input_bias.defined());
}

} // namespace torch::autograd::formulas
