// A graph made ready to be run: where values lie, and when they are let go.
#pragma once

#include <csrc/fx/coerce.h>
#include <csrc/fx/graph.h>

#include <map>
#include <memory>
#include <vector>

namespace torch::fx {

/// Of one state of a graph: made again when the graph has changed.
struct Plan {
  /// How an argument goes to an operator.
  struct Load {
    Conversion conversion = Conversion::None;
    Conversion element = Conversion::None;
    c10::TypePtr list_type; // of lists that are made when the graph runs
  };
  struct Step {
    const Node* node;
    std::vector<Load> loads; // of operators
    std::vector<uint32_t> last_uses; // slots that nothing reads afterwards
  };

  const Graph* graph;
  uint64_t version;
  std::vector<Step> steps;
  std::vector<uint32_t> slots; // of the first result, by the node's id
  uint32_t num_slots = 0;
  uint32_t num_inputs = 0;
  std::map<const Graph*, std::shared_ptr<const Plan>> inner; // of graphs among the arguments

  static std::shared_ptr<const Plan> make(const Graph& graph);
  /// Whether no graph has changed since.
  bool is_current() const;
};

} // namespace torch::fx
