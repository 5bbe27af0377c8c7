#include <aten/shape/factory.h>

namespace at::shape {

TensorSpec triangular(const char* op, const TensorBase& self, int64_t /*diagonal*/) {
  TORCH_CHECK(
      self.dim() >= 2 || self.numel() == 0, op, ": input tensor must have at least 2 dimensions, got sizes ", self.sizes());
  return TensorSpec::like(self, self.sizes());
}

} // namespace at::shape
