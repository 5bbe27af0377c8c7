#include <csrc/jit/passes/lower_tuples.h>

#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/dead_code_elimination.h>

#include <unordered_set>

namespace torch::jit {

namespace {

// ---- tuples that are taken apart where they are known ---------------------------------------------------------------

void replace_element(Node* index, Node* construct) {
  std::optional<IValue> which = toIValue(index->input(1));
  if (!which || !which->isInt()) {
    return;
  }
  const int64_t size = static_cast<int64_t>(construct->inputs().size());
  const int64_t place = which->toInt() + (which->toInt() < 0 ? size : 0);
  if (place >= 0 && place < size) {
    index->output()->replaceAllUsesWith(construct->input(static_cast<size_t>(place)));
  }
}

void replace_slice(Node* slice, Node* construct) {
  const int64_t begin = slice->i(attr::beg);
  const int64_t end = slice->i(attr::end);
  if (begin < 0 || end < begin || end > static_cast<int64_t>(construct->inputs().size())) {
    return;
  }
  std::vector<Value*> chosen;
  for (int64_t i = begin; i < end; ++i) {
    chosen.push_back(construct->input(static_cast<size_t>(i)));
  }
  Node* tuple = slice->owningGraph()->createTuple(chosen);
  tuple->insertBefore(slice)->copyMetadata(slice);
  slice->output()->replaceAllUsesWith(tuple->output());
}

// Takes apart what a known tuple was made of.
void simplify(Node* node) {
  if (node->inputs().empty() || node->input(0)->node()->kind() != prim::TupleConstruct) {
    return;
  }
  Node* construct = node->input(0)->node();
  if (node->kind() == prim::TupleUnpack) {
    if (node->outputs().size() == construct->inputs().size()) {
      for (size_t i = 0; i < node->outputs().size(); ++i) {
        node->output(i)->replaceAllUsesWith(construct->input(i));
      }
    }
  } else if (node->kind() == prim::TupleIndex) {
    replace_element(node, construct);
  } else if (node->kind() == prim::TupleSlice) {
    replace_slice(node, construct);
  }
}

// ---- tuples that blocks take and give -------------------------------------------------------------------------------

TupleTypePtr tuple_type(const Value* value) {
  return value->type()->cast<TupleType>();
}

// Only tuples that come from TupleConstruct in every block: else taking them apart costs more than it saves.
bool made_here(const Value* value) {
  return value->node()->kind() == prim::TupleConstruct;
}

std::vector<Value*> unpack_before(Node* place, Value* tuple) {
  Node* unpack = place->owningGraph()->createTupleUnpack(tuple);
  unpack->insertBefore(place)->copyMetadata(place);
  const at::ArrayRef<Value*> elements = unpack->outputs();
  std::vector<Value*> values(elements.begin(), elements.end());
  if (tuple->node()->kind() == prim::TupleConstruct) {
    const at::ArrayRef<Value*> made_of = tuple->node()->inputs();
    values.assign(made_of.begin(), made_of.end());
    unpack->destroy();
  }
  return values;
}

/// Gives tuples that conditionals and loops carry element by element.
class TupleFlattener {
 public:
  explicit TupleFlattener(bool all) : all_(all) {}

  void flatten(Block* block) {
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node* node = *it++;
      for (Block* inner : node->blocks()) {
        flatten(inner);
      }
      if (node->kind() == prim::If) {
        flatten_if(node);
      } else if (node->kind() == prim::Loop) {
        flatten_loop(node);
      }
      simplify(node);
    }
  }

  void flatten_inputs(Block* block) {
    for (size_t i = 0; i < block->inputs().size();) {
      const TupleTypePtr type = tuple_type(block->inputs()[i]);
      if (!type) {
        ++i;
        continue;
      }
      replace_input(block, i, type, *block->nodes().begin());
    }
  }

  static void flatten_outputs(Block* block) {
    for (size_t i = 0; i < block->outputs().size();) {
      if (!tuple_type(block->outputs()[i])) {
        ++i;
        continue;
      }
      const std::vector<Value*> elements = unpack_before(block->return_node(), block->outputs()[i]);
      block->eraseOutput(i);
      for (size_t j = 0; j < elements.size(); ++j) {
        block->insertOutput(i + j, elements[j]);
      }
    }
  }

 private:
  // One input for each element, of which the tuple is made again.
  static void replace_input(Block* block, size_t i, const TupleTypePtr& type, Node* first) {
    std::vector<Value*> elements;
    for (size_t j = 0; j < type->elements().size(); ++j) {
      elements.push_back(block->insertInput(i + 1 + j)->setType(type->elements()[j]));
    }
    Node* tuple = block->owningGraph()->createTuple(elements, type);
    tuple->insertBefore(first);
    block->inputs()[i]->replaceAllUsesWith(tuple->output());
    block->eraseInput(i);
  }

