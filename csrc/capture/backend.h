// Backends: what runs the graphs of compiled functions, by name.
#pragma once

#include <csrc/fx/graph.h>

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace torch::capture {

// Note [Functional graphs]
// What a backend gets is a graph of operators that write to nothing:
//
// - Inputs are placeholders, all of them tensors; there is no get_attr. Each placeholder and each tensor among the
//   results of a node has its TensorInfo, with sizes and strides. An input may be undefined, and then has none.
// - Functions are "unpack" and "getitem", which take lists of tensors apart, and "auto_functionalized", the call of an
//   operator that writes on copies: it is to be called as it stands, in its place among those that draw random numbers.
// - Views (select, transpose, view, expand, ...) are operators like any others: since nothing is written, whether a
//   result shares memory with its argument makes no difference.
// - The last nodes before the output may be `aten::copy_(placeholder, value)`: the input is to hold the value when the
//   graph has run. No node behind a copy_ reads that input, and no result of the graph shares its memory.
// - Operators that draw random numbers (fx::is_random) all run, once, in their order, also when nothing uses the
// result.
//   All else that nothing uses may be left out.
// - Results of the graph are tensors of their own, with the strides of their information: none shares memory with an
//   input or with another result. A result may be None: then the tensor is undefined.

/// Why a graph was made, for choices that depend on it.
enum class GraphKind : uint8_t {
  Inference, ///< no gradients are wanted
  Forward, ///< results are those of the function, then what the backward graph takes
  Backward ///< of what the forward graph kept, and of gradients of results
};

/// A graph for a backend.
struct TORCH_API BackendInput {
  /// See Note [Functional graphs].
  std::shared_ptr<const fx::Graph> graph;
  GraphKind kind = GraphKind::Inference;
  /// By input: whether it is the same tensor with the same values in each call, as literals of the code are.
  std::vector<bool> is_constant = {};
  /// By input: whether it is a parameter or buffer, the same tensor in each call, with values that may change.
  std::vector<bool> is_state = {};
  /// By input: whether what depends on it alone may be computed once, and again when its version or memory is another.
  std::vector<bool> is_frozen = {};
  /// By input: whether no other one shares memory with it. Nothing is known of those beyond the end.
  std::vector<bool> is_alone = {};
  /// Whether less memory counts more than speed.
  bool saves_memory = false;
};

/// A graph that is ready to run. May be called by several threads at once. Takes its inputs out of the vector and lets
/// go of each when it has been used last; gives the results.
using CompiledGraph = std::function<std::vector<at::Tensor>(std::vector<at::Tensor>& inputs)>;

/// Makes a graph ready to run. What it throws is told by explain(), and the graph is run operator by operator.
/// Compiled graphs are called below Autograd: they record nothing.
using Backend = std::function<CompiledGraph(const BackendInput& input)>;

/// Adds a backend; a later one of the same name replaces it.
TORCH_API void register_backend(const std::string& name, Backend backend);
/// The backend of this name. Throws c10::Error, naming those there are.
TORCH_API Backend find_backend(const std::string& name);
/// Names of all, sorted. "aot_eager" runs graphs operator by operator.
TORCH_API std::vector<std::string> list_backends();

} // namespace torch::capture
