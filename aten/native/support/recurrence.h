// All steps of a recurrent layer, given their products with the inputs; see Note [Steps of a layer].
#pragma once

#include <aten/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace at::native {

enum class RecurrentCell : std::uint8_t { lstm, gru, tanh, relu };

/// Steps from which on the CPU lays out weights anew for them.
constexpr int64_t kWorthPacking = 4;

/// Throws unless `batch_sizes` are positive, do not grow, and add up to `rows`.
void check_batch_sizes(const char* op, IntArrayRef batch_sizes, int64_t rows);

/// Where the rows of a layer's steps lie in its tensors: step by step, those of the sequences that have it. Sequences
/// of different lengths are packed, the longest first, with a number of sequences for each step. Going from the last
/// step to the first, a sequence joins at its own last step.
class StepRows {
 public:
  /// `sizes` are [steps, batch, ...], or [rows, ...] with the sequences of each step in `batch_sizes`, which the caller
  /// keeps.
  StepRows(IntArrayRef sizes, IntArrayRef batch_sizes, bool reverse)
      : steps_(batch_sizes.empty() ? sizes[0] : static_cast<int64_t>(batch_sizes.size())),
        batch_(batch_sizes.empty() ? sizes[1] : batch_sizes[0]),
        batch_sizes_(batch_sizes),
        reverse_(reverse) {
    if (is_packed()) {
      first_.reserve(batch_sizes.size());
      int64_t first = 0;
      for (const int64_t size : batch_sizes) {
        first_.push_back(std::exchange(first, first + size));
      }
    }
  }

  int64_t steps() const {
    return steps_;
  }
  /// Sequences.
  int64_t batch() const {
    return batch_;
  }
  bool is_packed() const {
    return !batch_sizes_.empty();
  }
  /// The i-th step to be taken.
  int64_t nth(int64_t i) const {
    return reverse_ ? steps_ - 1 - i : i;
  }
  /// The step that is taken before `t`.
  int64_t before(int64_t t) const {
    return reverse_ ? t + 1 : t - 1;
  }
  /// The row where a step begins.
  int64_t first(int64_t t) const {
    return is_packed() ? first_[t] : t * batch_;
  }
  /// The sequences that have this step; they are the first of the batch, and so are those below.
  int64_t live(int64_t t) const {
    return is_packed() ? batch_sizes_[t] : batch_;
  }
  /// Those of them that took a step before; the others begin.
  int64_t continued(int64_t t) const {
    return reverse_ ? live_beyond(t) : t == 0 ? 0 : live(t);
  }
  /// Those of them that take a step afterwards; the others end.
  int64_t followed(int64_t t) const {
    return !reverse_ ? live_beyond(t) : t == 0 ? 0 : live(t);
  }

 private:
  int64_t live_beyond(int64_t t) const {
    return t + 1 == steps_ ? 0 : live(t + 1);
  }

  int64_t steps_, batch_;
  IntArrayRef batch_sizes_;
  bool reverse_;
  std::vector<int64_t> first_;
};

/// Tensors are contiguous, of a dtype that steps_are_kernels() takes, and of matching sizes; w_hh and b_hh may have any
/// strides. "rows" are steps x batch, or one dimension of packed rows. "width" is the size of a cell, or what its state
/// is projected to.
struct Recurrence {
  RecurrentCell cell;
  bool reverse;
  IntArrayRef batch_sizes; // of packed sequences, see StepRows; else empty
  TensorBase hx, cx; // batch x width, batch x size; cx of an LSTM
  TensorBase w_hh; // gates * size x width
  TensorBase w_hr; // width x size: the projection of an LSTM, or undefined; on devices other than the CPU
  TensorBase b_hh; // of a GRU: what its recurrent sums begin with, or undefined
  TensorBase gates; // rows x gates * size: sums of all but the recurrent products; opened gates when the steps are done
  TensorBase recurrent; // rows x size: of a GRU, the recurrent sums of its candidates
  TensorBase output, cells; // rows x width, rows x size: the states; of a cell with one gate, `output` is `gates`
  TensorBase hidden; // rows x size: with a projection, what is projected

  StepRows rows() const {
    return {gates.sizes(), batch_sizes, reverse};
  }
};

/// Gradients of the states, either of which may be undefined, and where those of sums and first states go.
struct RecurrenceGrads {
  TensorBase output, cells;
  TensorBase gates; // of the sums with the inputs
  TensorBase recurrent; // of the recurrent sums, of all gates: `gates` but for a GRU
  TensorBase hx, cx;
  TensorBase projected; // rows x width, with a projection: of the projected states, also of those that the steps after
                        // have left
};

/// What a device other than the CPU registers when it is loaded: the two functions below, for half and bfloat16 too.
struct DeviceRecurrence {
  void (*steps)(const Recurrence& r);
  void (*steps_back)(const Recurrence& r, const RecurrenceGrads& grads);
};
/// Null takes them away again.
TORCH_API void register_recurrence(c10::DeviceType device, const DeviceRecurrence* functions);

/// Whether recurrence() takes tensors of this device, layout and dtype.
bool steps_are_kernels(const TensorBase& t);

/// Takes the steps: reads sums and first states, writes opened gates and states.
void recurrence(const Recurrence& r);

/// Takes them back: reads what recurrence() has written.
void recurrence_backward(const Recurrence& r, const RecurrenceGrads& grads);

/// All layers of a network, as lstm() and related operators are given them.
struct RecurrentLayers {
  RecurrentCell cell;
  TensorBase input; // steps x batch x features, or packed rows with the sequences of each step in `batch_sizes`
  IntArrayRef batch_sizes;
  TensorBase hx, cx; // layers * directions x batch x size; cx of an LSTM
  TensorList weights; // of each layer and direction: of input and state, their biases, the projection
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
  bool weights_are_made; // for this call, so that it is no surprise that they do not lie in one buffer
};

struct RecurrentStates {
  TensorBase output, hx, cx; // output as `input`; the states after the last steps
};

/// A device's own way for whole layers, by a library say. Nothing: it does not take them, and nothing was done. What it
/// does can be differentiated.
using DeviceLayers = std::optional<RecurrentStates> (*)(const RecurrentLayers& layers);
/// Null takes it away again.
TORCH_API void register_recurrent_layers(c10::DeviceType device, DeviceLayers layers);

/// The layers by the way of their device, where it has one that takes them.
std::optional<RecurrentStates> layers_of_device(const RecurrentLayers& layers);

} // namespace at::native
