// Derivatives of pooling.
#include <aten/Functions.h>
#include <autograd/formulas/types.h>

namespace torch::autograd::formulas {

/// The elements of `grad` at the indices that a pooling over the last `dims` dimensions took.
Tensor max_pool_double_backward(const Tensor& grad, const Tensor& indices, int64_t dims) {
  if (indices.numel() == 0) {
    return grad.new_zeros(indices.sizes());
  }
  const auto flat = [&](const Tensor& t) { return t.contiguous().flatten(t.dim() - dims); };
  return flat(grad).gather(-1, flat(indices)).view(indices.sizes()).contiguous(indices.suggest_memory_format());
}

} // namespace torch::autograd::formulas
