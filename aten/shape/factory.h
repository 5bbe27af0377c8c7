// Shape functions of matrix-shaped factories.
#pragma once

#include <aten/core/TensorSpec.h>

namespace at::shape {

/// tril and triu: any batch of matrices; the result has self's shape.
TensorSpec triangular(const char* op, const TensorBase& self, int64_t diagonal);

} // namespace at::shape
