#include <aten/native/support/ctc_labels.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace at::native {

CtcLabels checked_ctc_labels(
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    int64_t blank,
    const char* caller) {
  TORCH_CHECK(
      log_probs.dim() == 3, "Expected 3-dimensional tensor, but got ", log_probs.dim(),
      "-dimensional tensor for argument #1 'log_probs' (while checking arguments for ", caller, ")");
  const int64_t steps = log_probs.size(0), batch = log_probs.size(1), classes = log_probs.size(2);
  TORCH_CHECK(log_probs.numel() > 0 || batch == 0, "log_probs tensor must not be empty; got ", log_probs.sizes());
  TORCH_CHECK(blank >= 0 && blank < classes, "blank must be in label range; got ", blank, " for ", classes, " labels");
  TORCH_CHECK(
      static_cast<int64_t>(input_lengths.size()) == batch, "input_lengths must be of size batch_size; got ",
      input_lengths.size(), " for ", batch);
  TORCH_CHECK(
      static_cast<int64_t>(target_lengths.size()) == batch, "target_lengths must be of size batch_size; got ",
      target_lengths.size(), " for ", batch);
  TORCH_CHECK(
      targets.scalar_type() == kLong || targets.scalar_type() == kInt,
      "Expected tensor for argument #2 'targets' to have one of the following scalar types: Long, Int; but got ",
      targets.toString(), " instead (while checking arguments for ", caller, ")");
  const bool padded = targets.dim() == 2;
  TORCH_CHECK(
      targets.dim() == 1 || (padded && targets.size(0) == batch),
      "Expected targets of 1 dimension, or 2 with the batch first; got ", targets.sizes());
  CtcLabels result;
  int64_t total = 0;
  for (int64_t b = 0; b < batch; ++b) {
    TORCH_CHECK(
        input_lengths[b] >= 0, "Expected input_lengths to have value at least 0, but got value ", input_lengths[b],
        " (while checking arguments for ", caller, ")");
    TORCH_CHECK(
        input_lengths[b] <= steps, "Expected input_lengths to have value at most ", steps, ", but got value ",
        input_lengths[b], " (while checking arguments for ", caller, ")");
    const int64_t length = target_lengths[b];
    TORCH_CHECK(
        length >= 0, "Expected target_lengths to have value at least 0, but got value ", length,
        " (while checking arguments for ", caller, ")");
    TORCH_CHECK(
        padded ? length <= targets.size(1) : length <= targets.size(0) - total,
        "Expected tensor to have size at least ", padded ? length : total + length, " at dimension ", targets.dim() - 1,
        ", but got size ", targets.size(-1), " for argument #2 'targets' (while checking arguments for ", caller, ")");
    result.begin.push_back(padded ? b * targets.size(1) : total);
    result.longest = std::max(result.longest, length);
    total += length;
  }
  const Tensor dense = targets.to(kCPU, kLong).contiguous();
  result.labels.assign(dense.const_data_ptr<int64_t>(), dense.const_data_ptr<int64_t>() + dense.numel());
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t s = 0; s < target_lengths[b]; ++s) {
      const int64_t label = result.labels[result.begin[b] + s];
      TORCH_CHECK_INDEX(
          label >= 0 && label < classes, "ctc_loss: target ", label, " at place ", s, " of sequence ", b,
          " is out of range for ", classes, " labels");
    }
  }
  return result;
}

} // namespace at::native
