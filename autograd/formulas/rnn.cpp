// Derivatives of the gates of recurrent cells: by their kernels, or by operators when they may be differentiated again.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/recurrent_steps.h>
#include <autograd/formulas/shared.h>
#include <autograd/grad_mode.h>
#include <autograd/graph_task.h>

#include <algorithm>

namespace torch::autograd::formulas {

/// cuDNN's backward pass writes to its reserve, so where the graph stays it gets a copy.
Tensor reserve_of_this_pass(const Tensor& reserve) {
  return get_current_graph_task_keep_graph() ? reserve.clone() : reserve;
}

std::tuple<Tensor, std::vector<Tensor>, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> cudnn_rnn_double_backward() {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false,
      "the derivative for '_cudnn_rnn_backward' is not implemented. Double backwards is not supported for CuDNN RNNs "
      "due to limitations in the CuDNN "
      "API. To run double backwards, please disable the CuDNN backend temporarily while running the forward pass of "
      "your RNN. For example: \n"
      "at::globalContext().setUserEnabledCuDNN(false);\nauto output = model->forward(inputs);");
}

/// For (input_gates, hidden_gates, cx, input_bias, hidden_bias).
TensorTuple5 fused_lstm_cell_backward(
    const Tensor& grad_hy,
    const Tensor& grad_cy,
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const Tensor& input_bias,
    const Tensor& hidden_bias,
    const Tensor& cx,
    const Tensor& cy,
    const Tensor& workspace) {
  if (is_differentiated_again(grad_hy, grad_cy, cy)) {
    return at::_thnn_differentiable_lstm_cell_backward(
        grad_hy, grad_cy, input_gates, hidden_gates, input_bias, hidden_bias, cx, cy);
  }
  return at::_thnn_fused_lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, input_bias.defined());
}

using at::native::StepRows;

Tensor rows_of(const Tensor& sequence) {
  return sequence.defined() && sequence.dim() == 3 ? sequence.reshape({-1, sequence.size(2)}) : sequence;
}

Tensor step_of(const Tensor& rows, const StepRows& steps, int64_t t) {
  return rows.defined() ? rows.narrow(0, steps.first(t), steps.live(t)) : rows;
}

Tensor states_before(const Tensor& after, const Tensor& first, const StepRows& steps, int64_t t) {
  const int64_t continued = steps.continued(t), begin = steps.live(t) - continued;
  if (continued == 0) {
    return first.narrow(0, 0, begin);
  }
  const Tensor before = after.narrow(0, steps.first(steps.before(t)), continued);
  return begin == 0 ? before : at::cat({before, first.narrow(0, continued, begin)}, 0);
}

