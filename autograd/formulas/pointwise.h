// Gradients of pointwise operators, as far as one line in the operator's entry does not hold them.
//
// For complex tensors the gradient is the conjugate Wirtinger derivative, so factors appear conjugated.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace torch::autograd::formulas {

/// t * s, or t itself when s is the number one.
at::Tensor maybe_multiply(const at::Tensor& t, const at::Scalar& s);

/// The real part of a complex gradient whose input is real.
at::Tensor handle_r_to_c(at::ScalarType self_dtype, at::Tensor gradient);
at::Tensor handle_r_to_c(const at::Tensor& self, at::Tensor gradient);

/// The gradient of an operator that has none here: throws "derivative for NAME is not implemented".
at::Tensor not_implemented(const char* name, const char* reason = "");

// ---- products, quotients, powers -----------------------------------------------------------------------------------
at::Tensor mul_tensor_backward(const at::Tensor& grad, const at::Tensor& other, at::ScalarType self_dtype);
at::Tensor mul_tensor_backward(const at::Tensor& grad, const at::Scalar& other, at::ScalarType self_dtype);

/// A rounded quotient is flat, so its gradient is zero.
at::Tensor div_tensor_self_backward(
    const at::Tensor& grad,
    const at::Tensor& other,
    at::ScalarType self_dtype,
    const std::optional<std::string_view>& rounding_mode = std::nullopt);
at::Tensor div_tensor_self_backward(
    const at::Tensor& grad,
    const at::Scalar& other,
    at::ScalarType self_dtype,
    const std::optional<std::string_view>& rounding_mode = std::nullopt);
at::Tensor div_tensor_other_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    const at::Tensor& other,
    const std::optional<std::string_view>& rounding_mode = std::nullopt);

/// x^0 is constant even at x = 0, where the rule would give 0 * infinity.
at::Tensor pow_backward(const at::Tensor& grad, const at::Tensor& self, const at::Scalar& exponent);
at::Tensor pow_backward_self(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& exponent);
/// 0^y is constant for y >= 0, where the rule would give 0 * -infinity.
at::Tensor pow_backward_exponent(
    const at::Tensor& grad,
    const at::Tensor& self,
    const at::Tensor& exponent,
    const at::Tensor& result);
at::Tensor pow_backward_exponent(
    const at::Tensor& grad,
    const at::Scalar& base,
    const at::Tensor& exponent,
    const at::Tensor& result);

/// The gradient of fmod and remainder for the divisor; that for the dividend is grad itself.
at::Tensor fmod_other_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& other);
at::Tensor remainder_other_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& other);

// ---- signs, angles, parts ------------------------------------------------------------------------------------------
at::Tensor angle_backward(const at::Tensor& grad, const at::Tensor& self);
at::Tensor sgn_backward(const at::Tensor& self, const at::Tensor& grad, const at::Tensor& sgn);
at::Tensor copysign_tensor_self_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& result);
std::tuple<at::Tensor, at::Tensor> atan2_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    const at::Tensor& other,
    std::array<bool, 2> mask);
std::tuple<at::Tensor, at::Tensor> polar_backward(const at::Tensor& grad, const at::Tensor& result);
at::Tensor rad2deg_backward(const at::Tensor& grad);
at::Tensor deg2rad_backward(const at::Tensor& grad);
at::Tensor sinc_backward(const at::Tensor& grad, const at::Tensor& self);

// ---- choices -------------------------------------------------------------------------------------------------------
/// Passes where the value was inside the bounds, which belong to the inside.
at::Tensor clamp_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    const std::optional<at::Scalar>& min,
    const std::optional<at::Scalar>& max);
at::Tensor clamp_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    const std::optional<at::Tensor>& min,
    const std::optional<at::Tensor>& max);
/// The gradients for tensors of bounds.
std::tuple<at::Tensor, at::Tensor> clamp_backward_min_max(
    const at::Tensor& grad,
    const at::Tensor& self,
    const std::optional<at::Tensor>& min,
    const std::optional<at::Tensor>& max,
    std::array<bool, 2> mask);
/// The gradient for `self` of maximum(self, other), halved where both are equal. For `other`, swap them.
at::Tensor maximum_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& other);
at::Tensor minimum_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& other);
/// Zero where the mask is set.
at::Tensor masked_fill_backward(const at::Tensor& grad, const at::Tensor& mask);
/// The gradient of where(condition, self, other), for self; for other, with the negated condition.
at::Tensor where_self_backward(const at::Tensor& grad, const at::Tensor& condition);
at::Tensor where_other_backward(const at::Tensor& grad, const at::Tensor& condition);

// ---- lerp ----------------------------------------------------------------------------------------------------------
at::Tensor lerp_self_backward(const at::Tensor& grad, const at::Scalar& weight);
at::Tensor lerp_self_backward(const at::Tensor& grad, const at::Tensor& weight);
at::Tensor lerp_end_backward(const at::Tensor& grad, const at::Scalar& weight);
at::Tensor lerp_end_backward(const at::Tensor& grad, const at::Tensor& weight);

// ---- activations ---------------------------------------------------------------------------------------------------
/// Built of operators that have gradients themselves, unlike the fused backward kernels.
at::Tensor infinitely_differentiable_gelu_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    std::string_view approximate);
at::Tensor infinitely_differentiable_silu_backward(const at::Tensor& grad, const at::Tensor& self);
at::Tensor infinitely_differentiable_mish_backward(const at::Tensor& grad, const at::Tensor& self);
at::Tensor bessel_j1_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& result);
at::Tensor i1_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& result);
at::Tensor i1e_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& result);
at::Tensor log1p_backward(const at::Tensor& grad, const at::Tensor& self);
at::Tensor infinitely_differentiable_logit_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    std::optional<double> eps);
/// The gradients of the fused backward operators with respect to the activation's input.
at::Tensor gelu_double_backward(
    const at::Tensor& ggI,
    const at::Tensor& gO,
    const at::Tensor& input,
    std::string_view approximate);
at::Tensor silu_double_backward(const at::Tensor& ggI, const at::Tensor& gO, const at::Tensor& input);
at::Tensor mish_double_backward(const at::Tensor& ggI, const at::Tensor& gO, const at::Tensor& input);
at::Tensor softplus_double_backward(
    const at::Tensor& grad,
    const at::Tensor& input,
    const at::Scalar& beta,
    const at::Scalar& threshold);
at::Tensor elu_double_backward(
    const at::Tensor& grad,
    const at::Tensor& grad_output,
    const at::Scalar& alpha,
    const at::Scalar& scale,
    const at::Scalar& input_scale,
    bool is_result,
    const at::Tensor& self_or_result);
/// Gradients of _prelu_kernel_backward for grad_output, self and weight, from those of its two results.
std::tuple<at::Tensor, at::Tensor, at::Tensor> prelu_double_backward(
    const at::Tensor& grad_grad_self,
    const at::Tensor& grad_grad_weight,
    const at::Tensor& grad_output,
    const at::Tensor& self,
    const at::Tensor& weight,
    std::array<bool, 3> mask);
at::Tensor log_sigmoid_double_backward(const at::Tensor& grad, const at::Tensor& input);

} // namespace torch::autograd::formulas
