// Graphs from the JSON of an archive.
#pragma once

#include <csrc/fx/graph.h>
#include <csrc/program/json.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace torch::program {

/// What stands for a name in the graph's JSON.
using NamedValues = std::unordered_map<std::string, fx::Arg>;

/// Reads one graph.
class GraphReader {
 public:
  /// Constants of devices become `device`, if there is one.
  explicit GraphReader(std::optional<c10::Device> device) : device_(device) {}

  /// A graph whose inputs are placeholders: those of control flow.
  std::shared_ptr<fx::Graph> read_inner(const Json& json);

  /// Appends the nodes of `json` to `graph`; `values` has the inputs, and gets all others.
  void read_nodes(const Json& json, fx::Graph& graph, NamedValues& values);
  /// The value of an argument.
  fx::Arg read_argument(const Json& json, const NamedValues& values);
  /// The sizes that the program was traced with, by symbol.
  const std::map<std::string, int64_t>& hints() const {
    return hints_;
  }
  /// Notes what the JSON knows of a tensor at the node.
  void read_info(const Json& graph_json, const std::string& name, fx::Graph& graph, fx::Value value);

 private:
  void read_node(const Json& json, const Json& graph_json, fx::Graph& graph, NamedValues& values);
  fx::Node* call_operator(const Json& json, const std::string& path, fx::Graph& graph, const NamedValues& values);
  fx::Node* call_function(
      const Json& json, const std::string& name, size_t num_results, fx::Graph& graph, const NamedValues& values);
  void call_with_effects(const Json& json, const Json& graph_json, fx::Graph& graph, NamedValues& values);
  fx::Node* call_higher_order(
      const Json& json, const std::string& name, size_t num_results, fx::Graph& graph, const NamedValues& values);
  void name_results(const Json& json, const Json& graph_json, fx::Node* node, fx::Graph& graph, NamedValues& values);
  void name_result(const Json& output, const Json& graph_json, fx::Arg value, fx::Graph& graph, NamedValues& values);

  fx::Dim read_size(const Json& expression, fx::SizeTable& sizes);

  std::optional<c10::Device> device_;
  std::map<std::string, int64_t> hints_;
};

/// The name in a TensorArgument, or in the one that is a symbol's.
std::string argument_name(const Json& argument);

} // namespace torch::program
