// Whether autograd sees in a graph what it saw in the code.
#pragma once

#include <csrc/fx/graph_module.h>

#include <aten/core/Tensor.h>

#include <string>
#include <vector>

namespace torch::capture {

/// Runs the graph on meta tensors that require grad where `inputs` do, and compares the nodes that autograd made with
/// those of `results`. Gives what differs; empty if nothing does.
std::string difference_of_gradients(
    const fx::GraphModule& module, const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& results);

} // namespace torch::capture
