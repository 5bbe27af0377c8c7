// ctc_loss: reductions and lengths around its kernel.

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/core/Reduction.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <c10/core/DeferredStorage.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace at::native {
namespace {

std::vector<int64_t> lengths_of(const char* name, const Tensor& t) {
  TORCH_CHECK(
      at::isIntegralType(t.scalar_type(), /*includeBool=*/false), name, " must be integral; got ", t.scalar_type());
  const Tensor numbers = t.to(kCPU, kLong).contiguous();
  c10::compute_storage(numbers.storage());
  const int64_t* at = numbers.const_data_ptr<int64_t>();
  return {at, at + numbers.numel()};
}

} // namespace

Tensor ctc_loss(
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    int64_t blank,
    int64_t reduction,
    bool zero_infinity) {
  const bool batched = log_probs.dim() == 3;
  const Tensor inputs = batched ? log_probs : log_probs.unsqueeze(1);
  Tensor loss = std::get<0>(at::_ctc_loss(
      inputs, batched || targets.dim() != 1 ? targets : targets.unsqueeze(0), input_lengths, target_lengths, blank,
      zero_infinity));
  if (zero_infinity) {
    loss = at::where(loss == std::numeric_limits<double>::infinity(), at::zeros({}, loss.options()), loss);
  }
  if (reduction == Reduction::Mean) {
    const Tensor lengths = at::empty({static_cast<int64_t>(target_lengths.size())}, TensorOptions().dtype(kLong));
    std::copy(target_lengths.begin(), target_lengths.end(), lengths.mutable_data_ptr<int64_t>());
    return (loss / lengths.to(log_probs.device()).clamp_min(1)).mean();
  }
  if (reduction == Reduction::Sum) {
    return loss.sum();
  }
  return batched ? loss : loss.squeeze(0);
}

Tensor ctc_loss_tensor(
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    int64_t blank,
    int64_t reduction,
    bool zero_infinity) {
  return at::ctc_loss(
      log_probs, targets, lengths_of("input_lengths", input_lengths), lengths_of("target_lengths", target_lengths),
      blank, reduction, zero_infinity);
}

std::tuple<Tensor, Tensor> _ctc_loss_tensor(
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    int64_t blank,
    bool zero_infinity) {
  return at::_ctc_loss(
      log_probs, targets, lengths_of("input_lengths", input_lengths), lengths_of("target_lengths", target_lengths),
      blank, zero_infinity);
}

Tensor _ctc_loss_backward_tensor(
    const Tensor& grad,
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    const Tensor& neg_log_likelihood,
    const Tensor& log_alpha,
    int64_t blank,
    bool zero_infinity) {
  return at::_ctc_loss_backward(
      grad, log_probs, targets, lengths_of("input_lengths", input_lengths),
      lengths_of("target_lengths", target_lengths), neg_log_likelihood, log_alpha, blank, zero_infinity);
}

// ---- cuDNN's form
// ----------------------------------------------------------------------------------------------------------

bool _use_cudnn_ctc_loss(
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    int64_t blank) {
  constexpr int64_t kLongest = 255; // labels of a sequence
  if (!at::globalContext().userEnabledCuDNN() || blank != 0 || targets.dim() != 1 || log_probs.dim() != 3 ||
      log_probs.scalar_type() != kFloat || targets.scalar_type() != kInt || !log_probs.is_cuda() || !targets.is_cpu() ||
      input_lengths.size() != target_lengths.size() || !at::Context::hasCuDNN()) {
    return false;
  }
  for (size_t i = 0; i < input_lengths.size(); ++i) {
    if (input_lengths[i] != log_probs.size(0) || target_lengths[i] > std::min(kLongest, input_lengths[i])) {
      return false;
    }
  }
  return true;
}

bool _use_cudnn_ctc_loss_tensor(
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    int64_t blank) {
  return at::_use_cudnn_ctc_loss(
      log_probs, targets, lengths_of("input_lengths", input_lengths), lengths_of("target_lengths", target_lengths),
      blank);
}

std::tuple<Tensor, Tensor> _cudnn_ctc_loss(
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    int64_t blank,
    bool,
    bool zero_infinity) {
  const auto [loss, alpha] = at::_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity);
  const at::NoGradGuard no_grad;
  const Tensor grad = at::_ctc_loss_backward(
      at::ones_like(loss), log_probs, targets, input_lengths, target_lengths, loss, alpha, blank, zero_infinity);
  return {zero_infinity ? at::where(loss == std::numeric_limits<double>::infinity(), 0, loss) : loss, grad};
}

std::tuple<Tensor, Tensor> _cudnn_ctc_loss_tensor(
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    int64_t blank,
    bool deterministic,
    bool zero_infinity) {
  return at::_cudnn_ctc_loss(
      log_probs, targets, lengths_of("input_lengths", input_lengths), lengths_of("target_lengths", target_lengths),
      blank, deterministic, zero_infinity);
}

} // namespace at::native
