// All steps of a recurrent layer on the CPU, given their products with the inputs; see Note [Steps of a layer].
#pragma once

#include <aten/core/TensorBase.h>

#include <cstdint>

namespace at::native {

enum class RecurrentCell : std::uint8_t { lstm, gru, tanh, relu };

/// Tensors are contiguous, float or double and of matching sizes; w_hh and b_hh may have any strides.
struct Recurrence {
  RecurrentCell cell;
  bool reverse;
  TensorBase hx, cx; // batch x size; cx of an LSTM
  TensorBase w_hh; // gates * size x size
  TensorBase b_hh; // of a GRU: what its recurrent sums begin with, or undefined
  TensorBase gates; // steps x batch x gates * size: sums of all but the recurrent products; opened gates when the steps are done
  TensorBase recurrent; // steps x batch x size: of a GRU, the recurrent sums of its candidates
  TensorBase output, cells; // steps x batch x size: the states; of a cell with one gate, `output` is `gates`
};

/// Gradients of the states, either of which may be undefined, and where those of sums and first states go.
struct RecurrenceGrads {
  TensorBase output, cells;
  TensorBase gates; // of the sums with the inputs
  TensorBase recurrent; // of the recurrent sums, of all gates: `gates` but for a GRU
  TensorBase hx, cx;
};

/// Takes the steps: reads sums and first states, writes opened gates and states.
void recurrence(const Recurrence& r);

/// Takes them back: reads what recurrence() has written.
void recurrence_backward(const Recurrence& r, const RecurrenceGrads& grads);

} // namespace at::native
