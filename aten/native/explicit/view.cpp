// View operators that work on every backend: new sizes and strides over the same storage.
#include <aten/native/support/view_support.h>

#include <aten/core/op_types.h>
#include <aten/ops/zeros.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace at::native {

using c10::DimVector;

namespace {

// A view whose shape and offset are still to be set.
C10_ALWAYS_INLINE Tensor shapeless_view(const Tensor& self) {
  return at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(self.storage()), self.key_set(), self.dtype());
}

// Sizes or strides without those of dimension `dim`.
C10_ALWAYS_INLINE DimVector without(IntArrayRef values, int64_t dim) {
  DimVector kept;
  kept.resize_for_overwrite(values.size() - 1);
  // Dimensions are few: a loop beats the calls to memcpy and memmove.
  for (size_t d = 0; d < kept.size(); ++d) {
    kept[d] = values[d + (static_cast<int64_t>(d) >= dim ? 1 : 0)];
  }
  return kept;
}

// Whether `size` holds positive numbers only, whose product is `numel`.
C10_ALWAYS_INLINE bool holds(IntArrayRef size, int64_t numel) {
  int64_t product = 1;
  bool fits = true;
  for (const int64_t s : size) {
    fits &= s > 0 && !c10::mul_overflows(product, s, &product);
  }
  return fits && product == numel;
}

} // namespace

// With all that it calls in one function, as every view is made here or in contiguous_view().
__attribute__((flatten)) Tensor make_view(
    const Tensor& self, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
  Tensor result = shapeless_view(self);
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, storage_offset);
  return result;
}

DimVector infer_size(IntArrayRef shape, int64_t numel) {
  int64_t known = 1;
  std::optional<size_t> unknown;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      TORCH_CHECK(!unknown, "only one dimension can be inferred; got shape ", shape);
      unknown = i;
    } else {
      TORCH_CHECK(shape[i] >= 0, "invalid shape dimension ", shape[i], " at index ", i, " of shape ", shape);
      TORCH_CHECK(
          !c10::mul_overflows(known, shape[i], &known), "shape '", shape, "' is invalid: its element count overflows");
    }
  }
  DimVector result(shape.begin(), shape.end());
  if (unknown && known != 0 && numel % known == 0) {
    result[*unknown] = numel / known;
    return result;
  }
  if (unknown && known == 0 && numel == 0) {
    TORCH_CHECK(
        false, "cannot reshape tensor of 0 elements into shape ", shape,
        " because the unspecified dimension size -1 can be any value and is ambiguous");
  }
  TORCH_CHECK(!unknown && known == numel, "shape '", shape, "' is invalid for input of size ", numel);
  return result;
}

std::optional<DimVector> compute_view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef new_sizes) {
  const int64_t numel = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, c10::impl::multiply_wrapping<int64_t>);
  if (numel == 0 && sizes == new_sizes) {
    return DimVector(strides.begin(), strides.end());
  }
  DimVector result(new_sizes.size());
  if (numel == 0) {
    for (size_t i = new_sizes.size(); i-- > 0;) {
      const bool last = i + 1 == new_sizes.size();
      result[i] = last ? 1 : c10::impl::multiply_wrapping(std::max<int64_t>(new_sizes[i + 1], 1), result[i + 1]);
    }
    return result;
  }
  // Walk both shapes from the right: each run of old dimensions that is one dense chunk in memory
  // must be filled exactly by a run of new dimensions.
  int64_t view_dim = static_cast<int64_t>(new_sizes.size()) - 1;
  int64_t chunk_stride = sizes.empty() ? 1 : strides.back();
  int64_t chunk_numel = 1;
  int64_t view_numel = 1;
  for (int64_t dim = static_cast<int64_t>(sizes.size()) - 1; dim >= 0; --dim) {
    chunk_numel *= sizes[dim];
    const bool chunk_ends = dim == 0 || (sizes[dim - 1] != 1 && strides[dim - 1] != chunk_numel * chunk_stride);
    if (!chunk_ends) {
      continue;
    }
    while (view_dim >= 0 && (view_numel < chunk_numel || new_sizes[view_dim] == 1)) {
      result[view_dim] = view_numel * chunk_stride;
      view_numel *= new_sizes[view_dim];
      --view_dim;
    }
    if (view_numel != chunk_numel) {
      return std::nullopt;
    }
    if (dim > 0) {
      chunk_stride = strides[dim - 1];
      chunk_numel = 1;
      view_numel = 1;
    }
  }
  if (sizes.empty()) {
    std::fill(result.begin(), result.end(), 1);
    return result;
  }
  return view_dim == -1 ? std::optional<DimVector>(result) : std::nullopt;
}