namespace {

/// Whether operators take the steps back, of which any number of batches comes in front and which can be differentiated
/// again.
template <class... Grads>
bool needs_operators(const Tensor& output, const Grads&... grads) {
  const bool has_memory = ((!grads.defined() || grads.has_storage()) && ...);
  return !has_memory || is_differentiated_again(output, grads...);
}

/// Whether the steps go back in one kernel.
template <class... Grads>
bool has_kernel(const Tensor& output, const Grads&... grads) {
  return !needs_operators(output, grads...) && output.numel() > 0 && at::native::steps_are_kernels(output);
}

at::TensorBase contiguous(const Tensor& t) {
  return t.defined() ? t.resolve_neg().contiguous() : t;
}

/// The gradient of the state's weights: one product of the gradients of all gates and the states before their steps.
Tensor for_recurrent_weights(const Tensor& for_gates, const Tensor& hx, const Tensor& output, const StepRows& steps) {
  if (steps.is_packed()) {
    std::vector<Tensor> before;
    for (int64_t t = 0; t < steps.steps(); ++t) {
      before.push_back(states_before(output, hx, steps, t));
    }
    return at::mm(for_gates.t(), at::cat(before, 0));
  }
  Tensor grad = at::mm(step_of(for_gates, steps, steps.nth(0)).t(), hx);
  if (steps.steps() > 1) {
    // All but the first step taken, and the states of all but the last.
    const int64_t rows = output.size(0) - steps.batch(), skipped = steps.batch();
    const bool reverse = steps.nth(0) != 0;
    grad.addmm_(for_gates.narrow(0, reverse ? 0 : skipped, rows).t(), output.narrow(0, reverse ? skipped : 0, rows));
  }
  return grad;
}

/// Calls f(step, gradients that the step after has left) from the last step taken to the first. There is a gradient for
/// each kind of state; it has all sequences of the step, or is undefined where none of them takes a step afterwards. f
/// returns the gradients of the states before. Returns those of the first states.
template <class F>
std::vector<Tensor> take_steps_back(const StepRows& steps, const F& f) {
  std::vector<Tensor> carried;
  std::vector<std::vector<Tensor>> of_first;
  for (int64_t i = steps.steps(); i-- > 0;) {
    const int64_t t = steps.nth(i), live = steps.live(t), continued = steps.continued(t);
    for (Tensor& grad : carried) {
      // Nothing comes to sequences that end here.
      if (grad.defined() && grad.size(0) < live) {
        grad = at::cat({grad, at::zeros({live - grad.size(0), grad.size(1)}, grad.options())}, 0);
      }
    }
    carried = f(t, carried);
    of_first.resize(carried.size());
    for (size_t k = 0; k < carried.size(); ++k) {
      if (continued < live) {
        of_first[k].push_back(carried[k].narrow(0, continued, live - continued));
      }
      carried[k] = continued > 0 ? carried[k].narrow(0, 0, continued) : Tensor();
    }
  }
  std::vector<Tensor> result;
  // The later in the batch, the sooner a sequence came to its first step.
  for (std::vector<Tensor>& parts : of_first) {
    std::reverse(parts.begin(), parts.end());
    result.push_back(parts.size() == 1 ? parts.front() : at::cat(parts, 0));
  }
  return result;
}

Tensor nth_or_undefined(const std::vector<Tensor>& tensors, size_t n) {
  return n < tensors.size() ? tensors[n] : Tensor();
}

struct LstmGrads {
  Tensor gates, hx, cx; // of all sums and of the first states
  Tensor output, hidden; // with a projection: of what it gives, and what it takes, after all steps
};

/// The steps of an LSTM back, operator by operator. All but the first states are rows.
LstmGrads lstm_steps_back(
    const StepRows& steps,
    const Tensor& grad_output,
    const Tensor& grad_cells,
    const Tensor& input,
    const Tensor& hx,
    const Tensor& cx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Tensor& bias,
    const Tensor& w_hr,
    const Tensor& output,
    const Tensor& cells,
    const Tensor& open) {
  const bool differentiable = needs_operators(output, grad_output, grad_cells);
  const Tensor gates = differentiable ? at::linear(input, w_ih, bias) : Tensor();
  const int64_t size = cx.size(1);
  std::vector<Tensor> for_gates(steps.steps()), for_output(steps.steps()), put_out(steps.steps());
  const std::vector<Tensor> for_first =
      take_steps_back(steps, [&](int64_t t, const std::vector<Tensor>& for_after) -> std::vector<Tensor> {
        const Tensor cell_before = states_before(cells, cx, steps, t), cell = step_of(cells, steps, t);
        const Tensor grad_cy = sum_of(step_of(grad_cells, steps, t), nth_or_undefined(for_after, 1));
        const Tensor recurrent = differentiable ? at::mm(states_before(output, hx, steps, t), w_hh.t()) : Tensor();
        Tensor grad_hy = sum_of(step_of(grad_output, steps, t), nth_or_undefined(for_after, 0)), for_cell;
        if (w_hr.defined()) {
          for_output[t] = grad_hy.defined() ? grad_hy : at::zeros({cell.size(0), hx.size(1)}, cell.options());
          put_out[t] = (differentiable ? (step_of(gates, steps, t) + recurrent).narrow(1, 3 * size, size).sigmoid()
                                       : step_of(open, steps, t).narrow(1, 3 * size, size)) *
              cell.tanh();
          grad_hy = at::mm(for_output[t], w_hr);
        }
        if (differentiable) {
          std::tie(for_gates[t], std::ignore, for_cell, std::ignore, std::ignore) =
              at::_thnn_differentiable_lstm_cell_backward(
                  grad_hy, grad_cy, step_of(gates, steps, t), recurrent, {}, {}, cell_before, cell);
        } else {
          std::tie(for_gates[t], for_cell, std::ignore) = at::_thnn_fused_lstm_cell_backward_impl(
              grad_hy, grad_cy, cell_before, cell, step_of(open, steps, t), false);
        }
        return {at::mm(for_gates[t], w_hh), for_cell};
      });
  const bool projected = w_hr.defined();
  return {
      at::cat(for_gates, 0), for_first[0], for_first[1], projected ? at::cat(for_output, 0) : Tensor(),
      projected ? at::cat(put_out, 0) : Tensor()};
}

} // namespace

