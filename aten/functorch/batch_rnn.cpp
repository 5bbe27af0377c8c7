// Recurrent cells and layers: a batch of samples joins the sequences; with weights of their own for each sample, the
// layer's steps are taken one by one.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/support/step_states.h>
#include <aten/ops/_gru_steps_ops.h>
#include <aten/ops/_lstm_steps_ops.h>
#include <aten/ops/_rnn_steps_ops.h>
#include <aten/ops/_thnn_fused_gru_cell.h>
#include <aten/ops/_thnn_fused_gru_cell_backward.h>
#include <aten/ops/_thnn_fused_lstm_cell.h>
#include <aten/ops/_thnn_fused_lstm_cell_backward_impl.h>
#include <aten/ops/linear.h>
#include <aten/ops/zeros_like.h>
#include <c10/util/DimVector.h>

#include <initializer_list>
#include <optional>
#include <tuple>

namespace at::functorch {

namespace {

using native::StepRows;
using native::StepStates;
using Optional = std::optional<Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

/// The sequences of all samples, side by side.
struct Sequences {
  VmapLevelPtr level;
  int64_t of_sample; // how many one sample has

  /// Of a tensor whose dimension `dim` counts the sequences of a sample.
  Tensor join(const Tensor& tensor, int64_t dim) const {
    const Tensor value = value_at(tensor, *level).with_batch(level->batch_size);
    return value.movedim(0, dim).flatten(dim, dim + 1);
  }
  Optional join(const Optional& tensor, int64_t dim) const {
    return is_given(tensor) ? Optional(join(*tensor, dim)) : std::nullopt;
  }
  Tensor separate(const Tensor& joined, int64_t dim) const {
    return makeBatched(joined.unflatten(dim, {level->batch_size, of_sample}).movedim(dim, 0), 0, level);
  }
};

Tensor with_bias(const Tensor& sums, const Optional& bias) {
  return is_given(bias) ? sums + *bias : sums;
}

// ---- cells
// -----------------------------------------------------------------------------------------------------------

Three lstm_cell(
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const Tensor& cx,
    const Optional& input_bias,
    const Optional& hidden_bias) {
  const Tensor sums = with_bias(with_bias(input_gates + hidden_gates, input_bias), hidden_bias);
  const Sequences s{level_of({sums, cx}, "_thnn_fused_lstm_cell"), cx.size(0)};
  const Tensor joined = s.join(sums, 0);
  const auto [hy, cy, open] = at::_thnn_fused_lstm_cell(joined, at::zeros_like(joined), s.join(cx, 0));
  return {s.separate(hy, 0), s.separate(cy, 0), s.separate(open, 0)};
}

Three lstm_cell_backward(
    const Optional& grad_hy,
    const Optional& grad_cy,
    const Tensor& cx,
    const Tensor& cy,
    const Tensor& workspace,
    bool has_bias) {
  const Sequences s{
      level_of(
          {grad_hy.value_or(Tensor()), grad_cy.value_or(Tensor()), cx, cy, workspace},
          "_thnn_fused_lstm_cell_backward_impl"),
      cx.size(0)};
  const auto [gates, cell, unused] = at::_thnn_fused_lstm_cell_backward_impl(
      s.join(grad_hy, 0), s.join(grad_cy, 0), s.join(cx, 0), s.join(cy, 0), s.join(workspace, 0), false);
  const Tensor for_gates = s.separate(gates, 0);
  return {for_gates, s.separate(cell, 0), has_bias ? for_gates.sum(0) : Tensor()};
}

std::tuple<Tensor, Tensor> gru_cell(
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const Tensor& hx,
    const Optional& input_bias,
    const Optional& hidden_bias) {
  const Tensor in = with_bias(input_gates, input_bias), hidden = with_bias(hidden_gates, hidden_bias);
  const Sequences s{level_of({in, hidden, hx}, "_thnn_fused_gru_cell"), hx.size(0)};
  const auto [hy, open] = at::_thnn_fused_gru_cell(s.join(in, 0), s.join(hidden, 0), s.join(hx, 0));
  return {s.separate(hy, 0), s.separate(open, 0)};
}

Five gru_cell_backward(const Tensor& grad_hy, const Tensor& workspace, bool has_bias) {
  const Sequences s{level_of({grad_hy, workspace}, "_thnn_fused_gru_cell_backward"), grad_hy.size(0)};
  const auto [in, hidden, hx, b1, b2] =
      at::_thnn_fused_gru_cell_backward(s.join(grad_hy, 0), s.join(workspace, 0), false);
  const Tensor for_in = s.separate(in, 0), for_hidden = s.separate(hidden, 0);
  return {
      for_in, for_hidden, s.separate(hx, 0), has_bias ? for_in.sum(0) : Tensor(),
      has_bias ? for_hidden.sum(0) : Tensor()};
}

// ---- layers
// ----------------------------------------------------------------------------------------------------------

bool any_batched(std::initializer_list<Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    if (isBatchedTensor(tensor)) {
      return true;
    }
  }
  return false;
}

/// All rows of [steps, batch, features]; packed rows are these.
Tensor rows_of_steps(const Tensor& sequence) {
  return sequence.dim() == 3 ? sequence.reshape({-1, sequence.size(2)}) : sequence;
}

c10::DimVector sizes_of_states(const Tensor& input, int64_t width) {
  c10::DimVector sizes(input.sizes().begin(), input.sizes().end());
  sizes.back() = width;
  return sizes;
}

Three lstm_steps(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& cx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Optional& bias,
    bool reverse,
    IntArrayRef batch_sizes,
    const Optional& w_hr) {
  if (batch_sizes.empty() && !any_batched({w_ih, w_hh, bias.value_or(Tensor()), w_hr.value_or(Tensor())})) {
    const Sequences s{level_of({input, hx, cx}, "_lstm_steps"), hx.size(0)};
    const auto [output, cells, open] = at::_ops::_lstm_steps::call(
        s.join(input, 1), s.join(hx, 0), s.join(cx, 0), w_ih, w_hh, bias, reverse, batch_sizes, w_hr);
    return {s.separate(output, 1), s.separate(cells, 1), s.separate(open, 1)};
  }
  const StepRows steps(input.sizes(), batch_sizes, reverse);
  const Tensor sums = at::linear(rows_of_steps(input), w_ih, bias);
  StepStates hidden(steps, hx), cell(steps, cx), gates(steps, Tensor());
  for (int64_t i = 0; i < steps.steps(); ++i) {
    const int64_t t = steps.nth(i);
    const auto [h, c, open] = at::_thnn_fused_lstm_cell(
        sums.narrow(0, steps.first(t), steps.live(t)), at::linear(hidden.before(t), w_hh), cell.before(t));
    hidden.set(t, is_given(w_hr) ? at::linear(h, *w_hr) : h);
    cell.set(t, c);
    gates.set(t, open);
  }
  return {
      hidden.all(sizes_of_states(input, hx.size(1))), cell.all(sizes_of_states(input, cx.size(1))),
      gates.all(sizes_of_states(input, sums.size(1)))};
}

Three gru_steps(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Optional& b_ih,
    const Optional& b_hh,
    bool reverse,
    IntArrayRef batch_sizes) {
  if (batch_sizes.empty() && !any_batched({w_ih, w_hh, b_ih.value_or(Tensor()), b_hh.value_or(Tensor())})) {
    const Sequences s{level_of({input, hx}, "_gru_steps"), hx.size(0)};
    const auto [output, open, recurrent] =
        at::_ops::_gru_steps::call(s.join(input, 1), s.join(hx, 0), w_ih, w_hh, b_ih, b_hh, reverse, batch_sizes);
    return {s.separate(output, 1), s.separate(open, 1), s.separate(recurrent, 1)};
  }
  const StepRows steps(input.sizes(), batch_sizes, reverse);
  const Tensor sums = at::linear(rows_of_steps(input), w_ih, b_ih);
  const int64_t size = hx.size(1);
  StepStates hidden(steps, hx), gates(steps, Tensor()), recurrent(steps, Tensor());
  for (int64_t i = 0; i < steps.steps(); ++i) {
    const int64_t t = steps.nth(i);
    const Tensor before = hidden.before(t);
    const auto [next, open] =
        at::_thnn_fused_gru_cell(sums.narrow(0, steps.first(t), steps.live(t)), at::linear(before, w_hh, b_hh), before);
    hidden.set(t, next);
    gates.set(t, open.narrow(1, 0, 3 * size));
    recurrent.set(t, open.narrow(1, 4 * size, size));
  }
  const c10::DimVector sizes = sizes_of_states(input, size);
  return {hidden.all(sizes), gates.all(sizes_of_states(input, 3 * size)), recurrent.all(sizes)};
}

Tensor rnn_steps(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Optional& bias,
    bool relu,
    bool reverse,
    IntArrayRef batch_sizes) {
  if (batch_sizes.empty() && !any_batched({w_ih, w_hh, bias.value_or(Tensor())})) {
    const Sequences s{level_of({input, hx}, "_rnn_steps"), hx.size(0)};
    return s.separate(
        at::_ops::_rnn_steps::call(s.join(input, 1), s.join(hx, 0), w_ih, w_hh, bias, relu, reverse, batch_sizes), 1);
  }
  const StepRows steps(input.sizes(), batch_sizes, reverse);
  const Tensor sums = at::linear(rows_of_steps(input), w_ih, bias);
  StepStates hidden(steps, hx);
  for (int64_t i = 0; i < steps.steps(); ++i) {
    const int64_t t = steps.nth(i);
    const Tensor sum = sums.narrow(0, steps.first(t), steps.live(t)) + at::linear(hidden.before(t), w_hh);
    hidden.set(t, relu ? sum.relu() : sum.tanh());
  }
  return hidden.all(sizes_of_states(input, hx.size(1)));
}

constexpr c10::impl::BuiltinKernelRow kRnnRules[] = {
    rule_for<&lstm_cell>("aten::_thnn_fused_lstm_cell"),
    rule_for<&lstm_cell_backward>("aten::_thnn_fused_lstm_cell_backward_impl"),
    rule_for<&gru_cell>("aten::_thnn_fused_gru_cell"),
    rule_for<&gru_cell_backward>("aten::_thnn_fused_gru_cell_backward"),
    rule_for<&lstm_steps>("aten::_lstm_steps"),
    rule_for<&gru_steps>("aten::_gru_steps"),
    rule_for<&rnn_steps>("aten::_rnn_steps"),
};
const c10::impl::BuiltinKernels kRnnRulesRegistered(kRnnRules);

} // namespace

} // namespace at::functorch
