// Arguments of fully_shard.
#pragma once

#include <csrc/arg.h>
#include <csrc/distributed/tensor/device_mesh.h>

#include <optional>
#include <vector>

namespace torch::distributed::fsdp {

/// In which dtypes a group works; empty: that of its parameters.
struct MixedPrecisionPolicy {
  /// Of the gathered parameters, and so of the computation.
  TORCH_ARG(std::optional<c10::ScalarType>, param_dtype);
  /// Of the sums of gradients; by default that of the gathered parameters.
  TORCH_ARG(std::optional<c10::ScalarType>, reduce_dtype);
  /// Of the module's results.
  TORCH_ARG(std::optional<c10::ScalarType>, output_dtype);
  /// Whether arguments of forward become param_dtype.
  TORCH_ARG(bool, cast_forward_inputs) = true;
};

/// Shards, their gradients and so the optimizer's state stay in the memory of the CPU; whole parameters and the sums of
/// gradients are on the mesh's device while they are needed.
struct CPUOffloadPolicy {
  /// Whether shards lie in pinned memory, from which copies to an accelerator need not be waited for.
  TORCH_ARG(bool, pin_memory) = true;
};

/// Arguments of fully_shard.
struct FullyShardOptions {
  /// Of one dimension: shards over its ranks. Of two: copies along the first, shards along the second. By default all
  /// processes.
  TORCH_ARG(std::optional<DeviceMesh>, mesh);
  /// Whether whole parameters are let go after forward and gathered again for backward. By default all but the root's.
  TORCH_ARG(std::optional<bool>, reshard_after_forward);
  TORCH_ARG(MixedPrecisionPolicy, mp_policy);
  /// By default shards stay on the device of the parameters.
  TORCH_ARG(std::optional<CPUOffloadPolicy>, offload_policy);
  /// Parameters that stay as they are.
  TORCH_ARG(std::vector<at::Tensor>, ignored_params);
};

} // namespace torch::distributed::fsdp
