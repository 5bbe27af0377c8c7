// Formulas of forward mode for recurrent cells and layers, as in tangents.cpp. What does not depend on the states'
// tangents is computed for all steps at once; a step is a product, and its slopes times that.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/support/step_states.h>
#include <autograd/formulas/recurrent_steps.h>
#include <autograd/formulas/shared.h>

#include <optional>
#include <utility>
#include <vector>

namespace torch::autograd::formulas {

namespace {

using at::native::StepRows;
using at::native::StepStates;

Tensor sum_of_four(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d) {
  return sum_of(sum_of(a, b), sum_of(c, d));
}

/// Of rows @ w^T.
Tensor rows_product_tangent(const Tensor& rows, const Tensor& rows_t, const Tensor& w, const Tensor& w_t) {
  return sum_of(rows_t.defined() ? at::mm(rows_t, w.t()) : rows_t, w_t.defined() ? at::mm(rows, w_t.t()) : w_t);
}

Tensor or_zeros(const Tensor& tangent, const Tensor& like) {
  return tangent.defined() ? tangent : at::zeros_like(like);
}

// ---- gates ---------------------------------------------------------------------------------------------------------

/// Part i of [rows, parts * size].
Tensor part_of(const Tensor& rows, int64_t i, int64_t size) {
  return rows.narrow(1, i * size, size);
}

/// The opened gates of an LSTM, of their sums.
Tensor lstm_gates(const Tensor& sums, int64_t size) {
  return at::cat(
      {sums.narrow(1, 0, 2 * size).sigmoid(), part_of(sums, 2, size).tanh(), part_of(sums, 3, size).sigmoid()}, 1);
}

/// What the tangents of an LSTM's sums and cells are multiplied by: c' = f c + i g, h = o tanh(c').
struct LstmSlopes {
  LstmSlopes(const Tensor& open, const Tensor& before, const Tensor& cell) {
    const int64_t size = cell.size(1);
    const Tensor in = part_of(open, 0, size), candidate = part_of(open, 2, size), out = part_of(open, 3, size);
    const Tensor squashed = cell.tanh();
    forget = part_of(open, 1, size);
    sums = at::cat(
        {in * (1 - in) * candidate, forget * (1 - forget) * before, in * (1 - candidate * candidate),
         out * (1 - out) * squashed},
        1);
    hidden = out * (1 - squashed * squashed);
    put_out = out * squashed;
  }

  Tensor sums; // the first three parts lead to the cell, the last one to what is put out
  Tensor forget, hidden;
  Tensor put_out; // what is put out itself
};

struct LstmTangents {
  Tensor hidden, cell;
};

/// Of one step, whose slopes these are. `sums_t` and `before_t` may be undefined.
LstmTangents lstm_step(
    const Tensor& sums_slopes,
    const Tensor& forget,
    const Tensor& hidden,
    const Tensor& sums_t,
    const Tensor& before_t) {
  const int64_t size = forget.size(1);
  LstmTangents t;
  Tensor put_out;
  if (sums_t.defined()) {
    const Tensor parts = sums_slopes * sums_t;
    t.cell = part_of(parts, 0, size) + part_of(parts, 1, size) + part_of(parts, 2, size);
    put_out = part_of(parts, 3, size);
  }
  t.cell = sum_of(t.cell, before_t.defined() ? forget * before_t : before_t);
  t.hidden = sum_of(put_out, hidden * t.cell);
  return t;
}

/// What the tangents of a GRU's sums are multiplied by: h' = n + z (h - n), n = tanh(in_n + r rec_n).
struct GruSlopes {
  /// `open` are r, z and n.
  GruSlopes(const Tensor& open, const Tensor& recurrent, const Tensor& before) {
    const int64_t size = before.size(1);
    update = part_of(open, 1, size);
    reset = part_of(open, 0, size);
    const Tensor n = part_of(open, 2, size);
    candidate = (1 - update) * (1 - n * n);
    of_reset = candidate * recurrent * reset * (1 - reset);
    of_update = (before - n) * update * (1 - update);
  }

  GruSlopes of_step(const StepRows& steps, int64_t t) const {
    GruSlopes part = *this;
    for (Tensor* slope : {&part.reset, &part.update, &part.candidate, &part.of_reset, &part.of_update}) {
      *slope = step_of(*slope, steps, t);
    }
    return part;
  }

