// Patterns in graphs, replaced by others.
#pragma once

#include <csrc/jit/api/module.h>
#include <csrc/jit/ir/ir.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch::jit {

/// A pattern and what takes its place, as texts of graphs.
struct RewritePatternDescr {
  std::string pattern;
  std::string replacement;
  /// Values of the replacement with those of the pattern that their source places come from.
  std::unordered_map<std::string, std::string> value_name_map;
};

struct Match;

/// Whether a match is to be replaced. Takes the match and the pattern's values by name.
using MatchFilter = std::function<bool(const Match&, const std::unordered_map<std::string, Value*>&)>;

/// Applies the default patterns to all methods of the module, and returns it.
TORCH_API Module PatternBasedRewrite(const Module& module);

/// Replaces patterns: register them, then run.
class TORCH_API SubgraphRewriter {
 public:
  /// Changes the graphs of all methods of the module, and of the modules in it. Returns it.
  Module runOnModule(const Module& module);
  /// Changes the graph; matches that a filter refuses, and those that overlap with one that was taken, stay.
  void runOnGraph(std::shared_ptr<Graph>& graph, const std::vector<MatchFilter>& filters);
  void runOnGraph(
      std::shared_ptr<Graph>& graph,
      const MatchFilter& filter = [](const Match&, const std::unordered_map<std::string, Value*>&) { return true; }) {
    runOnGraph(graph, std::vector<MatchFilter>({filter}));
  }

  /// A convolution followed by a relu becomes one node, aten::convrelu, as in libtorch: an example.
  void RegisterDefaultPatterns();
  /// Both texts are graphs as parseIR reads them, with the same number of inputs and outputs.
  void RegisterRewritePattern(
      const std::string& pattern,
      const std::string& replacement,
      const std::vector<std::pair<std::string, std::string>>& value_name_pair = {});

 private:
  void rewriteSinglePatternOnGraph(
      std::shared_ptr<Graph>& graph, const RewritePatternDescr& pattern, const std::vector<MatchFilter>& filters);
  bool overlapsWithPreviousMatches(const Match* match);

  std::vector<RewritePatternDescr> patterns_;
  std::unordered_set<Node*> nodes_to_delete_;
};

} // namespace torch::jit
