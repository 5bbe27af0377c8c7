// What loops go through: tuples, ranges, things side by side.
#include <csrc/jit/frontend/sugared_value.h>
#include <aten/core/ivalue.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/constants.h>

namespace torch::jit {

Value* SugaredTupleValue::asValue(const SourceRange& range, GraphFunction& method) {
  std::vector<Value*> values;
  for (const SugaredValuePtr& element : elements) {
    values.push_back(element->asValue(range, method));
  }
  Graph& graph = *method.graph();
  return graph.insertNode(graph.createTuple(values)->setSourceRange(range))->output();
}

SugaredValuePtr SugaredTupleValue::getitem(const SourceRange& range, GraphFunction&, Value* index, const TypePtr&) {
  const std::optional<IValue> known = toIValue(index);
  if (!known || !known->isInt()) {
    throw ErrorReport(range) << "Expected integer literal for index but got a variable or non-integer. "
                             << "ModuleList/Sequential indexing is only supported with integer literals.";
  }
  const int64_t size = static_cast<int64_t>(elements.size());
  const int64_t place = known->toInt() < 0 ? known->toInt() + size : known->toInt();
  if (place < 0 || place >= size) {
    throw ErrorReport(range) << "Tuple index out of range. Tuple is length " << size << " and index is "
                             << known->toInt();
  }
  return elements[static_cast<size_t>(place)];
}

RangeValue::RangeValue(const SourceRange& range, GraphFunction& method, std::vector<Value*> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i]->type()->kind() != TypeKind::IntType) {
      throw ErrorReport(range) << "all inputs of range must be ints, found " << arguments[i]->type()->repr_str()
                               << " in argument " << i;
    }
  }
  if (arguments.empty() || arguments.size() > 3) {
    throw ErrorReport(range) << "range expected at " << (arguments.empty() ? "least 1" : "most 3") << " arguments, got "
                             << arguments.size();
  }
  Graph& graph = *method.graph();
  if (arguments.size() == 1) {
    stop_ = arguments[0];
    start_ = graph.insertConstant(int64_t{0}, range);
    step_ = graph.insertConstant(int64_t{1}, range);
    return;
  }
  start_ = arguments[0];
  stop_ = arguments[1];
  step_ = arguments.size() == 3 ? arguments[2] : graph.insertConstant(int64_t{1}, range);
}

Value* RangeValue::len(const SourceRange& range, GraphFunction& method) {
  Graph& graph = *method.graph();
  const std::optional<IValue> start = toIValue(start_);
  const std::optional<IValue> step = toIValue(step_);
  // The loop itself takes a negative number of trips for none.
  if (start && step && start->toInt() == 0 && step->toInt() == 1) {
    return stop_;
  }
  return emitBuiltinCall(
      range, graph, aten::__range_length,
      {NamedValue(range, start_), NamedValue(range, stop_), NamedValue(range, step_)}, {});
}

SugaredValuePtr RangeValue::getitem(const SourceRange& range, GraphFunction& method, Value* index, const TypePtr&) {
  const std::optional<IValue> start = toIValue(start_);
  const std::optional<IValue> step = toIValue(step_);
  if (start && step && start->toInt() == 0 && step->toInt() == 1) {
    return simpleValue(index);
  }
  return simpleValue(emitBuiltinCall(
      range, *method.graph(), aten::__derive_index,
      {NamedValue(range, index), NamedValue(range, start_), NamedValue(range, step_)}, {}));
}

IterableTree::IterableTree(const SourceRange& range, GraphFunction& method, std::vector<SugaredValuePtr> children) {
  for (const SugaredValuePtr& child : children) {
    SugaredValuePtr iterable = child->iter(range, method);
    unrolled_ = unrolled_ || iterable->shouldEmitUnrolled();
    children_.push_back(std::move(iterable));
  }
  const bool endless = std::none_of(
      children_.begin(), children_.end(), [](const SugaredValuePtr& child) { return child->staticLen().has_value(); });
  if (unrolled_ && endless) {
    throw ErrorReport(range) << "the length of what is gone through side by side is not known";
  }
}

std::optional<int64_t> IterableTree::staticLen() {
  std::optional<int64_t> shortest;
  for (const SugaredValuePtr& child : children_) {
    if (const std::optional<int64_t> length = child->staticLen()) {
      shortest = shortest ? std::min(*shortest, *length) : *length;
    }
  }
  return shortest;
}

Value* IterableTree::len(const SourceRange& range, GraphFunction& method) {
  Graph& graph = *method.graph();
  std::vector<Value*> lengths;
  for (const SugaredValuePtr& child : children_) {
    lengths.push_back(child->len(range, method));
  }
  if (lengths.size() == 1) {
    return lengths[0];
  }
  Value* list = graph.insertNode(graph.createList(IntType::get(), lengths)->setSourceRange(range))->output();
  return emitBuiltinCall(range, graph, prim::min, {NamedValue(range, list)}, {});
}

SugaredValuePtr IterableTree::getitem(
    const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type_hint) {
  std::vector<SugaredValuePtr> elements;
  for (const SugaredValuePtr& child : children_) {
    elements.push_back(child->getitem(range, method, index, type_hint));
  }
  return std::make_shared<SugaredTupleValue>(std::move(elements));
}

} // namespace torch::jit
