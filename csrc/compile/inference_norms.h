// Batch normalization by the statistics of the batch, see Note [Graphs of inference].
#pragma once

#include <csrc/fx/node.h>

namespace torch::fused {

/// Whether a node normalizes floats or doubles on the CPU by their own statistics, all its tensors being of one dtype.
bool is_norm_by_batch(const fx::Node& node);
/// The same of its backward pass.
bool is_norm_by_batch_backward(const fx::Node& node);

} // namespace torch::fused
