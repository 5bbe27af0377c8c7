// Second names of operators: each calls the first.
#include <aten/Functions.h>

namespace at::native {

Tensor alias_subtract_tensor(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::sub(self, other, alpha);
}
Tensor& alias_subtract_tensor_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  return self.sub_(other, alpha);
}
Tensor& alias_subtract_tensor_out(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  return at::sub_out(out, self, other, alpha);
}

Tensor alias_subtract_scalar(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return at::sub(self, other, alpha);
}
Tensor& alias_subtract_scalar_(Tensor& self, const Scalar& other, const Scalar& alpha) {
  return self.sub_(other, alpha);
}

Tensor alias_multiply_tensor(const Tensor& self, const Tensor& other) {
  return at::mul(self, other);
}
Tensor& alias_multiply_tensor_(Tensor& self, const Tensor& other) {
  return self.mul_(other);
}
Tensor& alias_multiply_tensor_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::mul_out(out, self, other);
}

Tensor alias_multiply_scalar(const Tensor& self, const Scalar& other) {
  return at::mul(self, other);
}
Tensor& alias_multiply_scalar_(Tensor& self, const Scalar& other) {
  return self.mul_(other);
}

Tensor alias_divide_tensor(const Tensor& self, const Tensor& other) {
  return at::div(self, other);
}
Tensor& alias_divide_tensor_(Tensor& self, const Tensor& other) {
  return self.div_(other);
}
Tensor& alias_divide_tensor_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::div_out(out, self, other);
}

Tensor alias_divide_scalar(const Tensor& self, const Scalar& other) {
  return at::div(self, other);
}
Tensor& alias_divide_scalar_(Tensor& self, const Scalar& other) {
  return self.div_(other);
}

Tensor alias_divide_tensor_mode(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  return at::div(self, other, rounding_mode);
}
Tensor& alias_divide_tensor_mode_(Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  return self.div_(other, rounding_mode);
}
Tensor& alias_divide_tensor_mode_out(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode, Tensor& out) {
  return at::div_out(out, self, other, rounding_mode);
}

Tensor alias_divide_scalar_mode(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return at::div(self, other, rounding_mode);
}
Tensor& alias_divide_scalar_mode_(Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return self.div_(other, rounding_mode);
}

Tensor alias_true_divide_tensor(const Tensor& self, const Tensor& other) {
  return at::div(self, other);
}
Tensor& alias_true_divide_tensor_(Tensor& self, const Tensor& other) {
  return self.div_(other);
}
Tensor& alias_true_divide_tensor_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::div_out(out, self, other);
}

Tensor alias_true_divide_scalar(const Tensor& self, const Scalar& other) {
  return at::div(self, other);
}
Tensor& alias_true_divide_scalar_(Tensor& self, const Scalar& other) {
  return self.div_(other);
}

Tensor alias_negative(const Tensor& self) {
  return at::neg(self);
}
Tensor& alias_negative_(Tensor& self) {
  return self.neg_();
}
Tensor& alias_negative_out(const Tensor& self, Tensor& out) {
  return at::neg_out(out, self);
}

Tensor alias_absolute(const Tensor& self) {
  return at::abs(self);
}
Tensor& alias_absolute_(Tensor& self) {
  return self.abs_();
}
Tensor& alias_absolute_out(const Tensor& self, Tensor& out) {
  return at::abs_out(out, self);
}

Tensor alias_fix(const Tensor& self) {
  return at::trunc(self);
}
Tensor& alias_fix_(Tensor& self) {
  return self.trunc_();
}
Tensor& alias_fix_out(const Tensor& self, Tensor& out) {
  return at::trunc_out(out, self);
}

Tensor alias_clip(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  return at::clamp(self, min, max);
}
Tensor& alias_clip_(Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  return self.clamp_(min, max);
}
Tensor& alias_clip_out(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max, Tensor& out) {
  return at::clamp_out(out, self, min, max);
}

Tensor alias_clip_tensor(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  return at::clamp(self, min, max);
}
Tensor& alias_clip_tensor_(Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  return self.clamp_(min, max);
}
Tensor& alias_clip_tensor_out(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max, Tensor& out) {
  return at::clamp_out(out, self, min, max);
}

