// Shape functions of indexing operators. Values of indices are checked by the kernels, before anything is written.
#include <aten/shape/indexed_out.h>

#include <aten/core/List.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/ivalue.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/store_scalar.h>

#include <c10/core/GradMode.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace at::shape {
namespace {

bool is_integral(const TensorBase& index) {
  return index.scalar_type() == kLong || index.scalar_type() == kInt;
}

void check_long(const char* family, const TensorBase& index) {
  TORCH_CHECK(
      is_integral(index), family, "(): Expected dtype int64 for index (int32 is taken too), got ", index.scalar_type());
}

void check_device(const char* op, const TensorBase& self, const TensorBase& other) {
  TORCH_CHECK(
      self.device() == other.device(),
      "Expected all tensors to be on the same device, but found at least two devices, ", self.device(), " and ",
      other.device(), "! (in ", op, ")");
}

void check_src_dtype(const char* op, const TensorBase& self, const TensorBase& src) {
  TORCH_CHECK(
      self.scalar_type() == src.scalar_type(), "scatter(): Expected self.dtype to be equal to src.dtype; ", op,
      " got self (", self.scalar_type(), ") and src (", src.scalar_type(), ")");
}

int64_t size_of(const TensorBase& t, int64_t dim) {
  return t.dim() == 0 ? 1 : t.size(dim);
}

void check_rank(const char* op, const TensorBase& index, const TensorBase& other, const char* name) {
  TORCH_CHECK(
      std::max<int64_t>(index.dim(), 1) == std::max<int64_t>(other.dim(), 1),
      "Index tensor must have the same number of dimensions as ", name, " tensor (in ", op, ": index ", index.sizes(),
      ", ", name, " ", other.sizes(), ")");
}

/// The first dimension, `skipped` apart, in which `index` exceeds `other`; -1 where there is none.
int64_t exceeding_dim(const TensorBase& index, const TensorBase& other, int64_t skipped = -1) {
  for (int64_t d = 0; d < std::max<int64_t>(index.dim(), 1); ++d) {
    if (d != skipped && size_of(index, d) > size_of(other, d)) {
      return d;
    }
  }
  return -1;
}

void check_scatter_sizes(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase* src) {
  check_rank(op, index, self, "self");
  const bool fits = exceeding_dim(index, self, dim) < 0 && (src == nullptr || exceeding_dim(index, *src) < 0);
  if (src != nullptr) {
    check_rank(op, index, *src, "src");
    TORCH_CHECK(
        fits, "Expected index ", index.sizes(), " to be smaller than self ", self.sizes(), " apart from dimension ",
        dim, " and to be smaller size than src ", src->sizes(), " (in ", op, ")");
  }
  TORCH_CHECK(
      fits, "Expected index ", index.sizes(), " to be smaller than self ", self.sizes(), " apart from dimension ", dim,
      " (in ", op, ")");
}

TensorSpec scatter_spec(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase* src = nullptr) {
  const int64_t wrapped = c10::maybe_wrap_dim(dim, self.dim());
  check_device(op, self, index);
  if (index.numel() != 0) {
    check_long("scatter", index);
  }
  if (src != nullptr) {
    check_src_dtype(op, self, *src);
    check_device(op, self, *src);
  }
  if (index.numel() != 0) {
    check_scatter_sizes(op, self, wrapped, index, src);
  }
  return TensorSpec::like(self, self.sizes());
}

void check_reduce(const char* op, std::string_view reduce, bool with_new) {
  const bool old = reduce == "add" || reduce == "multiply";
  const bool now = reduce == "sum" || reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin";
  TORCH_CHECK(
      with_new ? now : old, "reduce argument must be either ",
      with_new ? "sum, prod, mean, amax or amin, got " : "add or multiply. Got ", reduce, " (in ", op, ")");
}

} // namespace

/// Self's sizes with size(dim) = number of indices.
TensorSpec index_select(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  check_device(op, self, index);
  TORCH_CHECK_INDEX(index.dim() <= 1, op, "(): Index is supposed to be a vector, but got dim: ", index.dim());
  TORCH_CHECK(is_integral(index), op, "(): Expected dtype int32 or int64 for index, got ", index.scalar_type());
  TORCH_CHECK(
      self.dim() != 0 || index.numel() == 1, op, "(): Index to scalar can have only 1 value, got ", index.numel(),
      " value(s)");
  TensorSpec spec = TensorSpec::like(self, self.sizes());
  if (self.dim() > 0) {
    spec.sizes[dim] = index.numel();
  }
  return spec;
}

