// Passes over graphs. Each leaves a graph that does the same; each gives whether it changed something.
#pragma once

#include <csrc/fx/graph.h>
#include <csrc/fx/graph_module.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torch::fx {

/// Merges nodes that give the same values. Random numbers, what is written to, and values that are both returned are
/// left alone.
TORCH_API bool eliminate_common_subexpressions(Graph& graph);

/// What fold_constants() may do.
struct TORCH_API FoldOptions {
  /// Also parameters and buffers count as constants: for inference alone.
  bool fold_state = false;
  /// The most bytes that one folded value may have.
  int64_t max_bytes = int64_t(1) << 26;
};
/// Computes what depends on attributes and constants alone, and makes it attributes "_folded_0", "_folded_1", ...
TORCH_API bool fold_constants(GraphModule& module, const FoldOptions& options = {});

/// Takes views of views together: two transpositions that undo one another, reshape after reshape, permute after
/// permute, expand after expand, unsqueeze and squeeze.
TORCH_API bool merge_views(Graph& graph);
/// Leaves out casts to the dtype that a tensor has, and casts to a wider dtype before another cast. Where dtypes are
/// not known (see propagate_shapes()) nothing is done.
TORCH_API bool merge_casts(Graph& graph);

/// A way to write a call with other operators: `graph` has the call's arguments as inputs, its results as results.
struct TORCH_API Decomposition {
  /// "aten::silu", "aten::gelu".
  std::string op;
  std::shared_ptr<const Graph> graph;
  /// Applies only where these arguments are these constants.
  std::vector<std::pair<std::string, c10::IValue>> when = {};

  /// From the text form.
  static Decomposition parse(
      std::string op, std::string_view text, std::vector<std::pair<std::string, c10::IValue>> when = {});
};
/// Those of common operators into simpler ones: activations, linear, addmm, softmax, losses.
TORCH_API const std::vector<Decomposition>& core_decompositions();
/// Writes calls with other operators by the first decomposition that applies.
TORCH_API bool decompose(Graph& graph, const std::vector<Decomposition>& table = core_decompositions());

/// Puts `replacement` where the graph has `pattern`; gives how often. Inputs of the pattern stand for anything, its
/// other nodes and constants for the same; what is inside may be used by nothing else. The two have equally many inputs
/// and results; all results are part of what the first result is computed from.
TORCH_API size_t replace_pattern(Graph& graph, const Graph& pattern, const Graph& replacement);
/// The same from texts.
TORCH_API size_t replace_pattern(Graph& graph, std::string_view pattern, std::string_view replacement);

/// Runs the graph on meta tensors and notes dtypes, sizes and strides of all results. `inputs` are tensors or other
/// values of which the sizes alone count; without any, the placeholders' own information is taken. Throws, naming the
/// node, where a size depends on data.
TORCH_API void propagate_shapes(GraphModule& module, const std::vector<c10::IValue>& inputs = {});

} // namespace torch::fx
