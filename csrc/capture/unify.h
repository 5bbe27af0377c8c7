// One graph with sizes as symbols, from recordings of the same code at several sizes.
#pragma once

#include <csrc/fx/graph.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::capture {

// Note [Unified traces]
// Code that was recorded at several sizes gives several graphs. Where they have the same operators and edges they
// become one: an integer that is the same in all stays, one that differs becomes a function of the inputs' sizes, from
// a closed list: a size, a sum, difference or product of two of them, each with a constant, and quotients by a
// constant. Sizes of results are never computed so: what is no such function of the inputs' sizes (the output of a
// convolution) is a size that is read from the tensor by aten::sym_size when the graph runs.
//
// A fit that holds for two sizes may be wrong for a third. Who unifies records at a further size and unifies again.

/// A size of an input that may differ.
struct DynamicSize {
  size_t input;
  size_t dim;
  /// Empty: there is no such end.
  std::optional<int64_t> min = {};
  std::optional<int64_t> max = {};
};

/// What became of traces.
struct Unified {
  /// Empty where they do not fit together.
  std::shared_ptr<fx::Graph> graph;
  /// Why they do not: the operator and what differs.
  std::string why;
  /// The symbol of each dynamic size.
  std::vector<std::string> symbols;
};

/// Unifies graphs as recorders make them, whose placeholders have their sizes. Sizes that are the same in all traces
/// get one symbol. Placeholders have strides as functions of the symbols, or none where they are no such functions.
Unified unify(const std::vector<const fx::Graph*>& traces, const std::vector<DynamicSize>& dynamic);

/// The sizes of inputs that are not the same in all traces.
std::vector<DynamicSize> differing_sizes(const std::vector<const fx::Graph*>& traces);

} // namespace torch::capture
