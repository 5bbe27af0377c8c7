// A graph with the tensors that it refers to.
#pragma once

#include <csrc/fx/graph.h>

#include <csrc/nn/Module.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::fx {

struct Plan;

/// A module whose forward() is a graph. Attributes go by the path that get_attr nodes name; parameters and buffers
/// among them are those of the module tree, so that optimizers, train(), to() and state_dict() find them.
class TORCH_API GraphModule : public nn::Module {
 public:
  explicit GraphModule(std::shared_ptr<Graph> graph, std::string name = "GraphModule");
  ~GraphModule() override;

  Graph& graph() {
    return *graph_;
  }
  const Graph& graph() const {
    return *graph_;
  }
  /// Another graph with the same attributes.
  void set_graph(std::shared_ptr<Graph> graph);

  /// Adds a parameter (buffer) at a path such as "layer.0.weight". Throws when the path is taken.
  void add_parameter(const std::string& path, at::Tensor tensor);
  void add_buffer(const std::string& path, at::Tensor tensor);
  /// Sets a value that is not part of the state. Throws when a parameter or buffer has the path.
  void set_attr(const std::string& path, c10::IValue value);
  /// Throws if there is none.
  const c10::IValue& attr(const std::string& path) const;
  bool has_attr(const std::string& path) const;
  /// Whether it is a parameter or buffer, which training or loading may change.
  bool is_state(const std::string& path) const;
  /// Takes away attributes that no node of the graph names. Gives whether there were some.
  bool delete_unused_attrs();

  /// Runs the graph. Several threads may do so at once while nobody changes the graph.
  std::vector<c10::IValue> forward(std::vector<c10::IValue> inputs) const;
  /// Of a graph with one result, which is a tensor.
  at::Tensor operator()(const std::vector<at::Tensor>& inputs) const;
  /// The graph made ready to be run.
  std::shared_ptr<const Plan> plan() const;

 private:
  nn::Module& owner_of(const std::string& path, std::string& name);

  struct Attribute {
    c10::IValue value;
    bool is_state;
  };
  std::shared_ptr<Graph> graph_;
  std::unordered_map<std::string, Attribute> attributes_;
  mutable std::mutex plan_mutex_;
  mutable std::shared_ptr<const Plan> plan_;
};

} // namespace torch::fx
