#include <csrc/jit/passes/subgraph_rewrite.h>

#include <csrc/jit/ir/irparser.h>
#include <csrc/jit/ir/subgraph_matcher.h>

#include <algorithm>

namespace torch::jit {

void SubgraphRewriter::RegisterDefaultPatterns() {
  RegisterRewritePattern(
      R"IR(
graph(%x, %w, %b, %c, %s, %d, %p, %g):
  %r = aten::convolution(%x, %w, %b, %c, %s, %d, %p, %g)
  %o = aten::relu(%r)
  return (%o))IR",
      R"IR(
graph(%x, %w, %b, %c, %s, %d, %p, %g):
  %o = aten::convrelu(%x, %w, %b, %c, %s, %d, %p, %g)
  return (%o))IR",
      {{"o", "r"}});
}

void SubgraphRewriter::RegisterRewritePattern(
    const std::string& pattern,
    const std::string& replacement,
    const std::vector<std::pair<std::string, std::string>>& value_name_pair) {
  patterns_.push_back(RewritePatternDescr{
      pattern, replacement,
      std::unordered_map<std::string, std::string>(value_name_pair.begin(), value_name_pair.end())});
}

Module SubgraphRewriter::runOnModule(const Module& module) {
  nodes_to_delete_.clear();
  for (const Module& each : module.modules()) {
    for (const Method& method : each.get_methods()) {
      if (GraphFunction* function = tryToGraphFunction(method.function())) {
        std::shared_ptr<Graph> graph = function->graph();
        runOnGraph(graph, MatchFilter([](const Match&, const auto&) { return true; }));
        function->clear_optimized_graphs();
      }
    }
  }
  return module;
}

void SubgraphRewriter::runOnGraph(std::shared_ptr<Graph>& graph, const std::vector<MatchFilter>& filters) {
  for (const RewritePatternDescr& pattern : patterns_) {
    rewriteSinglePatternOnGraph(graph, pattern, filters);
  }
}

bool SubgraphRewriter::overlapsWithPreviousMatches(const Match* match) {
  return std::any_of(match->nodes_map.begin(), match->nodes_map.end(), [this](const auto& nodes) {
    return nodes_to_delete_.count(nodes.second) > 0;
  });
}

namespace {

// Behind the last of the inputs, and before the first use of an output that is not part of the match: the place of the
// match's last node.
Node* last_node(const Match& match) {
  Node* last = match.anchor;
  for (const auto& [wanted, found] : match.nodes_map) {
    if (wanted->kind() != prim::Constant && found->owningBlock() == last->owningBlock() && found->isAfter(last)) {
      last = found;
    }
  }
  return last;
}

bool used_before(const Match& match, const Graph& pattern, const Node* place) {
  for (const Value* output : pattern.outputs()) {
    for (const Use& use : match.values_map.at(output)->uses()) {
      const bool inside = std::any_of(
          match.nodes_map.begin(), match.nodes_map.end(), [&](const auto& nodes) { return nodes.second == use.user; });
      if (!inside && use.user->isBefore(place)) {
        return true;
      }
    }
  }
  return false;
}

SourceRange range_of(
    const Match& match, const std::unordered_map<std::string, Value*>& values, const std::string& name) {
  const auto value = values.find(name);
  if (value == values.end()) {
    return match.anchor->sourceRange();
  }
  const auto found = match.values_map.find(value->second);
  return found == match.values_map.end() ? match.anchor->sourceRange() : found->second->node()->sourceRange();
}

} // namespace

void SubgraphRewriter::rewriteSinglePatternOnGraph(
    std::shared_ptr<Graph>& graph, const RewritePatternDescr& description, const std::vector<MatchFilter>& filters) {
  Graph pattern;
  std::unordered_map<std::string, Value*> values;
  parseIR(description.pattern, &pattern, values);
  Graph replacement;
  std::unordered_map<std::string, Value*> replacement_values;
  parseIR(description.replacement, &replacement, replacement_values);
  TORCH_CHECK(
      pattern.inputs().size() == replacement.inputs().size() &&
          pattern.outputs().size() == replacement.outputs().size(),
      "SubgraphRewriter: pattern and replacement must have the same number of inputs and of outputs, but have ",
      pattern.inputs().size(), " and ", replacement.inputs().size(), " inputs, ", pattern.outputs().size(), " and ",
      replacement.outputs().size(), " outputs");

  nodes_to_delete_.clear();
  std::vector<std::pair<Value*, Value*>> replaced;
  for (const Match& match : findPatternMatches(pattern, *graph)) {
    const bool accepted =
        std::all_of(filters.begin(), filters.end(), [&](const MatchFilter& filter) { return filter(match, values); });
    Node* place = last_node(match);
    if (!accepted || overlapsWithPreviousMatches(&match) || used_before(match, pattern, place)) {
      continue;
    }
    std::vector<Value*> inputs;
    for (const Value* input : pattern.inputs()) {
      const auto found = match.values_map.find(input);
      TORCH_CHECK(
          found != match.values_map.end(), "SubgraphRewriter: input %", input->debugName(),
          " of the pattern is not used in it");
      inputs.push_back(found->second);
    }
    const WithInsertPoint guard(place->next());
    std::unordered_map<Value*, Value*> copies;
    const std::vector<Value*> outputs = insertGraph(*graph, replacement, inputs, copies);
    for (const auto& [name, origin] : description.value_name_map) {
      const auto value = replacement_values.find(name);
      if (value != replacement_values.end() && copies.count(value->second) > 0) {
        copies.at(value->second)->node()->setSourceRange(range_of(match, values, origin));
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value* old = match.values_map.at(pattern.outputs()[i]);
      // Types of patterns say little.
      if (old->type()->isSubtypeOf(*outputs[i]->type())) {
        outputs[i]->setType(old->type());
      }
      replaced.emplace_back(old, outputs[i]);
    }
    for (const auto& [wanted, found] : match.nodes_map) {
      if (wanted->kind() != prim::Constant) {
        nodes_to_delete_.insert(found);
      }
    }
  }
  for (const auto& [old, replacing] : replaced) {
    old->replaceAllUsesWith(replacing);
  }
  for (Node* node : nodes_to_delete_) {
    node->removeAllInputs();
  }
  for (Node* node : nodes_to_delete_) {
    node->destroy();
  }
  nodes_to_delete_.clear();
}

Module PatternBasedRewrite(const Module& module) {
  SubgraphRewriter rewriter;
  rewriter.RegisterDefaultPatterns();
  return rewriter.runOnModule(module);
}

} // namespace torch::jit
