// What embedding_renorm_ asks of its arguments, on all backends.
#pragma once

#include <aten/core/Tensor.h>

namespace at::native {

/// A table of two dimensions, indices of int32 or int64.
TORCH_API void check_embedding_renorm(const Tensor& self, const Tensor& indices);

} // namespace at::native
