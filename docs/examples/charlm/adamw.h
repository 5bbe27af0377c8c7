#pragma once

#include "model.h"

namespace charlm {

/// AdamW: running means of the gradient and its square, and weight decay apart from them. Matrices decay, norms do not.
class AdamW {
 public:
  explicit AdamW(const NamedTensors& parameters);

  /// One step along the gradients, which are then cleared. `step` counts from 1.
  void update(int64_t step, double learning_rate);
  /// The running means, named after their parameters.
  const NamedTensors& state() const {
    return state_;
  }

 private:
  NamedTensors parameters_;
  NamedTensors state_;
};

} // namespace charlm
