// Host side of nll_loss.cu.
#include <aten/core/Reduction.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/nll_loss.h>
#include <c10/core/Scalar.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native::cuda {

namespace {

TensorBase contiguous_or_none(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined() ? static_cast<const TensorBase&>(*t).contiguous() : TensorBase();
}

NllLoss problem_of(
    const TensorBase& self,
    const TensorBase& target,
    const TensorBase& weight,
    int64_t reduction,
    int64_t ignore_index) {
  if (!kFloating.contains(self.scalar_type())) {
    at::detail::dtype_not_supported("nll_loss", self.scalar_type(), kFloating.bits);
  }
  NllLoss p;
  p.batch = self.dim() == 1 ? 1 : self.size(0);
  p.classes = self.dim() == 4 ? self.size(1) : self.size(self.dim() - 1);
  p.points = self.dim() == 4 ? self.size(2) * self.size(3) : 1;
  p.ignore_index = ignore_index;
  p.dtype = self.scalar_type();
  p.weight = weight.defined() ? weight.const_data_ptr() : nullptr;
  p.target = target.const_data_ptr();
  p.byte_targets = target.scalar_type() == kByte;
  p.each = reduction == Reduction::None &&
      self.dim() != 1; // the loss of one sample is the sum of losses, which has a total weight
  p.mean = reduction == Reduction::Mean;
  p.check = {index_error_slot(), "nll_loss", "target", p.classes};
  p.stream = c10::cuda::getCurrentCUDAStream();
  return p;
}

} // namespace

void nll_loss_forward_kernel(
    const TensorBase& self,
    const TensorBase& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t ignore_index,
    const TensorBase& output,
    const TensorBase& total_weight) {
  const TensorBase scores = self.contiguous(), chosen = target.contiguous(), weights = contiguous_or_none(weight);
  const NllLoss p = problem_of(self, chosen, weights, reduction, ignore_index);
  if (p.each) {
    total_weight.zero_();
  }
  if (!p.each || chosen.numel() != 0) {
    launch_nll_loss(p, scores.const_data_ptr(), output.mutable_data_ptr(), total_weight.mutable_data_ptr());
  }
}

void nll_loss_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& self,
    const TensorBase& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t ignore_index,
    const TensorBase& total_weight,
    const TensorBase& grad_input) {
  const TensorBase grad = grad_output.contiguous(), chosen = target.contiguous(), weights = contiguous_or_none(weight);
  const NllLoss p = problem_of(self, chosen, weights, reduction, ignore_index);
  grad_input.zero_();
  if (chosen.numel() != 0 && grad_input.numel() != 0) {
    launch_nll_loss_backward(p, grad.const_data_ptr(), total_weight.const_data_ptr(), grad_input.mutable_data_ptr());
  }
}

} // namespace at::native::cuda
