// Shape functions of matrix-shaped factories.
#include <aten/core/TensorSpec.h>

namespace at::shape {

/// tril and triu: any batch of matrices; the result has self's shape.
TensorSpec triangular(const char* /*op*/, const TensorBase& self, int64_t /*diagonal*/) {
  if (self.numel() != 0) {
    self.size(-2); // refuses a vector: it has no such dimension
  }
  return TensorSpec::like(self, self.sizes());
}

} // namespace at::shape
