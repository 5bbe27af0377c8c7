// Argument checks of pointwise operators, run before anything is allocated or written. Shapes and dtypes themselves are
// the iterator's (aten/iterator/TensorIterator.h).
//
// Each takes the operator's name and its arguments in schema order.
#include <aten/core/TensorBase.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/store_scalar.h>

#include <c10/core/DefaultDtype.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace at::shape {

namespace {

using c10::Scalar;
using c10::ScalarType;

bool is_bool(const TensorBase& t) {
  return t.scalar_type() == ScalarType::Bool;
}
bool is_bool(const Scalar& s) {
  return s.isBoolean();
}
bool is_floating_or_complex(const TensorBase& t) {
  return !c10::isIntegralType(t.scalar_type(), /*includeBool=*/true);
}
bool is_floating_or_complex(const Scalar& s) {
  return !s.isIntegral(/*includeBool=*/true);
}
bool is_complex(const TensorBase& t) {
  return c10::isComplexType(t.scalar_type());
}
bool is_complex(const Scalar& s) {
  return s.isComplex();
}

// Nearly every alpha is a plain integer, which fits all dtypes.
template <class Other>
void check_alpha(const TensorBase& self, const Other& other, const Scalar& alpha) {
  if (alpha.isIntegral(/*includeBool=*/false)) {
    return;
  }
  TORCH_CHECK(
      !alpha.isBoolean() || (is_bool(self) && is_bool(other)), "Boolean alpha only supported for Boolean results.");
  TORCH_CHECK(
      alpha.isBoolean() || is_floating_or_complex(self) || is_floating_or_complex(other),
      "For integral input tensors, argument alpha must not be a floating point number.");
  TORCH_CHECK(
      !alpha.isComplex() || is_complex(self) || is_complex(other),
      "For non-complex input tensors, argument alpha must not be a complex number.");
}

template <class Other>
void check_no_bools(const char* op, const TensorBase& self, const Other& other) {
  TORCH_CHECK(
      !(is_bool(self) && is_bool(other)),
      "Subtraction, the `-` operator, with two bool tensors is not supported. "
      "Use the `^` or `logical_xor()` operator instead. (in ",
      op, ")");
  TORCH_CHECK(
      !is_bool(self) && !is_bool(other),
      "Subtraction, the `-` operator, with a bool tensor is not supported. "
      "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead. (in ",
      op, ")");
}

void refuse_complex(const char* op, bool complex) {
  if (C10_UNLIKELY(complex)) {
    const std::string_view name = op;
    if (name.find("clamp") != std::string_view::npos) {
      TORCH_CHECK(false, "clamp is not supported for complex types (in ", op, ")");
    }
    TORCH_CHECK_NOT_IMPLEMENTED(false, op, " not implemented for complex tensors.");
  }
}

} // namespace

// alpha must be of a kind that the result can hold; bools do not subtract.
void add_check(const char*, const TensorBase& self, const TensorBase& other, const Scalar& alpha) {
  check_alpha(self, other, alpha);
}
void add_check(const char*, const TensorBase& self, const Scalar& other, const Scalar& alpha) {
  check_alpha(self, other, alpha);
}
void sub_check(const char* op, const TensorBase& self, const TensorBase& other, const Scalar& alpha) {
  check_no_bools(op, self, other);
  check_alpha(self, other, alpha);
}
void sub_check(const char* op, const TensorBase& self, const Scalar& other, const Scalar& alpha) {
  check_no_bools(op, self, other);
  check_alpha(self, other, alpha);
}
void rsub_check(const char* op, const TensorBase& self, const TensorBase& other, const Scalar& alpha) {
  sub_check(op, self, other, alpha);
}
void rsub_check(const char* op, const TensorBase& self, const Scalar& other, const Scalar& alpha) {
  sub_check(op, self, other, alpha);
}

void addcdiv_check(
    const char*, const TensorBase& self, const TensorBase& tensor1, const TensorBase& tensor2, const Scalar&) {
  static_cast<void>(self);
  TORCH_CHECK(
      is_floating_or_complex(tensor1) || is_floating_or_complex(tensor2),
      "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
      "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as "
      "(input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as "
      "(input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter "
      "implementation: (input + value * tensor1 / tensor2), for all dtypes.");
}