Tensor alias_arccos(const Tensor& self) {
  return at::acos(self);
}
Tensor& alias_arccos_(Tensor& self) {
  return self.acos_();
}
Tensor& alias_arccos_out(const Tensor& self, Tensor& out) {
  return at::acos_out(out, self);
}

Tensor alias_arccosh(const Tensor& self) {
  return at::acosh(self);
}
Tensor& alias_arccosh_(Tensor& self) {
  return self.acosh_();
}
Tensor& alias_arccosh_out(const Tensor& self, Tensor& out) {
  return at::acosh_out(out, self);
}

Tensor alias_arcsin(const Tensor& self) {
  return at::asin(self);
}
Tensor& alias_arcsin_(Tensor& self) {
  return self.asin_();
}
Tensor& alias_arcsin_out(const Tensor& self, Tensor& out) {
  return at::asin_out(out, self);
}

Tensor alias_arcsinh(const Tensor& self) {
  return at::asinh(self);
}
Tensor& alias_arcsinh_(Tensor& self) {
  return self.asinh_();
}
Tensor& alias_arcsinh_out(const Tensor& self, Tensor& out) {
  return at::asinh_out(out, self);
}

Tensor alias_arctan(const Tensor& self) {
  return at::atan(self);
}
Tensor& alias_arctan_(Tensor& self) {
  return self.atan_();
}
Tensor& alias_arctan_out(const Tensor& self, Tensor& out) {
  return at::atan_out(out, self);
}

Tensor alias_arctanh(const Tensor& self) {
  return at::atanh(self);
}
Tensor& alias_arctanh_(Tensor& self) {
  return self.atanh_();
}
Tensor& alias_arctanh_out(const Tensor& self, Tensor& out) {
  return at::atanh_out(out, self);
}

Tensor alias_arctan2(const Tensor& self, const Tensor& other) {
  return at::atan2(self, other);
}
Tensor& alias_arctan2_(Tensor& self, const Tensor& other) {
  return self.atan2_(other);
}
Tensor& alias_arctan2_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::atan2_out(out, self, other);
}

Tensor alias_greater_tensor(const Tensor& self, const Tensor& other) {
  return at::gt(self, other);
}
Tensor& alias_greater_tensor_(Tensor& self, const Tensor& other) {
  return self.gt_(other);
}
Tensor& alias_greater_tensor_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::gt_out(out, self, other);
}

Tensor alias_greater_scalar(const Tensor& self, const Scalar& other) {
  return at::gt(self, other);
}
Tensor& alias_greater_scalar_(Tensor& self, const Scalar& other) {
  return self.gt_(other);
}
Tensor& alias_greater_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::gt_out(out, self, other);
}

Tensor alias_greater_equal_tensor(const Tensor& self, const Tensor& other) {
  return at::ge(self, other);
}
Tensor& alias_greater_equal_tensor_(Tensor& self, const Tensor& other) {
  return self.ge_(other);
}
Tensor& alias_greater_equal_tensor_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::ge_out(out, self, other);
}

Tensor alias_greater_equal_scalar(const Tensor& self, const Scalar& other) {
  return at::ge(self, other);
}
Tensor& alias_greater_equal_scalar_(Tensor& self, const Scalar& other) {
  return self.ge_(other);
}
Tensor& alias_greater_equal_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::ge_out(out, self, other);
}

Tensor alias_less_tensor(const Tensor& self, const Tensor& other) {
  return at::lt(self, other);
}
Tensor& alias_less_tensor_(Tensor& self, const Tensor& other) {
  return self.lt_(other);
}
Tensor& alias_less_tensor_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::lt_out(out, self, other);
}

Tensor alias_less_scalar(const Tensor& self, const Scalar& other) {
  return at::lt(self, other);
}
Tensor& alias_less_scalar_(Tensor& self, const Scalar& other) {
  return self.lt_(other);
}
Tensor& alias_less_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::lt_out(out, self, other);
}

