// Views without their aliasing: the *_copy operators, and tensors with a view of them replaced (*_scatter).
#include <aten/native/support/view_support.h>

#include <aten/Functions.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/MemoryOverlap.h>

#include <algorithm>

namespace at::native {
namespace {

Tensor dense(const Tensor& view) {
  return view.clone(at::MemoryFormat::Contiguous);
}

std::vector<Tensor> dense(std::vector<Tensor> views) {
  std::transform(views.begin(), views.end(), views.begin(), [](const Tensor& v) { return v.clone(at::MemoryFormat::Contiguous); });
  return views;
}

} // namespace

Tensor alias_copy(const Tensor& self) {
  return dense(at::alias(self));
}
Tensor as_strided_copy(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  return dense(self.as_strided(size, stride, storage_offset));
}
Tensor detach_copy(const Tensor& self) {
  return dense(self.detach());
}
Tensor diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return dense(self.diagonal(offset, dim1, dim2));
}
Tensor expand_copy(const Tensor& self, IntArrayRef size, bool implicit) {
  return dense(self.expand(size, implicit));
}
Tensor lift_fresh_copy(const Tensor& self) {
  return dense(at::lift_fresh(self));
}
Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  if (self.layout() == kStrided) {
    TORCH_CHECK(
        self.dim() == 0 || dim < self.dim(),
        "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.) narrow_copy got dim ", dim,
        " of a tensor of ", self.dim(), " dimensions");
    return dense(self.narrow(dim, start, length));
  }
  TORCH_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  TORCH_CHECK(length >= 0, "narrow(): length must be non-negative.");
  const int64_t size = self.size(dim);
  TORCH_CHECK_INDEX(
      start >= -size && start <= size, "start out of range (expected to be in range of [", -size, ", ", size, "], but got ", start, ")");
  start += start < 0 ? size : 0;
  TORCH_CHECK(
      start <= size - length, "start (", start, ") + length (", length, ") exceeds dimension size (", size, ").");
  return self.index_select(dim, at::arange(start, start + length, c10::TensorOptions(kLong)));
}
Tensor permute_copy(const Tensor& self, IntArrayRef dims) {
  return dense(self.permute(dims));
}
Tensor select_copy(const Tensor& self, int64_t dim, int64_t index) {
  return dense(self.select(dim, index));
}
Tensor slice_copy(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  return dense(self.slice(dim, start, end, step));
}
Tensor squeeze_copy(const Tensor& self) {
  return dense(self.squeeze());
}
Tensor squeeze_copy_dim(const Tensor& self, int64_t dim) {
  return dense(self.squeeze(dim));
}
Tensor squeeze_copy_dims(const Tensor& self, IntArrayRef dim) {
  return dense(self.squeeze(dim));
}
Tensor t_copy(const Tensor& self) {
  return dense(self.t());
}
Tensor transpose_copy(const Tensor& self, int64_t dim0, int64_t dim1) {
  return dense(self.transpose(dim0, dim1));
}
Tensor unfold_copy(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return dense(self.unfold(dimension, size, step));
}
Tensor unsqueeze_copy(const Tensor& self, int64_t dim) {
  return dense(self.unsqueeze(dim));
}
Tensor view_copy_dtype(const Tensor& self, ScalarType dtype) {
  // Bytes that are no bool stay what they are.
  return dense(self.view(dtype == kBool ? kByte : dtype)).view(dtype);
}
Tensor view_as_real_copy(const Tensor& self) {
  return dense(at::view_as_real(self));
}
Tensor view_as_complex_copy(const Tensor& self) {
  return dense(at::view_as_complex(self));
}
Tensor _conj_copy(const Tensor& self) {
  return dense(self._conj());
}
Tensor _neg_view_copy(const Tensor& self) {
  return dense(self._neg_view());
}
Tensor _reshape_alias_copy(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  return dense(self._reshape_alias(size, stride));
}

Tensor _reshape_copy(const Tensor& self, IntArrayRef size) {
  const c10::DimVector shape = infer_size(size, self.numel());
  return at::_unsafe_view(dense(self), shape);
}

// Unlike view, it takes any strides: the result is a copy all the same.
Tensor view_copy(const Tensor& self, IntArrayRef size) {
  return at::_reshape_copy(self, size);
}

std::vector<Tensor> split_copy(const Tensor& self, int64_t split_size, int64_t dim) {
  return dense(self.split(split_size, dim));
}
std::vector<Tensor> split_with_sizes_copy(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return dense(self.split_with_sizes(split_sizes, dim));
}
std::vector<Tensor> unbind_copy(const Tensor& self, int64_t dim) {
  return dense(self.unbind(dim));
}

Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking) {
  return self.clone().copy_(src, non_blocking);
}

// ---- a view replaced -------------------------------------------------------------------

namespace {

/// A copy in the same geometry, offset and the gaps of its memory included: what as_strided() sees of it is what it sees of
/// `self`. Elsewhere a copy without gaps will do.
Tensor clone_memory(const Tensor& self) {
  if (at::has_internal_overlap(self) == at::MemOverlap::Yes) {
    return self.clone();
  }
  if (self.numel() == 0) {
    return at::empty_strided(self.sizes(), self.strides(), self.options());
  }
  int64_t reach = self.storage_offset();
  for (int64_t d = 0; d < self.dim(); ++d) {
    reach += (self.size(d) - 1) * self.stride(d);
  }
  const Tensor memory = self.as_strided({reach + 1}, {1}, 0).clone(at::MemoryFormat::Contiguous);
  return make_view(memory, self.sizes(), self.strides(), self.storage_offset());
}

Tensor replace(const Tensor& result, const Tensor& slice, const Tensor& src) {
  TORCH_CHECK(
      slice.sizes() == src.sizes(), "expected src to have a size equal to the slice of self. src size = ", src.sizes(),
      ", slice size = ", slice.sizes());
  slice.copy_(src);
  return result;
}

} // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  const Tensor result = self.clone();
  return replace(result, result.select(dim, index), src);
}

Tensor slice_scatter(
    const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  const Tensor result = self.clone();
  return replace(result, result.slice(dim, start, end, step), src);
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  const Tensor result = self.clone();
  return replace(result, result.diagonal(offset, dim1, dim2), src);
}

Tensor as_strided_scatter(
    const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const Tensor result = clone_memory(self);
  return replace(result, result.as_strided(size, stride, storage_offset), src);
}

} // namespace at::native
