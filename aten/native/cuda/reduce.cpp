// Host side of the reductions: conversions of the input, the plan, empty inputs.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/reduce.h>
#include <aten/shape/functions.h>
#include <aten/shape/reduced_dims.h>
#include <c10/core/Scalar.h>

#include <limits>

namespace at::native::cuda {

namespace {

using DimMask = std::bitset<64>;

DimMask mask_of(c10::OptionalIntArrayRef dims, int64_t ndim) {
  return at::shape::reduction_mask(dims, ndim);
}
DimMask mask_of_dim(std::optional<int64_t> dim, int64_t ndim) {
  if (!dim.has_value()) {
    return DimMask().set();
  }
  return at::shape::reduction_mask(IntArrayRef(*dim), ndim);
}
/// For any and all an empty list of dimensions, unlike none at all, reduces nothing.
DimMask listed_mask(c10::OptionalIntArrayRef dims, int64_t ndim) {
  return dims.has_value() && dims->empty() ? DimMask() : mask_of(dims, ndim);
}

template <std::uint64_t Dtypes>
void check_dtype(const char* op, c10::ScalarType dtype, DtypeSet<Dtypes> set) {
  if (!set.contains(dtype)) {
    at::detail::dtype_not_supported(op, dtype, Dtypes);
  }
}

constexpr auto kSummable = kBooleans | kIntegral | kUnsigned | kFloating | kComplex;
constexpr auto kOrdered = kBooleans | kIntegral | kFloating;

ReduceRun run_of(const TensorBase& input, const DimMask& mask, const TensorBase& out, bool in_order = false) {
  ReduceRun run;
  for (ReducePlan& plan : plan_reduction(input, mask, out, in_order)) {
    if (c10::isFloatingType(input.scalar_type()) && input.itemsize() <= 4) {
      read_vectors(plan, input.const_data_ptr(), input.itemsize());
    }
    run.parts.push_back({plan, launch_of(plan, at::cuda::getCurrentDeviceProperties()->multiProcessorCount)});
  }
  run.stream = c10::cuda::getCurrentCUDAStream();
  return run;
}

ReduceInput input_of(const TensorBase& t) {
  return {t.scalar_type(), t.const_data_ptr()};
}
ReduceOutput output_of(const TensorBase& t) {
  return {t.scalar_type(), t.mutable_data_ptr()};
}

/// True, after filling the output, when there is nothing to reduce.
bool fill_if_empty(const TensorBase& self, const TensorBase& out, const Scalar& value) {
  if (self.numel() != 0) {
    return false;
  }
  if (out.numel() != 0) {
    out.fill_(value);
  }
  return true;
}

TensorBase cast(const TensorBase& self, c10::ScalarType dtype) {
  return self.scalar_type() == dtype ? self : self.to(c10::TensorOptions().dtype(dtype));
}

/// The input in a dtype that the kernels read for this result: itself in the common cases.
TensorBase summable(const TensorBase& self, c10::ScalarType result) {
  const c10::ScalarType dtype = self.scalar_type();
  const bool integers =
      c10::isIntegralType(dtype, /*includeBool=*/true) && c10::isIntegralType(result, /*includeBool=*/false);
  const bool widened = c10::isReducedFloatingType(dtype) && result == kFloat;
  return integers || widened ? self : cast(self, result);
}

void arithmetic(
    const char* op,
    Arithmetic kind,
    const TensorBase& self,
    const DimMask& mask,
    const TensorBase& out,
    double divisor = 1) {
  const Scalar nothing = kind == Arithmetic::Prod ? Scalar(1)
      : divisor == 1                              ? Scalar(0)
                                                  : Scalar(std::numeric_limits<double>::quiet_NaN());
  if (fill_if_empty(self, out, nothing)) {
    return;
  }
  const TensorBase input = summable(self, out.scalar_type());
  check_dtype(op, input.scalar_type(), kSummable);
  launch_arithmetic(run_of(input, mask, out), kind, input_of(input), output_of(out), divisor);
}

void mean_over(const TensorBase& self, const DimMask& mask, const TensorBase& out) {
  int64_t count = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    count *= mask[d] ? self.size(d) : 1;
  }
  arithmetic("mean_cuda", Arithmetic::Sum, self, mask, out, static_cast<double>(count));
}

void nansum_over(const TensorBase& self, const DimMask& mask, const TensorBase& out) {
  // An integer result sums the converted input, where NaN is some integer.
  const bool floats = c10::isFloatingType(self.scalar_type()) && c10::isFloatingType(out.scalar_type());
  arithmetic("nansum_cuda", floats ? Arithmetic::NanSum : Arithmetic::Sum, self, mask, out);
}

void extremum(const char* op, bool greatest, const TensorBase& self, const DimMask& mask, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  check_dtype(op, self.scalar_type(), kOrdered);
  launch_extremum(run_of(self, mask, out), greatest, input_of(self), out.mutable_data_ptr());
}

void arg_extremum(
    const char* op,
    bool greatest,
    const TensorBase& self,
    std::optional<int64_t> dim,
    const TensorBase& values,
    const TensorBase& indices) {
  if (indices.numel() == 0) {
    return;
  }
  check_dtype(op, self.scalar_type(), kOrdered);
  // Cuts of a reduction in order are few where the elements lie in order.
  const TensorBase input = self.numel() > INT32_MAX ? self.contiguous() : self;
  launch_arg_extremum(
      run_of(input, mask_of_dim(dim, self.dim()), indices, /*in_order=*/true), greatest, input_of(input),
      values.defined() ? values.mutable_data_ptr() : nullptr, indices.mutable_data_ptr<int64_t>());
}

void any_over(const char* op, bool all, const TensorBase& self, const DimMask& mask, const TensorBase& out) {
  if (!fill_if_empty(self, out, all ? 1 : 0)) {
    check_dtype(op, self.scalar_type(), kSummable);
    launch_any(run_of(self, mask, out), all, input_of(self), out.mutable_data_ptr());
  }
}

void count_over(const TensorBase& self, const DimMask& mask, const TensorBase& out) {
  if (!fill_if_empty(self, out, 0)) {
    check_dtype("count_nonzero_cuda", self.scalar_type(), kSummable);
    launch_count_nonzero(run_of(self, mask, out), input_of(self), out.mutable_data_ptr<int64_t>());
  }
}

void moments(
    const char* op,
    bool root,
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    const TensorBase& out,
    const TensorBase& mean) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (mean.defined()) {
    fill_if_empty(self, mean, nan);
  }
  if (fill_if_empty(self, out, nan)) {
    return;
  }
  check_dtype(op, self.scalar_type(), kFloating | kComplex);
  if (self.is_complex()) {
    // The variances of both parts add up.
    const Tensor input(self), parts = at::view_as_real(input.resolve_conj());
    const bool keepdim = out.dim() == self.dim();
    const auto variance = [&](int64_t part) { return at::var(parts.select(-1, part), dim, correction, keepdim); };
    const Tensor sum = variance(0) + variance(1);
    copy_on_device(out, root ? sum.sqrt() : sum);
    if (mean.defined()) {
      copy_on_device(mean, at::mean(input, dim, keepdim));
    }
    return;
  }
  launch_moments(
      run_of(self, mask_of(dim, self.dim()), out), root, correction.has_value() ? correction->toDouble() : 1.0,
      input_of(self), out.mutable_data_ptr(), mean.defined() ? mean.mutable_data_ptr() : nullptr);
}

} // namespace

