// Rows of the steps of a recurrent layer, see StepRows.
#pragma once

#include <aten/native/support/recurrence.h>
#include <autograd/formulas/types.h>

namespace torch::autograd::formulas {

/// All rows of [steps, batch, width]; packed rows are these, and an undefined tensor is itself.
Tensor rows_of(const Tensor& sequence);

/// The rows of step t; undefined if `rows` is.
Tensor step_of(const Tensor& rows, const at::native::StepRows& steps, int64_t t);

/// The states before step t, of the rows of states `after` all steps and the first states.
Tensor states_before(const Tensor& after, const Tensor& first, const at::native::StepRows& steps, int64_t t);

} // namespace torch::autograd::formulas
