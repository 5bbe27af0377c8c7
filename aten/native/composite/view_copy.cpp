// Copies of views that are more than a copy of the view, and tensors with a view of them replaced (*_scatter).
#include <aten/native/support/copies.h>
#include <aten/native/support/view_support.h>

#include <aten/Functions.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/MemoryOverlap.h>

namespace at::native {

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  if (self.layout() == kStrided) {
    TORCH_CHECK(
        self.dim() == 0 || dim < self.dim(),
        "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error message "
        "be improved?  If so, please report an enhancement request to PyTorch.) narrow_copy got dim ",
        dim, " of a tensor of ", self.dim(), " dimensions");
    return dense_copy(self.narrow(dim, start, length));
  }
  TORCH_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  TORCH_CHECK(length >= 0, "narrow(): length must be non-negative.");
  const int64_t size = self.size(dim);
  TORCH_CHECK_INDEX(
      start >= -size && start <= size, "start out of range (expected to be in range of [", -size, ", ", size,
      "], but got ", start, ")");
  start += start < 0 ? size : 0;
  TORCH_CHECK(
      start <= size - length, "start (", start, ") + length (", length, ") exceeds dimension size (", size, ").");
  return self.index_select(dim, at::arange(start, start + length, c10::TensorOptions(kLong)));
}

Tensor view_copy_dtype(const Tensor& self, ScalarType dtype) {
  // Bytes that are no bool stay what they are.
  return dense_copy(self.view(dtype == kBool ? kByte : dtype)).view(dtype);
}

Tensor _reshape_copy(const Tensor& self, IntArrayRef size) {
  const c10::DimVector shape = infer_size(size, self.numel());
  return at::_unsafe_view(dense_copy(self), shape);
}

// Unlike view, it takes any strides: the result is a copy all the same.
Tensor view_copy(const Tensor& self, IntArrayRef size) {
  return at::_reshape_copy(self, size);
}

// ---- a view replaced -------------------------------------------------------------------

namespace {

/// A copy in the same geometry, offset and the gaps of its memory included: what as_strided() sees of it is what it
/// sees of `self`. Elsewhere a copy without gaps will do.
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
    const Tensor& self,
    const Tensor& src,
    int64_t dim,
    std::optional<int64_t> start,
    std::optional<int64_t> end,
    int64_t step) {
  const Tensor result = self.clone();
  return replace(result, result.slice(dim, start, end, step), src);
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  const Tensor result = self.clone();
  return replace(result, result.diagonal(offset, dim1, dim2), src);
}

Tensor as_strided_scatter(
    const Tensor& self,
    const Tensor& src,
    IntArrayRef size,
    IntArrayRef stride,
    std::optional<int64_t> storage_offset) {
  const Tensor result = clone_memory(self);
  return replace(result, result.as_strided(size, stride, storage_offset), src);
}

} // namespace at::native
