// Memory for time: a part of the forward pass that keeps its inputs only and is computed again in the backward pass.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace torch::utils {

struct CheckpointOptions {
  /// False: what operators in the function would keep is computed again when the first of it is needed, within the
  /// caller's backward pass. Works with everything autograd does: grad(), chosen inputs, higher derivatives, nesting.
  /// True: the function is one node, which records it anew and runs a backward pass of its own. Then only arguments
  /// that are inputs of `checkpoint` get gradients, at least one must require grad, and grad() is refused.
  bool use_reentrant = false;
  /// Whether the function draws the same random numbers the second time, on the CPU and the devices of the inputs.
  bool preserve_rng_state = true;
  /// Whether the second computation ends as soon as it has made all that is needed. Not re-entrant form only.
  bool early_stop = true;
  /// Whether to check that the second computation makes tensors of the same shapes, dtypes and devices. Not re-entrant
  /// form only.
  bool determinism_check = true;
};

using CheckpointFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;
using CheckpointFunctionOfTensor = std::function<at::Tensor(const at::Tensor&)>;

/// `function(inputs)`, whose intermediate values are not kept for the backward pass but computed again in it.
/// `function` runs a second time then, with the dispatch keys, autocast and random numbers of the first: it must
/// compute the same, and what it refers to must live until then. Errors in it reach the caller of backward. Throws
/// c10::Error in backward where the second computation differs.
TORCH_API std::vector<at::Tensor> checkpoint(
    CheckpointFunction function, const std::vector<at::Tensor>& inputs, const CheckpointOptions& options = {});
TORCH_API at::Tensor checkpoint(
    CheckpointFunctionOfTensor function, const at::Tensor& input, const CheckpointOptions& options = {});

/// Applies `functions` in turn, cut into `segments` parts of the same number of functions, each of which but the last
/// is a checkpoint. Throws unless 1 <= segments <= functions.size().
TORCH_API at::Tensor checkpoint_sequential(
    const std::vector<CheckpointFunctionOfTensor>& functions,
    int64_t segments,
    const at::Tensor& input,
    const CheckpointOptions& options = {});

} // namespace torch::utils
