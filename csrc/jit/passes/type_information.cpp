#include <csrc/jit/passes/type_information.h>

#include <csrc/jit/ir/constants.h>

#include <aten/core/jit_type.h>

#include <utility>
#include <vector>

namespace torch::jit {

namespace {

TypePtr without_shapes(const TypePtr& type) {
  if (type->kind() == TypeKind::TensorType) {
    return TensorType::get();
  }
  // Classes and interfaces may contain themselves.
  if (type->kind() == TypeKind::ClassType || type->kind() == TypeKind::InterfaceType) {
    return type;
  }
  std::vector<TypePtr> contained;
  bool changed = false;
  for (const TypePtr& inner : type->containedTypes()) {
    contained.push_back(without_shapes(inner));
    changed = changed || contained.back() != inner;
  }
  return changed ? type->withContained(std::move(contained)) : type;
}

void unprofile(Value* value) {
  if (value->type()->kind() == TypeKind::TensorType) {
    value->setType(TensorType::get());
  }
}

void erase(at::ArrayRef<Value*> values) {
  for (Value* value : values) {
    value->setType(without_shapes(value->type()));
  }
}

void erase(Block* block) {
  erase(block->inputs());
  for (Node* node : block->nodes()) {
    erase(node->outputs());
    for (Block* inner : node->blocks()) {
      erase(inner);
    }
    if (node->hasAttribute(attr::Subgraph)) {
      erase(node->g(attr::Subgraph)->block());
    }
  }
}

} // namespace

void EraseShapeInformation(const std::shared_ptr<Graph>& graph) {
  erase(graph->block());
}

void unprofileGraphInputs(const std::shared_ptr<Graph>& graph) {
  for (Value* input : graph->inputs()) {
    unprofile(input);
  }
}

void unprofileBlock(Block* start_block) {
  for (Node* node : start_block->nodes()) {
    for (Value* output : node->outputs()) {
      unprofile(output);
    }
    for (Block* inner : node->blocks()) {
      for (Value* input : inner->inputs()) {
        unprofile(input);
      }
      unprofileBlock(inner);
    }
  }
}

void ClearProfilingInformation(const std::shared_ptr<Graph>& graph) {
  unprofileGraphInputs(graph);
  unprofileBlock(graph->block());
}

void RemoveTensorTypeSpecializations(std::shared_ptr<Graph>& graph) {
  ClearProfilingInformation(graph);
}

namespace {

void clear_undefinedness(at::ArrayRef<Value*> values) {
  for (Value* value : values) {
    const auto list = value->type()->cast<ListType>();
    if (value->type()->kind() == TypeKind::TensorType ||
        (list && list->getElementType()->kind() == TypeKind::TensorType)) {
      value->setType(without_shapes(value->type()));
    }
  }
}

void clear_undefinedness(Block* block) {
  clear_undefinedness(block->inputs());
  for (Node* node : block->nodes()) {
    clear_undefinedness(node->outputs());
    for (Block* inner : node->blocks()) {
      clear_undefinedness(inner);
    }
  }
}

} // namespace

void ClearUndefinedness(const std::shared_ptr<Graph>& graph) {
  clear_undefinedness(graph->block());
}

bool hasTensorTypeSpecialization(const Value* v) {
  return v->type()->kind() == TypeKind::TensorType && *v->type() != *TensorType::get();
}

// ---- tuples ---------------------------------------------------------------------------------------------------------

namespace {

void refine(Node* node) {
  if (node->kind() == prim::TupleConstruct) {
    std::vector<TypePtr> elements;
    for (const Value* input : node->inputs()) {
      elements.push_back(input->type());
    }
    const auto type = node->output()->type()->cast<TupleType>();
    node->output()->setType(
        type && type->schema() ? type->withContained(std::move(elements))
                               : TypePtr(TupleType::create(std::move(elements))));
    return;
  }
  const auto type = node->inputs().empty() ? nullptr : node->input(0)->type()->cast<TupleType>();
  if (type && node->kind() == prim::TupleUnpack && node->outputs().size() == type->elements().size()) {
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      node->output(i)->setType(type->elements()[i]);
    }
  } else if (type && node->kind() == prim::TupleIndex) {
    const std::optional<IValue> index = toIValue(node->input(1));
    const int64_t size = static_cast<int64_t>(type->elements().size());
    if (index && index->isInt() && index->toInt() >= -size && index->toInt() < size) {
      const int64_t place = index->toInt() + (index->toInt() < 0 ? size : 0);
      node->output()->setType(type->elements()[static_cast<size_t>(place)]);
    }
  }
}

void refine(Block* block) {
  for (Node* node : block->nodes()) {
    for (Block* inner : node->blocks()) {
      refine(inner);
    }
    refine(node);
  }
}

} // namespace

void RefineTupleTypes(std::shared_ptr<Graph>& graph) {
  refine(graph->block());
}

} // namespace torch::jit
