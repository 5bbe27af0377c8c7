// Gradients of pointwise operators, as far as one line in the operator's entry does not hold them.
//
// For complex tensors the gradient is the conjugate Wirtinger derivative, so factors appear conjugated.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/shared.h>

#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <cmath>
#include <limits>

namespace torch::autograd::formulas {

namespace {

constexpr double kPi = 3.14159265358979323846;

// A zero that broadcasts.
Tensor zero_like(const Tensor& t) {
  return at::zeros({}, t.options());
}

bool is_one(const Scalar& s) {
  if (s.isComplex()) {
    return s.toComplexDouble() == c10::complex<double>(1.0, 0.0);
  }
  return s.isFloatingPoint() ? s.toDouble() == 1.0 : s.toLong() == 1;
}

// conj() without a call for real tensors.
Tensor conj_of(const Tensor& t) {
  return t.is_complex() ? t.conj() : t;
}

// Where an exponent is a real number that is not negative.
Tensor is_nonnegative(const Tensor& exponent) {
  if (!exponent.is_complex()) {
    return exponent.ge(0);
  }
  return at::real(exponent).ge(0).logical_and(at::imag(exponent).eq(0));
}

} // namespace

Tensor sum_of(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? a + b : a.defined() ? a : b;
}

Tensor maybe_multiply(const Tensor& t, const Scalar& s) {
  return is_one(s) ? t : t * s;
}

Tensor handle_r_to_c(ScalarType self_dtype, Tensor gradient) {
  return !c10::isComplexType(self_dtype) && gradient.is_complex() ? at::real(gradient) : std::move(gradient);
}

Tensor handle_r_to_c(const Tensor& self, Tensor gradient) {
  return handle_r_to_c(self.scalar_type(), std::move(gradient));
}

/// The gradient of an operator that has none here: throws "derivative for NAME is not implemented".
Tensor not_implemented(const char* name, const char* reason) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "derivative for ", name, " is not implemented", *reason ? ": " : "", reason);
}

Tensor not_implemented(const char* name) {
  return not_implemented(name, "");
}

// ---- products, quotients, powers -----------------------------------------------------------------------------------
Tensor mul_tensor_backward(const Tensor& grad, const Tensor& other, ScalarType self_dtype) {
  return handle_r_to_c(self_dtype, grad * conj_of(other));
}

Tensor mul_tensor_backward(const Tensor& grad, const Scalar& other, ScalarType self_dtype) {
  return handle_r_to_c(self_dtype, grad * other.conj());
}

/// A rounded quotient is flat, so its gradient is zero.
Tensor div_tensor_self_backward(
    const Tensor& grad,
    const Tensor& other,
    ScalarType self_dtype,
    const std::optional<std::string_view>& rounding_mode = std::nullopt) {
  if (rounding_mode.has_value()) {
    return at::zeros_like(grad, grad.options().dtype(self_dtype));
  }
  return handle_r_to_c(self_dtype, grad / conj_of(other));
}

Tensor div_tensor_self_backward(
    const Tensor& grad,
    const Scalar& other,
    ScalarType self_dtype,
    const std::optional<std::string_view>& rounding_mode = std::nullopt) {
  if (rounding_mode.has_value()) {
    return at::zeros_like(grad, grad.options().dtype(self_dtype));
  }
  return handle_r_to_c(self_dtype, grad / other.conj());
}

Tensor div_tensor_other_backward(
    const Tensor& grad,
    const Tensor& self,
    const Tensor& other,
    const std::optional<std::string_view>& rounding_mode = std::nullopt) {
  if (rounding_mode.has_value()) {
    return at::zeros_like(grad, grad.options().dtype(other.scalar_type()));
  }
  // Twice divided in place of once by the square, which could overflow.
  return handle_r_to_c(other, -grad * ((self / other) / other).conj());
}

/// x^0 is constant even at x = 0, where the rule would give 0 * infinity.
Tensor pow_backward(const Tensor& grad, const Tensor& self, const Scalar& exponent) {
  if (exponent.equal(0.0)) {
    return at::zeros_like(self, at::MemoryFormat::Contiguous);
  }
  if (exponent.isComplex()) {
    const c10::complex<double> e = exponent.toComplexDouble();
    return handle_r_to_c(self, grad * (self.pow(Scalar(e - 1.0)) * Scalar(e)).conj());
  }
  const double e = exponent.toDouble();
  return handle_r_to_c(self, grad * (self.pow(e - 1.0) * e).conj());
}

Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  const Tensor slope = grad * (exponent * self.pow(exponent - 1)).conj();
  return handle_r_to_c(self, at::where(exponent.eq(0.0), zero_like(slope), slope));
}

