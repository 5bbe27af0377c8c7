// Losses over pairs of tensors. Element-wise parts are fused pointwise operators; reduction follows.

#include <aten/iterator/ExpandUtils.h>
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/Reduction.h>
#include <aten/core/Tensor.h>
#include <aten/native/support/optional_tensor.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/composite/loss.h>
#include <aten/shape/iterated_out.h>
#include <c10/core/DefaultDtype.h>

namespace at::native {
namespace {

Tensor reduce_loss(const Tensor& elements, int64_t reduction) {
  if (reduction == Reduction::Mean) {
    return elements.mean();
  }
  if (reduction == Reduction::Sum) {
    return elements.sum();
  }
  return elements;
}

/// Factor of an element's gradient under a reduction of `self`-sized losses.
double reduction_scale(const Tensor& self, int64_t reduction) {
  return reduction == Reduction::Mean ? 1.0 / static_cast<double>(self.numel()) : 1.0;
}

} // namespace

// ---- regression ----------------------------------------------------------------------------------------------------

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduce_loss(at::_squared_difference(self, target), reduction);
}

Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction) {
  return at::_squared_difference_grad(grad_output, self, target, reduction_scale(self, reduction));
}

Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduce_loss((self - target).abs(), reduction);
}

Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  TORCH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta. Got ", beta);
  if (beta == 0) {
    return at::l1_loss(self, target, reduction);
  }
  return reduce_loss(at::_smooth_l1(self, target, beta), reduction);
}

Tensor smooth_l1_loss_backward(
    const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  return at::_smooth_l1_grad(grad_output, self, target, beta, reduction_scale(self, reduction));
}

Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  TORCH_CHECK(delta > 0, "huber_loss does not support non-positive values for delta. Got ", delta);
  const Tensor elements = at::_huber(self, target, delta);
  TORCH_CHECK(
      c10::canCast(elements.scalar_type(), self.scalar_type()), "result type ", elements.scalar_type(),
      " can't be cast to the desired output type ", self.scalar_type(), " (in huber_loss)");
  return reduce_loss(elements.to(self.scalar_type()), reduction);
}

Tensor huber_loss_backward(
    const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  return at::_huber_grad(grad_output, self, target, delta, reduction_scale(self, reduction));
}

// ---- probabilities -------------------------------------------------------------------------------------------------

Tensor beside(const Tensor& self, const Tensor& target) {
  if (target.sizes() == self.sizes()) {
    return target;
  }
  const Tensor scores = self.squeeze(), labels = target.squeeze();
  TORCH_CHECK(
      at::infer_size(scores.sizes(), labels.sizes()) == scores.sizes(), "binary_cross_entropy: a target of sizes ",
      target.sizes(), " has more elements than the input of sizes ", self.sizes(), "; give one target for each score");
  return labels.expand(scores.sizes()).view(self.sizes());
}

Tensor binary_cross_entropy(
    const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction) {
  TORCH_CHECK(
      self.scalar_type() == target.scalar_type(), "Found dtype ", target.scalar_type(), " but expected ",
      self.scalar_type(), " for the target of binary_cross_entropy");
  if (self.is_cpu() && self.numel() > 0 && at::isFloatingType(self.scalar_type())) {
    const auto [least, greatest] = at::aminmax(self);
    TORCH_CHECK(
        least.item<double>() >= 0 && greatest.item<double>() <= 1, "all elements of input should be between 0 and 1",
        "; binary_cross_entropy got [", least.item<double>(), ", ", greatest.item<double>(),
        "]. For scores before the sigmoid use binary_cross_entropy_with_logits");
  }
  Tensor loss = at::_binary_cross_entropy(self, beside(self, target));
  if (given(weight)) {
    loss = loss.mul(*weight);
  }
  return reduce_loss(loss, reduction);
}

Tensor binary_cross_entropy_backward(
    const Tensor& grad_output,
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    int64_t reduction) {
  const Tensor grad =
      at::_binary_cross_entropy_grad(grad_output, self, beside(self, target), reduction_scale(self, reduction));
  return given(weight) ? grad.mul(*weight) : grad;
}

Tensor binary_cross_entropy_with_logits(
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& pos_weight,
    int64_t reduction) {
  const std::vector<int64_t> sizes = at::infer_size(target.sizes(), self.sizes());
  TORCH_CHECK(
      target.sizes() == sizes, "output with shape ", target.sizes(), " doesn't match the broadcast shape ",
      IntArrayRef(sizes), ": binary_cross_entropy_with_logits needs a target for each score; give both the same sizes");
  // Of integers the logarithms are floating too.
  const ScalarType dtype = target.scalar_type(), given_dtype = at::result_type(target, self);
  const ScalarType common =
      c10::isIntegralType(given_dtype, /*includeBool=*/true) ? c10::get_default_dtype_as_scalartype() : given_dtype;
  TORCH_CHECK(
      c10::canCast(common, dtype), "result type ", common, " can't be cast to the desired output type ", dtype,
      ": the result of binary_cross_entropy_with_logits has the dtype of the target");
  const Tensor positive = given(pos_weight) ? *pos_weight : at::ones({}, target.options());
  at::infer_size(positive.sizes(), target.sizes());
  Tensor loss = at::_binary_cross_entropy_logits(self, target, positive).to(dtype);
  if (given(weight)) {
    loss = loss.mul(*weight);
  }
  return reduce_loss(loss, reduction);
}

Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  TORCH_CHECK(
      !self.is_complex() && !target.is_complex(), "kl_div: Complex inputs not supported, got ", self.scalar_type(),
      " and ", target.scalar_type());
  TORCH_CHECK(
      !c10::isIntegralType(self.scalar_type(), /*includeBool=*/true) &&
          !c10::isIntegralType(target.scalar_type(), /*includeBool=*/true),
      "kl_div: Integral inputs not supported.");
  const Tensor elements = log_target ? target.exp() * (target - self) : at::xlogy(target, target) - target * self;
  return reduce_loss(elements, reduction);
}

