#include <csrc/jit/passes/peephole_alias_sensitive.h>

#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/container_idioms.h>

namespace torch::jit {

namespace {

class TensorIdentities {
 public:
  explicit TensorIdentities(LazyAliasDb& alias_db) : alias_db_(alias_db) {}

  bool run(Block* block) {
    for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
      Node* node = *it;
      for (Block* inner : node->blocks()) {
        run(inner);
      }
      if (changes_nothing(node) && may_be_replaced(node)) {
        node->output()->replaceAllUsesWith(node->input(0));
        changed_ = true;
      }
    }
    return changed_;
  }

 private:
  // -0.0 + 0 is 0.0: of sums, only those of integers.
  static bool changes_nothing(const Node* node) {
    const bool product = node->kind() == aten::mul;
    const bool quotient = node->kind() == aten::div;
    const bool sum = node->kind() == aten::add || node->kind() == aten::sub;
    if (!(product || quotient || sum) || node->inputs().size() < 2 || node->outputs().size() != 1) {
      return false;
    }
    const TensorType* self = node->input(0)->type()->castRaw<TensorType>();
    if (!self || !self->scalarType() || node->input(1)->type()->kind() != TypeKind::IntType) {
      return false;
    }
    const std::optional<IValue> other = toIValue(node->input(1));
    if (!other || !other->isInt()) {
      return false;
    }
    const bool floating = c10::isFloatingType(*self->scalarType());
    const bool integral = c10::isIntegralType(*self->scalarType(), false);
    if (sum) {
      return other->toInt() == 0 && integral;
    }
    if (quotient) {
      return other->toInt() == 1 && floating && node->inputs().size() == 2;
    }
    return other->toInt() == 1 && (floating || integral);
  }

  bool may_be_replaced(Node* node) {
    return alias_db_.get().safeToChangeAliasingRelationship({node->input(0)}, {node->output()});
  }

  LazyAliasDb& alias_db_;
  bool changed_ = false;
};

} // namespace

bool PeepholeOptimizeAliasSensitive(const std::shared_ptr<Graph>& graph, bool shape_peepholes) {
  LazyAliasDb alias_db(graph);
  return shape_peepholes && TensorIdentities(alias_db).run(graph->block());
}

bool PeepholeOptimizeAliasSensitive(const std::shared_ptr<Graph>& graph, bool shape_peepholes, AliasDb& alias_db) {
  LazyAliasDb known(graph, alias_db);
  return shape_peepholes && TensorIdentities(known).run(graph->block());
}

} // namespace torch::jit
