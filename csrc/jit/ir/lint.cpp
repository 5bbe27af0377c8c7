// Checks of what holds for every graph between passes.
#include <csrc/jit/ir/ir.h>

#include <algorithm>
#include <unordered_set>

namespace torch::jit {

namespace {

class Checker {
 public:
  explicit Checker(const Graph& graph) : graph_(graph) {}

  void check_block(const Block* block) {
    std::vector<const Value*> defined_here;
    check_order(block);
    check_node(block->param_node(), defined_here);
    for (const Node* node : block->nodes()) {
      check_node(node, defined_here);
    }
    check_inputs(block->return_node());
    for (const Value* value : defined_here) {
      defined_.erase(value);
    }
  }

 private:
  void check_order(const Block* block) {
    const Node* previous = block->return_node();
    for (const Node* node : block->nodes()) {
      TORCH_INTERNAL_ASSERT(node->prev() == previous, "lint: the list of nodes is broken before ", *node);
      TORCH_INTERNAL_ASSERT(node->owningBlock() == block, "lint: a node stands in another block than it says: ", *node);
      TORCH_INTERNAL_ASSERT(
          previous == block->return_node() || previous->isBefore(node), "lint: wrong order at ", *node);
      previous = node;
    }
  }

  void check_inputs(const Node* node) {
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const Value* input = node->input(i);
      TORCH_INTERNAL_ASSERT(
          defined_.count(input) > 0, "lint: %", input->debugName(), " is used before it is defined, in ", *node);
      const use_list& uses = input->uses();
      TORCH_INTERNAL_ASSERT(
          std::count(uses.begin(), uses.end(), Use(const_cast<Node*>(node), i)) == 1, "lint: %", input->debugName(),
          " does not know of its use in ", *node);
    }
  }

  void check_node(const Node* node, std::vector<const Value*>& defined_here) {
    TORCH_INTERNAL_ASSERT(node->owningGraph() == &graph_, "lint: a node of another graph: ", *node);
    check_inputs(node);
    for (const Block* block : node->blocks()) {
      TORCH_INTERNAL_ASSERT(block->owningNode() == node, "lint: a block that names another node than ", *node);
      check_block(block);
    }
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      const Value* output = node->output(i);
      TORCH_INTERNAL_ASSERT(output->node() == node && output->offset() == i, "lint: wrong output of ", *node);
      TORCH_INTERNAL_ASSERT(
          uniques_.insert(output->unique()).second, "lint: two values have the number ", output->unique());
      for (const Use& use : output->uses()) {
        TORCH_INTERNAL_ASSERT(
            use.offset < use.user->inputs().size() && use.user->input(use.offset) == output,
            "lint: a use that is none, of %", output->debugName());
      }
      defined_.insert(output);
      defined_here.push_back(output);
    }
    node->lint();
  }

  const Graph& graph_;
  std::unordered_set<const Value*> defined_;
  std::unordered_set<size_t> uniques_;
};

} // namespace

void Node::lint() const {
  const auto expect = [this](bool holds, const char* what) {
    TORCH_INTERNAL_ASSERT(holds, "lint: ", what, ": ", *this);
  };
  switch (static_cast<c10::detail::KnownSymbol>(static_cast<uint32_t>(kind_))) {
    case c10::detail::KnownSymbol::prim_Constant:
      expect(inputs_.empty() && outputs_.size() == 1, "a constant has one output");
      break;
    case c10::detail::KnownSymbol::prim_If:
      expect(
          inputs_.size() == 1 && (blocks_.size() == 1 || blocks_.size() == 2),
          "prim::If has a condition and two blocks");
      for (const Block* block : blocks_) {
        expect(
            block->inputs().empty() && block->outputs().size() == outputs_.size(),
            "each block gives the outputs of prim::If");
      }
      break;
    case c10::detail::KnownSymbol::prim_Loop:
      expect(
          inputs_.size() >= 2 && blocks_.size() == 1 && outputs_.size() + 2 == inputs_.size() &&
              blocks_[0]->inputs().size() + 1 == inputs_.size() && blocks_[0]->outputs().size() == outputs_.size() + 1,
          "prim::Loop, its block and its outputs have the same state");
      break;
    case c10::detail::KnownSymbol::prim_Return:
    case c10::detail::KnownSymbol::prim_Param:
      expect(outputs_.empty() || inputs_.empty(), "a block's end");
      break;
    default:
      break;
  }
}

void Graph::lint() const {
  Checker(*this).check_block(block_);
  for (const auto& [name, value] : names_) {
    TORCH_INTERNAL_ASSERT(value->name_ == name, "lint: %", value->debugName(), " is listed as %", name);
  }
  TORCH_INTERNAL_ASSERT(insert_before_->inBlockList(), "lint: the insert point is not in the graph");
}

} // namespace torch::jit
