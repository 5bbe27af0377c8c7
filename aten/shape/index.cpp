#include <aten/shape/index.h>

#include <aten/MemoryOverlap.h>
#include <aten/core/ivalue.h>
#include <aten/native/convert.h>
#include <c10/core/GradMode.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>

namespace at::shape {
namespace {

void check_integral(const char* op, const TensorBase& index) {
  TORCH_CHECK(
      index.scalar_type() == kLong || index.scalar_type() == kInt, op,
      "(): Expected dtype int32 or int64 for index, got ", index.scalar_type());
}

void check_device(const char* op, const TensorBase& self, const TensorBase& other) {
  TORCH_CHECK(
      self.device() == other.device(), "Expected all tensors to be on the same device, but found at least two devices, ",
      self.device(), " and ", other.device(), "! (in ", op, ")");
}

/// The index family has a phrase of its own for each kind of operator.
void check_source_dtype(std::string_view op, const TensorBase& self, const TensorBase& source) {
  if (op == "index_copy") {
    TORCH_CHECK(
        self.scalar_type() == source.scalar_type(), op, "_(): self and source expected to have the same dtype, but got (self) ",
        self.scalar_type(), " and (source) ", source.scalar_type());
  }
  TORCH_CHECK(
      self.scalar_type() == source.scalar_type(), op, "_(): self (", self.scalar_type(), ") and source (",
      source.scalar_type(), ") must have the same scalar type");
}

void check_src_dtype(const char* op, const TensorBase& self, const TensorBase& src) {
  TORCH_CHECK(
      self.scalar_type() == src.scalar_type(), "scatter(): Expected self.dtype to be equal to src.dtype; ", op,
      " got self (", self.scalar_type(), ") and src (", src.scalar_type(), ")");
}

int64_t size_of(const TensorBase& t, int64_t dim) {
  return t.dim() == 0 ? 1 : t.size(dim);
}

/// Sizes of `index` must not exceed those of `other`, except in dimension `dim` when `skip` says so.
void check_within(const char* op, const TensorBase& index, const TensorBase& other, const char* name, int64_t dim, bool skip) {
  const int64_t ndim = std::max<int64_t>(index.dim(), 1);
  TORCH_CHECK(
      ndim == std::max<int64_t>(other.dim(), 1), "Index tensor must have the same number of dimensions as ", name,
      " tensor (in ", op, ": index ", index.sizes(), ", ", name, " ", other.sizes(), ")");
  for (int64_t d = 0; d < ndim; ++d) {
    TORCH_CHECK(
        (skip && d == dim) || size_of(index, d) <= size_of(other, d), "Size does not match at dimension ", d,
        " expected index ", index.sizes(), " to be no larger than ", name, " ", other.sizes(), " apart from dimension ",
        dim, " (in ", op, ")");
  }
}

TensorSpec scatter_spec(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index) {
  const int64_t wrapped = c10::maybe_wrap_dim(dim, self.dim());
  check_device(op, self, index);
  if (index.numel() != 0) {
    check_integral(op, index);
    check_within(op, index, self, "self", wrapped, /*skip=*/true);
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

TensorSpec index_select(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  check_device(op, self, index);
  TORCH_CHECK_INDEX(index.dim() <= 1, op, "(): Index is supposed to be a vector, but got dim: ", index.dim());
  check_integral(op, index);
  TORCH_CHECK(
      self.dim() != 0 || index.numel() == 1, op, "(): Index to scalar can have only 1 value, got ", index.numel(), " value(s)");
  TensorSpec spec = TensorSpec::like(self, self.sizes());
  if (self.dim() > 0) {
    spec.sizes[dim] = index.numel();
  }
  return spec;
}

namespace {

void check_slice_count(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source) {
  const int64_t wrapped = c10::maybe_wrap_dim(dim, self.dim());
  const int64_t count = size_of(source, source.dim() == 0 ? 0 : std::min(wrapped, source.dim() - 1));
  TORCH_CHECK(
      index.numel() == count, op, "_(): Number of indices (", index.numel(), ") should be equal to source.size(dim): (", count,
      "), for dim: ", wrapped);
}

} // namespace

TensorSpec index_add(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source, const Scalar&) {
  check_slice_count(op, self, dim, index, source);
  return index_copy(op, self, dim, index, source);
}

TensorSpec index_reduce(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source,
    std::string_view reduce, bool) {
  TORCH_CHECK(
      reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin", op,
      "(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce, ".");
  check_slice_count(op, self, dim, index, source);
  return index_copy(op, self, dim, index, source);
}

TensorSpec index_copy(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  check_device(op, self, index);
  check_device(op, self, source);
  TORCH_CHECK_INDEX(index.dim() <= 1, op, "(): Index should have dimension 1 or 0 (got ", index.dim(), ")");
  TORCH_CHECK(
      index.scalar_type() == kLong || (op != std::string_view("index_copy") && index.scalar_type() == kInt), op,
      "(): Expected dtype int64 for index, got ", index.scalar_type());
  check_source_dtype(op, self, source);
  TORCH_CHECK(
      source.dim() == 0 || self.dim() == 0 || source.dim() == self.dim(), op,
      "(): When source and destination are not scalars, their dimensionality must match. Source dimensionality (",
      source.dim(), "), destination dimensionality (", self.dim(), ")");
  TORCH_CHECK_INDEX(
      index.numel() == size_of(source, source.dim() == 0 ? 0 : dim), op, "_(): Number of indices (", index.numel(),
      ") should be equal to source.size(dim) (", size_of(source, source.dim() == 0 ? 0 : dim), ")");
  for (int64_t d = 0; d < self.dim() && source.dim() == self.dim(); ++d) {
    TORCH_CHECK(
        d == dim || source.size(d) == self.size(d), "Source/destination tensor must have same slice shapes except at dimension ",
        dim, ". Destination slice shape: ", self.sizes(), " and source slice shape: ", source.sizes(), " (in ", op, ")");
  }
  // A scalar beside a tensor: its slice is its one element.
  const int64_t slice = size_of(self, dim) == 0 ? 0 : self.numel() / size_of(self, dim);
  TORCH_CHECK(
      source.dim() == self.dim() || (source.numel() == index.numel() && slice == 1),
      "Source/destination tensor must have same slice shapes. Destination slice shape: ", self.sizes(), " at dimension ", dim,
      " and source slice shape: ", source.sizes(), " at dimension 0 (in ", op, ")");
  return TensorSpec::like(self, self.sizes());
}

TensorSpec index_fill(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value) {
  c10::maybe_wrap_dim(dim, self.dim());
  check_device(op, self, index);
  TORCH_CHECK_INDEX(
      index.scalar_type() == kLong || index.scalar_type() == kInt, op, "(): Expected dtype int64 for index, got ", index.scalar_type());
  TORCH_CHECK(index.dim() <= 1, "Index has to be a vector/scalar, got ", index.dim(), " dimensions (in ", op, ")");
  TORCH_CHECK(
      !value.isComplex() || self.is_complex(), op, "(): Converting complex Scalar to non-complex type is not supported");
  TensorSpec spec = TensorSpec::like(self, self.sizes());
  spec.strides = at::native::dense_strides_like(self.sizes(), self.strides(), self.is_non_overlapping_and_dense());
  return spec;
}

TensorSpec gather(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, bool) {
  const int64_t wrapped = c10::maybe_wrap_dim(dim, self.dim());
  check_device(op, self, index);
  if (index.numel() != 0) {
    check_integral(op, index);
    check_within(op, index, self, "input", wrapped, /*skip=*/true);
  }
  return TensorSpec::like(self, index.sizes());
}

TensorSpec scatter_src(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src) {
  TensorSpec spec = scatter_spec(op, self, dim, index);
  check_src_dtype(op, self, src);
  check_device(op, self, src);
  if (index.numel() != 0) {
    check_within(op, index, src, "src", 0, /*skip=*/false);
  }
  return spec;
}

TensorSpec scatter_value(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar&) {
  return scatter_spec(op, self, dim, index);
}

TensorSpec scatter_reduce_src(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src,
    std::string_view reduce) {
  check_reduce(op, reduce, /*with_new=*/false);
  return scatter_src(op, self, dim, index, src);
}

TensorSpec scatter_reduce_value(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar&, std::string_view reduce) {
  check_reduce(op, reduce, /*with_new=*/false);
  return scatter_spec(op, self, dim, index);
}

TensorSpec scatter_reduce_two(
    const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src,
    std::string_view reduce, bool) {
  check_reduce(op, reduce, /*with_new=*/true);
  TensorSpec spec = scatter_src(op, self, dim, index, src);
  TORCH_CHECK_NOT_IMPLEMENTED(
      !self.is_complex() || !c10::GradMode::is_enabled() || !(self.requires_grad() || src.requires_grad()), op,
      " does not support automatic differentiation for outputs with complex dtype.");
  return spec;
}

TensorSpec take(const char* op, const TensorBase& self, const TensorBase& index) {
  TORCH_CHECK(
      index.scalar_type() == kLong, op, "(): Expected a long tensor for index, but got ", index.scalar_type());
  check_device(op, self, index);
  TORCH_CHECK_INDEX(
      self.numel() != 0 || index.numel() == 0, op, "(): tried to take from an empty tensor");
  return TensorSpec::like(self, index.sizes());
}

// ---- out arguments -------------------------------------------------------------------------

namespace {

void check_no_overlap(const TensorBase& out, std::initializer_list<const TensorBase*> inputs) {
  at::assert_no_internal_overlap(out);
  for (const TensorBase* input : inputs) {
    at::assert_no_overlap(out, *input);
  }
}

} // namespace

void index_out(const char*, const TensorBase& self, const c10::List<std::optional<Tensor>>& indices, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(), "index_out: self (", self.scalar_type(), ") and result (", out.scalar_type(),
      ") must have the same scalar type");
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

void take_out(const char* op, const TensorBase& self, const TensorBase& index, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() == out.scalar_type(), op, "(): self and out expected to have the same dtype, but got self.dtype = ",
      self.scalar_type(), " and out.dtype = ", out.scalar_type());
  check_no_overlap(out, {&self, &index});
}

void rows_when_resized(std::initializer_list<const TensorBase*> outs, TensorSpec* specs) {
  for (size_t i = 0; i < outs.size(); ++i) {
    specs[i].strides.reset();
  }
}

} // namespace at::shape
