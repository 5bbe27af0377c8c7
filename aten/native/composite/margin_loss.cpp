// Margin losses over classes: of one target each (multi_margin_loss), or of several (multilabel_margin_loss).
#include <aten/Functions.h>
#include <aten/core/Reduction.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/support/store_scalar.h>

#include <tuple>

namespace at::native {

namespace {

Tensor reduce_rows(const Tensor& rows, int64_t reduction) {
  return reduction == Reduction::Mean ? rows.mean() : reduction == Reduction::Sum ? rows.sum() : rows;
}

/// The gradient of each row: grad_output spread over them, divided by their number for a mean.
Tensor grad_of_rows(const Tensor& grad_output, int64_t rows, int64_t reduction) {
  const Tensor grad = grad_output.reshape({-1, 1});
  return reduction == Reduction::Mean ? grad / rows : grad;
}

/// Scores as [rows, classes]; a vector is one row, a number one row of one class.
Tensor as_rows(const char* op, const Tensor& self) {
  const bool fits = self.dim() == 2 ? self.size(1) != 0 : self.dim() < 2 && self.numel() > 0;
  TORCH_CHECK(
      fits, "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", self.sizes(), " (in ", op,
      ")");
  return self.dim() == 2 ? self : self.reshape({1, -1});
}

/// What is greater than 0; 0 for the rest, NaN among it.
Tensor positive_part(const Tensor& x) {
  return at::where(x > 0, x, 0);
}

struct MultiMargin {
  Tensor x; // [rows, classes]
  Tensor target; // [rows, 1]
  Tensor gap; // margin - x[target] + x, at least 0, and 0 at the target
  Tensor weight; // of each row's target, or undefined
};

MultiMargin multi_margin(
    const Tensor& self,
    const Tensor& target,
    const Scalar& p,
    const Scalar& margin,
    const std::optional<Tensor>& weight) {
  TORCH_CHECK(
      p.toDouble() == 1 || p.toDouble() == 2, "only p == 1 and p == 2 supported; multi_margin_loss got ", p.toDouble());
  MultiMargin m;
  m.x = as_rows("multi_margin_loss", self);
  TORCH_CHECK(
      target.dim() <= 1 && target.numel() == m.x.size(0), "inconsistent target size, got: ", target.sizes(), " for ",
      m.x.size(0), " samples");
  TORCH_CHECK(
      target.scalar_type() == ScalarType::Long, "expected scalar type Long but found ", target.scalar_type(),
      " for the target of multi_margin_loss");
  m.target = target.reshape({-1, 1});
  if (target.is_cpu() && target.numel() > 0) {
    const auto [least, greatest] = at::aminmax(target);
    TORCH_CHECK(
        least.item<int64_t>() >= 0 && greatest.item<int64_t>() < m.x.size(1),
        "target out of range; multi_margin_loss has ", m.x.size(1), " classes and got targets from ",
        least.item<int64_t>(), " to ", greatest.item<int64_t>());
  }
  check_floating_scalar("multi_margin_loss", margin, self.scalar_type());
  m.gap = positive_part(m.x - m.x.gather(1, m.target) + margin).scatter(1, m.target, 0);
  if (weight.has_value() && weight->defined()) {
    TORCH_CHECK(
        weight->dim() <= 1 && weight->numel() == m.x.size(1), "inconsistent weight size, expected ", m.x.size(1),
        " but got ", weight->sizes());
    m.weight = weight->reshape({-1}).index_select(0, m.target.reshape({-1})).reshape({-1, 1});
  }
  return m;
}

} // namespace

Tensor multi_margin_loss(
    const Tensor& self,
    const Tensor& target,
    const Scalar& p,
    const Scalar& margin,
    const std::optional<Tensor>& weight,
    int64_t reduction) {
  const MultiMargin m = multi_margin(self, target, p, margin, weight);
  Tensor terms = p.toDouble() == 1 ? m.gap : m.gap * m.gap;
  if (m.weight.defined()) {
    terms = terms * m.weight;
  }
  const Tensor rows = terms.sum(1) / m.x.size(1);
  return reduce_rows(self.dim() == 2 ? rows : rows.reshape(target.sizes()), reduction);
}

Tensor multi_margin_loss_backward(
    const Tensor& grad_output,
    const Tensor& self,
    const Tensor& target,
    const Scalar& p,
    const Scalar& margin,
    const std::optional<Tensor>& weight,
    int64_t reduction) {
  const MultiMargin m = multi_margin(self, target, p, margin, weight);
  Tensor slopes = p.toDouble() == 1 ? (m.gap > 0).to(self.scalar_type()) : m.gap * 2;
  if (m.weight.defined()) {
    slopes = slopes * m.weight;
  }
  // Raising the target's score lowers all the gaps.
  slopes = slopes.scatter(1, m.target, -slopes.sum(1, /*keepdim=*/true));
  return (slopes * grad_of_rows(grad_output, m.x.size(0), reduction) / m.x.size(1)).reshape(self.sizes());
}

namespace {

struct MultiLabel {
  Tensor x; // [rows, classes]
  Tensor target; // [rows, positions], 0 where there is none
  Tensor present; // [rows, positions]: the target comes before the first -1
};

/// `position` is where the target stands among the arguments, as PyTorch counts them.
MultiLabel multi_label(const Tensor& self, const Tensor& target, int position) {
  MultiLabel m;
  m.x = as_rows("multilabel_margin_loss", self);
  TORCH_CHECK(
      target.numel() == m.x.numel() && (self.dim() == 2 ? target.sizes() == self.sizes() : target.dim() <= 1),
      "inconsistent target size: ", target.sizes(), " for multilabel_margin_loss of scores of size ", self.sizes());
  TORCH_CHECK(
      target.scalar_type() == ScalarType::Long, "expected scalar type Long but found ", target.scalar_type(),
      " for the target of multilabel_margin_loss");
  const Tensor places = target.reshape(m.x.sizes());
  if (target.is_cpu() && target.numel() > 0) {
    const auto [least, greatest] = at::aminmax(target);
    TORCH_CHECK(
        least.item<int64_t>() >= -1 && greatest.item<int64_t>() < m.x.size(1), "argument #", position,
        " 'target' is out of range; multilabel_margin_loss has ", m.x.size(1), " classes and got targets from ",
        least.item<int64_t>(), " to ", greatest.item<int64_t>());
  }
  m.present = (places >= 0).to(ScalarType::Long).cumprod(1).to(ScalarType::Bool);
  m.target = places.masked_fill(m.present.logical_not(), 0);
  return m;
}

/// 1 - x[target] + x for each target and each class that is none, 0 elsewhere: [rows, targets, classes].
Tensor label_gaps(const MultiLabel& m, const Tensor& is_target) {
  const Tensor gaps = positive_part(m.x.unsqueeze(1) - m.x.gather(1, m.target).unsqueeze(2) + 1);
  const Tensor counts = m.present.unsqueeze(2).logical_and((is_target == 0).unsqueeze(1));
  return at::where(counts, gaps, 0);
}

} // namespace

std::tuple<Tensor, Tensor> multilabel_margin_loss_forward(const Tensor& self, const Tensor& target, int64_t reduction) {
  const MultiLabel m = multi_label(self, target, 2);
  const Tensor is_target = at::zeros_like(m.x, at::MemoryFormat::Contiguous)
                               .scatter_add(1, m.target, m.present.to(self.scalar_type()))
                               .clamp_max(1);
  const Tensor rows = label_gaps(m, is_target).sum({1, 2}) / m.x.size(1);
  return {
      reduce_rows(self.dim() == 2 ? rows : rows.reshape(IntArrayRef{}), reduction), is_target.reshape(target.sizes())};
}

Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return std::get<0>(at::multilabel_margin_loss_forward(self, target, reduction));
}

Tensor multilabel_margin_loss_backward(
    const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, const Tensor& is_target) {
  const MultiLabel m = multi_label(self, target, 3);
  const Tensor slopes = (label_gaps(m, is_target.reshape(m.x.sizes())) > 0).to(self.scalar_type());
  const Tensor for_targets = slopes.sum(2);
  const Tensor for_classes = slopes.sum(1).scatter_add(1, m.target, -for_targets);
  return (for_classes * grad_of_rows(grad_output, m.x.size(0), reduction) / m.x.size(1)).reshape(self.sizes());
}

} // namespace at::native
