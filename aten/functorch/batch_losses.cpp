// Embeddings, and losses by class, as the indexing that they are.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Reduction.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/ops/arange.h>
#include <aten/ops/embedding.h>
#include <aten/ops/index_add.h>
#include <aten/ops/ones_like.h>
#include <aten/ops/scatter.h>
#include <aten/ops/where.h>
#include <aten/ops/zeros.h>
#include <aten/ops/zeros_like.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <optional>
#include <tuple>

namespace at::functorch {

namespace {

using Optional = std::optional<Tensor>;

/// Rows of the samples' tables, one below the other: their gradients are then scaled by counts of each sample.
Tensor rows_scaled_by_frequency(const Tensor& weight, const Tensor& indices) {
  const VmapLevelPtr level = level_of({weight}, "embedding");
  const int64_t rows = weight.size(0);
  const TensorOptions options = indices.options().dtype(kLong);
  const Tensor first_row = makeBatched(at::arange(level->batch_size, options).mul(rows), 0, level);
  const Tensor checked = at::arange(rows, options).index_select(0, indices.reshape({-1})).view(indices.sizes());
  return at::embedding(
      value_at(weight, *level).batch_first().flatten(0, 1), checked + first_row, -1, /*scale_grad_by_freq=*/true);
}

Tensor embedding(
    const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq, bool sparse) {
  if (!isBatchedTensor(weight)) {
    const VmapLevelPtr level = level_of({indices}, "embedding");
    return makeBatched(
        at::embedding(weight, value_at(indices, *level).batch_first(), padding_idx, scale_grad_by_freq, sparse), 0,
        level);
  }
  TORCH_CHECK(!sparse, "vmap: embedding with a weight for each sample has no sparse gradients");
  TORCH_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  c10::DimVector sizes(indices.sizes().begin(), indices.sizes().end());
  sizes.push_back(weight.size(1));
  const Tensor rows = scale_grad_by_freq ? rows_scaled_by_frequency(weight, indices)
                                         : weight.index_select(0, indices.reshape({-1})).view(sizes);
  // No gradient comes to the row of padding.
  return padding_idx < 0 ? rows : at::where((indices == padding_idx).unsqueeze(-1), rows.detach(), rows);
}

Tensor embedding_dense_backward(
    const Tensor& grad_output,
    const Tensor& indices,
    int64_t num_weights,
    int64_t padding_idx,
    bool scale_grad_by_freq) {
  const Tensor flat = indices.reshape({-1});
  Tensor grads = grad_output.reshape({flat.numel(), grad_output.size(-1)});
  if (padding_idx >= 0) {
    grads = grads.masked_fill((flat == padding_idx).unsqueeze(1), 0);
  }
  if (scale_grad_by_freq) {
    const Tensor ones = at::ones_like(flat);
    const Tensor counts = at::index_add(at::zeros({num_weights}, flat.options()), 0, flat, ones);
    grads = grads / counts.index_select(0, flat).unsqueeze(1);
  }
  return at::index_add(at::zeros({num_weights, grads.size(1)}, grads.options()), 0, flat, grads);
}

/// What a loss by class is made of. Classes are the dimension `dim` of the input.
struct Classes {
  Classes(const Tensor& self, const Tensor& target, const Optional& weight, int64_t ignore_index, int64_t dim)
      : dim(dim), ignored(target == ignore_index), classes(target.masked_fill(ignored, 0).to(kLong)) {
    const Tensor one = weight.has_value() && weight->defined()
        ? weight->index_select(0, classes.reshape({-1})).view(classes.sizes())
        : at::ones_like(classes, self.options());
    weights = one.masked_fill(ignored, 0);
  }
  int64_t dim;
  Tensor ignored, classes, weights;
};

std::tuple<Tensor, Tensor> nll_loss_forward(
    const Tensor& self, const Tensor& target, const Optional& weight, int64_t reduction, int64_t ignore_index) {
  const int64_t dim = self.dim() == 1 ? 0 : 1;
  TORCH_CHECK(
      self.dim() >= 1 && target.dim() == self.dim() - 1 && (dim == 0 || self.size(0) == target.size(0)),
      "nll_loss: the input has sizes ", self.sizes(), " and the target ", target.sizes(),
      ", which must be those of the input without classes");
  const Classes c(self, target, weight, ignore_index, dim);
  const Tensor picked = self.gather(dim, c.classes.unsqueeze(dim)).squeeze(dim);
  const Tensor losses = (-picked * c.weights).masked_fill(c.ignored, 0);
  if (reduction == Reduction::None) {
    return {losses, at::zeros({}, self.options())};
  }
  const Tensor total = c.weights.sum();
  return {reduction == Reduction::Mean ? losses.sum() / total : losses.sum(), total};
}

Tensor nll_loss_backward(
    const Tensor& grad_output,
    const Tensor& self,
    const Tensor& target,
    const Optional& weight,
    int64_t reduction,
    int64_t ignore_index,
    const Tensor& total_weight) {
  const int64_t dim = self.dim() == 1 ? 0 : 1;
  const Classes c(self, target, weight, ignore_index, dim);
  const Tensor grad = reduction == Reduction::Mean ? grad_output / total_weight : grad_output;
  const Tensor values = (-c.weights * grad).masked_fill(c.ignored, 0);
  return at::scatter(at::zeros_like(self), dim, c.classes.unsqueeze(dim), values.unsqueeze(dim));
}

constexpr c10::impl::BuiltinKernelRow kLossesRules[] = {
    rule_for<&embedding>("aten::embedding"),
    rule_for<&embedding_dense_backward>("aten::embedding_dense_backward"),
    rule_for<&nll_loss_forward>("aten::nll_loss_forward"),
    rule_for<&nll_loss_backward>("aten::nll_loss_backward"),
    rule_for<&nll_loss_forward>("aten::nll_loss2d_forward"),
    rule_for<&nll_loss_backward>("aten::nll_loss2d_backward"),
};
const c10::impl::BuiltinKernels kLossesRulesRegistered(kLossesRules);

} // namespace

} // namespace at::functorch