/// 0^y is constant for y >= 0, where the rule would give 0 * -infinity.
Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result) {
  const Tensor flat = self.eq(0).logical_and(is_nonnegative(exponent));
  // The logarithm of a negative real base is complex when the exponent is.
  const Tensor base = self.to(at::result_type(self, exponent));
  const Tensor slope = (result * base.log()).conj();
  return handle_r_to_c(exponent, grad * at::where(flat, zero_like(slope), slope));
}

Tensor pow_backward_exponent(const Tensor& grad, const Scalar& base, const Tensor& exponent, const Tensor& result) {
  const Scalar log_base = exponent.is_complex() && !base.isComplex()
      ? Scalar(c10::complex<double>(base.toDouble(), 0.0)).log()
      : base.log();
  Tensor slope = (result * log_base).conj();
  if (base.equal(0.0)) {
    slope = at::where(is_nonnegative(exponent), zero_like(slope), slope);
  }
  return handle_r_to_c(exponent, grad * slope);
}

// ---- signs, angles, parts ------------------------------------------------------------------------------------------
Tensor angle_backward(const Tensor& grad, const Tensor& self) {
  // The angle of a real number is constant but for the jump at zero.
  if (!self.is_complex()) {
    return at::zeros_like(self, at::MemoryFormat::Contiguous);
  }
  const Tensor slope = grad * self / self.abs().pow(2) * Scalar(c10::complex<double>(0.0, 1.0));
  return at::where(self.eq(0.0), zero_like(slope), slope);
}

Tensor angle_tangent(const Tensor& self, const Tensor& self_t) {
  if (!self.is_complex()) {
    return at::zeros_like(self, at::MemoryFormat::Contiguous);
  }
  const Tensor across = at::imag(self.conj() * self_t) / self.abs().pow(2);
  return at::where(self.eq(0.0), zero_like(across), across);
}

Tensor sgn_backward(const Tensor& self, const Tensor& grad, const Tensor& sgn) {
  if (!grad.is_complex()) {
    return at::zeros_like(sgn, at::MemoryFormat::Preserve);
  }
  // A change along the number itself does not turn it; only the part across counts.
  const Tensor radius = self.abs();
  const Tensor across = (grad - at::real(grad * sgn.conj()) * sgn) / radius;
  return at::where(radius.eq(0.0), zero_like(across), across);
}

Tensor copysign_tensor_self_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor ratio = result / self;
  return grad * ratio.masked_fill(self.eq(0), 0);
}

std::tuple<Tensor, Tensor> atan2_backward(
    const Tensor& grad, const Tensor& self, const Tensor& other, std::array<bool, 2> mask) {
  if (!grad.defined()) {
    return {};
  }
  const Tensor square = self * self + other * other;
  // At the origin the angle is anything: its gradient is taken as zero.
  const Tensor scaled = grad * square.reciprocal().masked_fill(square.eq(0), 0);
  return {mask[0] ? scaled * other : Tensor(), mask[1] ? scaled * -self : Tensor()};
}

std::tuple<Tensor, Tensor> polar_backward(const Tensor& grad, const Tensor& result) {
  if (!grad.defined()) {
    return {};
  }
  const Tensor grad_conj = grad.conj();
  // PyTorch's: the derivative for abs > 0. Where abs is negative it points the other way, at zero nowhere.
  return {
      at::real(grad_conj * at::sgn(result)), at::real(grad_conj * (result * Scalar(c10::complex<double>(0.0, 1.0))))};
}

Tensor polar_tangent(const Tensor& abs_t, const Tensor& angle_t, const Tensor& result) {
  return sum_of(
      abs_t.defined() ? at::sgn(result) * abs_t : abs_t,
      angle_t.defined() ? result * angle_t * Scalar(c10::complex<double>(0.0, 1.0)) : angle_t);
}

/// For formulas in entries.
bool formula_is_differentiated_again(const Tensor& grad, const Tensor& self) {
  return is_differentiated_again(grad, self);
}

Tensor rad2deg_backward(const Tensor& grad) {
  return at::mul(grad, Scalar(180.0 / kPi));
}

Tensor deg2rad_backward(const Tensor& grad) {
  return at::mul(grad, Scalar(kPi / 180.0));
}

Tensor polygamma_backward(const Tensor& grad, const Tensor& self, int64_t n) {
  return grad * at::polygamma(n < std::numeric_limits<int64_t>::max() ? n + 1 : n, self);
}

Tensor sinc_backward(const Tensor& grad, const Tensor& self) {
  const Tensor self_pi = self * kPi;
  const Tensor self_squared_pi = self * self * kPi;
  const Tensor slope = grad * ((self_pi * self_pi.cos() - self_pi.sin()) / self_squared_pi).conj();
  return at::where(self_squared_pi.eq(0.0), zero_like(slope), slope);
}