// ---- as_strided -------------------------------------------------------------

namespace {

/// Every element that (sizes, strides, offset) can reach must lie in the storage.
void check_in_bounds(const char* op, const Tensor& self, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  TORCH_CHECK(
      sizes.size() == strides.size(), "mismatch in length of strides and shape: ", op, " got size ", sizes,
      " and stride ", strides);
  int64_t reach = offset;
  TORCH_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset, " in ", op);
  bool overflow = false;
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    TORCH_CHECK(
        sizes[i] >= 0, "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides, " in ", op);
    TORCH_CHECK(strides[i] >= 0, op, ": Negative strides are not supported at the moment, got strides: ", strides);
    empty = empty || sizes[i] == 0;
  }
  if (empty) {
    return;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t step = 0;
    overflow |= c10::mul_overflows(sizes[i] - 1, strides[i], &step);
    overflow |= c10::add_overflows(reach, step, &reach);
  }
  int64_t needed = 0;
  overflow |= c10::add_overflows(reach, int64_t{1}, &needed);
  overflow |= c10::mul_overflows(needed, static_cast<int64_t>(self.itemsize()), &needed);
  TORCH_CHECK(
      !overflow, "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides,
      ", storage offset ", offset, " in ", op);
  const auto held = static_cast<int64_t>(self.storage().nbytes());
  TORCH_CHECK(
      needed <= held || self.is_meta(), "setStorage: sizes ", sizes, ", strides ", strides, ", storage offset ", offset,
      ", and itemsize ", self.itemsize(), " requiring a storage size of ", needed,
      " are out of bounds for storage of size ", held);
}

/// In-place view operators change the geometry of `self` itself.
Tensor& set_geometry(Tensor& self, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  // Sizes may be a view of self's own: keep them apart from what is overwritten.
  const DimVector new_sizes(sizes.begin(), sizes.end());
  const DimVector new_strides(strides.begin(), strides.end());
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(new_sizes, new_strides);
  impl->set_storage_offset(offset);
  return self;
}

Tensor& take_geometry(Tensor& self, const Tensor& view) {
  return set_geometry(self, view.sizes(), view.strides(), view.storage_offset());
}

} // namespace

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  check_in_bounds("as_strided", self, size, stride, offset);
  return make_view(self, size, stride, offset);
}

Tensor& as_strided_(Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  check_in_bounds("as_strided_", self, size, stride, offset);
  return set_geometry(self, size, stride, offset);
}

// ---- view and related operators -----------------------------------------------------------

namespace {

__attribute__((flatten)) Tensor contiguous_view(const Tensor& self, IntArrayRef sizes) {
  Tensor result = shapeless_view(self);
  c10::TensorImpl* impl = result.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(sizes);
  if (const int64_t offset = self.storage_offset(); offset != 0) {
    impl->set_storage_offset(offset);
  }
  return result;
}

} // namespace

Tensor view(const Tensor& self, IntArrayRef size) {
  const int64_t numel = self.numel();
  if (C10_LIKELY(self.is_contiguous() && holds(size, numel))) {
    return contiguous_view(self, size);
  }
  const DimVector shape = infer_size(size, numel);
  if (self.is_contiguous() && (numel != 0 || self.sizes() != IntArrayRef(shape))) {
    return contiguous_view(self, shape);
  }
  const auto strides = compute_view_strides(self.sizes(), self.strides(), shape);
  TORCH_CHECK(
      strides.has_value(),
      "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
      "contiguous subspaces). Use .reshape(...) instead. Got size ",
      self.sizes(), ", stride ", self.strides(), ", asked for ", IntArrayRef(shape));
  return make_view(self, shape, *strides);
}