namespace {

void check_index_reach(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source) {
  check_device(op, self, index);
  check_device(op, self, source);
  TORCH_CHECK_INDEX(
      index.dim() <= 1, op, "_(): Index is supposed to be a vector, but got dim: ", index.dim(),
      " with type: ", index.scalar_type(), " and size: ", index.sizes());
  TORCH_CHECK(is_integral(index), op, "_(): Expected dtype int32/int64 for index but got: ", index.scalar_type());
  TORCH_CHECK(
      self.scalar_type() == source.scalar_type(), op, "_(): self (", self.scalar_type(), ") and source (",
      source.scalar_type(), ") must have the same scalar type");
  TORCH_CHECK(
      self.dim() > 0 || source.dim() <= 1, "source.dim() (", source.dim(),
      ") must one or zero for given self.dim() (0) (in ", op, ")");
  TORCH_CHECK(
      dim == 0 || dim < source.dim(), op, "_(): Indexing dim ", dim, " is out of bounds of the source tensor with dim ",
      source.dim(), ": it has sizes ", source.sizes());
  TORCH_CHECK_INDEX(
      source.dim() > 0 || index.numel() == 1, "Dimension specified as ", dim, " but tensor has no dimensions: ", op,
      "_() got ", index.numel(), " indices for a source without dimensions");
  TORCH_CHECK(
      index.numel() == size_of(source, dim), op, "_(): Number of indices (", index.numel(),
      ") should be equal to source.size(dim): (", size_of(source, dim), "), for dim: ", dim);
  TORCH_CHECK(
      source.dim() == 0 || self.dim() == 0 || source.dim() == self.dim(), op,
      "_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality (",
      source.dim(), "), destination dimensionality (", self.dim(), ")");
  for (int64_t d = 0; d < self.dim() && source.dim() == self.dim(); ++d) {
    TORCH_CHECK(
        d == dim || source.size(d) == self.size(d),
        "Source/destination tensor must have same slice shapes except at dimension ", dim,
        ". Destination slice shape: ", self.sizes(), " and source slice shape: ", source.sizes(), " (in ", op, ")");
  }
  // A scalar beside a tensor: its slice is its one element.
  const int64_t slice = size_of(self, dim) == 0 ? 0 : self.numel() / size_of(self, dim);
  TORCH_CHECK(
      source.dim() == self.dim() || (source.numel() == index.numel() && slice == 1),
      "Source/destination tensor must have same slice shapes. Destination slice shape: ", self.sizes(),
      " at dimension ", dim, " and source slice shape: ", source.sizes(), " at dimension 0 (in ", op, ")");
}

/// Sizes but that of `dim`, as text.
std::string slice_shape(const TensorBase& t, int64_t dim) {
  std::string text;
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (d != dim) {
      text += (text.empty() ? "" : " ") + std::to_string(t.size(d));
    }
  }
  return text;
}

} // namespace

TensorSpec index_add(
    const char* op,
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& source,
    const Scalar&) {
  check_index_reach(op, self, c10::maybe_wrap_dim(dim, self.dim()), index, source);
  return TensorSpec::like(self, self.sizes());
}

