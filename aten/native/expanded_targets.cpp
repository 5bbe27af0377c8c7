#include <aten/native/expanded_targets.h>

#include <aten/ExpandUtils.h>
#include <aten/Functions.h>
#include <aten/MemoryOverlap.h>

namespace at::native {

void warn_if_index_put_target_is_expanded(const TensorBase& self) {
  if (C10_UNLIKELY(at::has_internal_overlap(self) == MemOverlap::Yes)) {
    TORCH_WARN(
        "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
        "This also applies to advanced indexing e.g. tensor[indices] = tensor");
  }
}

Tensor& masked_fill_expanded_(Tensor& self, const Tensor& mask, const Scalar& value) {
  TORCH_CHECK(
      at::is_expandable_to(mask.sizes(), self.sizes()), "output with shape ", self.sizes(),
      " doesn't match the broadcast shape ", at::infer_size_dimvector(self.sizes(), mask.sizes()));
  TORCH_WARN(
      "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
      "This also applies to advanced indexing e.g. tensor[mask] = scalar");
  // Each element of memory once: row by row, a later row would write back what it read before an earlier one was filled.
  DimVector sizes(self.sizes().begin(), self.sizes().end()), shared;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.stride(d) == 0 && sizes[d] > 1) {
      sizes[d] = 1;
      shared.push_back(d);
    }
  }
  Tensor once = self.as_strided(sizes, self.strides(), self.storage_offset());
  once.masked_fill_(mask.expand(self.sizes()).any(IntArrayRef(shared), /*keepdim=*/true), value);
  return self;
}

} // namespace at::native
