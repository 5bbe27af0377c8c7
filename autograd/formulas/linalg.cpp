// Derivatives of matrix products that are too long for one line of their entry. All are written with operators, so that
// they can be differentiated again.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/support/cuda_shortcuts.h>
#include <autograd/formulas/shared.h>

namespace torch::autograd::formulas {

namespace {

/// Whether a matrix of these sizes and strides is column-major.
bool by_columns(at::IntArrayRef sizes, at::IntArrayRef strides) {
  // Sparse matrices have no strides.
  return strides.size() == 2 && strides[0] == 1 && strides[1] == sizes[0];
}

} // namespace

/// Gradients of alpha * mat1 @ mat2, in the memory order of the operand they belong to (its sizes and strides).
Tensor mm_mat1_grad(
    const Tensor& grad, const Tensor& mat2, at::IntArrayRef sizes, at::IntArrayRef strides, const at::Scalar& alpha) {
  const Tensor product = by_columns(sizes, strides) ? mat2.conj().mm(grad.t()).t() : grad.mm(mat2.t().conj());
  return maybe_multiply(product, alpha.conj());
}

Tensor mm_mat2_grad(
    const Tensor& grad, const Tensor& mat1, at::IntArrayRef sizes, at::IntArrayRef strides, const at::Scalar& alpha) {
  const Tensor product = by_columns(sizes, strides) ? grad.t().mm(mat1.conj()).t() : mat1.t().conj().mm(grad);
  return maybe_multiply(product, alpha.conj());
}

/// Gradients of beta * self + alpha * mat1 @ mat2 for self and mat2, on CUDA by one kernel where self is a layer's
/// bias.
std::tuple<Tensor, Tensor> addmm_self_mat2_grads(
    const Tensor& grad,
    at::IntArrayRef self_sizes,
    const Tensor& mat1,
    at::IntArrayRef mat2_sizes,
    at::IntArrayRef mat2_strides,
    const at::Scalar& beta,
    const at::Scalar& alpha,
    std::array<bool, 2> grad_input_mask) {
  const bool bias_for_columns =
      self_sizes.size() == 1 && self_sizes[0] == grad.size(1) && beta.equal(1) && alpha.equal(1);
  if (grad_input_mask[0] && grad_input_mask[1] && bias_for_columns && at::native::is_plain_cuda(grad) &&
      at::native::is_plain_cuda(mat1) && grad.is_floating_point() && at::native::backward_takes_shortcuts()) {
    auto [product, sums] =
        at::native::cuda_shortcuts().transposed_mm_with_sums(mat1, grad, by_columns(mat2_sizes, mat2_strides));
    return {std::move(sums), std::move(product)};
  }
  return {
      grad_input_mask[0] ? maybe_multiply(grad, beta.conj()) : Tensor(),
      grad_input_mask[1] ? mm_mat2_grad(grad, mat1, mat2_sizes, mat2_strides, alpha) : Tensor()};
}

/// Gradients of the relu or gelu of beta * self + alpha * mat1 @ mat2.
std::tuple<Tensor, Tensor, Tensor> addmm_activation_backward(
    const Tensor& grad,
    const Tensor& result,
    const Tensor& self,
    const Tensor& mat1,
    const Tensor& mat2,
    const at::Scalar& beta,
    const at::Scalar& alpha,
    bool use_gelu,
    std::array<bool, 3> grad_input_mask) {
  // The sum is not kept: a product is computed again.
  const Tensor slope = use_gelu
      ? at::gelu_backward(grad, at::addmm(self, mat1, mat2, beta, alpha), self.is_cuda() ? "tanh" : "none")
      : at::threshold_backward(grad, result, 0);
  return {
      grad_input_mask[0] ? maybe_multiply(slope, beta) : Tensor(),
      grad_input_mask[1] ? mm_mat1_grad(slope, mat2, mat1.sizes(), mat1.strides(), alpha) : Tensor(),
      grad_input_mask[2] ? mm_mat2_grad(slope, mat1, mat2.sizes(), mat2.strides(), alpha) : Tensor()};
}

Tensor addbmm_batch1_grad(const Tensor& grad, const Tensor& batch2, const at::Scalar& alpha) {
  const Tensor grads = grad.unsqueeze(0).expand({batch2.size(0), grad.size(0), grad.size(1)});
  return maybe_multiply(grads.bmm(batch2.transpose(1, 2).conj()), alpha.conj());
}

Tensor addbmm_batch2_grad(const Tensor& grad, const Tensor& batch1, const at::Scalar& alpha) {
  const Tensor grads = grad.unsqueeze(0).expand({batch1.size(0), grad.size(0), grad.size(1)});
  return maybe_multiply(batch1.transpose(1, 2).conj().bmm(grads), alpha.conj());
}

/// Gradients of alpha * outer(vec1, vec2), whose vectors may have another dtype than the result.
Tensor addr_vec1_grad(const Tensor& grad, const Tensor& vec2, const at::Scalar& alpha) {
  return maybe_multiply(grad.mv(vec2.conj().to(grad.scalar_type())), alpha.conj());
}

Tensor addr_vec2_grad(const Tensor& grad, const Tensor& vec1, const at::Scalar& alpha) {
  return maybe_multiply(grad.t().mv(vec1.conj().to(grad.scalar_type())), alpha.conj());
}

} // namespace torch::autograd::formulas