// ---- choices -------------------------------------------------------------------------------------------------------
/// Passes where the value was inside the bounds, which do not belong to the inside.
Tensor clamp_backward(
    const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  if (!min && !max) {
    return grad;
  }
  const Tensor inside = min && max ? self.gt(*min).logical_and(self.lt(*max)) : (min ? self.gt(*min) : self.lt(*max));
  return at::where(inside, grad, zero_like(grad));
}

namespace {

/// The gradient where `all` holds, half of it where `half` does.
Tensor shared_grad(const Tensor& grad, const Tensor& all, const Tensor& half) {
  return at::where(all, grad, at::where(half, grad / 2, zero_like(grad)));
}

} // namespace

/// A value and the bound that it equals get half of the gradient each.
Tensor clamp_backward(
    const Tensor& grad, const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  const bool has_min = min.has_value() && min->defined();
  const bool has_max = max.has_value() && max->defined();
  if (!has_min && !has_max) {
    return grad;
  }
  if (!has_min || !has_max) {
    const Tensor outside = has_min ? self.lt(*min) : self.gt(*max);
    const Tensor at_bound = self.eq(has_min ? *min : *max);
    return shared_grad(grad, outside.logical_or(at_bound).logical_not(), at_bound);
  }
  const Tensor outside = self.lt(*min).logical_or(self.gt(*max));
  const Tensor at_one = self.eq(*min).logical_xor(self.eq(*max));
  return shared_grad(grad, outside.logical_or(at_one).logical_not(), at_one.logical_and(outside.logical_not()));
}

/// The gradients for tensors of bounds.
std::tuple<Tensor, Tensor> clamp_backward_min_max(
    const Tensor& grad,
    const Tensor& self,
    const std::optional<Tensor>& min,
    const std::optional<Tensor>& max,
    std::array<bool, 2> mask) {
  const bool has_min = min.has_value() && min->defined();
  const bool has_max = max.has_value() && max->defined();
  std::tuple<Tensor, Tensor> result;
  if (!grad.defined()) {
    return result;
  }
  if (!has_min || !has_max) { // not a number goes to both
    if (has_min && mask[0]) {
      std::get<0>(result) = shared_grad(grad, self.ge(*min).logical_not(), self.eq(*min));
    }
    if (has_max && mask[1]) {
      std::get<1>(result) = shared_grad(grad, self.le(*max).logical_not(), self.eq(*max));
    }
    return result;
  }
  // The upper bound wins when the bounds cross.
  const Tensor in_order = min->le(*max), apart = min->lt(*max);
  if (mask[0]) {
    std::get<0>(result) = shared_grad(grad, self.lt(*min).logical_and(in_order), self.eq(*min).logical_and(apart));
  }
  if (mask[1]) {
    const Tensor at_max = self.gt(*max).logical_and(in_order).logical_or(max->lt(*min));
    std::get<1>(result) = shared_grad(grad, at_max, self.eq(*max).logical_and(apart));
  }
  return result;
}

/// Zero where the mask is set.
Tensor masked_fill_backward(const Tensor& grad, const Tensor& mask) {
  // What the one filled-in value gets: the sum over the places it went to.
  return at::where(mask, grad, at::zeros({}, grad.options())).sum();
}

Tensor log1p_backward(const Tensor& grad, const Tensor& self) {
  return grad / (self + 1).conj();
}

// Where x is so small that f(x) / x is but its limit: f(x) may have been rounded to zero there.
Tensor next_to_zero(const Tensor& self) {
  const double epsilon = self.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon()
                                                           : std::numeric_limits<float>::epsilon();
  return self.abs() <= epsilon;
}

// j1' = j0 - j1 / x, with the limit 1/2 at 0.
Tensor bessel_j1_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor zero = next_to_zero(self);
  const Tensor safe = self.masked_fill(zero, 1);
  return grad * (at::special_bessel_j0(self) - result / safe).masked_fill(zero, 0.5);
}

// i1' = i0 - i1 / x, with the limit 1/2 at 0.
Tensor i1_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor zero = next_to_zero(self);
  const Tensor safe = self.masked_fill(zero, 1);
  return grad * (at::i0(self) - result / safe).masked_fill(zero, 0.5);
}

// i1e' = i0e - i1e (sign(x) + 1 / x), with the limit 1/2 at 0.
Tensor i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor zero = next_to_zero(self);
  const Tensor safe = self.masked_fill(zero, 1);
  return grad * (at::special_i0e(self) - result * (self.sgn() + safe.reciprocal())).masked_fill(zero, 0.5);
}

} // namespace torch::autograd::formulas
