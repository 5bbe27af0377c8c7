// Indices and slices.
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/module_value.h>
#include <csrc/jit/ir/constants.h>

#include <algorithm>

namespace torch::jit {

namespace {

bool indexes_like_tensor(const Syntax& indices) {
  return indices.size() != 1;
}

} // namespace

SugaredValuePtr Emitter::emit_subscript(const Syntax& expression, const TypePtr& hint) {
  const SourceRange& range = expression.range;
  const SugaredValuePtr object = emit_sugared(expression[0]);
  const Syntax& indices = expression[1];
  if (indices.size() == 0) {
    throw ErrorReport(range) << "Expected an index";
  }
  const auto* simple = dynamic_cast<SimpleValue*>(object.get());
  Value* value = simple ? simple->getValue() : nullptr;
  if (value && value->type()->kind() == TypeKind::TensorType) {
    return std::make_shared<SimpleValue>(emit_tensor_subscript(range, value, indices));
  }
  if (indexes_like_tensor(indices)) {
    if (value && value->type()->kind() == TypeKind::ClassType) {
      std::vector<Value*> values;
      for (const SyntaxPtr& index : indices.children) {
        values.push_back(emit(*index));
      }
      Value* tuple = graph().insertNode(graph().createTuple(values)->setSourceRange(range))->output();
      return object->getitem(range, method_, tuple, hint);
    }
    throw ErrorReport(range)
        << "Unsupported operation: attempted to use multidimensional indexing on a non-tensor type";
  }
  const Syntax& index = indices[0];
  if (!index.is(SyntaxKind::Slice)) {
    if (dynamic_cast<RangeValue*>(object.get()) || dynamic_cast<IterableTree*>(object.get())) {
      object->asValue(expression[0].range, method_);
    }
    return object->getitem(range, method_, emit(index), hint);
  }
  if (!value) {
    value = object->asValue(expression[0].range, method_);
  }
  if (value->type()->kind() == TypeKind::TupleType || ModuleContainer::of(value)) {
    return emit_tuple_slice(range, std::make_shared<SimpleValue>(value), index);
  }
  return std::make_shared<SimpleValue>(emit_slice(range, value, nullptr, index));
}

Value* Emitter::emit_slice(const SourceRange& range, Value* value, Value* dim, const Syntax& slice) {
  std::vector<Value*> arguments{value};
  if (dim) {
    arguments.push_back(dim);
  }
  // What is not written comes last, as libtorch's defaults do; the step is always there.
  Value* parts[3] = {};
  for (size_t part = 0; part < 3; ++part) {
    if (slice.has(part)) {
      parts[part] = emit(slice[part]);
    }
  }
  parts[2] = parts[2] ? parts[2] : constant(int64_t{1}, range);
  for (Value* part : parts) {
    arguments.push_back(part ? part : graph().insertNode(graph().createNone()->setSourceRange(range))->output());
  }
  return emit_builtin(range, aten::slice, arguments);
}

SugaredValuePtr Emitter::emit_tuple_slice(const SourceRange& range, const SugaredValuePtr& tuple, const Syntax& slice) {
  const std::vector<SugaredValuePtr> elements = tuple->asTuple(range, method_);
  const int64_t size = static_cast<int64_t>(elements.size());
  const auto part = [&](size_t i) -> std::optional<int64_t> {
    if (!slice.has(i)) {
      return std::nullopt;
    }
    const std::optional<IValue> known = toIValue(emit(slice[i]));
    if (!known || !(known->isInt() || known->isNone())) {
      throw ErrorReport(range) << "tuple slice indices must be integer constants";
    }
    return known->isNone() ? std::nullopt : std::optional<int64_t>(known->toInt());
  };
  const int64_t step = part(2).value_or(1);
  if (step == 0) {
    throw ErrorReport(range) << "slice step cannot be zero";
  }
  const int64_t lowest = step > 0 ? 0 : -1;
  const int64_t highest = step > 0 ? size : size - 1;
  const auto bound = [&](std::optional<int64_t> given, int64_t otherwise) {
    return given ? std::clamp(*given < 0 ? *given + size : *given, lowest, highest) : otherwise;
  };
  const int64_t begin = bound(part(0), step > 0 ? 0 : size - 1);
  const int64_t end = bound(part(1), step > 0 ? size : -1);
  std::vector<Value*> chosen;
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
    chosen.push_back(elements[static_cast<size_t>(i)]->asValue(range, method_));
  }
  return std::make_shared<SimpleValue>(
      graph().insertNode(graph().createTuple(chosen)->setSourceRange(range))->output());
}

// ---- tensors --------------------------------------------------------------------------------------------------------

