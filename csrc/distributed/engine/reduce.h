// Reductions of the same elements of several ranks, in the order of the ranks.
#pragma once

#include <c10/core/ScalarType.h>
#include <csrc/distributed/c10d/Types.h>

namespace c10d::detail {

/// Throws for dtypes and reductions that do not go together, naming `what`.
TORCH_API void check_reducible(const char* what, c10::ScalarType dtype, ReduceOp::RedOpType op);

/// The reduction of `n` elements of each source, written to each destination; a destination may be one of the sources.
/// Values are combined from the first source to the last, in float32 for half and bfloat16, so that results depend on
/// neither time nor place.
TORCH_API void reduce_elements(
    c10::ScalarType dtype,
    ReduceOp::RedOpType op,
    const std::vector<const char*>& sources,
    const std::vector<char*>& destinations,
    size_t n);

} // namespace c10d::detail