// ---- sums
// ------------------------------------------------------------------------------------------------------------

void sum_kernel(
    const TensorBase& self, c10::OptionalIntArrayRef dim, bool, std::optional<ScalarType>, const TensorBase& out) {
  arithmetic("sum_cuda", Arithmetic::Sum, self, mask_of(dim, self.dim()), out);
}
void sum_all_kernel(const TensorBase& self, std::optional<ScalarType>, const TensorBase& out) {
  arithmetic("sum_cuda", Arithmetic::Sum, self, DimMask().set(), out);
}
void mean_kernel(
    const TensorBase& self, c10::OptionalIntArrayRef dim, bool, std::optional<ScalarType>, const TensorBase& out) {
  mean_over(self, mask_of(dim, self.dim()), out);
}
void mean_all_kernel(const TensorBase& self, std::optional<ScalarType>, const TensorBase& out) {
  mean_over(self, DimMask().set(), out);
}
void nansum_kernel(
    const TensorBase& self, c10::OptionalIntArrayRef dim, bool, std::optional<ScalarType>, const TensorBase& out) {
  nansum_over(self, mask_of(dim, self.dim()), out);
}
void prod_kernel(const TensorBase& self, int64_t dim, bool, std::optional<ScalarType>, const TensorBase& out) {
  arithmetic("prod_cuda", Arithmetic::Prod, self, mask_of_dim(dim, self.dim()), out);
}
void prod_all_kernel(const TensorBase& self, std::optional<ScalarType>, const TensorBase& out) {
  arithmetic("prod_cuda", Arithmetic::Prod, self, DimMask().set(), out);
}

// ---- extrema
// ---------------------------------------------------------------------------------------------------------

