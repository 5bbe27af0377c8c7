#include <csrc/jit/passes/peephole_list_idioms.h>

#include <csrc/jit/ir/constants.h>
#include <csrc/jit/ir/node_kinds.h>
#include <csrc/jit/passes/container_idioms.h>
#include <csrc/jit/runtime/ops/rows.h>

#include <algorithm>

namespace torch::jit {

namespace {

class ListIdioms {
 public:
  explicit ListIdioms(LazyAliasDb& alias_db) : alias_db_(alias_db) {}

  bool run(Block* block) {
    for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
      Node* node = *it;
      for (Block* inner : node->blocks()) {
        run(inner);
      }
      if (reads_lists(node)) {
        optimize(node);
      }
    }
    return changed_;
  }

 private:
  static bool reads_lists(const Node* node) {
    switch (static_cast<uint32_t>(node->kind())) {
      case aten::len:
      case aten::__getitem__:
      case aten::slice:
      case aten::add:
      case prim::ListUnpack:
        return !node->inputs().empty() && node->input(0)->type()->kind() == TypeKind::ListType &&
            node->input(0)->node()->kind() == prim::ListConstruct;
      default:
        return false;
    }
  }

  // Whether the list is only read by operators that keep no hold of it: alias analysis would say the same.
  static bool is_read_only(const Value* list) {
    const auto& uses = list->uses();
    return std::all_of(uses.begin(), uses.end(), [](const Use& use) {
      const FunctionSchema* schema = isStructural(use.user->kind()) ? nullptr : use.user->maybeSchema();
      return schema && use.offset < schema->arguments().size() && !schema->arguments()[use.offset].alias_info() &&
          use.user->blocks().empty() && !use.user->hasSideEffects() &&
          std::none_of(use.user->outputs().begin(), use.user->outputs().end(), [](const Value* output) {
               return output->type()->kind() != TypeKind::TensorType && AliasDb::isMutableType(output);
             });
    });
  }
  bool is_written(const Value* list) {
    return !is_read_only(list) && alias_db_.get().hasWriters(list);
  }

  void optimize(Node* node) {
    Value* list = node->input(0);
    const at::ArrayRef<Value*> elements = list->node()->inputs();
    if (is_written(list)) {
      return;
    }
    switch (static_cast<uint32_t>(node->kind())) {
      case aten::len: {
        const WithInsertPoint guard(node);
        Value* length = node->owningGraph()->insertConstant(
            static_cast<int64_t>(elements.size()), node->sourceRange(), node->scope());
        replace(node->output(), length);
        break;
      }
      case aten::__getitem__:
        take_element(node, elements);
        break;
      case prim::ListUnpack:
        if (node->outputs().size() == elements.size()) {
          for (size_t i = 0; i < elements.size(); ++i) {
            replace(node->output(i), elements[i]);
          }
        }
        break;
      case aten::add:
        concatenate(node, elements);
        break;
      default:
        slice(node, elements);
        break;
    }
  }

  void replace(Value* value, Value* by) {
    if (value->hasUses()) {
      value->replaceAllUsesWith(by);
      changed_ = true;
    }
  }

  void take_element(Node* node, at::ArrayRef<Value*> elements) {
    const std::optional<IValue> index = node->inputs().size() == 2 ? toIValue(node->input(1)) : std::nullopt;
    if (!index || !index->isInt()) {
      return;
    }
    const int64_t size = static_cast<int64_t>(elements.size());
    const int64_t place = index->toInt() + (index->toInt() < 0 ? size : 0);
    if (place >= 0 && place < size) {
      replace(node->output(), elements[static_cast<size_t>(place)]);
    }
  }

  void replace_by_list(Node* node, const std::vector<Value*>& elements) {
    Node* list = node->owningGraph()->create(prim::ListConstruct, elements);
    list->output()->setType(node->output()->type());
    list->insertBefore(node)->copyMetadata(node);
    replace(node->output(), list->output());
  }

  // The new list is another one, so that it does not matter who writes to the result.
  void concatenate(Node* node, at::ArrayRef<Value*> first) {
    if (node->inputs().size() != 2 || node->input(1)->node()->kind() != prim::ListConstruct || !node->hasUses() ||
        node->output()->type()->kind() != TypeKind::ListType || is_written(node->input(1))) {
      return;
    }
    std::vector<Value*> elements(first.begin(), first.end());
    const at::ArrayRef<Value*> second = node->input(1)->node()->inputs();
    elements.insert(elements.end(), second.begin(), second.end());
    replace_by_list(node, elements);
  }

  void slice(Node* node, at::ArrayRef<Value*> elements) {
    if (node->inputs().size() != 4 || !node->hasUses()) {
      return;
    }
    std::optional<int64_t> bounds[3];
    for (size_t i = 0; i < 3; ++i) {
      const std::optional<IValue> bound = toIValue(node->input(i + 1));
      if (!bound || !(bound->isInt() || bound->isNone())) {
        return;
      }
      bounds[i] = bound->toOptional<int64_t>();
    }
    const int64_t step = bounds[2].value_or(1);
    if (step == 0) {
      return;
    }
    const ops::SliceRange range = ops::slice_range(bounds[0], bounds[1], step, elements.size());
    std::vector<Value*> chosen;
    for (int64_t i = 0; i < range.count; ++i) {
      chosen.push_back(elements[static_cast<size_t>(range.start + i * range.step)]);
    }
    replace_by_list(node, chosen);
  }

  LazyAliasDb& alias_db_;
  bool changed_ = false;
};

} // namespace

bool PeepholeOptimizeListIdioms(const std::shared_ptr<Graph>& graph, bool) {
  LazyAliasDb alias_db(graph);
  return ListIdioms(alias_db).run(graph->block());
}

bool PeepholeOptimizeListIdioms(const std::shared_ptr<Graph>& graph, bool, const AliasDb& alias_db) {
  LazyAliasDb known(graph, alias_db);
  return ListIdioms(known).run(graph->block());
}

} // namespace torch::jit