Tensor alias_less_equal_tensor(const Tensor& self, const Tensor& other) {
  return at::le(self, other);
}
Tensor& alias_less_equal_tensor_(Tensor& self, const Tensor& other) {
  return self.le_(other);
}
Tensor& alias_less_equal_tensor_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::le_out(out, self, other);
}

Tensor alias_less_equal_scalar(const Tensor& self, const Scalar& other) {
  return at::le(self, other);
}
Tensor& alias_less_equal_scalar_(Tensor& self, const Scalar& other) {
  return self.le_(other);
}
Tensor& alias_less_equal_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::le_out(out, self, other);
}

Tensor alias_not_equal_tensor(const Tensor& self, const Tensor& other) {
  return at::ne(self, other);
}
Tensor& alias_not_equal_tensor_(Tensor& self, const Tensor& other) {
  return self.ne_(other);
}
Tensor& alias_not_equal_tensor_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::ne_out(out, self, other);
}

Tensor alias_not_equal_scalar(const Tensor& self, const Scalar& other) {
  return at::ne(self, other);
}
Tensor& alias_not_equal_scalar_(Tensor& self, const Scalar& other) {
  return self.ne_(other);
}
Tensor& alias_not_equal_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::ne_out(out, self, other);
}

Tensor alias_and_tensor(const Tensor& self, const Tensor& other) {
  return at::bitwise_and(self, other);
}
Tensor& alias_and_tensor_(Tensor& self, const Tensor& other) {
  return self.bitwise_and_(other);
}

Tensor alias_and_scalar(const Tensor& self, const Scalar& other) {
  return at::bitwise_and(self, other);
}
Tensor& alias_and_scalar_(Tensor& self, const Scalar& other) {
  return self.bitwise_and_(other);
}

Tensor alias_or_tensor(const Tensor& self, const Tensor& other) {
  return at::bitwise_or(self, other);
}
Tensor& alias_or_tensor_(Tensor& self, const Tensor& other) {
  return self.bitwise_or_(other);
}

Tensor alias_or_scalar(const Tensor& self, const Scalar& other) {
  return at::bitwise_or(self, other);
}
Tensor& alias_or_scalar_(Tensor& self, const Scalar& other) {
  return self.bitwise_or_(other);
}

Tensor alias_xor_tensor(const Tensor& self, const Tensor& other) {
  return at::bitwise_xor(self, other);
}
Tensor& alias_xor_tensor_(Tensor& self, const Tensor& other) {
  return self.bitwise_xor_(other);
}

Tensor alias_xor_scalar(const Tensor& self, const Scalar& other) {
  return at::bitwise_xor(self, other);
}
Tensor& alias_xor_scalar_(Tensor& self, const Scalar& other) {
  return self.bitwise_xor_(other);
}

Tensor alias_lshift_tensor(const Tensor& self, const Tensor& other) {
  return at::bitwise_left_shift(self, other);
}
Tensor& alias_lshift_tensor_(Tensor& self, const Tensor& other) {
  return self.bitwise_left_shift_(other);
}
Tensor& alias_lshift_tensor_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::bitwise_left_shift_out(out, self, other);
}

Tensor alias_lshift_scalar(const Tensor& self, const Scalar& other) {
  return at::bitwise_left_shift(self, other);
}
Tensor& alias_lshift_scalar_(Tensor& self, const Scalar& other) {
  return self.bitwise_left_shift_(other);
}
Tensor& alias_lshift_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::bitwise_left_shift_out(out, self, other);
}

Tensor alias_rshift_tensor(const Tensor& self, const Tensor& other) {
  return at::bitwise_right_shift(self, other);
}
Tensor& alias_rshift_tensor_(Tensor& self, const Tensor& other) {
  return self.bitwise_right_shift_(other);
}
Tensor& alias_rshift_tensor_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::bitwise_right_shift_out(out, self, other);
}

Tensor alias_rshift_scalar(const Tensor& self, const Scalar& other) {
  return at::bitwise_right_shift(self, other);
}
Tensor& alias_rshift_scalar_(Tensor& self, const Scalar& other) {
  return self.bitwise_right_shift_(other);
}
Tensor& alias_rshift_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::bitwise_right_shift_out(out, self, other);
}