/// For (input, hx, cx, w_ih, w_hh, bias, w_hr) of _lstm_steps, from the gradients of its two sequences of states, which
/// may be undefined; see Note [Steps of a layer].
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> lstm_steps_backward(
    const Tensor& grad_output,
    const Tensor& grad_cells,
    const Tensor& input,
    const Tensor& hx,
    const Tensor& cx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Tensor& bias,
    const Tensor& w_hr,
    const Tensor& output,
    const Tensor& cells,
    const Tensor& open,
    bool reverse,
    at::IntArrayRef batch_sizes,
    std::array<bool, 7> mask) {
  if (!grad_output.defined() && !grad_cells.defined()) {
    return {};
  }
  const StepRows steps(input.sizes(), batch_sizes, reverse);
  LstmGrads grads;
  if (has_kernel(output, grad_output, grad_cells) && !(w_hr.defined() && output.is_cpu())) {
    const Tensor for_gates = at::empty(open.sizes(), open.options());
    grads.hx = at::empty(hx.sizes(), hx.options());
    grads.cx = at::empty(cx.sizes(), cx.options());
    if (w_hr.defined()) {
      grads.output = at::empty(output.sizes(), output.options());
      grads.hidden = open.narrow(-1, 3 * cx.size(1), cx.size(1)) * cells.tanh();
    }
    at::native::recurrence_backward(
        {.cell = at::native::RecurrentCell::lstm,
         .reverse = reverse,
         .batch_sizes = batch_sizes,
         .hx = contiguous(hx),
         .cx = contiguous(cx),
         .w_hh = w_hh.resolve_neg(),
         .w_hr = w_hr.defined() ? w_hr.resolve_neg() : w_hr,
         .b_hh = {},
         .gates = contiguous(open),
         .recurrent = {},
         .output = contiguous(output),
         .cells = contiguous(cells),
         .hidden = contiguous(grads.hidden)},
        {.output = contiguous(grad_output),
         .cells = contiguous(grad_cells),
         .gates = for_gates,
         .recurrent = for_gates,
         .hx = grads.hx,
         .cx = grads.cx,
         .projected = grads.output});
    grads.gates = rows_of(for_gates);
    grads.output = rows_of(grads.output);
    grads.hidden = rows_of(grads.hidden);
  } else {
    grads = lstm_steps_back(
        steps, rows_of(grad_output), rows_of(grad_cells), rows_of(input), hx, cx, w_ih, w_hh, bias, w_hr,
        rows_of(output), rows_of(cells), rows_of(open));
  }
  return {
      mask[0] ? at::mm(grads.gates, w_ih).view(input.sizes()) : Tensor(),
      mask[1] ? grads.hx : Tensor(),
      mask[2] ? grads.cx : Tensor(),
      mask[3] ? at::mm(grads.gates.t(), rows_of(input)) : Tensor(),
      mask[4] ? for_recurrent_weights(grads.gates, hx, rows_of(output), steps) : Tensor(),
      mask[5] ? grads.gates.sum(0) : Tensor(),
      mask[6] && w_hr.defined() ? at::mm(grads.output.t(), grads.hidden) : Tensor()};
}

/// For (input, hx, w_ih, w_hh, b_ih, b_hh) of _gru_steps.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> gru_steps_backward(
    const Tensor& grad,
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Tensor& b_ih,
    const Tensor& b_hh,
    const Tensor& output,
    const Tensor& open,
    const Tensor& recurrent,
    bool reverse,
    at::IntArrayRef batch_sizes,
    std::array<bool, 6> mask) {
  if (!grad.defined()) {
    return {};
  }
  const StepRows steps(input.sizes(), batch_sizes, reverse);
  Tensor for_sums, for_recurrent, for_hidden;
  if (has_kernel(output, grad)) {
    for_sums = at::empty(open.sizes(), open.options());
    for_recurrent = at::empty(open.sizes(), open.options());
    for_hidden = at::empty(hx.sizes(), hx.options());
    at::native::recurrence_backward(
        {.cell = at::native::RecurrentCell::gru,
         .reverse = reverse,
         .batch_sizes = batch_sizes,
         .hx = contiguous(hx),
         .cx = {},
         .w_hh = w_hh.resolve_neg(),
         .w_hr = {},
         .b_hh = {},
         .gates = contiguous(open),
         .recurrent = contiguous(recurrent),
         .output = contiguous(output),
         .cells = {},
         .hidden = {}},
        {.output = contiguous(grad),
         .cells = {},
         .gates = for_sums,
         .recurrent = for_recurrent,
         .hx = for_hidden,
         .cx = {},
         .projected = {}});
  } else {
    const Tensor sums = at::linear(rows_of(input), w_ih, b_ih), grads = rows_of(grad), states = rows_of(output);
    std::vector<Tensor> for_step_sums(steps.steps()), for_step_recurrent(steps.steps());
    for_hidden = take_steps_back(steps, [&](int64_t t, const std::vector<Tensor>& for_after) -> std::vector<Tensor> {
      const Tensor hidden = states_before(states, hx, steps, t);
      const auto [in, back, direct, b1, b2] = at::_thnn_differentiable_gru_cell_backward(
          sum_of(step_of(grads, steps, t), nth_or_undefined(for_after, 0)), step_of(sums, steps, t),
          at::linear(hidden, w_hh, b_hh), hidden, {}, {});
      for_step_sums[t] = in;
      for_step_recurrent[t] = back;
      return {direct + at::mm(back, w_hh)};
    })[0];
    for_sums = at::cat(for_step_sums, 0);
    for_recurrent = at::cat(for_step_recurrent, 0);
  }
  const Tensor rows = rows_of(for_sums), recurrent_rows = rows_of(for_recurrent);
  return {
      mask[0] ? at::mm(rows, w_ih).view(input.sizes()) : Tensor(),
      mask[1] ? for_hidden : Tensor(),
      mask[2] ? at::mm(rows.t(), rows_of(input)) : Tensor(),
      mask[3] ? for_recurrent_weights(recurrent_rows, hx, rows_of(output), steps) : Tensor(),
      mask[4] ? rows.sum(0) : Tensor(),
      mask[5] ? recurrent_rows.sum(0) : Tensor()};
}

