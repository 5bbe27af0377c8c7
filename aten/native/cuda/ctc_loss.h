// Launches of connectionist temporal classification.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// log_probs are [steps, batch, classes], float or double. Sequence b has inputs[b] steps and lengths[b] labels from
/// labels[begins[b]] on; with blanks between them they are 2 * length + 1 states, of which `width` have room. The
/// tables alpha and beta are [batch, steps, width].
struct CtcLoss {
  std::int64_t steps, batch, classes, width, blank;
  c10::ScalarType dtype;
  const std::int64_t *labels, *begins, *inputs, *lengths;
  const void* log_probs;
  cudaStream_t stream;
};
/// The loss of each sequence, and the logarithms of its forward variables.
void launch_ctc_loss(const CtcLoss& p, void* loss, void* alpha);
/// The gradient for log_probs that come from a log_softmax; `beta` is room for the backward variables. Sequences
/// without a path get zeros if `zero_infinity`.
void launch_ctc_loss_backward(
    const CtcLoss& p,
    const void* grad,
    const void* loss,
    const void* alpha,
    void* beta,
    bool zero_infinity,
    void* result);

} // namespace at::native::cuda
