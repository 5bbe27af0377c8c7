// Host side of ctc_loss.cu: the checks, for which labels and lengths must be known here.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/ctc_loss.h>
#include <aten/native/support/ctc_labels.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <tuple>

namespace at::native {

namespace {

/// One batch of label sequences, checked, and what the kernels need of it on the device.
struct Labels {
  Tensor log_probs, labels, numbers; // numbers: rows of begins, steps and lengths
  int64_t width;

  Labels(const Tensor& probs, const Tensor& targets, IntArrayRef inputs, IntArrayRef lengths, int64_t blank) {
    const CtcLabels checked = checked_ctc_labels(probs, targets, inputs, lengths, blank, "ctc_loss_gpu");
    if (!kFloatDouble.contains(probs.scalar_type())) {
      at::detail::dtype_not_supported("ctc_loss_cuda", probs.scalar_type(), kFloatDouble.bits);
    }
    width = 2 * checked.longest + 1;
    log_probs = probs.contiguous();
    labels = targets.to(kLong).contiguous();
    const Tensor rows = at::empty({3, probs.size(1)}, TensorOptions().dtype(kLong));
    auto* row = rows.mutable_data_ptr<int64_t>();
    row = std::copy(checked.begin.begin(), checked.begin.end(), row);
    row = std::copy(inputs.begin(), inputs.end(), row);
    std::copy(lengths.begin(), lengths.end(), row);
    numbers = rows.to(probs.device());
  }

  cuda::CtcLoss arguments(int64_t blank) const {
    const int64_t batch = log_probs.size(1);
    const auto* row = numbers.const_data_ptr<int64_t>();
    return {
        log_probs.size(0),
        batch,
        log_probs.size(2),
        width,
        blank,
        log_probs.scalar_type(),
        labels.const_data_ptr<int64_t>(),
        row,
        row + batch,
        row + 2 * batch,
        log_probs.const_data_ptr(),
        c10::cuda::getCurrentCUDAStream()};
  }
};

} // namespace

std::tuple<Tensor, Tensor> _ctc_loss_cuda(
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    int64_t blank,
    bool) {
  const Labels labels(log_probs, targets, input_lengths, target_lengths, blank);
  const cuda::CtcLoss p = labels.arguments(blank);
  const Tensor loss = at::empty({p.batch}, log_probs.options()),
               alpha = at::empty({p.batch, p.steps, p.width}, log_probs.options());
  if (p.batch > 0) {
    cuda::launch_ctc_loss(p, loss.mutable_data_ptr(), alpha.mutable_data_ptr());
  }
  return {loss, alpha};
}

Tensor _ctc_loss_backward_cuda(
    const Tensor& grad,
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    const Tensor& neg_log_likelihood,
    const Tensor& log_alpha,
    int64_t blank,
    bool zero_infinity) {
  const Labels labels(log_probs, targets, input_lengths, target_lengths, blank);
  const cuda::CtcLoss p = labels.arguments(blank);
  TORCH_CHECK(
      grad.numel() == p.batch && neg_log_likelihood.numel() == p.batch && grad.scalar_type() == p.dtype &&
          neg_log_likelihood.scalar_type() == p.dtype,
      "_ctc_loss_backward: grad and neg_log_likelihood must have one element of ", p.dtype, " for each of ", p.batch,
      " sequences; got ", grad.sizes(), " of ", grad.scalar_type(), " and ", neg_log_likelihood.sizes(), " of ",
      neg_log_likelihood.scalar_type());
  TORCH_CHECK(
      log_alpha.numel() == p.batch * p.steps * p.width && log_alpha.scalar_type() == p.dtype,
      "_ctc_loss_backward: log_alpha must be that of _ctc_loss; got ", log_alpha.sizes(), " of ",
      log_alpha.scalar_type());
  const Tensor result = at::empty(log_probs.sizes(), log_probs.options());
  if (result.numel() != 0) {
    const Tensor alpha = log_alpha.contiguous(), losses = neg_log_likelihood.contiguous(), grads = grad.contiguous(),
                 beta = at::empty_like(alpha);
    cuda::launch_ctc_loss_backward(
        p, grads.const_data_ptr(), losses.const_data_ptr(), alpha.const_data_ptr(), beta.mutable_data_ptr(),
        zero_infinity, result.mutable_data_ptr());
  }
  return result;
}

} // namespace at::native