  static void replace_output(Node* node, size_t i, const TupleTypePtr& type) {
    std::vector<Value*> elements;
    for (size_t j = 0; j < type->elements().size(); ++j) {
      elements.push_back(node->insertOutput(i + 1 + j)->setType(type->elements()[j]));
    }
    Node* tuple = node->owningGraph()->createTuple(elements, type);
    tuple->insertAfter(node)->copyMetadata(node);
    node->output(i)->replaceAllUsesWith(tuple->output());
    node->eraseOutput(i);
  }

  void flatten_if(Node* node) {
    for (size_t i = 0; i < node->outputs().size();) {
      const TupleTypePtr type = tuple_type(node->output(i));
      bool known = type != nullptr;
      for (Block* block : node->blocks()) {
        const TupleTypePtr given = tuple_type(block->outputs()[i]);
        known = known && given && given->elements().size() == type->elements().size() &&
            (all_ || made_here(block->outputs()[i]));
      }
      if (!known) {
        ++i;
        continue;
      }
      for (Block* block : node->blocks()) {
        give_elements(block, i);
      }
      replace_output(node, i, type);
    }
  }

  static void give_elements(Block* block, size_t i) {
    const std::vector<Value*> elements = unpack_before(block->return_node(), block->outputs()[i]);
    block->eraseOutput(i);
    for (size_t j = 0; j < elements.size(); ++j) {
      block->insertOutput(i + j, elements[j]);
    }
  }

  void flatten_loop(Node* node) {
    if (node->blocks().size() != 1 || node->inputs().size() != node->outputs().size() + 2) {
      return;
    }
    Block* body = node->blocks()[0];
    for (size_t i = 0; i < node->outputs().size();) {
      const TupleTypePtr type = tuple_type(node->output(i));
      const TupleTypePtr initial = tuple_type(node->input(i + 2));
      const TupleTypePtr taken = tuple_type(body->inputs()[i + 1]);
      const TupleTypePtr given = tuple_type(body->outputs()[i + 1]);
      const auto fits = [&](const TupleTypePtr& other) {
        return other && other->elements().size() == type->elements().size();
      };
      if (!type || !fits(initial) || !fits(taken) || !fits(given) ||
          !(all_ || (made_here(node->input(i + 2)) && made_here(body->outputs()[i + 1])))) {
        ++i;
        continue;
      }
      const std::vector<Value*> elements = unpack_before(node, node->input(i + 2));
      node->removeInput(i + 2);
      for (size_t j = 0; j < elements.size(); ++j) {
        node->insertInput(i + 2 + j, elements[j]);
      }
      give_elements(body, i + 1);
      replace_input(body, i + 1, taken, *body->nodes().begin());
      for (Node* inner : body->nodes()) {
        simplify(inner);
      }
      replace_output(node, i, type);
    }
  }

  bool all_;
};

void simplify_all(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) {
      simplify_all(inner);
    }
    simplify(node);
  }
}

// ---- what must not be left ------------------------------------------------------------------------------------------

void check_no_tuples(const Block* block) {
  for (const Node* node : block->nodes()) {
    for (const Value* input : node->inputs()) {
      TORCH_CHECK(
          input->type()->kind() != TypeKind::TupleType || node->kind() == prim::TupleUnpack ||
              node->kind() == prim::TupleIndex || node->kind() == prim::TupleConstruct,
          "tuple appears in op inputs, but this op does not forward tuples, unsupported kind: ",
          node->kind().toQualString());
    }
    for (const Block* inner : node->blocks()) {
      check_no_tuples(inner);
    }
  }
}

} // namespace

void LowerSimpleTuples(Block* block) {
  simplify_all(block);
  EliminateDeadCode(block);
}

void LowerSimpleTuples(const std::shared_ptr<Graph>& graph) {
  simplify_all(graph->block());
  EliminateDeadCode(graph);
}

void flattenSimpleTuples(Block* block) {
  TupleFlattener(false).flatten(block);
  LowerSimpleTuples(block);
}

void LowerAllTuples(const std::shared_ptr<Graph>& graph) {
  TupleFlattener flattener(true);
  flattener.flatten_inputs(graph->block());
  flattener.flatten(graph->block());
  simplify_all(graph->block());
  TupleFlattener::flatten_outputs(graph->block());
  EliminateDeadCode(graph->block());
  check_no_tuples(graph->block());
}

} // namespace torch::jit