namespace {

void same_dtype(const TensorBase& self, const TensorBase& other, const char* name) {
  TORCH_CHECK(
      self.scalar_type() == other.scalar_type(), "expected dtype ", self.dtype().name(), " for `", name,
      "` but got dtype ", other.dtype().name());
}

} // namespace

void lerp_check(const char*, const TensorBase& self, const TensorBase& end, const TensorBase& weight) {
  same_dtype(self, end, "end");
  if (weight.dim() > 0) {
    same_dtype(self, weight, "weight");
  }
}
void lerp_check(const char*, const TensorBase& self, const TensorBase& end, const Scalar&) {
  same_dtype(self, end, "end");
}

/// Integers to negative integer powers have no integer result.
void pow_check(const char* op, const TensorBase& self, const TensorBase& exponent) {
  if (C10_UNLIKELY(is_bool(self) && is_bool(exponent))) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, '"', op, "\" not implemented for 'Bool'");
  }
}
void pow_check(const char* op, const TensorBase& self, const Scalar& exponent) {
  if (C10_UNLIKELY(!is_floating_or_complex(self))) {
    TORCH_CHECK(
        !exponent.isIntegral(/*includeBool=*/true) || exponent.toLong() >= 0,
        "Integers to negative integer powers are not allowed.");
    if (is_bool(self) && is_bool(exponent)) {
      TORCH_CHECK_NOT_IMPLEMENTED(false, '"', op, "\" not implemented for 'Bool'");
    }
  }
  // The kernels for these dtypes take the exponent as one of their elements, so it has to fit.
  const ScalarType dtype = self.scalar_type();
  const bool integers = !is_floating_or_complex(self) && !is_bool(self) && exponent.isIntegral(/*includeBool=*/true);
  if (C10_UNLIKELY(integers || ((dtype == kHalf || dtype == kBFloat16) && !exponent.isComplex()))) {
    dispatch(op, dtype, kIntegral | kReduced, [&]<class T> { (void)exponent.to<T>(); });
  }
}

/// A number as exponent is no operand that the output's dtype could be weighed against: the result's dtype is expected.
void pow_number_out(const char*, const TensorBase& self, const Scalar& exponent, const TensorBase& out) {
  ScalarType result = self.scalar_type();
  if (!is_floating_or_complex(self) && !exponent.isIntegral(/*includeBool=*/true)) {
    result = c10::get_default_dtype_as_scalartype();
  } else if (is_bool(self) && !exponent.isBoolean()) {
    result = ScalarType::Long;
  }
  if (exponent.isComplex()) {
    result = c10::toComplexType(result);
  }
  const bool castable = out.scalar_type() == result || c10::canCast(result, out.scalar_type());
  TORCH_CHECK(
      castable || out.unsafeGetTensorImpl() != self.unsafeGetTensorImpl(), "Found dtype ", out.scalar_type(),
      " but expected ", result);
  TORCH_CHECK(
      castable, "result type ", result, " can't be cast to the desired output type ", out.scalar_type(), " (in pow)");
}

void neg_check(const char* op, const TensorBase& self) {
  TORCH_CHECK(
      !is_bool(self),
      "Negation, the `-` operator, on a bool tensor is not supported. "
      "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead. (in ",
      op, ")");
}
void sign_check(const char*, const TensorBase& self) {
  TORCH_CHECK(
      !is_complex(self),
      "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.");
}
void signbit_check(const char*, const TensorBase& self) {
  TORCH_CHECK(!is_complex(self), "signbit is not implemented for complex tensors.");
}
void inf_sign_check(const char* op, const TensorBase& self) {
  TORCH_CHECK(!is_complex(self), op, " does not support complex inputs.");
}
void round_check(const char* op, const TensorBase& self) {
  TORCH_CHECK(!is_complex(self), op, " is not supported for complex inputs");
}
void relu_check(const char* op, const TensorBase& self) {
  TORCH_CHECK(!is_complex(self), "clamp is not supported for complex types (in ", op, ")");
  TORCH_CHECK(!is_bool(self), "Boolean inputs not supported for relu");
}
void heaviside_check(const char*, const TensorBase& self, const TensorBase& values) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !is_complex(self) && !is_complex(values), "heaviside is not yet implemented for complex tensors.");
  TORCH_CHECK(
      self.scalar_type() == values.scalar_type(),
      "heaviside is not yet implemented for tensors with different dtypes.");
}

