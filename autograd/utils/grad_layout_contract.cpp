#include <autograd/utils/grad_layout_contract.h>

#include <aten/Functions.h>

namespace torch::autograd::utils {

bool obeys_layout_contract(const at::Tensor& grad, const at::Tensor& variable) {
  TORCH_CHECK(grad.layout() == at::kStrided, "obeys_layout_contract: the gradient must be strided, got ", grad.layout());
  if (variable.layout() != at::kStrided) {
    return false;
  }
  if (!variable.is_non_overlapping_and_dense()) {
    return grad.is_contiguous();
  }
  for (int64_t d = 0; d < grad.dim(); ++d) {
    if (grad.size(d) != 1 ? grad.stride(d) != variable.stride(d) : grad.stride(d) == 0) {
      return false;
    }
  }
  return true;
}

at::Tensor clone_obey_contract(const at::Tensor& new_grad, const at::Tensor& variable) {
  if (!variable.is_non_overlapping_and_dense()) {
    return new_grad.clone(at::MemoryFormat::Contiguous);
  }
  return at::empty_strided(variable.sizes(), variable.strides(), variable.options().dtype(new_grad.dtype())).copy_(new_grad);
}

} // namespace torch::autograd::utils
