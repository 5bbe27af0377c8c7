#include <autograd/formulas/pool.h>

#include <aten/Functions.h>

namespace torch::autograd::formulas {

using at::Tensor;

Tensor max_pool_double_backward(const Tensor& grad, const Tensor& indices, int64_t dims) {
  if (indices.numel() == 0) return grad.new_zeros(indices.sizes());
  const auto flat = [&](const Tensor& t) { return t.contiguous().flatten(t.dim() - dims); };
  return flat(grad).gather(-1, flat(indices)).view(indices.sizes()).contiguous(indices.suggest_memory_format());
}

} // namespace torch::autograd::formulas
