// Chunks of several tensors, chunk by chunk.
#pragma once

#include <aten/core/Tensor.h>

namespace torch::distributed::fsdp {

/// at::_chunk_cat_out for tensors of several dtypes, which become that of `out`: each tensor is cut into `num_chunks`
/// along `dim`, the last of them filled up with zeros; row i of `out` has the i-th chunk of each. `out` is resized.
TORCH_API void chunk_cat_mixed_dtype(at::TensorList tensors, int64_t dim, int64_t num_chunks, at::Tensor& out);

} // namespace torch::distributed::fsdp
