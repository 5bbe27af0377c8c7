// Derivatives of softmax, normalizations, embedding and losses. All are written with operators, so that they can be
// differentiated again.
#pragma once

#include <aten/core/Tensor.h>

#include <array>
#include <tuple>

namespace torch::autograd::formulas {

at::Tensor softmax_double_backward(const at::Tensor& grad, const at::Tensor& grad_output, int64_t dim, const at::Tensor& output);
at::Tensor log_softmax_double_backward(const at::Tensor& grad, const at::Tensor& grad_output, int64_t dim, const at::Tensor& output);

/// Gradients of the backward pass of layer norm for (input, weight, grad_out), from those of its three results.
std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_double_backward(
    const at::Tensor& input,
    const at::Tensor& weight,
    const at::Tensor& grad_grad_input,
    const at::Tensor& grad_grad_weight,
    const at::Tensor& grad_grad_bias,
    const at::Tensor& grad_out,
    const at::Tensor& mean,
    const at::Tensor& rstd,
    at::IntArrayRef normalized_shape,
    std::array<bool, 3> mask);

/// Gradients of RMS norm for input and weight: on CUDA by its kernel, or by operators when they may be differentiated again.
std::tuple<at::Tensor, at::Tensor> rms_norm_backward(
    const at::Tensor& grad,
    const at::Tensor& input,
    at::IntArrayRef normalized_shape,
    const at::Tensor& rstd,
    const at::Tensor& weight,
    std::array<bool, 2> mask);

/// Backward pass of group norm, from the gradients of its three results: by its kernel, or by operators when it may be
/// differentiated again or when the statistics have gradients of their own.
std::tuple<at::Tensor, at::Tensor, at::Tensor> group_norm_backward(
    const at::Tensor& grad,
    const at::Tensor& grad_mean,
    const at::Tensor& grad_rstd,
    const at::Tensor& input,
    const at::Tensor& mean,
    const at::Tensor& rstd,
    const at::Tensor& weight,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    double eps,
    std::array<bool, 3> mask);

at::Tensor embedding_dense_double_backward(const at::Tensor& grad, const at::Tensor& indices, int64_t padding_idx);

at::Tensor glu_double_backward_grad_output(const at::Tensor& grad, const at::Tensor& self, int64_t dim);
at::Tensor glu_double_backward(const at::Tensor& grad, const at::Tensor& grad_output, const at::Tensor& self, int64_t dim);

/// Sums what an element-wise backward pass would give for each element to the shape of its grad_output.
at::Tensor reduced_loss_grad(const at::Tensor& elements, at::IntArrayRef sizes);

/// Sums what a backward pass over rows of classes would give for each class to the shape of its grad_output.
at::Tensor row_loss_grad(const at::Tensor& elements, const at::Tensor& grad_output);
/// Gradients of multi_margin_loss_backward for grad_output and self.
std::tuple<at::Tensor, at::Tensor> multi_margin_loss_double_backward(
    const at::Tensor& grad,
    const at::Tensor& grad_output,
    const at::Tensor& self,
    const at::Tensor& target,
    const at::Scalar& p,
    const at::Scalar& margin,
    const at::Tensor& weight,
    int64_t reduction,
    std::array<bool, 2> mask);

at::Tensor mse_loss_double_backward(const at::Tensor& grad, const at::Tensor& self, int64_t reduction);
at::Tensor smooth_l1_loss_double_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target, int64_t reduction, double beta);
at::Tensor huber_loss_double_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target, int64_t reduction, double delta);
at::Tensor soft_margin_loss_double_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target, int64_t reduction);

at::Tensor binary_cross_entropy_target_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target, const at::Tensor& weight, int64_t reduction);
/// Gradient of binary_cross_entropy_backward for its target.
at::Tensor binary_cross_entropy_double_backward_target(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target, const at::Tensor& weight, int64_t reduction);
at::Tensor binary_cross_entropy_double_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target, const at::Tensor& weight, int64_t reduction);
at::Tensor binary_cross_entropy_with_logits_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    const at::Tensor& target,
    const at::Tensor& weight,
    const at::Tensor& pos_weight,
    int64_t reduction);
at::Tensor binary_cross_entropy_with_logits_target_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    const at::Tensor& weight,
    const at::Tensor& pos_weight,
    int64_t reduction);

/// `keep` is the probability that an element was kept.
at::Tensor fused_dropout_backward(const at::Tensor& grad, const at::Tensor& mask, double keep);

} // namespace torch::autograd::formulas
