// Tensor parallel: modules of which each rank computes a part (Megatron-LM, arXiv 1909.08053).
#pragma once

#include <csrc/distributed/tensor/device_mesh.h>
#include <csrc/nn/Module.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace torch::distributed {

/// A Linear whose output features are cut over ranks: each has rows of the weight, takes the whole input and gives its
/// part of the last dimension. With `input_is_sequence` the input is cut along dimension 1 and gathered.
struct ColwiseParallel {
  bool input_is_sequence = false;
};

/// A Linear whose input features are cut: each rank has columns of the weight, takes a part of the last dimension and
/// gives the whole sum. With `output_is_sequence` each rank gets its part of dimension 1 of it.
struct RowwiseParallel {
  bool output_is_sequence = false;
};

/// A module that works on each place of dimension 1 alone, such as LayerNorm: each rank has some of them and all
/// parameters, whose gradients are added up.
struct SequenceParallel {};

using ParallelStyle = std::variant<ColwiseParallel, RowwiseParallel, SequenceParallel>;

/// Cuts modules by a plan of paths, such as "mlp.up", and styles, along a mesh of one dimension. All ranks have the
/// same values before. Cut parameters are parts of DTensors from then on; modules must be called as module(x).
/// Dimensions must divide by the number of ranks.
TORCH_API void parallelize_module(
    const std::shared_ptr<nn::Module>& module,
    const DeviceMesh& mesh,
    const std::vector<std::pair<std::string, ParallelStyle>>& plan);
template <class Holder, class = decltype(std::declval<Holder&>().ptr())>
void parallelize_module(
    const Holder& module, const DeviceMesh& mesh, const std::vector<std::pair<std::string, ParallelStyle>>& plan) {
  parallelize_module(std::static_pointer_cast<nn::Module>(module.ptr()), mesh, plan);
}

} // namespace torch::distributed
