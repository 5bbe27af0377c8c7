// What lowers a graph, node by node. Inside of csrc/compile alone.
#pragma once

#include <csrc/compile/group_builder.h>
#include <csrc/compile/lower.h>

#include <c10/util/Exception.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::fused {

/// What stands for a result of a node.
using Known = std::variant<std::monostate, View, uint32_t, std::vector<View>>;

/// Whether the result of a node is a dense CPU tensor that loops can give, and in which order of dimensions.
struct Target {
  c10::ScalarType dtype;
  std::vector<int64_t> sizes, strides;
  std::vector<size_t> order;
};

/// Nothing where it is none.
std::optional<Target> target_of(const fx::Node& node, uint32_t result = 0);
/// Sizes or strides that are numbers; throws where one is a symbol.
std::vector<int64_t> numbers(const std::vector<fx::Dim>& dims, const fx::Node& node);
/// Whether loops are made of elements of this dtype.
bool is_lowered_dtype(c10::ScalarType dtype);

/// Goes through a graph once.
class Lowering {
 public:
  Lowering(const std::shared_ptr<const fx::Graph>& graph, const std::vector<bool>& is_alone)
      : graph_(*graph), is_alone_(is_alone), builder_(program_) {
    program_.graph = graph;
    known_.resize(graph->num_ids());
  }

  Program run(bool saves_memory);

 private:
  void add_input(const fx::Node& node);
  void add_node(const fx::Node& node);
  void add_function(const fx::Node& node);
  void add_outputs();
  Output output_of(const fx::Arg& arg);
  Output copy_of(const View& view, const fx::Node& node, uint32_t result);

  bool add_view(const fx::Node& node);
  bool add_constant(const fx::Node& node);
  bool add_copy(const fx::Node& node);
  bool add_pointwise(const fx::Node& node);
  bool add_dropout_backward(const fx::Node& node);
  bool add_rows(const fx::Node& node);
  bool may_be_written(const fx::Arg& arg) const;
  void add_call(const fx::Node& node);
  void add_call_on_copies(const fx::Node& node);
  Known given_in_slot(const fx::Node& node, uint32_t result, uint32_t slot, std::vector<uint32_t>& buffers);

  const Known& known(fx::Value value) const {
    return known_[value.node->id()].at(value.result);
  }
  const View* view_of(const fx::Arg& arg) const {
    return arg.is_value() ? std::get_if<View>(&known(arg.value())) : nullptr;
  }
  const Buffer& buffer_of(const View& view) const {
    return program_.buffers[view.buffer];
  }
  uint32_t new_slots(uint32_t count) {
    return std::exchange(program_.num_slots, program_.num_slots + count);
  }
  View whole(uint32_t buffer) const {
    return {buffer, {program_.buffers[buffer].sizes, program_.buffers[buffer].strides, 0}};
  }
  CallArg call_arg(const fx::Arg& arg, const c10::TypePtr& type) const;
  Call call_of(const fx::Node& node, uint32_t first_slot) const;
  uint32_t result_buffer(const fx::Node& node, const Target& target, uint32_t slot, uint32_t result = 0);
  Operand operand_of(const View& view, const Target& target, c10::ScalarType dtype) const;
  std::optional<uint32_t> turned_input(const View& view, const Target& target);
  std::vector<Call> strided_copy(const View& view, const Layout& like, const std::string& name, uint32_t slot);

  const fx::Graph& graph_;
  const std::vector<bool>& is_alone_; // by input
  Program program_;
  GroupBuilder builder_;
  std::vector<std::vector<Known>> known_; // by node, by result
  std::vector<bool> is_returned_; // by buffer
  std::vector<std::pair<View, uint32_t>> turned_; // inputs and their copies
  bool has_outputs_ = false;
};

} // namespace torch::fused
