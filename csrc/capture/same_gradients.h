// Whether autograd sees in a graph what it saw in the code.
#pragma once

#include <csrc/fx/graph_module.h>

#include <aten/core/Tensor.h>

#include <autograd/edge.h>
#include <csrc/functionalize/meta_call.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace torch::capture {

/// What a tensor was for autograd before the code ran, which may change it.
struct HistoryBefore {
  functionalize::History history = functionalize::History::None;
  autograd::Edge edge; // holds the accumulator of a leaf, else a new one is made each time

  static HistoryBefore of(const at::Tensor& tensor);
};

/// Runs the graph on meta tensors with such histories, and compares the nodes that autograd made with those of
/// `results` and of inputs that were written to. Gives what differs; empty if nothing does. `attributes` are by path.
std::string difference_of_gradients(
    const fx::GraphModule& module,
    const std::vector<at::Tensor>& inputs,
    const std::vector<HistoryBefore>& before,
    const std::unordered_map<std::string, HistoryBefore>& attributes,
    const std::vector<at::Tensor>& results);

} // namespace torch::capture
