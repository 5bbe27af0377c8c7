// What compiled graphs take: the arguments of a call, and the tensors that the function refers to.
#pragma once

#include <csrc/fx/graph_module.h>

#include <aten/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::aot {

/// The inputs of one recording, in their order: arguments, then references.
class CallInputs {
 public:
  CallInputs(
      const fx::GraphModule& module,
      const std::vector<at::Tensor>& inputs,
      const std::vector<std::pair<std::string, at::Tensor>>& references);

  /// The recorded graph, with all of them as inputs.
  const std::shared_ptr<fx::Graph>& graph() const {
    return graph_;
  }
  /// The id that a node of graph() has in the graph that was recorded; nothing for inputs.
  std::optional<uint32_t> recorded_id(const fx::Node& node) const;
  /// As they were recorded.
  const std::vector<at::Tensor>& recorded() const {
    return recorded_;
  }
  size_t num_arguments() const {
    return num_arguments_;
  }
  /// Those of a call.
  std::vector<at::Tensor> of_call(const std::vector<at::Tensor>& arguments) const;
  /// Whether these share memory among one another as the recorded ones do.
  bool share_memory_alike(const std::vector<at::Tensor>& all) const;
  /// Whether no other of the recorded ones shares memory with one.
  bool is_alone(size_t input) const;
  /// Where all of them and all results are. Throws where they are on several devices.
  c10::Device device() const;

 private:
  size_t num_arguments_;
  std::shared_ptr<fx::Graph> graph_;
  std::vector<at::Tensor> references_;
  std::vector<at::Tensor> recorded_;
  std::vector<size_t> pattern_;
  std::vector<std::optional<uint32_t>> recorded_ids_;
};

} // namespace torch::aot
