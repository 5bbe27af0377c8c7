// Which arguments of a call say more than the defaults of its schema.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace torch::jit {

/// How many of the first arguments a call must give, and how many of the schema's last parameters are out= tensors.
/// Arguments at the end that are constants equal to their defaults need not be given. With `allow_trailing_out_args`,
/// out= parameters do not count among those at the end. All inputs are needed where there are more than parameters.
TORCH_API std::pair<int64_t, int64_t> CalculateNecessaryArgs(
    const std::vector<Argument>& schema_args, at::ArrayRef<Value*> actual_inputs, bool allow_trailing_out_args);

} // namespace torch::jit
