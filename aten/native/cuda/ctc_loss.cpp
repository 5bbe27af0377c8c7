// Host side of ctc_loss.cu: the checks, for which labels and lengths must be known here.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/ctc_loss.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace at::native {

namespace {

/// One batch of label sequences, checked, and what the kernels need of it on the device.
struct Labels {
  Tensor log_probs, labels, numbers; // numbers: rows of begins, steps and lengths
  int64_t width;

  Labels(const Tensor& probs, const Tensor& targets, IntArrayRef inputs, IntArrayRef lengths, int64_t blank) {
    TORCH_CHECK(probs.dim() == 3, "Expected 3-dimensional tensor, but got ", probs.dim(), "-dimensional tensor for argument #1 'log_probs' (while checking arguments for ctc_loss_gpu)");
    const int64_t batch = probs.size(1), classes = probs.size(2);
    if (!kFloatDouble.contains(probs.scalar_type())) {
      at::detail::dtype_not_supported("ctc_loss_cuda", probs.scalar_type(), kFloatDouble.bits);
    }
    TORCH_CHECK(probs.numel() > 0 || batch == 0, "log_probs tensor must not be empty; got ", probs.sizes());
    TORCH_CHECK(blank >= 0 && blank < classes, "blank must be in label range; got ", blank, " for ", classes, " labels");
    TORCH_CHECK(static_cast<int64_t>(inputs.size()) == batch, "input_lengths must be of size batch_size; got ", inputs.size(), " for ", batch);
    TORCH_CHECK(static_cast<int64_t>(lengths.size()) == batch, "target_lengths must be of size batch_size; got ", lengths.size(), " for ", batch);
    TORCH_CHECK(
        targets.scalar_type() == kLong || targets.scalar_type() == kInt,
        "Expected tensor for argument #2 'targets' to have one of the following scalar types: Long, Int; but got ", targets.toString(),
        " instead (while checking arguments for ctc_loss_gpu)");
    TORCH_CHECK(targets.dim() == 1 || (targets.dim() == 2 && targets.size(0) == batch), "Expected targets of 1 dimension, or 2 with the batch first; got ", targets.sizes());
    std::vector<int64_t> begins;
    int64_t total = 0, longest = 0;
    for (int64_t b = 0; b < batch; ++b) {
      check_length("input_lengths", inputs[b], probs.size(0));
      check_length("target_lengths", lengths[b], targets.dim() == 2 ? targets.size(1) : targets.size(0) - total);
      begins.push_back(targets.dim() == 2 ? b * targets.size(1) : total);
      total += lengths[b];
      longest = std::max(longest, lengths[b]);
    }
    width = 2 * longest + 1;
    check_labels(targets.to(kCPU, kLong).contiguous(), begins, lengths, classes);
    log_probs = probs.contiguous();
    labels = targets.to(kLong).contiguous();
    const Tensor rows = at::empty({3, batch}, TensorOptions().dtype(kLong));
    auto* row = rows.mutable_data_ptr<int64_t>();
    row = std::copy(begins.begin(), begins.end(), row);
    row = std::copy(inputs.begin(), inputs.end(), row);
    std::copy(lengths.begin(), lengths.end(), row);
    numbers = rows.to(probs.device());
  }

  cuda::CtcLoss arguments(int64_t blank) const {
    const int64_t batch = log_probs.size(1);
    const auto* row = numbers.const_data_ptr<int64_t>();
    return {log_probs.size(0), batch, log_probs.size(2), width, blank, log_probs.scalar_type(), labels.const_data_ptr<int64_t>(),
            row, row + batch, row + 2 * batch, log_probs.const_data_ptr(), c10::cuda::getCurrentCUDAStream()};
  }

 private:
  static void check_length(const char* name, int64_t length, int64_t most) {
    TORCH_CHECK(
        length >= 0 && length <= most, "Expected ", name, " to have value at least 0 and at most ", most, ", but got value ", length,
        " (while checking arguments for ctc_loss_gpu)");
  }

  static void check_labels(const Tensor& host, const std::vector<int64_t>& begins, IntArrayRef lengths, int64_t classes) {
    const auto* label = host.const_data_ptr<int64_t>();
    for (size_t b = 0; b < begins.size(); ++b) {
      for (int64_t s = 0; s < lengths[b]; ++s) {
        const int64_t value = label[begins[b] + s];
        TORCH_CHECK_INDEX(
            value >= 0 && value < classes, "ctc_loss: target ", value, " at place ", s, " of sequence ", b, " is out of range for ",
            classes, " labels");
      }
    }
  }
};

} // namespace

std::tuple<Tensor, Tensor> _ctc_loss_cuda(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths, int64_t blank, bool) {
  const Labels labels(log_probs, targets, input_lengths, target_lengths, blank);
  const cuda::CtcLoss p = labels.arguments(blank);
  const Tensor loss = at::empty({p.batch}, log_probs.options()), alpha = at::empty({p.batch, p.steps, p.width}, log_probs.options());
  if (p.batch > 0) {
    cuda::launch_ctc_loss(p, loss.mutable_data_ptr(), alpha.mutable_data_ptr());
  }
  return {loss, alpha};
}

Tensor _ctc_loss_backward_cuda(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths, const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  const Labels labels(log_probs, targets, input_lengths, target_lengths, blank);
  const cuda::CtcLoss p = labels.arguments(blank);
  TORCH_CHECK(
      grad.numel() == p.batch && neg_log_likelihood.numel() == p.batch && grad.scalar_type() == p.dtype && neg_log_likelihood.scalar_type() == p.dtype,
      "_ctc_loss_backward: grad and neg_log_likelihood must have one element of ", p.dtype, " for each of ", p.batch, " sequences; got ",
      grad.sizes(), " of ", grad.scalar_type(), " and ", neg_log_likelihood.sizes(), " of ", neg_log_likelihood.scalar_type());
  TORCH_CHECK(
      log_alpha.numel() == p.batch * p.steps * p.width && log_alpha.scalar_type() == p.dtype,
      "_ctc_loss_backward: log_alpha must be that of _ctc_loss; got ", log_alpha.sizes(), " of ", log_alpha.scalar_type());
  const Tensor result = at::empty(log_probs.sizes(), log_probs.options());
  if (result.numel() != 0) {
    const Tensor alpha = log_alpha.contiguous(), losses = neg_log_likelihood.contiguous(), grads = grad.contiguous(), beta = at::empty_like(alpha);
    cuda::launch_ctc_loss_backward(
        p, grads.const_data_ptr(), losses.const_data_ptr(), alpha.const_data_ptr(), beta.mutable_data_ptr(), zero_infinity,
        result.mutable_data_ptr());
  }
  return result;
}

} // namespace at::native
