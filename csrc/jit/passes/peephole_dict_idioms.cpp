#include <csrc/jit/passes/peephole_dict_idioms.h>

#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/container_idioms.h>

namespace torch::jit {

namespace {

class DictIdioms {
 public:
  explicit DictIdioms(LazyAliasDb& alias_db) : alias_db_(alias_db) {}

  bool run(Block* block) {
    for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
      Node* node = *it;
      for (Block* inner : node->blocks()) {
        run(inner);
      }
      const bool reads = node->kind() == aten::len || node->kind() == aten::__getitem__;
      if (reads && !node->inputs().empty() && node->input(0)->node()->kind() == prim::DictConstruct &&
          node->hasUses()) {
        optimize(node);
      }
    }
    return changed_;
  }

 private:
  // The values by their keys, the last of those that are equal. Null if some key is not known.
  static std::optional<std::vector<std::pair<IValue, Value*>>> entries(Node* construct) {
    std::vector<std::pair<IValue, Value*>> found;
    const at::ArrayRef<Value*> inputs = construct->inputs();
    for (size_t i = 0; i + 1 < inputs.size(); i += 2) {
      const std::optional<IValue> key = toIValue(inputs[i]);
      if (!key || !(key->isInt() || key->isString() || key->isBool())) {
        return std::nullopt;
      }
      bool replaced = false;
      for (auto& [known, value] : found) {
        if (known == *key) {
          value = inputs[i + 1];
          replaced = true;
        }
      }
      if (!replaced) {
        found.emplace_back(*key, inputs[i + 1]);
      }
    }
    return found;
  }

  void optimize(Node* node) {
    Value* dict = node->input(0);
    if (dict->node()->inputs().size() > kMaxEntries || alias_db_.get().hasWriters(dict)) {
      return;
    }
    const auto known = entries(dict->node());
    if (!known) {
      return;
    }
    if (node->kind() == aten::len) {
      const WithInsertPoint guard(node);
      node->output()->replaceAllUsesWith(
          node->owningGraph()->insertConstant(static_cast<int64_t>(known->size()), node->sourceRange(), node->scope()));
      changed_ = true;
      return;
    }
    const std::optional<IValue> key = node->inputs().size() == 2 ? toIValue(node->input(1)) : std::nullopt;
    for (const auto& [name, value] : *known) {
      if (key && name == *key) {
        node->output()->replaceAllUsesWith(value);
        changed_ = true;
        return;
      }
    }
  }

  // Keys are compared one by one.
  static constexpr size_t kMaxEntries = 200;

  LazyAliasDb& alias_db_;
  bool changed_ = false;
};

} // namespace

bool PeepholeOptimizeDictIdioms(const std::shared_ptr<Graph>& graph) {
  LazyAliasDb alias_db(graph);
  return DictIdioms(alias_db).run(graph->block());
}

bool PeepholeOptimizeDictIdioms(const std::shared_ptr<Graph>& graph, const AliasDb& alias_db) {
  LazyAliasDb known(graph, alias_db);
  return DictIdioms(known).run(graph->block());
}

} // namespace torch::jit