std::pair<Value*, std::vector<Value*>> Emitter::emit_indices(
    const SourceRange& range, Value* tensor, const Syntax& indices) {
  // A tuple in brackets is as good as its members.
  const Syntax& list = indices.size() == 1 && indices[0].is(SyntaxKind::Tuple) ? indices[0] : indices;
  // What the indices are has to be known before the dimensions behind an ellipsis can be counted from the end.
  std::vector<Value*> values;
  bool after_ellipsis = false;
  size_t consumed_after = 0;
  for (const SyntaxPtr& index : list.children) {
    const bool is_value =
        !index->is(SyntaxKind::Slice) && !index->is(SyntaxKind::Ellipsis) && !index->is(SyntaxKind::None);
    values.push_back(is_value ? emit(*index) : nullptr);
    after_ellipsis = after_ellipsis || index->is(SyntaxKind::Ellipsis);
  }
  std::vector<int64_t> dims(list.size());
  // Dimensions are counted from the end behind an ellipsis: each index that keeps its dimension, or adds one, moves it.
  (void)consumed_after;
  int64_t dim = 0;
  std::vector<Value*> tensors;
  const auto put_tensor = [&](int64_t at, Value* value) {
    if (static_cast<size_t>(at) >= tensors.size()) {
      tensors.resize(static_cast<size_t>(at) + 1, nullptr);
    }
    tensors[static_cast<size_t>(at)] = value;
  };
  bool seen_ellipsis = false;
  for (size_t i = 0; i < list.size(); ++i) {
    const Syntax& index = list[i];
    if (index.is(SyntaxKind::Ellipsis)) {
      if (seen_ellipsis) {
        throw ErrorReport(index.range) << "An index can only have a single ellipsis ('...')";
      }
      seen_ellipsis = true;
      // From here on dimensions count from the end: one for each index that takes a dimension, none for None.
      dim = 0;
      for (size_t later = i + 1; later < list.size(); ++later) {
        dim -= 1;
      }
      continue;
    }
    Value* at = constant(dim, index.range);
    if (index.is(SyntaxKind::Slice)) {
      tensor = emit_slice(range, tensor, at, index);
      ++dim;
      continue;
    }
    if (index.is(SyntaxKind::None) || values[i]->type()->kind() == TypeKind::NoneType) {
      tensor = emit_builtin(range, aten::unsqueeze, {tensor, at});
      ++dim;
      continue;
    }
    Value* value = values[i];
    switch (value->type()->kind()) {
      case TypeKind::IntType:
        tensor = emit_builtin(range, aten::select, {tensor, at, value});
        // The dimension is gone: what follows moves up, but for those that count from the end.
        if (seen_ellipsis) {
          ++dim;
        }
        break;
      case TypeKind::OptionalType:
      case TypeKind::TensorType:
        if (seen_ellipsis) {
          throw ErrorReport(index.range) << "Ellipses followed by tensor indexing is currently not supported";
        }
        put_tensor(dim++, value);
        break;
      case TypeKind::ListType: {
        if (seen_ellipsis) {
          throw ErrorReport(index.range) << "Ellipses followed by tensor indexing is currently not supported";
        }
        put_tensor(dim++, emit_builtin(range, aten::tensor, {value}));
        break;
      }
      default:
        throw ErrorReport(range) << "Unsupported operation: indexing tensor with unsupported index type '"
                                 << value->type()->repr_str()
                                 << "'. Only ints, slices, lists and tensors are supported";
    }
  }
  return {tensor, tensors};
}

Value* Emitter::index_list(const SourceRange& range, const std::vector<Value*>& indices) {
  std::vector<Value*> all;
  for (Value* index : indices) {
    all.push_back(index ? index : graph().insertNode(graph().createNone()->setSourceRange(range))->output());
  }
  Node* list = graph().createList(OptionalType::ofTensor(), all);
  return graph().insertNode(list->setSourceRange(range))->output();
}

Value* Emitter::emit_tensor_index(const SourceRange& range, Value* tensor, const std::vector<Value*>& indices) {
  return emit_builtin(range, aten::index, {tensor, index_list(range, indices)});
}

Value* Emitter::emit_tensor_subscript(const SourceRange& range, Value* tensor, const Syntax& indices) {
  const auto [sliced, tensors] = emit_indices(range, tensor, indices);
  if (tensors.empty()) {
    // x[...] is a new view.
    return sliced == tensor ? emit_builtin(range, Symbol::aten("alias"), {tensor}) : sliced;
  }
  return emit_tensor_index(range, sliced, tensors);
}

} // namespace torch::jit
