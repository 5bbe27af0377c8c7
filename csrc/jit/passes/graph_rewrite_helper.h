// What filters of patterns ask about a match.
#pragma once

#include <csrc/jit/ir/irparser.h>
#include <csrc/jit/ir/subgraph_matcher.h>
#include <csrc/jit/passes/subgraph_rewrite.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::jit::graph_rewrite_helper {

/// The name of the function that a value of prim::Constant[name="f"] is; without what its class adds.
TORCH_API std::string getFuncName(Value* func_value);
/// What stands for the pattern's value of that name. Throws if the pattern has none.
TORCH_API Value* getValue(
    const std::string& name,
    const std::unordered_map<const Value*, Value*>& match_vmap,
    const std::unordered_map<std::string, Value*>& vmap);
/// As getValue(), if it is a constant.
TORCH_API std::optional<IValue> getIValue(
    const std::string& name,
    const std::unordered_map<const Value*, Value*>& match_vmap,
    const std::unordered_map<std::string, Value*>& vmap);
/// aten::_convolution and aten::convolution, as they are traced, become aten::conv1d and its like where the number of
/// dimensions is known from the strides.
TORCH_API void replaceConvolutionWithAtenConv(std::shared_ptr<Graph>& graph);
/// Whether the values output_min and output_max of a match, if the pattern has them, are constants.
TORCH_API bool isClampFusable(const Match& match, const std::unordered_map<std::string, Value*>& vmap);

/// A pattern as text, and as a graph with its values by name.
struct PatternInfo {
  std::string pattern_string;
  std::unique_ptr<Graph> pattern_graph;
  std::unordered_map<std::string, Value*> vmap;
  std::vector<MatchFilter> filters;

  static PatternInfo parse_from_str(std::string pattern_string, const std::vector<MatchFilter>& filters = {}) {
    PatternInfo pattern{std::move(pattern_string), std::make_unique<Graph>(), {}, filters};
    parseIR(pattern.pattern_string, pattern.pattern_graph.get(), pattern.vmap);
    return pattern;
  }
};

} // namespace torch::jit::graph_rewrite_helper
