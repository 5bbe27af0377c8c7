#include <csrc/jit/ir/subgraph_matcher.h>

#include <csrc/jit/ir/constants.h>

#include <algorithm>
#include <regex>
#include <unordered_set>
#include <utility>

namespace torch::jit {

namespace {

/// Compares the pattern, from its first output upwards, with the nodes above one node.
class Matcher {
 public:
  explicit Matcher(const Graph& pattern) : pattern_(pattern) {}

  bool matches(const Node* anchor_of_pattern, Node* anchor) {
    nodes_.clear();
    values_.clear();
    block_ = anchor->owningBlock();
    // Pairs that have to match: long chains of nodes need no recursion.
    std::vector<std::pair<const Node*, Node*>> open{{anchor_of_pattern, anchor}};
    while (!open.empty()) {
      const auto [wanted, found] = open.back();
      open.pop_back();
      if (!match_node(wanted, found, open)) {
        return false;
      }
    }
    return all_outputs_found();
  }

  Match result(Node* anchor) const {
    return Match{anchor, nodes_, values_};
  }

 private:
  bool match_value(const Value* wanted, Value* found, std::vector<std::pair<const Node*, Node*>>& open) {
    const auto [known, fresh] = values_.try_emplace(wanted, found);
    if (!fresh) {
      return known->second == found;
    }
    if (wanted->node()->kind() == prim::Param) {
      return true;
    }
    if (wanted->offset() != found->offset() || is_used_elsewhere(wanted, found)) {
      return false;
    }
    open.emplace_back(wanted->node(), found->node());
    return true;
  }

  // Values inside of the match must not be needed outside; constants may be.
  bool is_used_elsewhere(const Value* wanted, const Value* found) const {
    if (wanted->node()->kind() == prim::Constant || is_output(wanted)) {
      return false;
    }
    return found->uses().size() != wanted->uses().size();
  }

  bool is_output(const Value* wanted) const {
    const auto outputs = pattern_.outputs();
    return std::find(outputs.begin(), outputs.end(), wanted) != outputs.end();
  }

  bool match_node(const Node* wanted, Node* found, std::vector<std::pair<const Node*, Node*>>& open) {
    const auto [known, fresh] = nodes_.try_emplace(wanted, found);
    if (!fresh) {
      return known->second == found;
    }
    const bool constant = wanted->kind() == prim::Constant;
    if (wanted->kind() != found->kind() || (!constant && found->owningBlock() != block_) ||
        wanted->inputs().size() != found->inputs().size() || wanted->outputs().size() != found->outputs().size() ||
        !wanted->blocks().empty() || !found->blocks().empty() || !match_attributes(wanted, found)) {
      return false;
    }
    for (size_t i = 0; i < wanted->inputs().size(); ++i) {
      if (!match_value(wanted->input(i), found->input(i), open)) {
        return false;
      }
    }
    for (size_t i = 0; i < wanted->outputs().size(); ++i) {
      const auto [value, is_new] = values_.try_emplace(wanted->output(i), found->output(i));
      if (!is_new && value->second != found->output(i)) {
        return false;
      }
      if (is_new && is_used_elsewhere(wanted->output(i), found->output(i))) {
        return false;
      }
    }
    return true;
  }

  static bool match_attributes(const Node* wanted, Node* found) {
    if (wanted->numAttributes() != found->numAttributes()) {
      return false;
    }
    for (const NodeAttribute& attribute : wanted->attributes()) {
      if (!found->hasAttribute(attribute.name)) {
        return false;
      }
      // Untyped constants of the pattern hold a bool as an int.
      if (found->kindOf(attribute.name) != attribute.kind() || !equal(attribute, *found)) {
        return false;
      }
    }
    return true;
  }

  // Texts of a pattern are regular expressions, as in libtorch.
  static bool matches_text(const std::string& wanted, const std::string& text) {
    if (wanted == text) {
      return true;
    }
    // The standard library's search goes one level deeper for each character.
    constexpr size_t kLongestText = 4096;
    if (text.size() > kLongestText || wanted.find_first_of("\\^$.|?*+()[]{}") == std::string::npos) {
      return false;
    }
    try {
      return std::regex_match(text, std::regex(wanted));
    } catch (const std::regex_error&) {
      return false;
    }
  }

  // Lists match nothing, as in libtorch.
  static bool equal(const NodeAttribute& attribute, Node& found) {
    switch (attribute.kind()) {
      case AttributeKind::s:
        return matches_text(std::get<std::string>(attribute.value), found.s(attribute.name));
      case AttributeKind::c:
        return std::get<c10::complex<double>>(attribute.value) == found.c(attribute.name);
      case AttributeKind::f:
        return std::get<double>(attribute.value) == found.f(attribute.name);
      case AttributeKind::i:
        return std::get<int64_t>(attribute.value) == found.i(attribute.name);
      case AttributeKind::ty:
        return *std::get<TypePtr>(attribute.value) == *found.ty(attribute.name);
      case AttributeKind::ival: {
        const IValue& wanted = std::get<IValue>(attribute.value);
        return wanted.tagKind() == found.ival(attribute.name).tagKind() && wanted == found.ival(attribute.name);
      }
      default:
        return false;
    }
  }

  bool all_outputs_found() const {
    const auto outputs = pattern_.outputs();
    return std::all_of(
        outputs.begin(), outputs.end(), [this](const Value* output) { return values_.count(output) > 0; });
  }

  const Graph& pattern_;
  const Block* block_ = nullptr;
  std::unordered_map<const Node*, Node*> nodes_;
  std::unordered_map<const Value*, Value*> values_;
};

void check_pattern(const Graph& pattern) {
  TORCH_CHECK(!pattern.outputs().empty(), "findPatternMatches: the pattern has no output");
  TORCH_CHECK(
      pattern.outputs()[0]->node()->kind() != prim::Param,
      "findPatternMatches: the pattern's first output is its input, which any value matches");
  for (const Node* node : pattern.nodes()) {
    TORCH_CHECK(node->blocks().empty(), "findPatternMatches: a node of the pattern has blocks: ", *node);
  }
  std::unordered_set<const Node*> reached{pattern.outputs()[0]->node()};
  std::vector<const Node*> open(reached.begin(), reached.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Value* input : node->inputs()) {
      if (reached.insert(input->node()).second) {
        open.push_back(input->node());
      }
    }
  }
  for (const Value* output : pattern.outputs()) {
    TORCH_CHECK(
        output->node()->kind() == prim::Param || reached.count(output->node()) > 0,
        "findPatternMatches: nothing that the pattern's first output is made of makes its output %",
        output->debugName(), ": such patterns are not supported");
  }
}

void collect_nodes(Block* block, std::vector<Node*>& nodes) {
  for (Node* node : block->nodes()) {
    nodes.push_back(node);
    for (Block* inner : node->blocks()) {
      collect_nodes(inner, nodes);
    }
  }
}

} // namespace

std::vector<Match> findPatternMatches(const Graph& pattern, Graph& graph) {
  check_pattern(pattern);
  std::vector<Match> found;
  const Node* anchor = pattern.outputs()[0]->node();
  Matcher matcher(pattern);
  std::vector<Node*> nodes;
  collect_nodes(graph.block(), nodes);
  for (Node* node : nodes) {
    if (node->kind() == anchor->kind() && matcher.matches(anchor, node)) {
      found.push_back(matcher.result(node));
    }
  }
  return found;
}

} // namespace torch::jit
