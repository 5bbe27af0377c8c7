#include <autograd/formulas/rnn.h>

#include <aten/Functions.h>
#include <aten/TensorOperators.h>
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

} // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> lstm_steps_backward(
    const Tensor& grad_output, const Tensor& grad_cells, const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
    const Tensor& w_hh, const Tensor& bias, const Tensor& output, const Tensor& cells, const Tensor& open, bool reverse,
    std::array<bool, 6> mask) {
  if (!grad_output.defined() && !grad_cells.defined()) {
    return {};
  }
  const bool differentiable = at::GradMode::is_enabled();
  const Tensor gates = differentiable ? at::linear(input, w_ih, bias) : Tensor();
  const int64_t steps = input.size(0);
  const int64_t first = reverse ? steps - 1 : 0;
  std::vector<Tensor> for_gates(steps);
  Tensor all_gates = differentiable ? Tensor() : at::empty_like(open);
  Tensor no_bias = differentiable ? Tensor() : at::empty({0}, open.options());
  Tensor for_hidden, for_cell; // of the state before the step
  for (int64_t i = steps; i-- > 0;) {
    const int64_t t = reverse ? steps - 1 - i : i;
    const int64_t before = reverse ? t + 1 : t - 1;
    const Tensor hidden = t == first ? hx : output.select(0, before), cell = t == first ? cx : cells.select(0, before);
    const Tensor grad_hy = sum_of_defined(step_of(grad_output, t), for_hidden), grad_cy = sum_of_defined(step_of(grad_cells, t), for_cell);
    if (differentiable) {
      const Tensor recurrent = at::mm(hidden, w_hh.t());
      std::tie(for_gates[t], std::ignore, for_cell, std::ignore, std::ignore) = at::_thnn_differentiable_lstm_cell_backward(
          grad_hy, grad_cy, gates.select(0, t), recurrent, {}, {}, cell, cells.select(0, t));
    } else {
      for_gates[t] = all_gates.select(0, t);
      for_cell = at::empty_like(cx);
      at::_thnn_fused_lstm_cell_backward_impl_out(
          for_gates[t], for_cell, no_bias, grad_hy, grad_cy, cell, cells.select(0, t), open.select(0, t), false);
    }
    if (t != first || mask[1]) {
      for_hidden = at::mm(for_gates[t], w_hh);
    }
  }
  if (differentiable) {
    all_gates = at::stack(for_gates, 0);
  }
  Tensor for_w_hh;
  if (mask[4]) {
    for_w_hh = at::mm(for_gates[first].t(), hx);
    if (steps > 1) {
      const int64_t later = reverse ? 0 : 1, earlier = 1 - later;
      for_w_hh = for_w_hh + at::mm(rows_of(all_gates, later, steps - 1).t(), rows_of(output, earlier, steps - 1));
    }
  }
  const Tensor for_rows = rows_of(all_gates, 0, steps);
  return {
      mask[0] ? at::mm(for_rows, w_ih).view(input.sizes()) : Tensor(), mask[1] ? for_hidden : Tensor(), mask[2] ? for_cell : Tensor(),
      mask[3] ? at::mm(for_rows.t(), rows_of(input, 0, steps)) : Tensor(), for_w_hh, mask[5] ? for_rows.sum(0) : Tensor()};
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
