// Steps of lists of parameters with the values of libtorch's optimizers, which are made of operators; in one pass over
// memory. For front ends.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/support/fused_step.h>

namespace at::native {

/// Parameters and their gradients: dense, on the CPU, of a floating dtype. State of other lengths, dtypes or sizes
/// throws.
struct SteppedLists {
  TensorList params, grads;
};

/// With momentum, each parameter has a buffer.
void sgd_step_by_operators(const SteppedLists& lists, TensorList momentum_buffers, const SgdStep& settings);
/// `steps` count this one; they stand for the step of the settings. `largest` are for amsgrad.
void adam_step_by_operators(
    const SteppedLists& lists,
    TensorList exp_avgs,
    TensorList exp_avg_sqs,
    TensorList largest,
    IntArrayRef steps,
    AdamStep settings);
void adagrad_step_by_operators(
    const SteppedLists& lists, TensorList sums, IntArrayRef steps, const AdagradStep& settings);
/// Averages of gradients where the step is centered; buffers where it has momentum.
void rmsprop_step_by_operators(
    const SteppedLists& lists,
    TensorList square_avgs,
    TensorList grad_avgs,
    TensorList momentum_buffers,
    const RmspropStep& settings);

} // namespace at::native