void amax_kernel(const TensorBase& self, IntArrayRef dim, bool, const TensorBase& out) {
  extremum("max_values_cuda", true, self, mask_of(dim, self.dim()), out);
}
void amin_kernel(const TensorBase& self, IntArrayRef dim, bool, const TensorBase& out) {
  extremum("min_values_cuda", false, self, mask_of(dim, self.dim()), out);
}
void max_all_kernel(const TensorBase& self, const TensorBase& out) {
  extremum("max_all_cuda", true, self, DimMask().set(), out);
}
void min_all_kernel(const TensorBase& self, const TensorBase& out) {
  extremum("min_all_cuda", false, self, DimMask().set(), out);
}
void aminmax_kernel(
    const TensorBase& self, std::optional<int64_t> dim, bool, const TensorBase& min, const TensorBase& max) {
  extremum("aminmax_cuda", false, self, mask_of_dim(dim, self.dim()), min);
  extremum("aminmax_cuda", true, self, mask_of_dim(dim, self.dim()), max);
}
void argmax_kernel(const TensorBase& self, std::optional<int64_t> dim, bool, const TensorBase& out) {
  arg_extremum("argmax_cuda", true, self, dim, TensorBase(), out);
}
void argmin_kernel(const TensorBase& self, std::optional<int64_t> dim, bool, const TensorBase& out) {
  arg_extremum("argmin_cuda", false, self, dim, TensorBase(), out);
}
void max_dim_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  arg_extremum("max_cuda", true, self, dim, values, indices);
}
void min_dim_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& values, const TensorBase& indices) {
  arg_extremum("min_cuda", false, self, dim, values, indices);
}

// ---- truth
// -----------------------------------------------------------------------------------------------------------

void any_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& out) {
  any_over("any_cuda", false, self, mask_of_dim(dim, self.dim()), out);
}
void any_dims_kernel(const TensorBase& self, c10::OptionalIntArrayRef dim, bool, const TensorBase& out) {
  any_over("any_cuda", false, self, listed_mask(dim, self.dim()), out);
}
void any_all_kernel(const TensorBase& self, const TensorBase& out) {
  any_over("any_cuda", false, self, DimMask().set(), out);
}
void all_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& out) {
  any_over("all_cuda", true, self, mask_of_dim(dim, self.dim()), out);
}
void all_dims_kernel(const TensorBase& self, c10::OptionalIntArrayRef dim, bool, const TensorBase& out) {
  any_over("all_cuda", true, self, listed_mask(dim, self.dim()), out);
}
void all_all_kernel(const TensorBase& self, const TensorBase& out) {
  any_over("all_cuda", true, self, DimMask().set(), out);
}
void count_nonzero_kernel(const TensorBase& self, std::optional<int64_t> dim, const TensorBase& out) {
  count_over(self, mask_of_dim(dim, self.dim()), out);
}
void hash_tensor_kernel(const TensorBase& self, IntArrayRef dim, bool, int64_t, const TensorBase& out) {
  if (fill_if_empty(self, out, 0)) {
    return;
  }
  const TensorBase input = cast(self, self.is_floating_point() ? kDouble : kLong);
  launch_exclusive_or(
      run_of(input, mask_of(dim, self.dim()), out), static_cast<const int64_t*>(input.const_data_ptr()),
      static_cast<int64_t*>(out.mutable_data_ptr()));
}
void count_nonzero_dims_kernel(const TensorBase& self, IntArrayRef dim, const TensorBase& out) {
  count_over(self, mask_of(dim, self.dim()), out);
}

// ---- norms and variance
// ----------------------------------------------------------------------------------------------

void vector_norm_kernel(
    const TensorBase& self,
    const Scalar& ord,
    c10::OptionalIntArrayRef dim,
    bool,
    std::optional<ScalarType> dtype,
    const TensorBase& out) {
  if (fill_if_empty(self, out, ord.toDouble() < 0 ? std::numeric_limits<double>::infinity() : 0.0)) {
    return;
  }
  const TensorBase input = cast(self, dtype.value_or(self.scalar_type()));
  check_dtype("linalg_vector_norm_cuda", input.scalar_type(), kFloating | kComplex);
  launch_norm(run_of(input, mask_of(dim, self.dim()), out), ord.toDouble(), input_of(input), out.mutable_data_ptr());
}
void var_kernel(
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool,
    const TensorBase& out) {
  moments("var_cuda", false, self, dim, correction, out, TensorBase());
}
void std_kernel(
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool,
    const TensorBase& out) {
  moments("std_cuda", true, self, dim, correction, out, TensorBase());
}
void var_mean_kernel(
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool,
    const TensorBase& out,
    const TensorBase& mean) {
  moments("var_mean_cuda", false, self, dim, correction, out, mean);
}
void std_mean_kernel(
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool,
    const TensorBase& out,
    const TensorBase& mean) {
  moments("std_mean_cuda", true, self, dim, correction, out, mean);
}

} // namespace at::native::cuda
