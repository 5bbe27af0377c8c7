// Tensors that get a batch dimension inside of vmap, and lose it.
#include <aten/core/Tensor.h>
#include <aten/functorch/nesting.h>

namespace at::native {

Tensor _add_batch_dim(const Tensor& self, int64_t batch_dim, int64_t level) {
  return functorch::_add_batch_dim(self, batch_dim, level);
}

Tensor _remove_batch_dim(const Tensor& self, int64_t level, int64_t batch_size, int64_t out_dim) {
  return functorch::_remove_batch_dim(self, level, batch_size, out_dim);
}

} // namespace at::native
