// Losses over classes, made of log_softmax and nll_loss.

#include <aten/Functions.h>
#include <aten/core/Reduction.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/support/optional_tensor.h>

#include <limits>

namespace at::native {
namespace {

int64_t class_dim_of(const Tensor& self) {
  return self.dim() == 1 ? 0 : 1;
}

/// Class weights with the rank of the scores, so that they broadcast along the class dimension.
Tensor broadcast_weight(const Tensor& weight, int64_t rank, int64_t class_dim) {
  DimVector sizes(rank, 1);
  sizes[class_dim] = weight.size(0);
  return weight.view(sizes);
}

Tensor cross_entropy_of_probabilities(
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    double label_smoothing) {
  TORCH_CHECK(
      at::isFloatingType(target.scalar_type()),
      "Expected floating point type for target with class probabilities, got ", target.scalar_type());
  const int64_t class_dim = class_dim_of(self), classes = self.size(class_dim);
  TORCH_CHECK(
      !given(weight) || (weight->dim() == 1 && weight->numel() == classes),
      "cross_entropy: weight tensor should be defined either for all ", classes,
      " classes or no classes but got weight tensor of shape: ", given(weight) ? weight->sizes() : IntArrayRef());
  const Tensor scores = at::log_softmax(self, class_dim, self.scalar_type());
  const Tensor smoothed =
      label_smoothing > 0 ? target * (1 - label_smoothing) + label_smoothing / static_cast<double>(classes) : target;
  Tensor terms = scores * smoothed;
  if (given(weight)) {
    terms = terms * broadcast_weight(*weight, self.dim(), class_dim);
  }
  if (reduction == Reduction::Sum) {
    return -terms.sum();
  }
  if (reduction == Reduction::None) {
    return -terms.sum({class_dim});
  }
  TORCH_CHECK(reduction == Reduction::Mean, "Invalid reduction type encountered in cross_entropy: ", reduction);
  // The mean is over samples: classes do not count.
  return -terms.sum() / (static_cast<double>(scores.numel()) / static_cast<double>(classes));
}

Tensor cross_entropy_smoothed(
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t ignore_index,
    double label_smoothing) {
  const int64_t class_dim = class_dim_of(self), classes = self.size(class_dim);
  const Tensor scores = at::log_softmax(self, class_dim, self.scalar_type());
  const Tensor picked = at::nll_loss_nd(scores, target, weight, reduction, ignore_index);
  const Tensor weighted = given(weight) ? scores * broadcast_weight(*weight, scores.dim(), class_dim) : scores;
  const Tensor ignored = target == ignore_index;
  const Tensor uniform = (-weighted.sum({class_dim})).masked_fill(ignored, 0);
  Tensor spread;
  if (reduction == Reduction::Mean) {
    // Divided by what nll_loss divides by: the weights of the targets that count.
    const Tensor kept = target.masked_select(ignored.logical_not());
    const Tensor total =
        given(weight) ? weight->gather(0, kept.to(kLong)).sum() : at::scalar_tensor(kept.numel(), scores.options());
    spread = uniform.sum() / total;
  } else {
    spread = reduction == Reduction::Sum ? uniform.sum() : uniform;
  }
  return picked * (1 - label_smoothing) + spread * (label_smoothing / static_cast<double>(classes));
}

} // namespace

Tensor nll_loss(
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t ignore_index) {
  return std::get<0>(at::nll_loss_forward(self, target, weight, reduction, ignore_index));
}

Tensor nll_loss2d(
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t ignore_index) {
  return std::get<0>(at::nll_loss2d_forward(self, target, weight, reduction, ignore_index));
}

Tensor nll_loss_nd(
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t ignore_index) {
  TORCH_CHECK_VALUE(self.dim() >= 1, "Expected 1 or more dimensions (got ", self.dim(), ")");
  if (self.dim() == 1) {
    TORCH_CHECK(
        target.dim() == 0 || target.numel() == 1, "size mismatch (got input: ", self.sizes(),
        ", target: ", target.sizes(), ")");
  } else {
    TORCH_CHECK_VALUE(
        target.dim() >= 1 && self.size(0) == target.size(0), "Expected input batch_size (", self.size(0),
        ") to match target batch_size (", target.dim() >= 1 ? target.size(0) : 0, ").");
  }
  if (self.dim() <= 2) {
    return at::nll_loss(self, target, weight, reduction, ignore_index);
  }
  if (self.dim() == 4) {
    return at::nll_loss2d(self, target, weight, reduction, ignore_index);
  }

  // TensorTuple3 or more than four dimensions: all points beside the classes are laid along one line.
  const int64_t n = self.size(0), classes = self.size(1);
  DimVector sizes{n};
  sizes.append(self.sizes().begin() + 2, self.sizes().end());
  TORCH_CHECK(
      target.sizes() == IntArrayRef(sizes), "Expected target size ", IntArrayRef(sizes), ", got ", target.sizes());
  const int64_t points = target.numel() == 0 ? 0 : target.numel() / n;
  const Tensor scores = self.contiguous().view({n, classes, 1, points});
  const Tensor targets = target.contiguous().view({n, 1, points});
  const Tensor loss = at::nll_loss2d(scores, targets, weight, reduction, ignore_index);
  return reduction == Reduction::None ? loss.view(sizes) : loss;
}

Tensor cross_entropy_loss(
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t ignore_index,
    double label_smoothing) {
  TORCH_CHECK(label_smoothing <= 1, "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (self.sizes() == target.sizes()) {
    TORCH_CHECK(ignore_index < 0, "ignore_index is not supported for floating point target");
    return cross_entropy_of_probabilities(self, target, weight, reduction, label_smoothing);
  }
  if (label_smoothing > 0) {
    return cross_entropy_smoothed(self, target, weight, reduction, ignore_index, label_smoothing);
  }
  const Tensor scores = at::log_softmax(self, class_dim_of(self), self.scalar_type());
  return at::nll_loss_nd(scores, target, weight, reduction, ignore_index);
}

} // namespace at::native