Tensor _reshape_alias(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  check_in_bounds("_reshape_alias", self, size, stride, self.storage_offset());
  return make_view(self, size, stride);
}

Tensor _unsafe_view(const Tensor& self, IntArrayRef size) {
  return at::native::view(self, size);
}

Tensor alias(const Tensor& self) {
  return make_view(self, self.sizes(), self.strides());
}

Tensor detach(const Tensor& self) {
  return Tensor(self.unsafeGetTensorImpl()->shallow_copy_and_detach(
      c10::VariableVersion(0), /*allow_tensor_metadata_change=*/false));
}

Tensor view_dtype(const Tensor& self, ScalarType dtype) {
  if (self.scalar_type() == dtype) {
    return at::native::alias(self);
  }
  TORCH_CHECK(
      !self.is_conj() && !self.is_neg(),
      "torch.Tensor.view is not supported for tensors with the conjugate or negative bit set when the dtype changes; "
      "call resolve_conj() or resolve_neg() first");
  const auto old_size = static_cast<int64_t>(self.itemsize());
  const auto new_size = static_cast<int64_t>(c10::elementSize(dtype));
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  int64_t offset = self.storage_offset();
  if (old_size != new_size) {
    TORCH_CHECK(
        self.dim() > 0, "self.dim() cannot be 0 to view ", self.scalar_type(), " as ", dtype,
        " (different element sizes)");
    const int64_t ratio = std::max<int64_t>(new_size / old_size, 1);
    TORCH_CHECK(
        sizes.back() % ratio == 0, "self.size(-1) must be divisible by ", ratio, " to view ", self.scalar_type(),
        " as ", dtype, " (different element sizes), but got ", sizes.back());
    TORCH_CHECK(
        self.stride(-1) == 1, "self.stride(-1) must be 1 to view ", self.scalar_type(), " as ", dtype,
        " (different element sizes), but got ", self.stride(-1));
  }
  if (new_size < old_size) {
    const int64_t ratio = old_size / new_size;
    sizes.back() *= ratio;
    for (size_t i = 0; i + 1 < strides.size(); ++i) {
      strides[i] *= ratio;
    }
    strides.back() = 1;
    offset *= ratio;
  } else if (new_size > old_size) {
    const int64_t ratio = new_size / old_size;
    TORCH_CHECK(
        offset % ratio == 0, "self.storage_offset() must be divisible by ", ratio, " to view ", self.scalar_type(),
        " as ", dtype, " (different element sizes), but got ", offset);
    for (size_t i = 0; i + 1 < strides.size(); ++i) {
      TORCH_CHECK(
          strides[i] % ratio == 0, "self.stride(", i, ") must be divisible by ", ratio, " to view ", self.scalar_type(),
          " as ", dtype, " (different element sizes), but got ", strides[i]);
      strides[i] /= ratio;
    }
    sizes.back() /= ratio;
    strides.back() = 1;
    offset /= ratio;
  }
  Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(self.storage()), self.key_set(), c10::scalarTypeToTypeMeta(dtype));
  return set_geometry(result, sizes, strides, offset);
}

// ---- permutations ------------------------------------------------------------

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t ndim = self.dim();
  dim0 = c10::maybe_wrap_dim(dim0, ndim);
  dim1 = c10::maybe_wrap_dim(dim1, ndim);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  if (dim0 != dim1) {
    std::swap(sizes[dim0], sizes[dim1]);
    std::swap(strides[dim0], strides[dim1]);
  }
  return make_view(self, sizes, strides);
}

Tensor& transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  return take_geometry(self, at::native::transpose(self, dim0, dim1));
}

Tensor t(const Tensor& self) {
  TORCH_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return at::native::transpose(self, 0, self.dim() < 2 ? 0 : 1);
}

