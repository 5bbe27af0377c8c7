// Launches of the kernels that change whole lists of tensors.
#pragma once

#include <aten/native/support/foreach_function.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace at::native::cuda {

/// Floating dtypes. As few launches as their arguments have room for.
void launch_foreach(
    ForeachFunction function, c10::ScalarType dtype, const ForeachPart* parts, std::size_t count, cudaStream_t stream);

/// The first list in another dtype: from float to half or bfloat16, or back.
void launch_foreach_cast(
    c10::ScalarType from, c10::ScalarType to, const ForeachPart* parts, std::size_t count, cudaStream_t stream);

/// Blocks that share the norm of a tensor.
std::int64_t foreach_norm_chunks(std::int64_t numel);

/// Norms of tensors with elements. `sums` has room for the chunks of all of them, in float, or double for tensors of
/// double; they are combined in their order.
void launch_foreach_norm(
    ForeachNorm norm,
    c10::ScalarType dtype,
    const ForeachPart* parts,
    std::size_t count,
    void* sums,
    cudaStream_t stream);

} // namespace at::native::cuda
