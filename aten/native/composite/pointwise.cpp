// Pointwise operators made of other operators.
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/support/store_scalar.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/Scalar.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>

namespace at::native {

// ---- dtypes ------------------------------------------------------------------------------------------------------

ScalarType result_type_tensor(const Tensor& tensor, const Tensor& other) {
  return result_type(update_result_type_state(other, update_result_type_state(tensor, {})));
}
ScalarType result_type_scalar(const Tensor& tensor, const Scalar& other) {
  return result_type(update_result_type_state(other, update_result_type_state(tensor, {})));
}
ScalarType result_type_scalar_tensor(const Scalar& scalar, const Tensor& tensor) {
  return result_type_scalar(tensor, scalar);
}
ScalarType result_type_scalar_scalar(const Scalar& scalar1, const Scalar& scalar2) {
  return result_type(update_result_type_state(scalar2, update_result_type_state(scalar1, {})));
}

bool can_cast(ScalarType from, ScalarType to) {
  return c10::canCast(from, to);
}
ScalarType promote_types(ScalarType type1, ScalarType type2) {
  return c10::promoteTypes(type1, type2);
}

// ---- division with a rounding mode -------------------------------------------------------------------------------

namespace {

enum class Rounding { None, Trunc, Floor };

Rounding rounding_of(const std::optional<std::string_view>& mode) {
  if (!mode.has_value()) {
    return Rounding::None;
  }
  TORCH_CHECK(
      *mode == "trunc" || *mode == "floor",
      "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode, "'");
  return *mode == "trunc" ? Rounding::Trunc : Rounding::Floor;
}

} // namespace

Tensor div_mode(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  switch (rounding_of(rounding_mode)) {
    case Rounding::Trunc:
      return at::_div_trunc(self, other);
    case Rounding::Floor:
      return at::floor_divide(self, other);
    default:
      return at::div(self, other);
  }
}

Tensor& div_mode_(Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  switch (rounding_of(rounding_mode)) {
    case Rounding::Trunc:
      return at::_div_trunc_(self, other);
    case Rounding::Floor:
      return self.floor_divide_(other);
    default:
      return self.div_(other);
  }
}

Tensor& div_mode_out(
    const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode, Tensor& out) {
  switch (rounding_of(rounding_mode)) {
    case Rounding::Trunc:
      return at::_div_trunc_out(out, self, other);
    case Rounding::Floor:
      return at::floor_divide_out(out, self, other);
    default:
      return at::div_out(out, self, other);
  }
}

Tensor div_scalar_mode(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  switch (rounding_of(rounding_mode)) {
    case Rounding::Trunc:
      return at::_div_trunc(self, other);
    case Rounding::Floor:
      return at::floor_divide(self, other);
    default:
      return at::div(self, other);
  }
}

Tensor& div_scalar_mode_(Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  switch (rounding_of(rounding_mode)) {
    case Rounding::Trunc:
      return at::_div_trunc_(self, other);
    case Rounding::Floor:
      return self.floor_divide_(other);
    default:
      return self.div_(other);
  }
}

// ---- clamp -------------------------------------------------------------------------------------------------------

namespace {

template <class Bound>
void check_clamp_bounds(const std::optional<Bound>& min, const std::optional<Bound>& max) {
  TORCH_CHECK(min.has_value() || max.has_value(), "torch.clamp: At least one of 'min' or 'max' must not be None");
}

void check_clamped_in_place(const Tensor& self, const std::optional<Scalar>& bound) {
  if (!bound || bound->isComplex()) {
    return;
  }
  const ScalarType type = at::result_type(self, *bound);
  TORCH_CHECK(
      type == self.scalar_type(), "result type ", type, " can't be cast to the desired output type ",
      self.dtype().name(), " (in clamp_)");
}

// An undefined tensor counts as missing.
std::optional<Tensor> given_bound(const std::optional<Tensor>& bound) {
  return bound.has_value() && bound->defined() ? bound : std::nullopt;
}

enum class BoundSide : uint8_t { Min, Max };

// A bound in a form that the elements can have. A complex one of real numbers must be real itself; one beyond all
// integers of the dtype is the last of them, unless it would leave none. Two bounds are read as doubles: one of them
// may be NaN.
std::optional<Scalar> fitting_bound(
    const Tensor& self, const std::optional<Scalar>& bound, BoundSide side, bool alone) {
  const ScalarType type = self.scalar_type();
  if (bound && bound->isComplex() && self.is_floating_point()) {
    if (!alone) {
      return Scalar(bound->toDouble());
    }
    return at::dispatch("clamp", type, at::kFloating, [&]<class T> { return Scalar(bound->to<T>()); });
  }
  if (bound && bound->isFloatingPoint() && self.is_floating_point()) {
    check_floating_scalar("clamp", *bound, at::result_type(self, *bound));
  }
  if (!bound || !bound->isIntegral(/*includeBool=*/false) || !c10::isIntegralType(type, /*includeBool=*/false)) {
    return bound;
  }
  if (type == kLong || bound->type() == kUInt64) {
    return bound;
  }
  const bool is_signed = c10::isSignedType(type), is_min = side == BoundSide::Min;
  const int64_t bits = std::min<int64_t>(8 * self.element_size() - (is_signed ? 1 : 0), 63);
  const int64_t most = static_cast<int64_t>((uint64_t{1} << bits) - 1), least = is_signed ? -most - 1 : 0;
  const int64_t number = bound->toLong();
  TORCH_CHECK(
      is_min ? number <= most : number >= least, "Clamp ", is_min ? "min" : "max", " value ", number,
      " is outside the representable range of ", type);
  return Scalar(std::clamp(number, least, most));
}

} // namespace

Tensor clamp(const Tensor& self, const std::optional<Scalar>& min_, const std::optional<Scalar>& max_) {
  const bool alone = !min_ || !max_;
  const auto min = fitting_bound(self, min_, BoundSide::Min, alone),
             max = fitting_bound(self, max_, BoundSide::Max, alone);
  check_clamp_bounds(min, max);
  return min && max ? at::_clamp_both(self, *min, *max) : min ? at::clamp_min(self, *min) : at::clamp_max(self, *max);
}

Tensor& clamp_(Tensor& self, const std::optional<Scalar>& min_, const std::optional<Scalar>& max_) {
  const bool alone = !min_ || !max_;
  const auto min = fitting_bound(self, min_, BoundSide::Min, alone),
             max = fitting_bound(self, max_, BoundSide::Max, alone);
  check_clamp_bounds(min, max);
  for (const auto& bound : {min, max}) {
    check_clamped_in_place(self, bound);
  }
  return min && max ? at::_clamp_both_(self, *min, *max) : min ? self.clamp_min_(*min) : self.clamp_max_(*max);
}

Tensor& clamp_out(
    const Tensor& self, const std::optional<Scalar>& min_, const std::optional<Scalar>& max_, Tensor& out) {
  const bool alone = !min_ || !max_;
  const auto min = fitting_bound(self, min_, BoundSide::Min, alone),
             max = fitting_bound(self, max_, BoundSide::Max, alone);
  check_clamp_bounds(min, max);
  ScalarType type = self.scalar_type();
  for (const auto& bound : {min, max}) {
    type = bound ? c10::promoteTypes(type, at::result_type(self, *bound)) : type;
  }
  TORCH_CHECK(
      out.scalar_type() == type, "Found dtype ", out.scalar_type(), " but expected ", type,
      ": clamp needs an output of that dtype");
  return min && max ? at::_clamp_both_out(out, self, *min, *max)
      : min         ? at::clamp_min_out(out, self, *min)
                    : at::clamp_max_out(out, self, *max);
}

Tensor clamp_tensor(const Tensor& self, const std::optional<Tensor>& min_, const std::optional<Tensor>& max_) {
  const auto min = given_bound(min_), max = given_bound(max_);
  check_clamp_bounds(min, max);
  return min && max ? at::_clamp_both(self, *min, *max) : min ? at::clamp_min(self, *min) : at::clamp_max(self, *max);
}

Tensor& clamp_tensor_(Tensor& self, const std::optional<Tensor>& min_, const std::optional<Tensor>& max_) {
  const auto min = given_bound(min_), max = given_bound(max_);
  check_clamp_bounds(min, max);
  return min && max ? at::_clamp_both_(self, *min, *max) : min ? self.clamp_min_(*min) : self.clamp_max_(*max);
}

Tensor& clamp_tensor_out(
    const Tensor& self, const std::optional<Tensor>& min_, const std::optional<Tensor>& max_, Tensor& out) {
  const auto min = given_bound(min_), max = given_bound(max_);
  check_clamp_bounds(min, max);
  return min && max ? at::_clamp_both_out(out, self, *min, *max)
      : min         ? at::clamp_min_out(out, self, *min)
                    : at::clamp_max_out(out, self, *max);
}

// ---- choice ------------------------------------------------------------------------------------------------------

namespace {

// A number as a 0-dim tensor that yields to the dtype of `other`, which must have a place for it: integers and float.
Tensor wrap_scalar_like(const Scalar& number, const Tensor& other, const Tensor& condition) {
  const ScalarType type = at::result_type(other, number);
  if (c10::isIntegralType(type, /*includeBool=*/false) || c10::toRealValueType(type) == kFloat) {
    alignas(16) char place[16];
    store_scalar("where", number, type, place);
  }
  Tensor tensor = at::scalar_tensor(
      number, TensorOptions(number.type()).device(condition.device().is_meta() ? condition.device() : Device(kCPU)));
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

} // namespace

std::vector<Tensor> where_nonzero(const Tensor& condition) {
  return at::nonzero_numpy(condition);
}

Tensor where_scalar_self(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return at::where(condition, wrap_scalar_like(self, other, condition), other);
}

Tensor where_scalar_other(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return at::where(condition, self, wrap_scalar_like(other, self, condition));
}

Tensor where_scalar(const Tensor& condition, const Scalar& self, const Scalar& other) {
  const TensorOptions options(result_type_scalar_scalar(self, other));
  const Device device = condition.device();
  return at::where(
      condition, at::scalar_tensor(self, options.device(device)), at::scalar_tensor(other, options.device(device)));
}

namespace {

Scalar fill_value(const Tensor& value) {
  TORCH_CHECK(
      value.dim() == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
      " dimension(s).");
  return value.item();
}

} // namespace

Tensor masked_fill_tensor(const Tensor& self, const Tensor& mask, const Tensor& value) {
  at::infer_size(mask.sizes(), self.sizes()); // throws unless they broadcast
  return at::masked_fill(self, mask, fill_value(value));
}

Tensor& masked_fill_tensor_(Tensor& self, const Tensor& mask, const Tensor& value) {
  return self.masked_fill_(mask, fill_value(value));
}

// ---- tests -------------------------------------------------------------------------------------------------------

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  TORCH_CHECK(
      self.scalar_type() == other.scalar_type(), c10::toString(self.scalar_type()), " did not match ",
      c10::toString(other.scalar_type()));
  TORCH_CHECK(rtol >= 0, "rtol must be greater than or equal to zero, but got ", rtol);
  TORCH_CHECK(atol >= 0, "atol must be greater than or equal to zero, but got ", atol);
  Tensor close = at::eq(self, other);
  const bool inexact = !c10::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  if (equal_nan && inexact) {
    close = at::logical_or(close, at::logical_and(at::isnan(self), at::isnan(other)));
  }
  if (rtol == 0 && atol == 0) {
    return close;
  }
  // Integers are compared in the default dtype: their difference could overflow.
  const Tensor allowed = at::add(at::abs(at::mul(other, rtol)), atol);
  const Tensor error =
      inexact ? at::abs(at::sub(self, other)) : at::abs(at::sub(at::mul(self, 1.0), at::mul(other, 1.0)));
  return at::logical_or(close, at::logical_and(at::isfinite(error), at::le(error, allowed)));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return at::all(at::isclose(self, other, rtol, atol, equal_nan)).item<bool>();
}

Tensor isreal(const Tensor& self) {
  if (self.is_complex()) {
    return at::eq(at::imag(self), 0);
  }
  return at::ones_like(self, TensorOptions(kBool));
}

// ---- arithmetic --------------------------------------------------------------------------------------------------

Tensor square(const Tensor& self) {
  return at::pow(self, 2);
}

Tensor& square_(Tensor& self) {
  return self.pow_(2);
}

Tensor& square_out(const Tensor& self, Tensor& out) {
  return at::pow_out(out, self, 2);
}

Tensor positive(const Tensor& self) {
  TORCH_CHECK(self.scalar_type() != kBool, "The `+` operator, on a bool tensor is not supported.");
  return self;
}

Tensor& _conj_physical_out(const Tensor& self, Tensor& out) {
  at::native::copy_into_out("_conj_physical.out", out, at::_conj_physical(self), OutDtype::Exact);
  return out;
}

Tensor conj_physical(const Tensor& self) {
  return self.is_complex() ? at::_conj_physical(self) : self;
}

namespace {

ScalarType double_of(bool complex) {
  return complex ? ScalarType::ComplexDouble : ScalarType::Double;
}

} // namespace

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  const ScalarType dtype = double_of(self.is_complex() || exponent.is_complex());
  return at::pow(self.to(dtype), exponent.to(dtype));
}
Tensor float_power_scalar(const Tensor& self, const Scalar& exponent) {
  const ScalarType dtype = double_of(self.is_complex() || exponent.isComplex());
  return at::pow(
      self.to(dtype), dtype == ScalarType::Double ? Scalar(exponent.toDouble()) : Scalar(exponent.toComplexDouble()));
}
Tensor float_power_of_scalar(const Scalar& self, const Tensor& exponent) {
  const ScalarType dtype = double_of(self.isComplex() || exponent.is_complex());
  return at::pow(
      dtype == ScalarType::Double ? Scalar(self.toDouble()) : Scalar(self.toComplexDouble()), exponent.to(dtype));
}

namespace {

Tensor& float_power_into(Tensor& out, const Tensor& result) {
  TORCH_CHECK(
      out.scalar_type() == result.scalar_type(), "the output given to float_power has dtype ", out.scalar_type(),
      " but the operation's result requires dtype ", result.scalar_type());
  check_out_without_grad("pow", out);
  check_out_without_grad("pow", result);
  copy_into_out("float_power", out, result);
  return out;
}

void check_float_power_base(const Tensor& self, bool complex_exponent) {
  const ScalarType dtype = double_of(self.is_complex() || complex_exponent);
  TORCH_CHECK(
      self.scalar_type() == dtype, "the base given to float_power_ has dtype ", self.scalar_type(),
      " but the operation's result requires dtype ", dtype);
}

} // namespace

Tensor& float_power_out(const Tensor& self, const Tensor& exponent, Tensor& out) {
  return float_power_into(out, native::float_power(self, exponent));
}
Tensor& float_power_scalar_out(const Tensor& self, const Scalar& exponent, Tensor& out) {
  return float_power_into(out, native::float_power_scalar(self, exponent));
}
Tensor& float_power_of_scalar_out(const Scalar& self, const Tensor& exponent, Tensor& out) {
  return float_power_into(out, native::float_power_of_scalar(self, exponent));
}

Tensor& float_power_tensor_(Tensor& self, const Tensor& exponent) {
  check_float_power_base(self, exponent.is_complex());
  return self.pow_(exponent.to(self.scalar_type()));
}
Tensor& float_power_scalar_(Tensor& self, const Scalar& exponent) {
  check_float_power_base(self, exponent.isComplex());
  return self.pow_(exponent);
}

Tensor ldexp(const Tensor& self, const Tensor& other) {
  return at::mul(self, at::pow(Scalar(2.0), other));
}
Tensor& ldexp_out(const Tensor& self, const Tensor& other, Tensor& out) {
  TORCH_CHECK(
      !at::isIntegralType(out.scalar_type(), /*includeBool=*/true), "ldexp can't be cast to the desired output type ",
      out.scalar_type(), ": powers of two are floating point numbers");
  return at::mul_out(out, self, at::pow(Scalar(2.0), other));
}

Tensor angle(const Tensor& self) {
  if (self.is_complex()) {
    // PyTorch's result of complex numbers is row-major, whatever the strides of self.
    Tensor result = at::empty(self.sizes(), self.options().dtype(c10::toRealValueType(self.scalar_type())));
    return at::atan2_out(result, at::imag(self), at::real(self));
  }
  const Tensor x = c10::isIntegralType(self.scalar_type(), /*includeBool=*/true)
      ? self.to(c10::get_default_dtype_as_scalartype())
      : self;
  const Tensor turned =
      at::where(at::lt(x, 0), at::scalar_tensor(M_PI, x.options()), at::scalar_tensor(0, x.options()));
  return at::where(at::isnan(x), x, turned);
}

// ---- activations -------------------------------------------------------------------------------------------------

Tensor relu6(const Tensor& self) {
  return at::hardtanh(self, 0, 6);
}
Tensor& relu6_(Tensor& self) {
  return at::hardtanh_(self, 0, 6);
}

namespace {

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

} // namespace

Tensor selu(const Tensor& self) {
  return at::elu(self, kSeluAlpha, kSeluScale);
}
Tensor& selu_(Tensor& self) {
  return at::elu_(self, kSeluAlpha, kSeluScale);
}

Tensor celu(const Tensor& self, const Scalar& alpha) {
  TORCH_CHECK(alpha.toDouble() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  return at::elu(self, alpha, Scalar(1.0), Scalar(1.0 / alpha.toDouble()));
}
Tensor& celu_(Tensor& self, const Scalar& alpha) {
  TORCH_CHECK(alpha.toDouble() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  return at::elu_(self, alpha, Scalar(1.0), Scalar(1.0 / alpha.toDouble()));
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  TORCH_CHECK(self.defined() && weight.defined(), "prelu: input and weight must be defined");
  const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  TORCH_CHECK(self.dim() > 0 || weight.numel() == 1, "Not allow zero-dim input tensor.");
  TORCH_CHECK(
      channels == weight.numel() || weight.numel() == 1,
      "Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
      " and channel size = ", channels, ".");
  TORCH_CHECK(weight.dim() <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got ndim = ", weight.dim());
  TORCH_CHECK(
      self.scalar_type() == weight.scalar_type(), "Found dtype ", weight.scalar_type(), " but expected ",
      self.scalar_type(), ": prelu takes an input and a weight of one dtype");
  if (weight.numel() == 1) {
    return at::_prelu_kernel(self, at::reshape(weight, IntArrayRef{}));
  }
  c10::DimVector shape(self.dim(), 1);
  shape[1] = weight.numel();
  return at::_prelu_kernel(self, at::reshape(weight, shape));
}

std::tuple<Tensor, Tensor> prelu_kernel_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight) {
  const Tensor positive = self > 0;
  return {at::where(positive, grad_output, grad_output * weight), at::where(positive, 0, grad_output * self)};
}

// ---- log_sigmoid -------------------------------------------------------------------------------------------------

namespace {

void check_log_sigmoid_out(const Tensor& self, const Tensor& out) {
  TORCH_CHECK(
      out.scalar_type() == self.scalar_type(), "expected scalar type ", self.scalar_type(), " but found ",
      out.scalar_type(), " (in log_sigmoid)");
}

} // namespace

Tensor log_sigmoid(const Tensor& self) {
  return std::get<0>(at::log_sigmoid_forward(self));
}

Tensor& log_sigmoid_out(const Tensor& self, Tensor& out) {
  check_out_without_grad("log_sigmoid_forward", out);
  check_out_without_grad("log_sigmoid_forward", self);
  check_log_sigmoid_out(self, out);
  copy_into_out("log_sigmoid", out, at::log_sigmoid(self));
  return out;
}

std::tuple<Tensor, Tensor> log_sigmoid_forward(const Tensor& self) {
  const Tensor dense = self.contiguous();
  return {at::_log_sigmoid(dense), at::_log_sigmoid_buffer(dense)};
}

std::tuple<Tensor&, Tensor&> log_sigmoid_forward_out(const Tensor& self, Tensor& output, Tensor& buffer) {
  check_log_sigmoid_out(self, output);
  check_log_sigmoid_out(self, buffer);
  const auto [result, kept] = native::log_sigmoid_forward(self);
  const TensorSpec specs[] = {TensorSpec::like(result, result.sizes()), TensorSpec::like(kept, kept.sizes())};
  OutArgument::check(
      "log_sigmoid_forward", {&output, &buffer}, specs, {OutArgument::Form::Out, false, OutDtype::Exact});
  copy_into_out("log_sigmoid_forward", output, result);
  restride_output(buffer, kept);
  copy_into_out("log_sigmoid_forward", buffer, kept);
  return {output, buffer};
}

// ---- special -----------------------------------------------------------------------------------------------------

Tensor special_ndtr(const Tensor& self) {
  const Tensor x = c10::isIntegralType(self.scalar_type(), /*includeBool=*/true)
      ? self.to(c10::get_default_dtype_as_scalartype())
      : self;
  return at::mul(at::erfc(at::mul(x, -M_SQRT1_2)), 0.5);
}

} // namespace at::native