  Tensor reset, update, candidate, of_reset, of_update;
};

Tensor gru_step(
    const GruSlopes& slopes, const Tensor& input_t, const Tensor& recurrent_t, const Tensor& before_t, int64_t size) {
  const auto part = [size](const Tensor& t, int64_t i) { return t.defined() ? part_of(t, i, size) : t; };
  const auto times = [](const Tensor& slope, const Tensor& t) { return t.defined() ? slope * t : t; };
  const Tensor gates_t = sum_of(input_t, recurrent_t), rec_n = part(recurrent_t, 2);
  const Tensor candidate_t = sum_of(part(input_t, 2), rec_n.defined() ? slopes.reset * rec_n : rec_n);
  return sum_of_four(
      times(slopes.of_reset, part(gates_t, 0)), times(slopes.of_update, part(gates_t, 1)),
      times(slopes.candidate, candidate_t), times(slopes.update, before_t));
}

// ---- steps ---------------------------------------------------------------------------------------------------------

/// The states before all steps, in the order of the rows.
Tensor all_states_before(const Tensor& after, const Tensor& first, const StepRows& steps) {
  std::vector<Tensor> before;
  for (int64_t t = 0; t < steps.steps(); ++t) {
    before.push_back(states_before(after, first, steps, t));
  }
  return at::cat(before, 0);
}

/// The tangents of sums over the inputs, of all steps; undefined if they have none.
Tensor input_sums_tangent(
    const Tensor& rows, const Tensor& rows_t, const Tensor& w_ih, const Tensor& w_ih_t, const Tensor& bias_t) {
  const Tensor product = rows_product_tangent(rows, rows_t, w_ih, w_ih_t);
  return bias_t.defined() ? sum_of(product, bias_t.unsqueeze(0).expand({rows.size(0), bias_t.size(0)})) : product;
}

} // namespace

/// Of hidden and cell states after one step; `workspace` are the opened gates.
std::vector<Tensor> fused_lstm_cell_tangents(
    const Tensor& input_gates,
    const Tensor& input_gates_t,
    const Tensor& hidden_gates,
    const Tensor& hidden_gates_t,
    const Tensor& cx,
    const Tensor& cx_t,
    const std::optional<Tensor>& input_bias,
    const Tensor& input_bias_t,
    const std::optional<Tensor>& hidden_bias,
    const Tensor& hidden_bias_t,
    const Tensor& cy,
    const Tensor& workspace) {
  Tensor open = workspace;
  if (is_differentiated_again(input_gates, hidden_gates, cx, cy)) {
    const Tensor sums = input_gates + hidden_gates;
    open = lstm_gates(input_bias.has_value() ? sums + *input_bias + *hidden_bias : sums, cx.size(1));
  }
  const LstmSlopes slopes(open, cx, cy);
  const Tensor sums_t = sum_of_four(input_gates_t, hidden_gates_t, input_bias_t, hidden_bias_t);
  const LstmTangents t = lstm_step(slopes.sums, slopes.forget, slopes.hidden, sums_t, cx_t);
  return {t.hidden, t.cell, Tensor()};
}

Tensor fused_gru_cell_tangent(
    const Tensor& input_gates,
    const Tensor& input_gates_t,
    const Tensor& hidden_gates,
    const Tensor& hidden_gates_t,
    const Tensor& hx,
    const Tensor& hx_t,
    const std::optional<Tensor>& input_bias,
    const Tensor& input_bias_t,
    const std::optional<Tensor>& hidden_bias,
    const Tensor& hidden_bias_t) {
  const int64_t size = hx.size(1);
  const Tensor in = input_bias.has_value() ? input_gates + *input_bias : input_gates;
  const Tensor rec = hidden_bias.has_value() ? hidden_gates + *hidden_bias : hidden_gates;
  const Tensor reset_update = (in.narrow(1, 0, 2 * size) + rec.narrow(1, 0, 2 * size)).sigmoid();
  const Tensor candidate = (part_of(in, 2, size) + part_of(reset_update, 0, size) * part_of(rec, 2, size)).tanh();
  const GruSlopes slopes(at::cat({reset_update, candidate}, 1), part_of(rec, 2, size), hx);
  return gru_step(slopes, sum_of(input_gates_t, input_bias_t), sum_of(hidden_gates_t, hidden_bias_t), hx_t, size);
}

/// Of hidden and cell states after all steps.
std::vector<Tensor> lstm_steps_tangents(
    const Tensor& input,
    const Tensor& input_t,
    const Tensor& hx,
    const Tensor& hx_t,
    const Tensor& cx,
    const Tensor& cx_t,
    const Tensor& w_ih,
    const Tensor& w_ih_t,
    const Tensor& w_hh,
    const Tensor& w_hh_t,
    const std::optional<Tensor>& bias,
    const Tensor& bias_t,
    bool reverse,
    IntArrayRef batch_sizes,
    const std::optional<Tensor>& w_hr,
    const Tensor& w_hr_t,
    const Tensor& output,
    const Tensor& cells,
    const Tensor& open) {
  const StepRows steps(input.sizes(), batch_sizes, reverse);
  const Tensor rows = rows_of(input), hidden_before = all_states_before(rows_of(output), hx, steps);
  Tensor gates = rows_of(open);
  if (is_differentiated_again(input, output, cells, w_ih, w_hh)) {
    gates = lstm_gates(at::linear(rows, w_ih, bias) + at::mm(hidden_before, w_hh.t()), cx.size(1));
  }
  const LstmSlopes slopes(gates, all_states_before(rows_of(cells), cx, steps), rows_of(cells));
  Tensor sums_t = input_sums_tangent(rows, rows_of(input_t), w_ih, w_ih_t, bias_t);
  sums_t = sum_of(sums_t, w_hh_t.defined() ? at::mm(hidden_before, w_hh_t.t()) : w_hh_t);
  const Tensor projected_t = w_hr_t.defined() ? at::mm(slopes.put_out, w_hr_t.t()) : w_hr_t;
  StepStates hidden(steps, or_zeros(hx_t, hx)), cell(steps, or_zeros(cx_t, cx));
  for (int64_t i = 0; i < steps.steps(); ++i) {
    const int64_t t = steps.nth(i);
    const Tensor recurrent_t = at::mm(hidden.before(t), w_hh.t());
    LstmTangents step = lstm_step(
        step_of(slopes.sums, steps, t), step_of(slopes.forget, steps, t), step_of(slopes.hidden, steps, t),
        sum_of(step_of(sums_t, steps, t), recurrent_t), cell.before(t));
    if (w_hr.has_value()) {
      step.hidden = sum_of(at::mm(step.hidden, w_hr->t()), step_of(projected_t, steps, t));
    }
    hidden.set(t, step.hidden);
    cell.set(t, step.cell);
  }
  return {hidden.all(output.sizes()), cell.all(cells.sizes()), Tensor()};
}

/// Of the states after all steps.
Tensor gru_steps_tangent(
    const Tensor& input,
    const Tensor& input_t,
    const Tensor& hx,
    const Tensor& hx_t,
    const Tensor& w_ih,
    const Tensor& w_ih_t,
    const Tensor& w_hh,
    const Tensor& w_hh_t,
    const std::optional<Tensor>& b_ih,
    const Tensor& b_ih_t,
    const std::optional<Tensor>& b_hh,
    const Tensor& b_hh_t,
    bool reverse,
    IntArrayRef batch_sizes,
    const Tensor& output,
    const Tensor& open,
    const Tensor& recurrent) {
  const StepRows steps(input.sizes(), batch_sizes, reverse);
  const int64_t size = hx.size(1);
  const Tensor rows = rows_of(input), before = all_states_before(rows_of(output), hx, steps);
  Tensor gates = rows_of(open), candidates = rows_of(recurrent);
  if (is_differentiated_again(input, output, w_ih, w_hh)) {
    const Tensor in = at::linear(rows, w_ih, b_ih), rec = at::linear(before, w_hh, b_hh);
    const Tensor reset_update = (in.narrow(1, 0, 2 * size) + rec.narrow(1, 0, 2 * size)).sigmoid();
    candidates = part_of(rec, 2, size);
    gates = at::cat({reset_update, (part_of(in, 2, size) + part_of(reset_update, 0, size) * candidates).tanh()}, 1);
  }
  const GruSlopes all(gates, candidates, before);
  const Tensor sums_t = input_sums_tangent(rows, rows_of(input_t), w_ih, w_ih_t, b_ih_t);
  const Tensor weights_t = input_sums_tangent(before, Tensor(), w_hh, w_hh_t, b_hh_t);
  StepStates hidden(steps, or_zeros(hx_t, hx));
  for (int64_t i = 0; i < steps.steps(); ++i) {
    const int64_t t = steps.nth(i);
    const Tensor before_t = hidden.before(t);
    const Tensor recurrent_t = sum_of(at::mm(before_t, w_hh.t()), step_of(weights_t, steps, t));
    hidden.set(t, gru_step(all.of_step(steps, t), step_of(sums_t, steps, t), recurrent_t, before_t, size));
  }
  return hidden.all(output.sizes());
}

/// Of the states after all steps.
Tensor rnn_steps_tangent(
    const Tensor& input,
    const Tensor& input_t,
    const Tensor& hx,
    const Tensor& hx_t,
    const Tensor& w_ih,
    const Tensor& w_ih_t,
    const Tensor& w_hh,
    const Tensor& w_hh_t,
    const Tensor& bias_t,
    bool relu,
    bool reverse,
    IntArrayRef batch_sizes,
    const Tensor& output) {
  const StepRows steps(input.sizes(), batch_sizes, reverse);
  const Tensor states = rows_of(output);
  const Tensor slopes = relu ? (states > 0).to(states.scalar_type()) : 1 - states * states;
  Tensor sums_t = input_sums_tangent(rows_of(input), rows_of(input_t), w_ih, w_ih_t, bias_t);
  if (w_hh_t.defined()) {
    sums_t = sum_of(sums_t, at::mm(all_states_before(states, hx, steps), w_hh_t.t()));
  }
  StepStates hidden(steps, or_zeros(hx_t, hx));
  for (int64_t i = 0; i < steps.steps(); ++i) {
    const int64_t t = steps.nth(i);
    const Tensor recurrent_t = at::mm(hidden.before(t), w_hh.t());
    hidden.set(t, step_of(slopes, steps, t) * sum_of(recurrent_t, step_of(sums_t, steps, t)));
  }
  return hidden.all(output.sizes());
}

} // namespace torch::autograd::formulas
