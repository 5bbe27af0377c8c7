// Indexing operators written with other operators.
#include <aten/ExpandUtils.h>
#include <aten/Functions.h>
#include <aten/core/List.h>
#include <aten/core/ivalue.h>
#include <c10/core/WrapDimMinimal.h>

namespace at::native {

Tensor& index_put_(
    Tensor& self, const c10::List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate) {
  return at::_index_put_impl_(self, indices, values, accumulate, /*unsafe=*/false);
}

Tensor index_put(
    const Tensor& self, const c10::List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate) {
  return self.clone(at::MemoryFormat::Preserve).index_put_(indices, values, accumulate);
}

Tensor& index_fill_tensor_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  TORCH_CHECK(
      value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
      " dimension(s).");
  return self.index_fill_(dim, index, value.item());
}

Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  TORCH_CHECK(
      value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
      " dimension(s).");
  return self.index_fill(dim, index, value.item());
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const auto [to, keep] = at::expand_outplace(self, mask);
  return to->clone(at::MemoryFormat::Contiguous).masked_scatter_(*keep, source);
}

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  return self.dim() == 0 ? self.unsqueeze(0).nonzero().unbind(1) : self.nonzero().unbind(1);
}

Tensor argwhere(const Tensor& self) {
  return self.nonzero();
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> opt_dim) {
  TORCH_CHECK(
      indices.scalar_type() == kLong, "torch.take_along_dim(): dtype of indices should be Long but got ", indices.scalar_type());
  if (!opt_dim) {
    return self.reshape(-1).gather(0, indices.reshape(-1));
  }
  TORCH_CHECK(
      self.dim() == indices.dim(), "torch.take_along_dim(): input and indices should have the same number of dimensions, but got ",
      self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t dim = c10::maybe_wrap_dim(*opt_dim, self.dim());
  c10::DimVector self_sizes(self.sizes().begin(), self.sizes().end());
  c10::DimVector index_sizes(indices.sizes().begin(), indices.sizes().end());
  self_sizes[dim] = indices.size(dim);
  index_sizes[dim] = self.size(dim);
  const c10::DimVector index_target = at::infer_size_dimvector(self_sizes, indices.sizes());
  const c10::DimVector self_target = at::infer_size_dimvector(index_sizes, self.sizes());
  return self.expand(self_target).gather(dim, indices.expand(index_target));
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  return self.clone(at::MemoryFormat::Preserve).put_(index, source, accumulate);
}

} // namespace at::native