TensorSpec index_reduce(
    const char* op,
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& source,
    std::string_view reduce,
    bool) {
  TORCH_CHECK(
      reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin", op,
      "(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce, ".");
  check_index_reach(op, self, c10::maybe_wrap_dim(dim, self.dim()), index, source);
  return TensorSpec::like(self, self.sizes());
}

TensorSpec index_copy(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(index.dim() <= 1, op, "_(): Index should have dimension 1 or 0 (got ", index.dim(), ")");
  TORCH_CHECK_INDEX(
      source.dim() != 0 || index.numel() == 1, op, "_(): When source is scalar, index should have one element (got ",
      index.numel(), ")");
  TORCH_CHECK_INDEX(
      source.dim() == 0 || self.dim() == 0 || source.dim() == self.dim(), op,
      "_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality (",
      source.dim(), "), destination dimensionality (", self.dim(), ")");
  TORCH_CHECK(index.scalar_type() == kLong, op, "_(): Expected a long tensor for index, but got ", index.scalar_type());
  TORCH_CHECK(
      self.scalar_type() == source.scalar_type(), op,
      "_(): self and source expected to have the same dtype, but got (self) ", self.scalar_type(), " and (source) ",
      source.scalar_type());
  check_device(op, self, index);
  check_device(op, self, source);
  const std::string wanted = slice_shape(self, dim), given = slice_shape(source, source.dim() == 0 ? 0 : dim);
  TORCH_CHECK(
      wanted == given, op,
      "_(): Source/destination tensor must have same slice shapes. Destination slice shape: ", wanted, " at dimension ",
      dim, " and source slice shape: ", given, " at dimension 0.");
  TORCH_CHECK_INDEX(
      source.dim() == 0 || index.numel() == source.size(dim), op, "_(): Number of indices (", index.numel(),
      ") should be equal to source.size(dim) (", size_of(source, dim), ")");
  return TensorSpec::like(self, self.sizes());
}

TensorSpec index_fill(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value) {
  check_device(op, self, index);
  TORCH_CHECK_INDEX(index.scalar_type() == kLong, op, "_(): Expected dtype int64 for index. Got ", index.scalar_type());
  TORCH_CHECK(
      !value.isComplex() || self.is_complex(), op,
      "_(): Converting complex Scalar to non-complex type is not supported");
  at::native::check_unsigned_scalar(op, value, self.scalar_type());
  c10::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(index.dim() <= 1, "Index has to be a vector/scalar, got ", index.dim(), " dimensions (in ", op, ")");
  TensorSpec spec = TensorSpec::like(self, self.sizes());
  spec.strides = at::native::dense_strides_like(self.sizes(), self.strides(), self.is_non_overlapping_and_dense());
  return spec;
}

/// Index's sizes; index may exceed self in dimension `dim` only.
TensorSpec gather(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, bool) {
  const int64_t wrapped = c10::maybe_wrap_dim(dim, self.dim());
  check_device(op, self, index);
  if (index.numel() != 0) {
    check_long(op, index);
    check_rank(op, index, self, "input");
    const int64_t d = exceeding_dim(index, self, wrapped);
    TORCH_CHECK(
        d < 0, "Size does not match at dimension ", d, " expected index ", index.sizes(), " to be smaller than self ",
        self.sizes(), " apart from dimension ", wrapped, " (in ", op, ")");
  }
  return TensorSpec::like(self, index.sizes());
}

TensorSpec scatter_src(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src) {
  return scatter_spec(op, self, dim, index, &src);
}

TensorSpec scatter_value(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value) {
  at::native::check_unsigned_scalar(op, value, self.scalar_type());
  return scatter_spec(op, self, dim, index);
}

TensorSpec scatter_reduce_src(
    const char* op,
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& src,
    std::string_view reduce) {
  TensorSpec spec = scatter_src(op, self, dim, index, src);
  check_reduce(op, reduce, /*with_new=*/false);
  return spec;
}

TensorSpec scatter_reduce_value(
    const char* op,
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const Scalar&,
    std::string_view reduce) {
  TensorSpec spec = scatter_spec(op, self, dim, index);
  check_reduce(op, reduce, /*with_new=*/false);
  return spec;
}

TensorSpec scatter_reduce_two(
    const char* op,
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& src,
    std::string_view reduce,
    bool) {
  TensorSpec spec = scatter_src(op, self, dim, index, src);
  check_reduce(op, reduce, /*with_new=*/true);
  TORCH_CHECK_NOT_IMPLEMENTED(
      !self.is_complex() || !c10::GradMode::is_enabled() || !(self.requires_grad() || src.requires_grad()), op,
      " does not support automatic differentiation for outputs with complex dtype.");
  return spec;
}

/// Index's sizes.
TensorSpec take(const char* op, const TensorBase& self, const TensorBase& index) {
  TORCH_CHECK(index.scalar_type() == kLong, op, "(): Expected a long tensor for index, but got ", index.scalar_type());
  check_device(op, self, index);
  TORCH_CHECK_INDEX(self.numel() != 0 || index.numel() == 0, op, "(): tried to take from an empty tensor");
  return TensorSpec::like(self, index.sizes());
}

// ---- out arguments -------------------------------------------------------------------------

void check_no_overlap(const TensorBase& out, std::initializer_list<const TensorBase*> inputs) {
  at::assert_no_internal_overlap(out);
  for (const TensorBase* input : inputs) {
    at::assert_no_overlap(out, *input);
  }
}

void gather_out(const char*, const TensorBase& self, int64_t, const TensorBase& index, bool, const TensorBase& out) {
  check_no_overlap(out, {&self});
  at::assert_no_partial_overlap(out, index);
}

void index_out(
    const char*, const TensorBase& self, const c10::List<std::optional<Tensor>>& indices, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(), "index_out: self (", self.scalar_type(), ") and result (",
      out.scalar_type(), ") must have the same scalar type");
  check_no_overlap(out, {&self});
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::optional<Tensor> index = indices.get(i);
    if (index && index->defined()) {
      check_no_overlap(out, {&*index});
    }
  }
}

void index_select_out(const char* op, const TensorBase& self, int64_t, const TensorBase& index, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(), op, "(): self and result must have the same scalar type, got ",
      self.scalar_type(), " and ", out.scalar_type());
  check_no_overlap(out, {&self, &index});
}

void masked_select_out(const char* op, const TensorBase& self, const TensorBase& mask, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(), op, "(): self and result must have the same scalar type, got ",
      self.scalar_type(), " and ", out.scalar_type());
  check_no_overlap(out, {&self, &mask});
}

void nonzero_static_out(const char* op, const TensorBase& self, int64_t, int64_t, const TensorBase& out) {
  TORCH_CHECK(
      out.scalar_type() == ScalarType::Long, op, ": Expected out tensor to have scalar type Long but got scalar type",
      out.scalar_type());
  check_no_overlap(out, {&self});
}

void take_out(const char* op, const TensorBase& self, const TensorBase& index, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(), op,
      "(): self and out expected to have the same dtype, but got self.dtype = ", self.scalar_type(),
      " and out.dtype = ", out.scalar_type());
  check_no_overlap(out, {&self, &index});
}

/// An output that is resized is row-major, however the result of the function lies.
void rows_when_resized(std::initializer_list<const TensorBase*> outs, TensorSpec* specs) {
  for (size_t i = 0; i < outs.size(); ++i) {
    specs[i].strides.reset();
  }
}

} // namespace at::shape