Tensor& t_(Tensor& self) {
  TORCH_CHECK(self.dim() <= 2, "t_() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return at::native::transpose_(self, 0, self.dim() < 2 ? 0 : 1);
}

Tensor permute(const Tensor& self, IntArrayRef dims) {
  const int64_t ndim = self.dim();
  TORCH_CHECK(
      static_cast<int64_t>(dims.size()) == ndim,
      "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering "
      "of dimensions i.e. input.dim() = ",
      ndim, " is not equal to len(dims) = ", dims.size());
  DimVector sizes(ndim);
  DimVector strides(ndim);
  std::vector<bool> seen(ndim);
  for (int64_t i = 0; i < ndim; ++i) {
    const int64_t dim = c10::maybe_wrap_dim(dims[i], ndim);
    TORCH_CHECK(!seen[dim], "permute(): duplicate dims are not allowed. Got dims ", dims);
    seen[dim] = true;
    sizes[i] = self.sizes()[dim];
    strides[i] = self.strides()[dim];
  }
  return make_view(self, sizes, strides);
}

// ---- expand, squeeze, unsqueeze ------------------------------------------------

Tensor expand(const Tensor& self, IntArrayRef size, bool /*implicit*/) {
  const auto ndim = static_cast<int64_t>(size.size());
  TORCH_CHECK(
      ndim >= self.dim(), "expand(", self.toString(), "{", self.sizes(), "}, size=", size,
      "): the number of sizes provided (", ndim,
      ") must be greater or equal to the number of dimensions in the tensor (", self.dim(), ")");
  DimVector sizes(ndim);
  DimVector strides(ndim);
  const int64_t added = ndim - self.dim();
  for (int64_t i = ndim - 1; i >= 0; --i) {
    const bool fresh = i < added;
    const int64_t have = fresh ? 1 : self.sizes()[i - added];
    const int64_t want = size[i];
    if (want == -1) {
      TORCH_CHECK(
          !fresh, "The expanded size of the tensor (", want, ") isn't allowed in a leading, non-existing dimension ",
          i);
      sizes[i] = have;
      strides[i] = self.strides()[i - added];
      continue;
    }
    TORCH_CHECK(
        want == have || (have == 1 && want >= 0), "The expanded size of the tensor (", want,
        ") must match the existing size (", have, ") at non-singleton dimension ", i, ".  Target sizes: ", size,
        ".  Tensor sizes: ", self.sizes());
    sizes[i] = want;
    if (want == have && self.dim() != 0) {
      strides[i] = fresh ? (i + 1 < ndim ? sizes[i + 1] * strides[i + 1] : 1) : self.strides()[i - added];
    } else {
      strides[i] = 0;
    }
  }
  return make_view(self, sizes, strides);
}

namespace {

/// Drops the dimensions of size 1 that `drop` names.
template <class Predicate>
Tensor squeeze_where(const Tensor& self, Predicate drop) {
  DimVector sizes;
  DimVector strides;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (self.sizes()[i] != 1 || !drop(i)) {
      sizes.push_back(self.sizes()[i]);
      strides.push_back(self.strides()[i]);
    }
  }
  return make_view(self, sizes, strides);
}

std::vector<bool> dim_mask(IntArrayRef dims, int64_t ndim) {
  std::vector<bool> mask(std::max<int64_t>(ndim, 1));
  for (const int64_t dim : dims) {
    const int64_t wrapped = c10::maybe_wrap_dim(dim, ndim);
    TORCH_CHECK(!mask[wrapped], "dim ", wrapped, " appears multiple times in the list of dims");
    mask[wrapped] = true;
  }
  return mask;
}

} // namespace

Tensor squeeze(const Tensor& self) {
  return squeeze_where(self, [](int64_t) { return true; });
}

Tensor squeeze_dim(const Tensor& self, int64_t dim) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  return squeeze_where(self, [dim](int64_t i) { return i == dim; });
}

Tensor squeeze_dims(const Tensor& self, IntArrayRef dim) {
  const std::vector<bool> mask = dim_mask(dim, self.dim());
  return squeeze_where(self, [&](int64_t i) { return mask[i]; });
}

Tensor& squeeze_(Tensor& self) {
  return take_geometry(self, at::native::squeeze(self));
}