/// Checks of given outputs that have a message of their own.
void bool_out(const char* op, const TensorBase&, const TensorBase& out) {
  TORCH_CHECK(
      is_bool(out), op, " does not support non-boolean outputs. Got out of dtype ", out.scalar_type(),
      "; give one of dtype Bool");
}
void heaviside_out(const char*, const TensorBase& self, const TensorBase&, const TensorBase& out) {
  TORCH_CHECK_NOT_IMPLEMENTED(!is_complex(out), "heaviside is not yet implemented for complex tensors.");
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(),
      "heaviside is not yet implemented for tensors with different dtypes. Got self ", self.scalar_type(), " and out ",
      out.scalar_type());
}
/// Real numbers may go to any dtype that holds them, but complex ones only to their own.
void abs_out(const char*, const TensorBase& self, const TensorBase& out) {
  TORCH_CHECK(
      !self.is_complex() || !out.is_complex() || self.scalar_type() == out.scalar_type(), "Found dtype ",
      out.scalar_type(), " but expected ", self.scalar_type());
}

void lerp_out(const char*, const TensorBase& self, const TensorBase&, const TensorBase&, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(), "Found dtype ", out.scalar_type(), " but expected ", self.scalar_type());
}

void nan_to_num_out(
    const char* op,
    const TensorBase& self,
    std::optional<double>,
    std::optional<double>,
    std::optional<double>,
    const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(), op, ": dtype of out: ", out.scalar_type(),
      " should be same as input: ", self.scalar_type());
}
void frexp_out(const char*, const TensorBase& self, const TensorBase& mantissa, const TensorBase& exponent) {
  TORCH_CHECK(
      mantissa.scalar_type() == self.scalar_type(), "torch.frexp() expects mantissa to have dtype ",
      self.dtype().name(), " but got ", mantissa.dtype().name());
  TORCH_CHECK(
      exponent.scalar_type() == ScalarType::Int, "torch.frexp() expects exponent to have int dtype but got ",
      exponent.dtype().name());
}

/// Mantissas and int32 exponents, laid out as the input where that is dense.
std::array<TensorSpec, 2> frexp(const char*, const TensorBase& self) {
  TORCH_CHECK(
      c10::isFloatingType(self.scalar_type()), "torch.frexp() only supports floating-point dtypes, got ",
      self.scalar_type());
  std::array<TensorSpec, 2> specs = {
      TensorSpec::like(self, self.sizes()), TensorSpec::like(self, self.sizes(), ScalarType::Int)};
  specs[0].strides = specs[1].strides =
      at::native::dense_strides_like(self.sizes(), self.strides(), self.is_non_overlapping_and_dense());
  return specs;
}

/// For operators that need an order.
void not_complex_check(const char* op, const TensorBase& self, const TensorBase& other) {
  refuse_complex(op, is_complex(self) || is_complex(other));
}
void not_complex_check(const char* op, const TensorBase& self, const TensorBase& a, const TensorBase& b) {
  refuse_complex(op, is_complex(self) || is_complex(a) || is_complex(b));
}
/// The one bound of a clamp is a number that elements can have.
void clamp_bound_check(const char* op, const TensorBase& self, const Scalar& bound) {
  refuse_complex(op, is_complex(self) || is_complex(bound));
  // Integers beside a bound that is none become floating.
  if (self.is_floating_point() ||
      (c10::isIntegralType(self.scalar_type(), /*includeBool=*/false) && bound.isIntegral(/*includeBool=*/true))) {
    at::dispatch(
        op, self.scalar_type(), at::kIntegral | at::kUnsigned | at::kFloating, [&]<class T> { (void)bound.to<T>(); });
  }
}
void clamp_bound_out(const char* op, const TensorBase& self, const Scalar& bound, const TensorBase& out) {
  const ScalarType type = at::native::result_type(
      at::native::update_result_type_state(bound, at::native::update_result_type_state(self, {})));
  // In place the rules of casting say more.
  TORCH_CHECK(
      self.is_same(out) || out.scalar_type() == type, "Found dtype ", out.scalar_type(), " but expected ", type, ": ",
      op, " needs an output of that dtype");
}
void not_complex_check(const char* op, const TensorBase& self, const Scalar& a, const Scalar& b) {
  refuse_complex(op, is_complex(self) || is_complex(a) || is_complex(b));
}