Tensor alias_special_expit(const Tensor& self) {
  return at::sigmoid(self);
}
Tensor& alias_special_expit_out(const Tensor& self, Tensor& out) {
  return at::sigmoid_out(out, self);
}

Tensor alias_special_exp2(const Tensor& self) {
  return at::exp2(self);
}
Tensor& alias_special_exp2_out(const Tensor& self, Tensor& out) {
  return at::exp2_out(out, self);
}

Tensor alias_special_expm1(const Tensor& self) {
  return at::expm1(self);
}
Tensor& alias_special_expm1_out(const Tensor& self, Tensor& out) {
  return at::expm1_out(out, self);
}

Tensor alias_special_erf(const Tensor& self) {
  return at::erf(self);
}
Tensor& alias_special_erf_out(const Tensor& self, Tensor& out) {
  return at::erf_out(out, self);
}

Tensor alias_special_erfc(const Tensor& self) {
  return at::erfc(self);
}
Tensor& alias_special_erfc_out(const Tensor& self, Tensor& out) {
  return at::erfc_out(out, self);
}

Tensor alias_special_erfinv(const Tensor& self) {
  return at::erfinv(self);
}
Tensor& alias_special_erfinv_out(const Tensor& self, Tensor& out) {
  return at::erfinv_out(out, self);
}

Tensor alias_special_psi(const Tensor& self) {
  return at::digamma(self);
}
Tensor& alias_special_psi_out(const Tensor& self, Tensor& out) {
  return at::digamma_out(out, self);
}

Tensor alias_special_digamma(const Tensor& self) {
  return at::digamma(self);
}
Tensor& alias_special_digamma_out(const Tensor& self, Tensor& out) {
  return at::digamma_out(out, self);
}

Tensor alias_special_gammaln(const Tensor& self) {
  return at::lgamma(self);
}
Tensor& alias_special_gammaln_out(const Tensor& self, Tensor& out) {
  return at::lgamma_out(out, self);
}

Tensor alias_special_sinc(const Tensor& self) {
  return at::sinc(self);
}
Tensor& alias_special_sinc_out(const Tensor& self, Tensor& out) {
  return at::sinc_out(out, self);
}

Tensor alias_special_log1p(const Tensor& self) {
  return at::log1p(self);
}
Tensor& alias_special_log1p_out(const Tensor& self, Tensor& out) {
  return at::log1p_out(out, self);
}

Tensor alias_special_i0(const Tensor& self) {
  return at::i0(self);
}
Tensor& alias_special_i0_out(const Tensor& self, Tensor& out) {
  return at::i0_out(out, self);
}

Tensor alias_special_logit(const Tensor& self, std::optional<double> eps) {
  return at::logit(self, eps);
}
Tensor& alias_special_logit_out(const Tensor& self, std::optional<double> eps, Tensor& out) {
  return at::logit_out(out, self, eps);
}

Tensor alias_special_xlogy(const Tensor& self, const Tensor& other) {
  return at::xlogy(self, other);
}
Tensor& alias_special_xlogy_out(const Tensor& self, const Tensor& other, Tensor& out) {
  return at::xlogy_out(out, self, other);
}

Tensor alias_special_xlogy_self_scalar(const Scalar& self, const Tensor& other) {
  return at::xlogy(self, other);
}
Tensor& alias_special_xlogy_self_scalar_out(const Scalar& self, const Tensor& other, Tensor& out) {
  return at::xlogy_out(out, self, other);
}

Tensor alias_special_xlogy_other_scalar(const Tensor& self, const Scalar& other) {
  return at::xlogy(self, other);
}
Tensor& alias_special_xlogy_other_scalar_out(const Tensor& self, const Scalar& other, Tensor& out) {
  return at::xlogy_out(out, self, other);
}

Tensor alias_special_polygamma(int64_t n, const Tensor& self) {
  return at::polygamma(n, self);
}
Tensor& alias_special_polygamma_out(int64_t n, const Tensor& self, Tensor& out) {
  return at::polygamma_out(out, n, self);
}

} // namespace at::native