Tensor& squeeze_dim_(Tensor& self, int64_t dim) {
  return take_geometry(self, at::native::squeeze_dim(self, dim));
}

Tensor& squeeze_dims_(Tensor& self, IntArrayRef dim) {
  return take_geometry(self, at::native::squeeze_dims(self, dim));
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  dim = c10::maybe_wrap_dim(dim, self.dim() + 1);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  const int64_t stride = dim < self.dim() ? sizes[dim] * strides[dim] : 1;
  sizes.insert(sizes.begin() + dim, 1);
  strides.insert(strides.begin() + dim, stride);
  return make_view(self, sizes, strides);
}

Tensor& unsqueeze_(Tensor& self, int64_t dim) {
  return take_geometry(self, at::native::unsqueeze(self, dim));
}

// ---- parts of a dimension --------------------------------------------------------

namespace {

/// Where element `index` of a dimension begins. Tensors without elements may have sizes beyond any memory.
int64_t offset_of(const char* op, const Tensor& self, int64_t index, int64_t stride) {
  int64_t offset = 0;
  TORCH_CHECK(
      !c10::mul_overflows(index, stride, &offset) && !c10::add_overflows(offset, self.storage_offset(), &offset), op,
      ": index ", index, " is too large for stride ", stride);
  return offset;
}

} // namespace

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  TORCH_CHECK_INDEX(self.dim() != 0, "select() cannot be applied to a 0-dim tensor.");
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[dim];
  TORCH_CHECK_INDEX(
      index >= -size && index < size, "select(): index ", index, " out of range for tensor of size ", self.sizes(),
      " at dimension ", dim);
  if (index < 0) {
    index += size;
  }
  const IntArrayRef strides = self.strides();
  const int64_t offset = offset_of("select", self, index, strides[dim]);
  return make_view(self, without(self.sizes(), dim), without(strides, dim), offset);
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  TORCH_CHECK_INDEX(self.dim() != 0, "slice() cannot be applied to a 0-dim tensor.");
  dim = c10::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(step > 0, "slice step must be positive, got ", step);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  const int64_t size = sizes[dim];
  const auto wrap = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t first = wrap(start.value_or(0));
  const int64_t last = std::max(wrap(end.value_or(size)), first);
  const int64_t offset = offset_of("slice", self, first, strides[dim]);
  sizes[dim] = (last - first) / step + ((last - first) % step != 0 ? 1 : 0);
  TORCH_CHECK(
      !c10::mul_overflows(strides[dim], step, &strides[dim]) || sizes[dim] <= 1, "slice: step ", step, " is too large");
  return make_view(self, sizes, strides, offset);
}

Tensor slice_inverse(
    const Tensor& self, const Tensor& src, int64_t, std::optional<int64_t>, std::optional<int64_t>, int64_t) {
  return at::native::as_strided(self, src.sizes(), src.strides(), src.storage_offset());
}

std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  TORCH_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  const int64_t given = std::exchange(dim, c10::maybe_wrap_dim(dim, self.dim()));
  const int64_t size = self.sizes()[dim];
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  const IntArrayRef strides = self.strides();
  int64_t start = 0;
  for (const int64_t length : split_sizes) {
    TORCH_CHECK(
        length >= 0,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=", split_sizes);
    TORCH_CHECK(
        !c10::add_overflows(start, length, &start), "split_with_sizes: the sum of split_sizes=", split_sizes,
        " overflows");
  }
  TORCH_CHECK(
      start == size, "split_with_sizes expects split_sizes to sum exactly to ", size,
      " (input tensor's size at dimension ", given, "), but got split_sizes=", split_sizes);
  std::vector<Tensor> result;
  result.reserve(split_sizes.size());
  int64_t offset = self.storage_offset();
  for (const int64_t length : split_sizes) {
    sizes[dim] = length;
    result.push_back(make_view(self, sizes, strides, offset));
    offset += length * strides[dim];
  }
  return result;
}

