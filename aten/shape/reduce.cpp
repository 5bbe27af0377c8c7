// Shapes and dtypes of reductions and scans. Every function throws on bad arguments and touches no data.
#include <aten/shape/reduced_dims.h>

#include <aten/core/TensorBase.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/shape/operand_checks.h>

#include <c10/core/DefaultDtype.h>
#include <c10/core/Scalar.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/Exception.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/accumulate.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

namespace at::shape {

namespace {

using c10::ScalarType;

/// `dtype`, unless it is one that values are only stored in (float8, quantized, bits): sums have no way into it.
ScalarType arithmetic(const char* op, ScalarType dtype) {
  constexpr auto kArithmetic = kAll | kUnsigned | kComplexHalves;
  if (!decltype(kArithmetic)::contains(dtype)) {
    at::detail::dtype_not_supported(op, dtype, kArithmetic.bits);
  }
  return dtype;
}

ScalarType sum_dtype(const char* op, const TensorBase& self, std::optional<ScalarType> dtype) {
  if (dtype.has_value()) {
    return arithmetic(op, *dtype);
  }
  return c10::isIntegralType(self.scalar_type(), /*includeBool=*/true) ? ScalarType::Long
                                                                       : arithmetic(op, self.scalar_type());
}

ScalarType mean_dtype(const char* op, const TensorBase& self, std::optional<ScalarType> dtype) {
  const ScalarType result = dtype.value_or(self.scalar_type());
  TORCH_CHECK(
      c10::isFloatingType(result) || c10::isComplexType(result), op, "(): could not infer output dtype. ",
      dtype.has_value() ? "Optional" : "Input",
      " dtype must be either a floating point or complex dtype. Got: ", c10::toString(result));
  return arithmetic(op, result);
}

constexpr auto kOrdered = kBooleans | kIntegral | kFloating;

std::bitset<64> one_dim(const TensorBase& self, int64_t dim) {
  return reduction_mask(c10::IntArrayRef(dim), self.dim());
}

void check_variance_dtype(const char* op, const TensorBase& self) {
  const std::string_view name(op);
  TORCH_CHECK(
      self.is_floating_point() || self.is_complex(), name == "var" || name == "std" ? "std and var" : op,
      " only support floating point and complex dtypes; got ", c10::toString(self.scalar_type()),
      ". Convert the input first, for example with .to(kFloat)");
  arithmetic(op, self.scalar_type());
}

} // namespace

std::bitset<64> reduction_mask(c10::OptionalIntArrayRef dims, int64_t ndim) {
  TORCH_CHECK(ndim <= 64, "only tensors with up to 64 dims are supported; got ", ndim);
  std::bitset<64> mask;
  if (!dims.has_value() || dims->empty()) {
    return mask.set();
  }
  for (const int64_t given : *dims) {
    const int64_t dim = c10::maybe_wrap_dim(given, ndim);
    TORCH_CHECK(!mask[dim], "dim ", dim, " appears multiple times in the list of dims");
    mask.set(dim);
  }
  return mask;
}

c10::DimVector reduced_sizes(const TensorBase& self, const std::bitset<64>& mask, bool keepdim) {
  c10::DimVector sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!mask[d]) {
      sizes.push_back(self.sizes()[d]);
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  return sizes;
}

namespace {

/// Throws IndexError when a reduction without identity meets dimension `dim` of size 0.
void check_nonempty_dim(const char* op, const TensorBase& self, int64_t dim) {
  if (self.dim() > 0 && self.numel() == 0) {
    const int64_t wrapped = c10::maybe_wrap_dim(dim, self.dim());
    TORCH_CHECK_INDEX(self.sizes()[wrapped] != 0, op, ": Expected reduction dim ", dim, " to have non-zero size.");
  }
}

} // namespace

/// sum, and reductions with its dtype rule: integers and bool give int64 unless `dtype` is given.
TensorSpec sum(
    const char* op,
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype) {
  return TensorSpec::like(
      self, reduced_sizes(self, reduction_mask(dim, self.dim()), keepdim), sum_dtype(op, self, dtype));
}

TensorSpec sum(const char* op, const TensorBase& self, std::optional<ScalarType> dtype) {
  return TensorSpec::like(self, {}, sum_dtype(op, self, dtype));
}

TensorSpec nansum(
    const char* op,
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype) {
  TORCH_CHECK(!self.is_complex(), "nansum does not support complex inputs; got ", c10::toString(self.scalar_type()));
  return sum(op, self, dim, keepdim, dtype);
}

TensorSpec prod(const char* op, const TensorBase& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  return TensorSpec::like(self, reduced_sizes(self, one_dim(self, dim), keepdim), sum_dtype(op, self, dtype));
}

/// mean: floating or complex, given or of the input.
TensorSpec mean(
    const char* op,
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype) {
  const ScalarType result = mean_dtype(op, self, dtype);
  return TensorSpec::like(self, reduced_sizes(self, reduction_mask(dim, self.dim()), keepdim), result);
}

TensorSpec mean(const char* op, const TensorBase& self, std::optional<ScalarType> dtype) {
  return TensorSpec::like(self, {}, mean_dtype(op, self, dtype));
}

namespace {

/// Throws where a reduction without identity would have nothing to start from.
void require_elements(const char* op, const TensorBase& self, c10::IntArrayRef dim) {
  if (self.numel() != 0) {
    return;
  }
  TORCH_CHECK(
      !dim.empty(), op,
      "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
      "argument.");
  for (const int64_t d : dim) {
    TORCH_CHECK_INDEX(self.size(d) != 0, op, "(): Expected reduction dim ", d, " to have non-zero size.");
  }
}

} // namespace

namespace {

TensorSpec extremum(const char* op, const char* kernel, const TensorBase& self, c10::IntArrayRef dim, bool keepdim) {
  const auto mask = reduction_mask(dim, self.dim());
  require_elements(op, self, dim);
  require_compared_dtype_on_device(kernel, self, kOrdered);
  return TensorSpec::like(self, reduced_sizes(self, mask, keepdim));
}

TensorSpec extremum_of_all(const char* op, const char* kernel, const TensorBase& self) {
  TORCH_CHECK(
      self.numel() > 0, op,
      "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
      "argument.");
  require_compared_dtype(kernel, self, kOrdered);
  return TensorSpec::like(self, {});
}

} // namespace

/// amax, amin.
TensorSpec amax(const char* op, const TensorBase& self, c10::IntArrayRef dim, bool keepdim) {
  return extremum(op, "max_values", self, dim, keepdim);
}

TensorSpec amin(const char* op, const TensorBase& self, c10::IntArrayRef dim, bool keepdim) {
  return extremum(op, "min_values", self, dim, keepdim);
}

/// Throws when `out` has another dtype than the input.
void amax_out(const char*, const TensorBase& self, c10::IntArrayRef, bool, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(), "Expected the dtype for input and out to match, but got ",
      c10::toString(self.scalar_type()), " for input's dtype and ", c10::toString(out.scalar_type()),
      " for out's dtype.");
}

