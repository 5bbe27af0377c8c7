// Launches of what LSTM and GRU cells do element by element between two matrix products, and the steps of whole layers.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native {
struct Recurrence;
struct RecurrenceGrads;
} // namespace at::native

namespace at::native::cuda {

/// recurrence() and recurrence_backward() (aten/native/support/recurrence.h), which the plugin registers.
void recurrence_steps(const Recurrence& r);
void recurrence_steps_back(const Recurrence& r, const RecurrenceGrads& grads);

/// Contiguous rows of a batch; `size` hidden units. Elements are floating; pointers that are null are not given.
struct CellRows {
  std::int64_t rows, size;
  c10::ScalarType dtype;
  cudaStream_t stream;
};

/// Sums that go into the gates: 4 (LSTM) or 3 (GRU) parts of `size` in each row, and biases for one row.
struct GateSums {
  const void *input, *hidden, *input_bias, *hidden_bias;
};
/// `open` gets the opened gates: 4 parts.
void launch_lstm_cell(const CellRows& p, const GateSums& gates, const void* cx, void* hy, void* cy, void* open);
void launch_lstm_cell_backward(
    const CellRows& p,
    const void* grad_hy,
    const void* grad_cy,
    const void* cx,
    const void* cy,
    const void* open,
    void* grad_gates,
    void* grad_cx);
/// `open` gets 5 parts: gates for reset and update, the candidate, the old state, the recurrent sum.
void launch_gru_cell(const CellRows& p, const GateSums& gates, const void* hx, void* hy, void* open);
void launch_gru_cell_backward(
    const CellRows& p, const void* grad_hy, const void* open, void* grad_input, void* grad_hidden, void* grad_hx);

/// Steps of a layer, whose sums and states lie apart: `gates` are opened in place, 3 parts; `hidden_sums` are the
/// recurrent sums, of which `recurrent` keeps the candidate's.
void launch_gru_step(
    const CellRows& p, void* gates, const void* hidden_sums, const void* hx, void* hy, void* recurrent);
/// `grad_hx` gets what goes to the old state without a product, and may be `grad_hy`.
void launch_gru_step_backward(
    const CellRows& p,
    const void* grad_hy,
    const void* open,
    const void* recurrent,
    const void* hx,
    void* grad_gates,
    void* grad_hidden_sums,
    void* grad_hx);

} // namespace at::native::cuda
