// Shapes and dtypes of sorting, selection, searching and histograms. Every function throws on bad arguments.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/shape/operand_checks.h>
#include <aten/shape/reduced_dims.h>

#include <c10/core/Scalar.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

namespace at::shape {

namespace {

using c10::ScalarType;

constexpr auto kSelectable = kIntegral | kUnsigned | kFloating;

int64_t row_length(const TensorBase& self, int64_t dim) {
  return self.dim() == 0 ? 1 : self.sizes()[dim];
}

// Strides of a dense tensor whose dimensions lie in the order of `t`'s strides.
c10::DimVector dense_strides_like(const TensorBase& t) {
  if (t.is_non_overlapping_and_dense()) {
    return c10::DimVector(t.strides().begin(), t.strides().end());
  }
  c10::DimVector order(t.dim());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    // An expanded dimension has no place of its own; it stays where it is.
    return t.strides()[a] != 0 && t.strides()[b] != 0 && t.strides()[a] > t.strides()[b];
  });
  c10::DimVector strides(t.dim());
  int64_t step = 1;
  for (auto i = t.dim() - 1; i >= 0; --i) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(1, t.sizes()[order[i]]);
  }
  return strides;
}

std::array<TensorSpec, 2> values_and_indices(const TensorBase& self, c10::IntArrayRef sizes) {
  return {TensorSpec::like(self, sizes), TensorSpec::like(self, sizes, ScalarType::Long)};
}

// One value a row, for operators that have no identity.
std::array<TensorSpec, 2> one_per_row(const char* op, const TensorBase& self, int64_t dim, bool keepdim) {
  const auto mask = reduction_mask(c10::IntArrayRef(dim), self.dim());
  const int64_t wrapped = c10::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(
      row_length(self, wrapped) != 0, op, "(): Expected reduction dim ", wrapped, " to have non-zero size.");
  return values_and_indices(self, reduced_sizes(self, mask, keepdim));
}

TensorSpec places(const TensorBase& self, bool out_int32) {
  return TensorSpec::like(self, self.sizes(), out_int32 ? ScalarType::Int : ScalarType::Long);
}

void check_int32(const TensorBase& boundaries, bool out_int32) {
  TORCH_CHECK(
      !out_int32 || boundaries.dim() == 0 || boundaries.sizes().back() < INT32_MAX,
      "torch.searchsorted(): the size of boundaries' last dimension should be less than ", INT32_MAX,
      " when out_int32 is true, but we got ", boundaries.dim() == 0 ? 0 : boundaries.sizes().back());
}

/// Both are compared in the dtype they promote to; nothing is where no value is looked for.
void require_ordered(const TensorBase& boundaries, const TensorBase& values) {
  const ScalarType common = at::native::result_type(
      at::native::update_result_type_state(values, at::native::update_result_type_state(boundaries, {})));
  constexpr auto kOrdered = kIntegral | kUnsigned | kFloating;
  if (values.numel() > 0 && !kOrdered.contains(common)) {
    at::detail::dtype_not_supported("searchsorted_out_cpu", common, kOrdered.bits);
  }
}

} // namespace

/// Values laid out as the input where that is dense, and int64 indices.
std::array<TensorSpec, 2> sort_stable(const char*, const TensorBase& self, std::optional<bool>, int64_t dim, bool) {
  c10::maybe_wrap_dim(dim, self.dim());
  require_compared_dtype("sort", self, kBooleans | kSelectable);
  auto specs = values_and_indices(self, self.sizes());
  specs[0].strides = specs[1].strides = dense_strides_like(self);
  return specs;
}

std::array<TensorSpec, 2> topk(const char*, const TensorBase& self, int64_t k, int64_t dim, bool, bool) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(
      k >= 0 && k <= row_length(self, dim), "selected index k out of range; got k = ", k, " for a dimension of size ",
      row_length(self, dim));
  require_compared_dtype_on_device("topk", self, kSelectable);
  c10::DimVector sizes(self.sizes().begin(), self.sizes().end());
  if (!sizes.empty()) {
    sizes[dim] = k;
  }
  return values_and_indices(self, sizes);
}

std::array<TensorSpec, 2> kthvalue(const char* op, const TensorBase& self, int64_t k, int64_t dim, bool keepdim) {
  auto specs = one_per_row(op, self, dim, keepdim);
  dim = c10::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(
      k >= 1 && k <= row_length(self, dim), "kthvalue(): selected number k out of range for dimension ", dim,
      "; got k = ", k, ", size ", row_length(self, dim));
  require_compared_dtype_on_device("kthvalue", self, kSelectable);
  return specs;
}

/// median and nanmedian along a dimension, and of everything.
std::array<TensorSpec, 2> median(const char*, const TensorBase& self, int64_t dim, bool keepdim) {
  auto specs = one_per_row("median", self, dim, keepdim);
  require_compared_dtype("median_out", self, kSelectable);
  return specs;
}

TensorSpec median(const char*, const TensorBase& self) {
  require_compared_dtype("median_cpu", self, kSelectable);
  return TensorSpec::like(self, {});
}

std::array<TensorSpec, 2> mode(const char* op, const TensorBase& self, int64_t dim, bool keepdim) {
  auto specs = one_per_row(op, self, dim, keepdim);
  require_compared_dtype_on_device("mode", self, kBooleans | kSelectable);
  return specs;
}