Tensor poisson_nll_loss(
    const Tensor& input, const Tensor& target, bool log_input, bool full, double eps, int64_t reduction) {
  Tensor loss = log_input ? input.exp() - target * input : input - target * (input + eps).log();
  if (full) {
    constexpr double kTwoPi = 6.283185307179586476925286766559;
    const Tensor stirling = target * target.log() - target + 0.5 * (target * kTwoPi).log();
    loss = loss + stirling.masked_fill(target <= 1, 0);
  }
  return reduce_loss(loss, reduction);
}

// ---- margins -------------------------------------------------------------------------------------------------------

Tensor margin_ranking_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, int64_t reduction) {
  return reduce_loss((-target * (input1 - input2) + margin).clamp_min(0), reduction);
}

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, int64_t reduction) {
  const Tensor zeros = at::zeros_like(self);
  const Tensor hinge = at::full_like(self, margin).sub(self).clamp_min(0); // of self's dtype, integers too
  return reduce_loss(at::where(target != 1, hinge, zeros) + at::where(target != -1, self, zeros), reduction);
}

Tensor cosine_embedding_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, int64_t reduction) {
  const int64_t dim = target.dim();
  TORCH_CHECK(dim == 0 || dim == 1, "0D or 1D target tensor expected, multi-target not supported");
  TORCH_CHECK(
      dim == 1 ? input1.dim() == 2 && input2.dim() == 2 : input1.dim() == 1 && input2.dim() == 1,
      dim == 1 ? "1D target tensor expects 2D input tensors, but found inputs with sizes "
               : "0D target tensor expects 1D input tensors, but found inputs with sizes ",
      input1.sizes(), " and ", input2.sizes(), ".");
  constexpr double kEpsilon = 1e-12;
  const Tensor product = (input1 * input2).sum(dim);
  const Tensor square1 = (input1 * input1).sum(dim) + kEpsilon, square2 = (input2 * input2).sum(dim) + kEpsilon;
  const Tensor cosine = product / (square1 * square2).sqrt();
  const Tensor zeros = at::zeros_like(cosine);
  const Tensor positive = at::where(target == 1, 1 - cosine, zeros);
  const Tensor negative = at::where(target == -1, (cosine - margin).clamp_min(0), zeros);
  return reduce_loss(positive + negative, reduction);
}

Tensor triplet_margin_loss(
    const Tensor& anchor,
    const Tensor& positive,
    const Tensor& negative,
    double margin,
    double p,
    double eps,
    bool swap,
    int64_t reduction) {
  TORCH_CHECK(
      anchor.dim() == positive.dim() && positive.dim() == negative.dim(),
      "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor ",
      anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(), "D inputs");
  const Tensor near = at::pairwise_distance(anchor, positive, p, eps);
  Tensor far = at::pairwise_distance(anchor, negative, p, eps);
  if (swap) {
    far = at::min(far, at::pairwise_distance(positive, negative, p, eps));
  }
  return reduce_loss((margin + near - far).clamp_min(0), reduction);
}

Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  const auto dtype = self.scalar_type();
  const ScalarType common = at::result_type(self, target);
  TORCH_CHECK(
      IntArrayRef(at::infer_size(self.sizes(), target.sizes())) == self.sizes(), "output with shape ", self.sizes(),
      " doesn't match the broadcast shape ", IntArrayRef(at::infer_size(self.sizes(), target.sizes())),
      ": soft_margin_loss needs a score for each target");
  TORCH_CHECK(
      c10::canCast(common, dtype), "result type ", common, " can't be cast to the desired output type ", dtype,
      " (in soft_margin_loss)");
  TORCH_CHECK(
      !at::isIntegralType(dtype, /*includeBool=*/true), "result type Float can't be cast to the desired output type ",
      dtype, ": soft_margin_loss takes floating point scores");
  return reduce_loss((-self * target).to(dtype).exp().log1p(), reduction);
}

Tensor& soft_margin_loss_out(const Tensor& self, const Tensor& target, int64_t reduction, Tensor& out) {
  const Tensor result = at::soft_margin_loss(self, target, reduction);
  at::shape::iterated_out_of_input_dtype("soft_margin_loss", self, target, out);
  copy_into_out("soft_margin_loss", out, result);
  return out;
}

Tensor soft_margin_loss_backward(
    const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor z = (-target * self).exp();
  return (-target * z * grad_output / (z + 1)).mul(reduction_scale(self, reduction));
}

} // namespace at::native
