// What the operators _c10d_functional::* share with the functions of the same names.
#pragma once

#include <csrc/distributed/c10d/Types.h>

namespace c10d::detail {

/// "sum" and so on. Throws for others, and says what there is.
ReduceOp reduction_named(const std::string& name);
/// Memory for the results.
at::Tensor new_all_gathered(const at::Tensor& input, int64_t group_size);
at::Tensor new_reduce_scattered(const at::Tensor& input, int64_t group_size);

} // namespace c10d::detail