/// For (input, hx, w_ih, w_hh, bias) of _rnn_steps.
TensorTuple5 rnn_steps_backward(
    const Tensor& grad,
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Tensor& output,
    bool relu,
    bool reverse,
    at::IntArrayRef batch_sizes,
    std::array<bool, 5> mask) {
  if (!grad.defined()) {
    return {};
  }
  const StepRows steps(input.sizes(), batch_sizes, reverse);
  Tensor for_sums, for_hidden;
  if (has_kernel(output, grad)) {
    const at::TensorBase states = contiguous(output);
    for_sums = at::empty(output.sizes(), output.options());
    for_hidden = at::empty(hx.sizes(), hx.options());
    at::native::recurrence_backward(
        {.cell = relu ? at::native::RecurrentCell::relu : at::native::RecurrentCell::tanh,
         .reverse = reverse,
         .batch_sizes = batch_sizes,
         .hx = contiguous(hx),
         .cx = {},
         .w_hh = w_hh.resolve_neg(),
         .w_hr = {},
         .b_hh = {},
         .gates = states,
         .recurrent = {},
         .output = states,
         .cells = {},
         .hidden = {}},
        {.output = contiguous(grad),
         .cells = {},
         .gates = for_sums,
         .recurrent = for_sums,
         .hx = for_hidden,
         .cx = {},
         .projected = {}});
  } else {
    const Tensor grads = rows_of(grad), states = rows_of(output);
    std::vector<Tensor> for_step(steps.steps());
    for_hidden = take_steps_back(steps, [&](int64_t t, const std::vector<Tensor>& for_after) -> std::vector<Tensor> {
      const Tensor state = step_of(states, steps, t),
                   for_state = sum_of(step_of(grads, steps, t), nth_or_undefined(for_after, 0));
      for_step[t] = relu ? at::threshold_backward(for_state, state, 0) : at::tanh_backward(for_state, state);
      return {at::mm(for_step[t], w_hh)};
    })[0];
    for_sums = at::cat(for_step, 0);
  }
  const Tensor rows = rows_of(for_sums);
  return {
      mask[0] ? at::mm(rows, w_ih).view(input.sizes()) : Tensor(), mask[1] ? for_hidden : Tensor(),
      mask[2] ? at::mm(rows.t(), rows_of(input)) : Tensor(),
      mask[3] ? for_recurrent_weights(rows, hx, rows_of(output), steps) : Tensor(), mask[4] ? rows.sum(0) : Tensor()};
}

/// For (input_gates, hidden_gates, hx, input_bias, hidden_bias).
TensorTuple5 fused_gru_cell_backward(
    const Tensor& grad_hy,
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const Tensor& hx,
    const Tensor& input_bias,
    const Tensor& hidden_bias,
    const Tensor& workspace) {
  if (is_differentiated_again(grad_hy, input_gates, hidden_gates, hx, input_bias, hidden_bias)) {
    return at::_thnn_differentiable_gru_cell_backward(grad_hy, input_gates, hidden_gates, hx, input_bias, hidden_bias);
  }
  return at::_thnn_fused_gru_cell_backward(grad_hy, workspace, input_bias.defined());
}

} // namespace torch::autograd::formulas
