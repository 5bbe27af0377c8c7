// Graphs in which nothing is written to.
#pragma once

#include <csrc/functionalize/views.h>
#include <csrc/fx/graph.h>

#include <aten/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::functionalize {

// Note [Functionalization]
// A graph as it was recorded writes to tensors, and other tensors share their memory. The pass walks it once and keeps,
// of each tensor, which memory it is in and by which views it comes from the tensor that the memory was made with (its
// root). An operator that writes becomes the one that gives a new tensor; that new value is carried back through the
// views to a new value of the root (select becomes select_scatter), and each view is made again from it when it is
// next read. What shares memory is known from schemas, and from tensors without data on which each call is made: a
// result that lies in the memory of an argument is a view of it, whatever its schema says.
//
// Values are those of the code, bit for bit, and so are strides: a root whose new value came out with other strides is
// copied into the old ones. Operators that draw random numbers stay in their order.
//
// Results of the graph that come out are roots alone, each once. What the code returned is then made of them by views:
// those of an argument are views of that argument, as in the code.

/// How a result is made: by views, one after the other, of an input, of a result of the functional graph, or of nothing
/// (then it is undefined).
struct ResultSpec {
  enum class Of : uint8_t { Nothing, Input, Root };
  Of of = Of::Nothing;
  size_t index = 0;
  std::vector<ViewStep> steps;
};

/// A graph made functional.
struct Functional {
  /// Gives the roots, and then the values that written inputs are to hold.
  std::shared_ptr<fx::Graph> graph;
  size_t num_roots = 0;
  /// Inputs that are written to, in order.
  std::vector<size_t> written;
  /// For each result of the graph that came in.
  std::vector<ResultSpec> results;
  /// For each root: the first value of the graph that came in which is this tensor.
  std::vector<fx::Value> root_sources;
  /// By id of a node of `graph`: the node that it was made for; null for inputs.
  std::vector<const fx::Node*> origins;

  const fx::Arg& root(size_t index) const {
    return graph->output_node()->arg(index);
  }
  const fx::Arg& written_value(size_t index) const {
    return graph->output_node()->arg(num_roots + index);
  }
};

/// Makes a graph functional; it takes all tensors as inputs (see lift_attributes()). `inputs` are tensors without data
/// like those of a call, undefined ones included, which share memory where those do; `device` is where all tensors of
/// the call are. `grad_mode`: whether gradients are recorded when it begins. Throws c10::Error, saying why, where that
/// cannot be: then the graph must run as it is.
TORCH_API Functional
functionalize(const fx::Graph& graph, const std::vector<at::Tensor>& inputs, c10::Device device, bool grad_mode);

/// A copy in which attributes are inputs behind the others; `paths` gets their paths, and `ids` by id of a node of the
/// copy the id of the node that it is a copy of, nothing for inputs.
TORCH_API std::shared_ptr<fx::Graph> lift_attributes(
    const fx::Graph& graph, std::vector<std::string>& paths, std::vector<std::optional<uint32_t>>* ids = nullptr);

/// Puts `aten::copy_` of what written inputs are to hold at the end, for those inputs that `write` says, and takes
/// these values from the results. Gives the inputs that were written so.
TORCH_API std::vector<size_t> write_inputs_in_graph(Functional& functional, const std::vector<bool>& write);

} // namespace torch::functionalize
