#include <aten/native/support/expanded_targets.h>

#include <aten/Functions.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/MemoryOverlap.h>
#include <c10/core/WrapDimMinimal.h>

namespace at::native {
namespace {

/// A view that has each element of memory once: dimensions with a stride of 0 have size 1 there. Their numbers are
/// added to `shared`, if given. Written through `self` itself, an element would take part in a step several times.
Tensor without_repeats(const Tensor& self, DimVector* shared = nullptr) {
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.stride(d) == 0 && sizes[d] > 1) {
      sizes[d] = 1;
      if (shared != nullptr) {
        shared->push_back(d);
      }
    }
  }
  return self.as_strided(sizes, self.strides(), self.storage_offset());
}

} // namespace

void warn_if_index_put_target_is_expanded(const TensorBase& self) {
  if (C10_UNLIKELY(at::has_internal_overlap(self) == MemOverlap::Yes)) {
    TORCH_WARN(
        "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
        "operation. "
        "This also applies to advanced indexing e.g. tensor[indices] = tensor");
  }
}

Tensor& masked_fill_expanded_(Tensor& self, const Tensor& mask, const Scalar& value) {
  TORCH_CHECK(
      at::is_expandable_to(mask.sizes(), self.sizes()), "output with shape ", self.sizes(),
      " doesn't match the broadcast shape ", at::infer_size_dimvector(self.sizes(), mask.sizes()));
  TORCH_WARN(
      "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
      "operation. "
      "This also applies to advanced indexing e.g. tensor[mask] = scalar");
  // Row by row, a later row would write back what it read before an earlier one was filled.
  DimVector shared;
  Tensor once = without_repeats(self, &shared);
  once.masked_fill_(mask.expand(self.sizes()).any(IntArrayRef(shared), /*keepdim=*/true), value);
  return self;
}

Tensor& index_fill_expanded_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  TORCH_WARN(
      "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
      "operation. "
      "This also applies to advanced indexing e.g. tensor[mask] = scalar");
  dim = c10::maybe_wrap_dim(dim, self.dim());
  Tensor named = at::zeros({self.size(dim)}, index.options().dtype(kBool)).index_fill_(0, index, true);
  Tensor once = without_repeats(self);
  if (once.size(dim) != self.size(dim)) {
    named = named.any(0, /*keepdim=*/true);
  }
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  sizes[dim] = named.size(0);
  once.masked_fill_(named.view(sizes), value);
  return self;
}

Tensor& threshold_expanded_(Tensor& self, const Scalar& threshold, const Scalar& value) {
  Tensor once = without_repeats(self);
  at::threshold_(once, threshold, value);
  return self;
}

Tensor& conj_physical_expanded_(Tensor& self) {
  if (self.is_complex()) {
    at::assert_no_internal_overlap(self);
  }
  return self;
}

} // namespace at::native
