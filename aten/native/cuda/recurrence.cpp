// The steps of a recurrent layer on CUDA devices: for each a product with the state, which is added to the sums of the
// step, and one kernel for the cells (rnn.cu); see Note [Steps of a layer].
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/native/cuda/rnn.h>
#include <aten/native/support/recurrence.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native::cuda {

namespace {

/// The rows of all steps of a contiguous tensor, which may be undefined.
Tensor all_rows(const TensorBase& sequence) {
  return sequence.defined() && sequence.dim() == 3 ? Tensor(sequence).flatten(0, 1) : Tensor(sequence);
}

/// Those of step t.
Tensor step_of(const Tensor& rows, const StepRows& steps, int64_t t) {
  return rows.narrow(0, steps.first(t), steps.live(t));
}

/// The states before step t: those `after` the step before, and the first ones of sequences that begin.
Tensor states_before(const Tensor& after, const Tensor& first, const StepRows& steps, int64_t t) {
  const int64_t continued = steps.continued(t), begin = steps.live(t) - continued;
  if (continued == 0) {
    return first.narrow(0, 0, begin);
  }
  const Tensor before = after.narrow(0, steps.first(steps.before(t)), continued);
  return begin == 0 ? before : at::cat({before, first.narrow(0, continued, begin)}, 0);
}

CellRows cell_rows(const Recurrence& r, int64_t live) {
  return {live, r.cx.defined() ? r.cx.size(1) : r.hx.size(1), r.hx.scalar_type(), c10::cuda::getCurrentCUDAStream()};
}

} // namespace

void recurrence_steps(const Recurrence& r) {
  const c10::OptionalDeviceGuard guard(r.hx.device());
  const StepRows steps = r.rows();
  const Tensor weight = Tensor(r.w_hh).t(), w_hr(r.w_hr), bias(r.b_hh), hx(r.hx), cx(r.cx),
               unprojected = all_rows(r.hidden);
  const Tensor all_gates = all_rows(r.gates), output = all_rows(r.output), cells = all_rows(r.cells),
               recurrent = all_rows(r.recurrent);
  const Tensor sums =
      r.cell == RecurrentCell::gru ? at::empty({r.hx.size(0), r.w_hh.size(0)}, Tensor(r.hx).options()) : Tensor();
  for (int64_t i = 0; i < steps.steps(); ++i) {
    const int64_t t = steps.nth(i);
    const CellRows p = cell_rows(r, steps.live(t));
    const Tensor hidden = states_before(output, hx, steps, t), next = step_of(output, steps, t);
    Tensor gates = step_of(all_gates, steps, t);
    if (r.cell == RecurrentCell::lstm) {
      const Tensor cell = states_before(cells, cx, steps, t), next_cell = step_of(cells, steps, t);
      const Tensor put_out = w_hr.defined() ? step_of(unprojected, steps, t) : next;
      gates.addmm_(hidden, weight);
      launch_lstm_cell(
          p, {gates.const_data_ptr(), nullptr, nullptr, nullptr}, cell.const_data_ptr(), put_out.mutable_data_ptr(),
          next_cell.mutable_data_ptr(), gates.mutable_data_ptr());
      if (w_hr.defined()) {
        Tensor projected = next;
        at::mm_out(projected, put_out, w_hr.t());
      }
    } else if (r.cell == RecurrentCell::gru) {
      Tensor back = sums.narrow(0, 0, p.rows);
      bias.defined() ? at::addmm_out(back, bias, hidden, weight) : at::mm_out(back, hidden, weight);
      launch_gru_step(
          p, gates.mutable_data_ptr(), back.const_data_ptr(), hidden.const_data_ptr(), next.mutable_data_ptr(),
          step_of(recurrent, steps, t).mutable_data_ptr());
    } else {
      gates.addmm_(hidden, weight);
      r.cell == RecurrentCell::relu ? gates.relu_() : gates.tanh_();
    }
  }
}

void recurrence_steps_back(const Recurrence& r, const RecurrenceGrads& grads) {
  const c10::OptionalDeviceGuard guard(r.hx.device());
  const StepRows steps = r.rows();
  const Tensor weight(r.w_hh), w_hr(r.w_hr), hx(r.hx), cx(r.cx), all_hidden(grads.hx), all_cells(grads.cx);
  const Tensor all_gates = all_rows(r.gates), output = all_rows(r.output), cells = all_rows(r.cells),
               recurrent = all_rows(r.recurrent);
  const Tensor grad_gates = all_rows(grads.gates), grad_output = all_rows(grads.output),
               grad_cells = all_rows(grads.cells), grad_recurrent = all_rows(grads.recurrent),
               grad_projected = all_rows(grads.projected);
  // What the steps so far have left to the states before them, by sequence; in the end the gradients of the first
  // states.
  all_hidden.zero_();
  if (all_cells.defined()) {
    all_cells.zero_();
  }
  for (int64_t i = steps.steps(); i-- > 0;) {
    const int64_t t = steps.nth(i);
    const CellRows p = cell_rows(r, steps.live(t));
    Tensor for_hidden = all_hidden.narrow(0, 0, p.rows), for_gates = step_of(grad_gates, steps, t);
    const Tensor gates = step_of(all_gates, steps, t);
    if (grad_output.defined()) {
      for_hidden.add_(step_of(grad_output, steps, t));
    }
    if (r.cell == RecurrentCell::lstm) {
      Tensor for_cell = all_cells.narrow(0, 0, p.rows);
      if (grad_cells.defined()) {
        for_cell.add_(step_of(grad_cells, steps, t));
      }
      const Tensor old = states_before(cells, cx, steps, t);
      Tensor for_put_out = for_hidden;
      if (w_hr.defined()) {
        step_of(grad_projected, steps, t).copy_(for_hidden);
        for_put_out = at::mm(for_hidden, w_hr);
      }
      launch_lstm_cell_backward(
          p, for_put_out.const_data_ptr(), for_cell.const_data_ptr(), old.const_data_ptr(),
          step_of(cells, steps, t).const_data_ptr(), gates.const_data_ptr(), for_gates.mutable_data_ptr(),
          for_cell.mutable_data_ptr());
      at::mm_out(for_hidden, for_gates, weight);
    } else if (r.cell == RecurrentCell::gru) {
      const Tensor old = states_before(output, hx, steps, t), for_sums = step_of(grad_recurrent, steps, t);
      launch_gru_step_backward(
          p, for_hidden.const_data_ptr(), gates.const_data_ptr(), step_of(recurrent, steps, t).const_data_ptr(),
          old.const_data_ptr(), for_gates.mutable_data_ptr(), for_sums.mutable_data_ptr(),
          for_hidden.mutable_data_ptr());
      for_hidden.addmm_(for_sums, weight);
    } else {
      r.cell == RecurrentCell::relu ? at::threshold_backward_out(for_gates, for_hidden, gates, 0)
                                    : at::tanh_backward_out(for_gates, for_hidden, gates);
      at::mm_out(for_hidden, for_gates, weight);
    }
  }
}

namespace {

constexpr DeviceRecurrence kCudaRecurrence{&recurrence_steps, &recurrence_steps_back};

[[maybe_unused]] const bool recurrence_registered =
    (register_recurrence(c10::DeviceType::CUDA, &kCudaRecurrence), true);

} // namespace

} // namespace at::native::cuda