void extremum_of_all_out(const char* op, const TensorBase& self, const TensorBase& out) {
  TORCH_CHECK(
      c10::canCast(self.scalar_type(), out.scalar_type()),
      "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, but got "
      "false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.) ",
      op, " got self (", self.scalar_type(), ") and output (", out.scalar_type(), ")");
}

/// max and min over everything.
TensorSpec max_all(const char* op, const TensorBase& self) {
  return extremum_of_all(op, "max_all", self);
}

TensorSpec min_all(const char* op, const TensorBase& self) {
  return extremum_of_all(op, "min_all", self);
}

/// max and min along a dimension: values and int64 indices.
std::array<TensorSpec, 2> max_dim(const char* op, const TensorBase& self, int64_t dim, bool keepdim) {
  const auto sizes = reduced_sizes(self, one_dim(self, dim), keepdim);
  TORCH_CHECK(!self.is_complex(), op, "(): does not support complex input");
  dim = c10::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(
      self.dim() == 0 || self.sizes()[dim] != 0, op, "(): Expected reduction dim ", dim, " to have non-zero size.");
  require_compared_dtype(op, self, kOrdered | kUnsigned);
  return {TensorSpec::like(self, sizes), TensorSpec::like(self, sizes, ScalarType::Long)};
}

std::array<TensorSpec, 2> aminmax(const char* op, const TensorBase& self, std::optional<int64_t> dim, bool keepdim) {
  std::bitset<64> mask;
  if (dim.has_value()) {
    mask = one_dim(self, *dim);
    check_nonempty_dim(op, self, c10::maybe_wrap_dim(*dim, self.dim()));
  } else {
    mask = reduction_mask(std::nullopt, self.dim());
    TORCH_CHECK(
        self.numel() > 0, op, "(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  }
  require_compared_dtype_on_device("aminmax", self, kOrdered);
  const TensorSpec spec = TensorSpec::like(self, reduced_sizes(self, mask, keepdim));
  return {spec, spec};
}

namespace {

TensorSpec arg_extremum(
    const char* op, const char* kernel, const TensorBase& self, std::optional<int64_t> dim, bool keepdim) {
  std::bitset<64> mask;
  if (dim.has_value()) {
    mask = one_dim(self, *dim);
    const int64_t wrapped = c10::maybe_wrap_dim(*dim, self.dim());
    TORCH_CHECK_INDEX(
        self.dim() == 0 || self.sizes()[wrapped] != 0, op, "(): Expected reduction dim ", wrapped,
        " to have non-zero size.");
  } else {
    mask = reduction_mask(std::nullopt, self.dim());
    TORCH_CHECK_INDEX(self.numel() > 0, op, "(): Expected reduction dim to be specified for input.numel() == 0.");
  }
  require_compared_dtype_on_device(kernel, self, kIntegral | kFloating);
  return TensorSpec::like(self, reduced_sizes(self, mask, keepdim), ScalarType::Long);
}

} // namespace

TensorSpec argmax(const char* op, const TensorBase& self, std::optional<int64_t> dim, bool keepdim) {
  return arg_extremum(op, "argmax", self, dim, keepdim);
}

TensorSpec argmin(const char* op, const TensorBase& self, std::optional<int64_t> dim, bool keepdim) {
  return arg_extremum(op, "argmin", self, dim, keepdim);
}

/// any, all: bool, or uint8 for uint8 input.
TensorSpec logic(const char*, const TensorBase& self, c10::OptionalIntArrayRef dim, bool keepdim) {
  // An empty list of dimensions, unlike none at all, reduces nothing.
  const auto mask = dim.has_value() && dim->empty() ? std::bitset<64>() : reduction_mask(dim, self.dim());
  const ScalarType dtype = self.scalar_type() == ScalarType::Byte ? ScalarType::Byte : ScalarType::Bool;
  return TensorSpec::like(self, reduced_sizes(self, mask, keepdim), dtype);
}

TensorSpec logic(const char* op, const TensorBase& self, int64_t dim, bool keepdim) {
  return logic(op, self, c10::OptionalIntArrayRef(c10::IntArrayRef(dim)), keepdim);
}

TensorSpec logic(const char* op, const TensorBase& self) {
  return logic(op, self, c10::OptionalIntArrayRef(), /*keepdim=*/false);
}

/// Throws when `out` is neither bool nor uint8.
void logic_out(const char* op, const TensorBase&, const TensorBase& out) {
  TORCH_CHECK(
      out.scalar_type() == ScalarType::Bool || out.scalar_type() == ScalarType::Byte, op,
      " only supports bool tensor for result, got: ", c10::toString(out.scalar_type()));
}

void logic_out(const char* op, const TensorBase& self, int64_t, bool, const TensorBase& out) {
  logic_out(op, self, out);
}

void logic_out(const char* op, const TensorBase& self, c10::OptionalIntArrayRef, bool, const TensorBase& out) {
  logic_out(op, self, out);
}

/// Of uint8 too, the truth may be written as bool.
void logic_out_layout(std::initializer_list<const TensorBase*> outs, TensorSpec* specs) {
  specs->dtype = (*outs.begin())->scalar_type();
}

TensorSpec count_nonzero(const char*, const TensorBase& self, c10::IntArrayRef dim) {
  const auto mask = reduction_mask(dim, self.dim());
  return TensorSpec::like(self, reduced_sizes(self, mask, /*keepdim=*/false), ScalarType::Long);
}

TensorSpec count_nonzero(const char* op, const TensorBase& self, std::optional<int64_t> dim) {
  return dim.has_value() ? count_nonzero(op, self, c10::IntArrayRef(*dim))
                         : TensorSpec::like(self, {}, ScalarType::Long);
}

TensorSpec hash_tensor(const char* op, const TensorBase& self, c10::IntArrayRef dim, bool keepdim, int64_t mode) {
  TORCH_CHECK(mode == 0, "Unknown hash_tensor mode: ", mode, "; 0, the exclusive or, is the only one");
  const auto mask = reduction_mask(dim, self.dim());
  require_elements(op, self, dim);
  if (!kOrdered.contains(self.scalar_type())) {
    dtype_not_supported_on_device("xor_sum", self, kOrdered.bits);
  }
  return TensorSpec::like(self, reduced_sizes(self, mask, keepdim), ScalarType::UInt64);
}

TensorSpec vector_norm(
    const char* op,
    const TensorBase& self,
    const c10::Scalar& ord,
    c10::OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype) {
  TORCH_CHECK(
      self.is_floating_point() || self.is_complex(),
      "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ",
      c10::toString(self.scalar_type()));
  TORCH_CHECK(!ord.isComplex(), "linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
  if (dtype.has_value()) {
    TORCH_CHECK(
        c10::isFloatingType(*dtype) || c10::isComplexType(*dtype),
        "linalg.vector_norm: dtype should be floating point or complex, but got ", c10::toString(*dtype));
    TORCH_CHECK(
        c10::isComplexType(*dtype) == self.is_complex(), "linalg.vector_norm: dtype should be ",
        self.is_complex() ? "complex" : "real", " for ", self.is_complex() ? "complex" : "real", " inputs, but got ",
        c10::toString(*dtype));
    TORCH_CHECK(
        c10::promoteTypes(self.scalar_type(), *dtype) == *dtype, "linalg.vector_norm: the dtype of the input (",
        c10::toString(self.scalar_type()), ") should be convertible without narrowing to the specified dtype (",
        c10::toString(*dtype), ")");
  }
  const auto mask = reduction_mask(dim, self.dim());
  const double p = ord.toDouble();
  if (self.numel() == 0 && (p < 0 || p == std::numeric_limits<double>::infinity())) {
    TORCH_CHECK(
        dim.has_value() && !dim->empty(), "linalg.vector_norm cannot compute the ", p,
        " norm on an empty tensor because the operation does not have an identity");
    for (int64_t d = 0; d < self.dim(); ++d) {
      TORCH_CHECK(
          !mask[d] || self.sizes()[d] != 0, "linalg.vector_norm cannot compute the ", p, " norm on the dimension ", d,
          " because this dimension is empty and the operation does not have an identity");
    }
  }
  return TensorSpec::like(
      self, reduced_sizes(self, mask, keepdim),
      c10::toRealValueType(arithmetic(op, dtype.value_or(self.scalar_type()))));
}

/// var, std: real for complex input; the mean beside them keeps the input's dtype.
TensorSpec var(
    const char* op,
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    const std::optional<c10::Scalar>&,
    bool keepdim) {
  check_variance_dtype(op, self);
  const auto mask = reduction_mask(dim, self.dim());
  return TensorSpec::like(self, reduced_sizes(self, mask, keepdim), c10::toRealValueType(self.scalar_type()));
}

std::array<TensorSpec, 2> var_mean(
    const char* op,
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    const std::optional<c10::Scalar>& correction,
    bool keepdim) {
  const TensorSpec spread = var(op, self, dim, correction, keepdim);
  return {spread, TensorSpec::like(self, spread.sizes)};
}

/// cumsum, cumprod; logcumsumexp; cummax, cummin.
TensorSpec cumsum(const char* op, const TensorBase& self, int64_t dim, std::optional<ScalarType> dtype) {
  c10::maybe_wrap_dim(dim, self.dim());
  return TensorSpec::like(self, self.sizes(), sum_dtype(op, self, dtype));
}

TensorSpec logcumsumexp(const char*, const TensorBase& self, int64_t dim) {
  c10::maybe_wrap_dim(dim, self.dim());
  require_compared_dtype("logcumsumexp_out_cpu", self, kFloating | kComplex);
  return TensorSpec::like(self, self.sizes());
}

void logcumsumexp_out(const char*, const TensorBase& self, int64_t, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(), "expected scalar_type ", c10::toString(self.scalar_type()),
      " but found ", c10::toString(out.scalar_type()));
}

namespace {

void require_asked_dtype(const char* op, std::optional<ScalarType> dtype, const TensorBase& out) {
  TORCH_CHECK(
      !dtype || *dtype == out.scalar_type(), "Expected out tensor to have dtype ",
      c10::scalarTypeToTypeMeta(dtype.value_or(ScalarType::Float)).name(), ", but got ", out.dtype().name(),
      " instead (in ", op, ")");
}

} // namespace

/// The output of a mean of everything has the dtype that was asked for, or one that the input can be cast to.
void mean_of_all_out(const char* op, const TensorBase& self, std::optional<ScalarType> dtype, const TensorBase& out) {
  TORCH_CHECK(
      c10::canCast(self.scalar_type(), out.scalar_type()), op,
      ".dtype_out(): input types can't be cast to the desired output type ", c10::toString(out.scalar_type()));
  require_asked_dtype(op, dtype, out);
}

/// That of a mean along dimensions has the dtype that was asked for; without one it may be any but an integral one.
void mean_out(
    const char* op,
    const TensorBase&,
    c10::OptionalIntArrayRef,
    bool,
    std::optional<ScalarType> dtype,
    const TensorBase& out) {
  require_asked_dtype(op, dtype, out);
  TORCH_CHECK(
      !c10::isIntegralType(out.scalar_type(), /*includeBool=*/true), "result type ",
      c10::get_default_dtype_as_scalartype(), " can't be cast to the desired output type ", out.scalar_type(), " (in ",
      op, ")");
}

/// Throws where the kernels of the CPU do not write a variance of `self` to the output: one that is a single number is
/// computed from float and double alone, and many are not made complex.
void var_out(
    const char*,
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    const std::optional<c10::Scalar>&,
    bool keepdim,
    const TensorBase& out) {
  if (!self.is_floating_point() || !self.is_cpu()) {
    return;
  }
  const ScalarType from = self.scalar_type(), to = out.scalar_type();
  TORCH_CHECK(c10::canCast(from, to), "result type ", from, " can't be cast to the desired output type ", to);
  if (self.numel() == 0) {
    return;
  }
  const auto sizes = reduced_sizes(self, reduction_mask(dim, self.dim()), keepdim);
  if (c10::multiply_integers(sizes) == 1 && to != ScalarType::Half && to != ScalarType::BFloat16) {
    TORCH_CHECK(
        from == ScalarType::Float || from == ScalarType::Double, "std_var_all: Unsupported dtype ", from,
        " for an output of dtype ", to);
  } else {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !out.is_complex(), "\"std_cpu\" not implemented for '", to, "': the variance of real numbers is real");
  }
}

void var_dim_out(
    const char* op, const TensorBase& self, c10::OptionalIntArrayRef dim, bool, bool keepdim, const TensorBase& out) {
  var_out(op, self, dim, std::nullopt, keepdim, out);
}

/// nansum and nanmean.
void nansum_out(
    const char*,
    const TensorBase& self,
    c10::OptionalIntArrayRef,
    bool,
    std::optional<ScalarType> dtype,
    const TensorBase& out) {
  // Without NaN it is sum, which has messages of its own.
  TORCH_CHECK(
      !self.is_floating_point() || !dtype || *dtype == out.scalar_type(),
      "nansum: provided dtype must match dtype of result. Got ", c10::toString(out.scalar_type()), " and ",
      c10::toString(dtype.value_or(ScalarType::Float)), ".");
  TORCH_CHECK_NOT_IMPLEMENTED(
      !self.is_floating_point() || self.numel() == 0 || out.is_floating_point(), "\"nansum_cpu\" not implemented for '",
      c10::toString(out.scalar_type()), "': sums of floating point numbers go to floating point outputs");
}

void logsumexp_out(const char*, const TensorBase&, c10::IntArrayRef, bool, const TensorBase& out) {
  TORCH_CHECK(
      out.is_floating_point() || out.is_complex(),
      "logsumexp(): Expected floating point type for result tensor, but got: ", c10::toString(out.scalar_type()));
}

void cummax_out(const char* op, const TensorBase& self, int64_t, const TensorBase& values, const TensorBase& indices) {
  const auto check = [op](const TensorBase& out, ScalarType dtype) {
    TORCH_CHECK(
        out.scalar_type() == dtype, "expected scalar_type ", dtype, " but found ", out.scalar_type(), " (in ", op, ")");
  };
  check(values, self.scalar_type());
  check(indices, ScalarType::Long);
}

std::array<TensorSpec, 2> cummax(const char* op, const TensorBase& self, int64_t dim) {
  if (self.dim() > 0) {
    c10::maybe_wrap_dim(dim, self.dim());
  }
  require_compared_dtype(op, self, kOrdered);
  return {TensorSpec::like(self, self.sizes()), TensorSpec::like(self, self.sizes(), ScalarType::Long)};
}

TensorSpec trace(const char* op, const TensorBase& self) {
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return TensorSpec::like(self, {}, sum_dtype(op, self, std::nullopt));
}

} // namespace at::shape