TensorSpec searchsorted(
    const char*,
    const TensorBase& sorted_sequence,
    const TensorBase& self,
    bool out_int32,
    bool right,
    std::optional<std::string_view> side,
    const std::optional<Tensor>& sorter) {
  if (side.has_value()) {
    TORCH_CHECK(
        *side == "left" || *side == "right", "torch.searchsorted(): side can only be 'left' or 'right' but got ",
        std::string(*side));
    TORCH_CHECK(
        !right || *side == "right",
        "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
  }
  TORCH_CHECK(
      self.dim() != 0 || sorted_sequence.dim() == 1,
      "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
      "boundaries "
      "tensor dim(",
      sorted_sequence.dim(), ") and input value's dim(0) numel(1)");
  TORCH_CHECK(
      sorted_sequence.dim() > 0,
      "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension");
  const bool shared = sorted_sequence.dim() == 1;
  TORCH_CHECK(
      shared ||
          (sorted_sequence.dim() == self.dim() &&
           sorted_sequence.sizes().slice(0, self.dim() - 1) == self.sizes().slice(0, self.dim() - 1)),
      "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
      "and "
      "input value tensor must match, but we got boundaries tensor ",
      sorted_sequence.sizes(), " and input value tensor ", self.sizes());
  if (sorter.has_value() && sorter->defined()) {
    TORCH_CHECK(
        sorter->sizes() == sorted_sequence.sizes(),
        "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor ",
        sorted_sequence.sizes(), "and got sorter tensor ", sorter->sizes());
    TORCH_CHECK(
        sorter->scalar_type() == ScalarType::Long,
        "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
        c10::toString(sorter->scalar_type()));
  }
  check_int32(sorted_sequence, out_int32);
  require_ordered(sorted_sequence, self);
  return places(self, out_int32);
}

TensorSpec bucketize(const char*, const TensorBase& self, const TensorBase& boundaries, bool out_int32, bool) {
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  check_int32(boundaries, out_int32);
  require_ordered(boundaries, self);
  return places(self, out_int32);
}

TensorSpec histc(const char*, const TensorBase& self, int64_t bins, const c10::Scalar& min, const c10::Scalar& max) {
  TORCH_CHECK(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension 0");
  require_compared_dtype_on_device("histogram", self, kFloating);
  TORCH_CHECK(
      !(min.toDouble() > max.toDouble()), "torch.histc: max must be larger than min; got min ", min.toDouble(),
      " and max ", max.toDouble());
  return TensorSpec::like(self, {bins});
}

/// Checks of given outputs that have a message of their own.
void kthvalue_out(
    const char*, const TensorBase& self, int64_t, int64_t, bool, const TensorBase& values, const TensorBase& indices) {
  at::assert_no_overlap(values, self);
  TORCH_CHECK(
      values.scalar_type() == self.scalar_type(), "output values must be of same type as input; got ",
      c10::toString(values.scalar_type()), " and ", c10::toString(self.scalar_type()));
  TORCH_CHECK(
      indices.scalar_type() == ScalarType::Long, "output indices must be of scalar type Long; got ",
      c10::toString(indices.scalar_type()));
}

void median_out(
    const char*, const TensorBase& self, int64_t, bool, const TensorBase& values, const TensorBase& indices) {
  TORCH_CHECK(
      indices.scalar_type() == ScalarType::Long,
      "Expected tensor for argument #1 'indices' to have scalar type Long; but got ", indices.toString(),
      " instead (while checking arguments for median)");
  TORCH_CHECK(
      values.scalar_type() == self.scalar_type(),
      "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type ",
      values.toString(), " does not equal ", self.toString(), " (while checking arguments for median)");
}

void mode_out(const char*, const TensorBase& self, int64_t, bool, const TensorBase& values, const TensorBase& indices) {
  TORCH_CHECK(
      values.scalar_type() == self.scalar_type(), "expected scalar type '", c10::toString(self.scalar_type()),
      "' but got '", c10::toString(values.scalar_type()), "' for values output");
  TORCH_CHECK(
      indices.scalar_type() == ScalarType::Long, "expected scalar type 'Long' but got '",
      c10::toString(indices.scalar_type()), "' for indices output");
}

void searchsorted_scalar_out(
    const char*,
    const TensorBase&,
    const c10::Scalar&,
    bool out_int32,
    bool,
    std::optional<std::string_view>,
    const std::optional<Tensor>&,
    const TensorBase& out) {
  TORCH_CHECK(
      out.scalar_type() == (out_int32 ? ScalarType::Int : ScalarType::Long),
      "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on "
      "whether "
      "out_int32 flag is True, but we got output tensor's dtype ",
      c10::toString(out.scalar_type()), " and out_int32 flag is ", out_int32 ? "True" : "False");
}

void searchsorted_out(
    const char* op,
    const TensorBase& sorted_sequence,
    const TensorBase&,
    bool out_int32,
    bool right,
    std::optional<std::string_view> side,
    const std::optional<Tensor>& sorter,
    const TensorBase& out) {
  searchsorted_scalar_out(op, sorted_sequence, {}, out_int32, right, side, sorter, out);
}

void bucketize_out(
    const char* op,
    const TensorBase& self,
    const TensorBase& boundaries,
    bool out_int32,
    bool right,
    const TensorBase& out) {
  searchsorted_out(op, boundaries, self, out_int32, right, std::nullopt, std::nullopt, out);
}

void histc_out(
    const char*, const TensorBase& self, int64_t, const c10::Scalar&, const c10::Scalar&, const TensorBase& out) {
  TORCH_CHECK(
      out.scalar_type() == self.scalar_type(),
      "torch.histogram: input tensor and hist tensor should have the same dtype, but got input ", self.dtype().name(),
      " and hist ", out.dtype().name());
}

} // namespace at::shape