void where_check(const char*, const TensorBase& condition, const TensorBase&, const TensorBase&) {
  if (C10_LIKELY(is_bool(condition))) {
    return;
  }
  TORCH_CHECK(
      condition.scalar_type() == ScalarType::Byte,
      "where expected condition to be a boolean tensor, but got a tensor with dtype ",
      c10::toString(condition.scalar_type()));
  TORCH_WARN_ONCE(
      "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of "
      "PyTorch. Use a boolean condition instead.");
}

void where_out(const char*, const TensorBase&, const TensorBase& self, const TensorBase& other, const TensorBase& out) {
  const ScalarType result = self.scalar_type() == other.scalar_type()
      ? self.scalar_type()
      : at::native::result_type(
            at::native::update_result_type_state(other, at::native::update_result_type_state(self, {})));
  TORCH_CHECK(
      out.scalar_type() == result, "Expected out type to be ", result, " but got ", out.scalar_type(),
      "; where does not convert its result");
}

void masked_fill_check(const char* op, const TensorBase& self, const TensorBase& mask, const Scalar& value) {
  if (is_bool(mask)) {
    at::native::check_unsigned_scalar(op, value, self.scalar_type());
    return;
  }
  at::infer_size(mask.sizes(), self.sizes()); // throws unless they broadcast
  TORCH_CHECK(
      false,
      "Mask tensor can take 0 and 1 values only: masked_fill_ only supports boolean masks, but got mask with dtype ",
      c10::toString(mask.scalar_type()));
}

void gelu_check(const char*, const TensorBase&, std::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "approximate argument must be either none or tanh.");
}
void gelu_backward_check(const char* op, const TensorBase&, const TensorBase& self, std::string_view approximate) {
  gelu_check(op, self, approximate);
}

void hardtanh_check(const char*, const TensorBase& self, const Scalar&, const Scalar& max_val) {
  TORCH_CHECK(!is_bool(self), "Bool inputs not supported for hardtanh");
  if (self.scalar_type() == ScalarType::Byte || c10::isBarebonesUnsignedType(self.scalar_type())) {
    TORCH_CHECK(max_val.toDouble() >= 0, "cannot do hardtanh on an unsigned type with negative limits");
  }
}

void leaky_relu_backward_check(
    const char*, const TensorBase&, const TensorBase&, const Scalar& negative_slope, bool self_is_result) {
  TORCH_CHECK(
      !self_is_result || negative_slope.toDouble() >= 0.0,
      "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This is "
      "caused "
      "by calling in-place forward function with a negative slope, please call out-of-place version instead.");
}

void elu_backward_check(
    const char*,
    const TensorBase&,
    const Scalar& alpha,
    const Scalar&,
    const Scalar&,
    bool is_result,
    const TensorBase&) {
  TORCH_CHECK(
      !is_result || alpha.toDouble() >= 0.0,
      "In-place elu backward calculation is triggered with a negative slope which is not supported. This is caused by "
      "calling in-place forward function with a negative slope, please call out-of-place version instead.");
}

void softshrink_check(const char*, const TensorBase&, const Scalar& lambd) {
  const double value = lambd.toDouble();
  TORCH_CHECK(value >= 0, "lambda must be greater or equal to 0, but found to be ", value, ".");
}

void polygamma_check(const char*, std::int64_t n, const TensorBase&) {
  TORCH_CHECK(n >= 0, "polygamma(n, x) does not support negative n.");
}

} // namespace at::shape
