// Graphs as the JSON of an archive.
#pragma once

#include <csrc/fx/graph.h>
#include <csrc/program/json.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace torch::program {

/// Values that symbols had when the program was traced.
using SizeHints = std::map<std::string, int64_t>;

/// {"name": value, ...}
Json json_object(Json::Object members);

/// What archives hold of a tensor; `table` gets sizes that are computed for it.
Json tensor_meta(const fx::TensorInfo& info, bool requires_grad, fx::SizeTable& table, const SizeHints& hints);

/// An object of a bound class, as an argument has it.
Json object_json(const std::string& name, const std::string& class_name);

/// Writes one graph, after lower_sizes() and lower_grad_modes().
class GraphWriter {
 public:
  GraphWriter(fx::Graph& graph, const SizeHints& hints);

  /// Another name for a result, before write().
  void set_name(fx::Value value, const std::string& name);
  /// Names that are taken by others.
  void reserve(const std::string& name) {
    taken_.insert(name);
  }
  /// An input that is an object of a bound class, of this name.
  void set_object(fx::Value value, const std::string& class_name);
  /// What is known of an input beside its information.
  void set_meta(fx::Value value, Json meta);

  /// The graph, with these inputs and the arguments of its output.
  Json write(Json::Array inputs);
  /// The same with other outputs. `is_single` says that it gives its one result, not a tuple of it.
  Json write(Json::Array inputs, const std::vector<fx::Arg>& outputs, bool is_single = false);
  /// A result or constant as an argument; valid after write().
  Json argument(const fx::Arg& arg, const c10::Type* type = nullptr) const;
  const std::string& name_of(fx::Value value) const;

 private:
  /// A number that a node gives.
  struct Number {
    char kind; // 'i', 'f' or 'b'
    std::string text; // as sympy has it; empty where nothing is known
    std::optional<c10::IValue> hint;
    std::optional<fx::Dim> size;
  };
  using Key = std::pair<const fx::Node*, uint32_t>;

  std::string fresh_name(const std::string& wanted);
  void name_results(const fx::Node& node);
  void name_list(const fx::Node& node, uint32_t result);
  void describe(const fx::Node& node);
  void describe_tensor(const fx::Node& node, uint32_t result);
  void describe_number(const fx::Node& node, uint32_t result);
  Number number_of_operator(const fx::Node& node);
  Number number_of_function(const fx::Node& node);
  Number number_of(const fx::Arg& arg) const;
  Number number_of_size(fx::Dim dim) const;

  void write_node(const fx::Node& node, Json::Array& nodes);
  Json write_operator(const fx::Node& node);
  Json write_function(const fx::Node& node);
  Json::Array results_of(const fx::Node& node) const;
  Json value(fx::Value value) const;
  Json list(const std::vector<fx::Arg>& items, const c10::Type* element) const;
  Json inner_graph(const fx::Graph& graph, const std::string& name, bool is_single) const;

  fx::Graph& graph_;
  const SizeHints& hints_;
  std::set<std::string> taken_;
  std::map<Key, std::string> names_;
  std::map<Key, std::vector<std::string>> lists_; // names of elements
  std::map<Key, Number> numbers_;
  Json::Object tensor_values_, int_values_, float_values_, bool_values_;
  std::set<std::string> given_meta_;
  std::map<Key, std::string> objects_; // names of their classes
  int next_unbacked_ = 0;
};

} // namespace torch::program