namespace {

/// An empty list with room for `count` views. A dimension that was expanded may have more elements than any list.
std::vector<Tensor> list_of_views(const char* op, int64_t count) {
  std::vector<Tensor> views;
  TORCH_CHECK_WITH(
      OutOfMemoryError, static_cast<uint64_t>(count) <= views.max_size(), op, ": not enough memory for a list of ",
      count, " tensors");
  views.reserve(count);
  return views;
}

} // namespace

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  TORCH_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  TORCH_CHECK(split_size >= 0, "split expects split_size be non-negative, but got split_size=", split_size);
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[dim];
  TORCH_CHECK(
      split_size > 0 || size == 0, "split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
  const int64_t pieces = split_size == 0 ? 1 : std::max<int64_t>((size - 1) / split_size + (size > 0 ? 1 : 0), 1);
  std::vector<Tensor> result = list_of_views("split", pieces);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  const IntArrayRef strides = self.strides();
  int64_t offset = self.storage_offset();
  for (int64_t i = 0; i < pieces; ++i) {
    sizes[dim] = i + 1 < pieces ? split_size : size - i * split_size;
    result.push_back(make_view(self, sizes, strides, offset));
    offset += sizes[dim] * strides[dim];
  }
  return result;
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(self.dim() != 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t size = self.sizes()[dim];
  std::vector<Tensor> result = list_of_views("unbind", size);
  for (int64_t i = 0; i < size; ++i) {
    result.push_back(at::native::select(self, dim, i));
  }
  return result;
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t ndim = self.dim();
  const int64_t given1 = std::exchange(dim1, c10::maybe_wrap_dim(dim1, ndim));
  const int64_t given2 = std::exchange(dim2, c10::maybe_wrap_dim(dim2, ndim));
  TORCH_CHECK(dim1 != dim2, "diagonal dimensions cannot be identical ", given1, ", ", given2);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  // Offsets beyond either end give an empty diagonal; clamping first keeps the arithmetic in range.
  offset = std::clamp(offset, -sizes[dim1], sizes[dim2]);
  const int64_t length = std::max<int64_t>(
      offset >= 0 ? std::min(sizes[dim1], sizes[dim2] - offset) : std::min(sizes[dim1] + offset, sizes[dim2]), 0);
  int64_t start = self.storage_offset();
  if (length > 0) {
    start += offset >= 0 ? offset * strides[dim2] : -offset * strides[dim1];
  }
  int64_t stride = 0;
  (void)c10::add_overflows(strides[dim1], strides[dim2], &stride); // wraps for tensors without elements alone
  for (const int64_t dim : {std::max(dim1, dim2), std::min(dim1, dim2)}) {
    sizes.erase(sizes.begin() + dim);
    strides.erase(strides.begin() + dim);
  }
  sizes.push_back(length);
  strides.push_back(stride);
  return make_view(self, sizes, strides, start);
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int64_t ndim = self.dim();
  const int64_t dim = c10::maybe_wrap_dim(dimension, ndim);
  const int64_t extent = ndim == 0 ? 1 : self.sizes()[dim];
  TORCH_CHECK(size <= extent, "maximum size for tensor at dimension ", dim, " is ", extent, " but size is ", size);
  TORCH_CHECK(step > 0, "step is ", step, " but must be > 0");
  TORCH_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  const int64_t stride = ndim == 0 ? 1 : strides[dim];
  if (ndim != 0) {
    sizes[dim] = (extent - size) / step + 1;
    strides[dim] = sizes[dim] <= 1 && stride > INT64_MAX / step ? stride : stride * step;
  }
  sizes.push_back(size);
  strides.push_back(stride);
  return make_view(self, sizes, strides);
}

// ---- complex ------------------------------------------------------------------------

Tensor view_as_real(const Tensor& self) {
  TORCH_CHECK(self.is_complex(), "view_as_real is only supported for complex tensors, got ", self.scalar_type());
  TORCH_CHECK(
      !self.is_conj(),
      "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it "
      "as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original.");
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  for (int64_t& stride : strides) {
    stride = c10::impl::multiply_wrapping(stride, int64_t{2}); // a tensor without elements may have any
  }
  int64_t offset = 0;
  TORCH_CHECK(
      !c10::mul_overflows(self.storage_offset(), int64_t{2}, &offset),
      "view_as_real: 64 bits do not hold twice the storage offset ", self.storage_offset());
  sizes.push_back(2);
  strides.push_back(1);
  Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(self.storage()), self.key_set(),
      c10::scalarTypeToTypeMeta(c10::toRealValueType(self.scalar_type())));
  return set_geometry(result, sizes, strides, offset);
}

