// All steps of an LSTM on the CPU, given their products with the inputs.
#pragma once

#include <aten/core/TensorBase.h>

namespace at::native {

/// `gates` (steps x batch x 4 * size) holds the sums of all but the recurrent products, and receives the opened gates; `output`
/// and `cells` (steps x batch x size) receive the states. All are contiguous, float or double, and of matching sizes, but
/// w_hh (4 * size x size) may have any strides.
void lstm_recurrence(
    const TensorBase& gates, const TensorBase& hx, const TensorBase& cx, const TensorBase& w_hh, bool reverse,
    const TensorBase& output, const TensorBase& cells);

} // namespace at::native
