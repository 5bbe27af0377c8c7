// Argument checks of pointwise operators, run before anything is allocated or written. Shapes and dtypes themselves are
// the iterator's (aten/iterator/TensorIterator.h).
//
// Each takes the operator's name and its arguments in schema order.
#pragma once

#include <aten/core/TensorSpec.h>
#include <c10/core/Scalar.h>
#include <c10/macros/Macros.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace at {

class TensorBase;

namespace shape {

// alpha must be of a kind that the result can hold; bools do not subtract.
TORCH_API void add_check(const char* op, const TensorBase& self, const TensorBase& other, const c10::Scalar& alpha);
TORCH_API void add_check(const char* op, const TensorBase& self, const c10::Scalar& other, const c10::Scalar& alpha);
TORCH_API void sub_check(const char* op, const TensorBase& self, const TensorBase& other, const c10::Scalar& alpha);
TORCH_API void sub_check(const char* op, const TensorBase& self, const c10::Scalar& other, const c10::Scalar& alpha);
TORCH_API void rsub_check(const char* op, const TensorBase& self, const TensorBase& other, const c10::Scalar& alpha);
TORCH_API void rsub_check(const char* op, const TensorBase& self, const c10::Scalar& other, const c10::Scalar& alpha);

TORCH_API void addcdiv_check(
    const char* op, const TensorBase& self, const TensorBase& tensor1, const TensorBase& tensor2, const c10::Scalar& value);
TORCH_API void lerp_check(const char* op, const TensorBase& self, const TensorBase& end, const TensorBase& weight);
TORCH_API void lerp_check(const char* op, const TensorBase& self, const TensorBase& end, const c10::Scalar& weight);

/// Integers to negative integer powers have no integer result.
TORCH_API void pow_check(const char* op, const TensorBase& self, const TensorBase& exponent);
TORCH_API void pow_check(const char* op, const TensorBase& self, const c10::Scalar& exponent);

/// A number as exponent is no operand that the output's dtype could be weighed against: the result's dtype is expected.
TORCH_API void pow_number_out(const char* op, const TensorBase& self, const c10::Scalar& exponent, const TensorBase& out);

TORCH_API void neg_check(const char* op, const TensorBase& self);
TORCH_API void sign_check(const char* op, const TensorBase& self);
TORCH_API void signbit_check(const char* op, const TensorBase& self);
TORCH_API void inf_sign_check(const char* op, const TensorBase& self);
TORCH_API void round_check(const char* op, const TensorBase& self);
TORCH_API void relu_check(const char* op, const TensorBase& self);
TORCH_API void heaviside_check(const char* op, const TensorBase& self, const TensorBase& values);

/// Checks of given outputs that have a message of their own.
TORCH_API void bool_out(const char* op, const TensorBase& self, const TensorBase& out);
TORCH_API void heaviside_out(const char* op, const TensorBase& self, const TensorBase& values, const TensorBase& out);
TORCH_API void nan_to_num_out(
    const char* op,
    const TensorBase& self,
    std::optional<double> nan,
    std::optional<double> posinf,
    std::optional<double> neginf,
    const TensorBase& out);
/// Real numbers may go to any dtype that holds them, but complex ones only to their own.
TORCH_API void abs_out(const char* op, const TensorBase& self, const TensorBase& out);
TORCH_API void lerp_out(
    const char* op, const TensorBase& self, const TensorBase& end, const TensorBase& weight, const TensorBase& out);
TORCH_API void frexp_out(const char* op, const TensorBase& self, const TensorBase& mantissa, const TensorBase& exponent);

/// Mantissas and int32 exponents, laid out as the input where that is dense.
TORCH_API std::array<TensorSpec, 2> frexp(const char* op, const TensorBase& self);

/// For operators that need an order.
TORCH_API void not_complex_check(const char* op, const TensorBase& self, const TensorBase& other);
TORCH_API void not_complex_check(const char* op, const TensorBase& self, const TensorBase& a, const TensorBase& b);
/// The one bound of a clamp is a number that elements can have.
TORCH_API void clamp_bound_check(const char* op, const TensorBase& self, const c10::Scalar& bound);
TORCH_API void clamp_bound_out(const char* op, const TensorBase& self, const c10::Scalar& bound, const TensorBase& out);
TORCH_API void not_complex_check(const char* op, const TensorBase& self, const c10::Scalar& a, const c10::Scalar& b);

TORCH_API void where_check(const char* op, const TensorBase& condition, const TensorBase& self, const TensorBase& other);
TORCH_API void masked_fill_check(const char* op, const TensorBase& self, const TensorBase& mask, const c10::Scalar& value);

TORCH_API void gelu_check(const char* op, const TensorBase& self, std::string_view approximate);
TORCH_API void gelu_backward_check(
    const char* op, const TensorBase& grad_output, const TensorBase& self, std::string_view approximate);
TORCH_API void hardtanh_check(
    const char* op, const TensorBase& self, const c10::Scalar& min_val, const c10::Scalar& max_val);
TORCH_API void leaky_relu_backward_check(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    const c10::Scalar& negative_slope,
    bool self_is_result);
TORCH_API void elu_backward_check(
    const char* op,
    const TensorBase& grad_output,
    const c10::Scalar& alpha,
    const c10::Scalar& scale,
    const c10::Scalar& input_scale,
    bool is_result,
    const TensorBase& self_or_result);
TORCH_API void softshrink_check(const char* op, const TensorBase& self, const c10::Scalar& lambd);
TORCH_API void polygamma_check(const char* op, std::int64_t n, const TensorBase& self);

} // namespace shape
} // namespace at