Tensor view_as_complex(const Tensor& self) {
  const ScalarType dtype = self.scalar_type();
  TORCH_CHECK(
      dtype == kFloat || dtype == kDouble || dtype == kHalf,
      "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: ", dtype);
  TORCH_CHECK(self.dim() != 0, "Input tensor must have one or more dimensions");
  TORCH_CHECK(self.size(-1) == 2, "Tensor must have a last dimension of size 2, got sizes ", self.sizes());
  TORCH_CHECK(self.stride(-1) == 1, "Tensor must have a last dimension with stride 1, got strides ", self.strides());
  DimVector sizes(self.sizes().begin(), self.sizes().end() - 1);
  DimVector strides(self.strides().begin(), self.strides().end() - 1);
  for (int64_t& stride : strides) {
    TORCH_CHECK(
        stride % 2 == 0, "Tensor must have a stride divisible by 2 for all but last dimension, got strides ",
        self.strides());
    stride /= 2;
  }
  TORCH_CHECK(
      self.storage_offset() % 2 == 0, "Tensor must have a storage_offset divisible by 2, got ", self.storage_offset());
  Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(self.storage()), self.key_set(),
      c10::scalarTypeToTypeMeta(c10::toComplexType(dtype)));
  return set_geometry(result, sizes, strides, self.storage_offset() / 2);
}

Tensor _conj(const Tensor& self) {
  Tensor result = at::native::alias(self);
  result._set_conj(!self.is_conj());
  return result;
}

Tensor _neg_view(const Tensor& self) {
  Tensor result = at::native::alias(self);
  result._set_neg(!self.is_neg());
  return result;
}

// ---- backward forms -------------------------------------------------------------------

Tensor select_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t index) {
  Tensor grad_input = at::zeros(input_sizes, grad_output.options());
  grad_input.select(dim, index).copy_(grad_output);
  return grad_input;
}

Tensor slice_backward(
    const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t start, int64_t end, int64_t step) {
  Tensor grad_input = at::zeros(input_sizes, grad_output.options());
  grad_input.slice(dim, start, end, step).copy_(grad_output);
  return grad_input;
}

Tensor diagonal_backward(
    const Tensor& grad_output, IntArrayRef input_sizes, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor grad_input = at::zeros(input_sizes, grad_output.options());
  grad_input.diagonal(offset, dim1, dim2).copy_(grad_output);
  return grad_input;
}

Tensor unfold_backward(const Tensor& grad_in, IntArrayRef input_sizes, int64_t dim, int64_t size, int64_t step) {
  Tensor grad_input = at::zeros(input_sizes, grad_in.options());
  if (input_sizes.empty()) {
    return grad_in.numel() == 0 ? grad_input : grad_in.sum(grad_in.scalar_type());
  }
  dim = c10::maybe_wrap_dim(dim, static_cast<int64_t>(input_sizes.size()));
  // Position k of every window lands at offset k of each step: no two windows collide within one k.
  const int64_t windows = grad_in.size(dim), length = input_sizes[dim];
  TORCH_CHECK(step > 0, "unfold_backward: step is ", step, " but must be > 0");
  TORCH_CHECK(size >= 0, "unfold_backward: size is ", size, " but must be >= 0");
  TORCH_CHECK(
      windows == 0 || (size <= length && windows - 1 <= (length - size) / step), "unfold_backward: ", windows,
      " windows of ", size, " in steps of ", step, " do not fit into ", length);
  for (int64_t k = 0; k < size && windows > 0; ++k) {
    grad_input.slice(dim, k, k + (windows - 1) * step + 1, step).add_(grad_in.select(-1, k));
  }
  return grad_input;
}

} // namespace at::native
