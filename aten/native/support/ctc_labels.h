// What ctc_loss knows of its labels before any kernel runs, on every backend.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <vector>

namespace at::native {

/// The label sequences of a batch in host memory, checked.
struct CtcLabels {
  /// All labels; sequence b begins at begin[b].
  std::vector<int64_t> labels, begin;
  /// Length of the longest sequence.
  int64_t longest = 0;
};

/// Throws where dtypes, lengths or labels of the arguments of ctc_loss do not fit each other. `log_probs` is (steps,
/// batch, classes), `targets` the sequences behind each other or (batch, longest); `caller` stands in the messages.
TORCH_API CtcLabels checked_ctc_labels(
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    int64_t blank,
    const char* caller);

} // namespace at::native
