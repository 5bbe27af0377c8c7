// Calls, and the names whose calls the compiler treats in ways of their own.
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/local_function.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/constants.h>

#include <limits>
#include <sstream>

namespace torch::jit {

std::vector<NamedValue> Emitter::emit_arguments(const Syntax& arguments) {
  std::vector<NamedValue> values;
  for (const SyntaxPtr& argument : arguments.children) {
    if (argument->is(SyntaxKind::Starred)) {
      const Syntax& starred = (*argument)[0];
      for (const SugaredValuePtr& each : emit_sugared(starred)->asTuple(starred.range, method_)) {
        values.emplace_back(starred.range, each->asValue(starred.range, method_));
      }
    } else {
      values.emplace_back(argument->range, emit(*argument));
    }
  }
  return values;
}

std::vector<NamedValue> Emitter::emit_keywords(const Syntax& keywords) {
  std::vector<NamedValue> values;
  for (const SyntaxPtr& keyword : keywords.children) {
    values.emplace_back(keyword->range, keyword->text, emit((*keyword)[0]));
  }
  return values;
}

const Syntax& Emitter::only_argument(const Syntax& call, const char* name) const {
  if (call[1].size() != 1 || call[2].size() != 0) {
    throw ErrorReport(call.range) << name << " expected exactly 1 arguments but found "
                                  << call[1].size() + call[2].size();
  }
  return call[1][0];
}

namespace {

// What is emitted last: errors in functions that are called mark that.
const Syntax& last_part(const Syntax& expression) {
  const Syntax* part = &expression;
  while (part->size() > 0) {
    if (part->is(SyntaxKind::Call) && (*part)[1].size() == 0 && (*part)[2].size() == 0) {
      break; // with its parenthesis
    }
    const Syntax* last = nullptr;
    for (const SyntaxPtr& child : part->children) {
      if (!child->is(SyntaxKind::Missing) && !(child->is(SyntaxKind::Sequence) && child->size() == 0)) {
        last = child.get();
      }
    }
    if (!last) {
      break;
    }
    part = last;
  }
  return *part;
}

} // namespace

SugaredValuePtr Emitter::emit_call(const Syntax& expression, const TypePtr& hint) {
  if (expression[0].is(SyntaxKind::Attribute) && expression[0].text == "tolist") {
    const SugaredValuePtr object = emit_sugared(expression[0][0]);
    const auto* simple = dynamic_cast<SimpleValue*>(object.get());
    if (simple && simple->getValue()->type()->kind() == TypeKind::TensorType) {
      graph().skipNumbers(1); // libtorch looks the tensor up twice
      return std::make_shared<SimpleValue>(emit_tolist(expression, simple->getValue(), hint));
    }
  }
  const SugaredValuePtr callee = emit_sugared(expression[0]);
  if (const auto* form = dynamic_cast<SpecialFormValue*>(callee.get())) {
    return emit_special_form(expression, form->form, hint);
  }
  const std::vector<NamedValue> arguments = emit_arguments(expression[1]);
  const std::vector<NamedValue> keywords = emit_keywords(expression[2]);
  ErrorReport::CallStack::update_pending_range(last_part(expression).range);
  return callee->call(expression[0].range, method_, arguments, keywords, 1);
}

// The type of the list is what the surroundings ask for.
Value* Emitter::emit_tolist(const Syntax& call, Value* tensor, const TypePtr& hint) {
  if (!hint) {
    throw ErrorReport(call.range) << "Expected type hint for result of tolist()";
  }
  Value* list = graph().insertToList(tensor, hint);
  list->node()->setSourceRange(call.range);
  return list;
}

Value* Emitter::emit_annotate(const Syntax& call) {
  if (call[1].size() != 2 || call[2].size() != 0) {
    throw ErrorReport(call.range) << "torch.jit.annotate expected 2 arguments but found "
                                  << call[1].size() + call[2].size();
  }
  const TypePtr type = types_.parse(call[1][0]);
  Value* value = tryConvertToType(call.range, graph(), type, emit(call[1][1], type), true);
  std::ostringstream reason;
  if (!value->type()->isSubtypeOfExt(*type, &reason)) {
    throw ErrorReport(call.range) << "expected an expression of type " << type->repr_str() << " but found "
                                  << value->type()->repr_str() << "\n"
                                  << reason.str();
  }
  // None, where an optional is wanted, keeps the wider type.
  if (value->type()->kind() == TypeKind::NoneType && type->kind() != TypeKind::NoneType) {
    return graph().insertUncheckedCast(value, type);
  }
  return value;
}

Value* Emitter::emit_unchecked_cast(const Syntax& call) {
  if (call[1].size() != 2) {
    throw ErrorReport(call.range) << "unchecked_cast expected 2 arguments but found " << call[1].size();
  }
  const TypePtr type = types_.parse(call[1][0]);
  Value* value = emit(call[1][1]);
  Value* cast = graph().insertUncheckedCast(value, type);
  cast->node()->setSourceRange(call.range);
  return cast;
}

SugaredValuePtr Emitter::emit_getattr(const Syntax& call) {
  const Syntax& arguments = call[1];
  if (arguments.size() < 2 || arguments.size() > 3) {
    throw ErrorReport(call.range) << "getattr expected to have number of arguments between 2 and 3 but found "
                                  << arguments.size();
  }
  if (!arguments[1].is(SyntaxKind::String)) {
    throw ErrorReport(call.range) << "getattr's second argument must be a string literal";
  }
  const SugaredValuePtr object = emit_sugared(arguments[0]);
  if (arguments.size() == 3 && !object->hasAttr(call.range, method_, arguments[1].text)) {
    return emit_sugared(arguments[2]);
  }
  return object->attr(call.range, method_, arguments[1].text);
}

SugaredValuePtr Emitter::emit_fork(const Syntax& call, Symbol form) {
  if (call[1].size() == 0) {
    throw ErrorReport(call.range) << "Expected at least one argument to fork()";
  }
  const SugaredValuePtr callee = emit_sugared(call[1][0]);
  if (const auto* local = dynamic_cast<LocalFunction*>(callee.get())) {
    return std::make_shared<SimpleValue>(emit_local_function(call.range, form, local->definition));
  }
  SyntaxChildren rest(call[1].children.begin() + 1, call[1].children.end());
  const Syntax arguments(SyntaxKind::Sequence, call[1].range, {}, std::move(rest));
  const std::vector<NamedValue> values = emit_arguments(arguments);
  const std::vector<NamedValue> keywords = emit_keywords(call[2]);
  return std::make_shared<SimpleValue>(emit_closure_call(call.range, form, callee, values, keywords));
}

// A node whose subgraph makes the call; what the call needs from here are its inputs.
Value* Emitter::emit_closure_call(
    const SourceRange& range,
    Symbol kind,
    const SugaredValuePtr& callee,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keywords) {
  Node* node = graph().insertNode(graph().create(kind, 1)->setSourceRange(range));
  Block* block = node->addBlock();
  TypePtr result;
  {
    const WithInsertPoint at(block);
    Value* output = callee->call(range, method_, arguments, keywords, 1)->asValue(range, method_);
    block->registerOutput(output);
    result = output->type();
  }
  node->output()->setType(
      kind == prim::fork ? TypePtr(FutureType::create(result)) : TypePtr(AwaitType::create(result)));
  // The block becomes a graph of its own: values from outside are its inputs, constants are copied.
  auto subgraph = std::make_shared<Graph>(graph().current_scope());
  std::unordered_map<Value*, Value*> inside;
  subgraph->block()->cloneFrom(block, [&](Value* outside) {
    const auto known = inside.find(outside);
    if (known != inside.end()) {
      return known->second;
    }
    Value* mapped = nullptr;
    if (outside->node()->kind() == prim::Constant) {
      mapped =
          subgraph->prependNode(subgraph->createClone(outside->node(), [](Value* value) { return value; }))->output();
    } else {
      mapped = subgraph->addInput()->copyMetadata(outside);
      node->addInput(outside);
    }
    inside.emplace(outside, mapped);
    return mapped;
  });
  node->eraseBlock(0);
  node->g_(attr::Subgraph, std::move(subgraph));
  return node->output();
}

// Pairs that a loop gives one by one.
Value* Emitter::emit_dict_of_pairs(const SourceRange& range, const SugaredValuePtr& pairs) {
  Node* node =
      graph().insertNode(graph().createDict(StringType::get(), TensorType::get(), {}, {})->setSourceRange(range));
  const Syntax item(SyntaxKind::Name, range, "$item");
  emit_loop(range, pairs->iter(range, method_), nullptr, &item, [&] {
    const std::vector<SugaredValuePtr> pair = environment_->getSugaredVar("$item", range)->asTuple(range, method_, 2);
    if (pair.size() != 2) {
      throw ErrorReport(range) << "dict expected pairs of a key and a value, but found " << pair.size() << " values";
    }
    Value* key = pair[0]->asValue(range, method_);
    Value* value = pair[1]->asValue(range, method_);
    node->output()->setType(DictType::create(key->type(), value->type()));
    emit_builtin(range, aten::_set_item, {node->output(), key, value});
  });
  return node->output();
}

SugaredValuePtr Emitter::emit_container_constructor(const Syntax& expression, Symbol form, const TypePtr& hint) {
  const SourceRange& range = expression.range;
  const bool is_list = form == aten::list;
  if (expression[1].size() == 0 && (is_list || expression[2].size() == 0)) {
    const Syntax empty(
        is_list ? SyntaxKind::List : SyntaxKind::Dict, range, {},
        is_list ? SyntaxChildren()
                : SyntaxChildren{makeSyntax(SyntaxKind::Sequence, range), makeSyntax(SyntaxKind::Sequence, range)});
    return std::make_shared<SimpleValue>(is_list ? emit_list(empty, hint) : emit_dict(empty, hint));
  }
  if (is_list) {
    const SugaredValuePtr source = emit_sugared(only_argument(expression, "list"));
    const auto* simple = dynamic_cast<SimpleValue*>(source.get());
    if (simple && simple->getValue()->type()->kind() == TypeKind::ListType) {
      return std::make_shared<SimpleValue>(emit_builtin(range, aten::list, {simple->getValue()}));
    }
    if (simple && simple->getValue()->type()->kind() == TypeKind::StringType) {
      return std::make_shared<SimpleValue>(emit_builtin(range, aten::list, {simple->getValue()}));
    }
    const SugaredValuePtr iterable = source->iter(range, method_);
    if (iterable->shouldEmitUnrolled()) {
      std::vector<Value*> elements;
      for (int64_t i = 0; i < *iterable->staticLen(); ++i) {
        elements.push_back(iterable->getitem(range, method_, constant(i, range))->asValue(range, method_));
      }
      if (elements.empty()) {
        return std::make_shared<SimpleValue>(graph().insertNode(graph().createList(TensorType::get(), {}))->output());
      }
      return std::make_shared<SimpleValue>(
          graph().insertNode(graph().createList(elements[0]->type(), elements)->setSourceRange(range))->output());
    }
    if (const auto* list = dynamic_cast<SimpleValue*>(iterable.get());
        list && list->getValue()->type()->kind() == TypeKind::ListType) {
      return iterable;
    }
    // A range, a zip, a tensor: appended one by one.
    Value* made = graph().insertNode(graph().createList(TensorType::get(), {})->setSourceRange(range))->output();
    const Syntax item(SyntaxKind::Name, range, "$item");
    emit_loop(range, iterable, nullptr, &item, [&] {
      Value* element = environment_->getSugaredVar("$item", range)->asValue(range, method_);
      made->setType(ListType::create(element->type()));
      emit_builtin(range, aten::append, {made, element});
    });
    return std::make_shared<SimpleValue>(made);
  }
  // dict(pairs), dict(other), dict(a=1): pairs one by one, or a copy.
  Value* source = nullptr;
  if (expression[1].size() > 0) {
    const SugaredValuePtr given = emit_sugared(only_argument(expression, "dict"));
    const auto* value = dynamic_cast<SimpleValue*>(given.get());
    if (value && value->getValue()->type()->kind() != TypeKind::DictType) {
      // Refuses what has no elements.
      given->iter(range, method_);
    }
    source =
        dynamic_cast<IterableTree*>(given.get()) ? emit_dict_of_pairs(range, given) : given->asValue(range, method_);
    const bool made_here = dynamic_cast<IterableTree*>(given.get()) != nullptr;
    if (source->type()->kind() == TypeKind::TupleType) {
      std::vector<Value*> elements;
      for (const SugaredValuePtr& each : SimpleValue(source).asTuple(range, method_, std::nullopt)) {
        elements.push_back(each->asValue(range, method_));
      }
      if (elements.empty()) {
        throw ErrorReport(range) << "dict expected pairs of a key and a value, but found an empty tuple";
      }
      source = graph().insertNode(graph().createList(elements[0]->type(), elements)->setSourceRange(range))->output();
    }
    source = made_here ? source : emit_builtin(range, aten::dict, {source});
  }
  if (expression[2].size() == 0) {
    return std::make_shared<SimpleValue>(source);
  }
  std::vector<Value*> keys;
  std::vector<Value*> values;
  for (const SyntaxPtr& keyword : expression[2].children) {
    keys.push_back(constant(keyword->text, keyword->range));
    values.push_back(emit((*keyword)[0]));
  }
  if (!source) {
    return std::make_shared<SimpleValue>(
        graph()
            .insertNode(graph().createDict(StringType::get(), values[0]->type(), keys, values)->setSourceRange(range))
            ->output());
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    emit_builtin(range, aten::_set_item, {source, keys[i], values[i]});
  }
  return std::make_shared<SimpleValue>(source);
}

SugaredValuePtr Emitter::emit_special_form(const Syntax& expression, Symbol form, const TypePtr& hint) {
  const SourceRange& range = expression.range;
  const auto simple = [](Value* value) { return std::make_shared<SimpleValue>(value); };
  if (form == prim::annotate) {
    return simple(emit_annotate(expression));
  }
  if (form == prim::unchecked_cast) {
    return simple(emit_unchecked_cast(expression));
  }
  if (form == prim::isinstance) {
    return simple(emit_isinstance(expression).value);
  }
  if (form == prim::HasAttr) {
    return simple(emit_hasattr(expression).value);
  }
  if (form == prim::GetAttr) {
    return emit_getattr(expression);
  }
  if (form == prim::fork || form == prim::awaitable) {
    return emit_fork(expression, form);
  }
  if (form == prim::Uninitialized) {
    const TypePtr type = types_.parse(only_argument(expression, "uninitialized"));
    return simple(graph().insertNode(graph().createUninitialized(type)->setSourceRange(range))->output());
  }
  if (form == prim::CreateObject) {
    // Class.__new__(Class)
    const Syntax& name = only_argument(expression, "__new__");
    const SugaredValuePtr value = emit_sugared(name);
    const auto* class_value = dynamic_cast<ClassValue*>(value.get());
    if (!class_value) {
      throw ErrorReport(range) << "Only class types can be created by __new__";
    }
    return simple(graph().insertNode(graph().createObject(class_value->type)->setSourceRange(range))->output());
  }
  if (form == prim::TupleConstruct) {
    if (expression[1].size() == 0) {
      return simple(graph().insertNode(graph().createTuple({})->setSourceRange(range))->output());
    }
    const SugaredValuePtr source = emit_sugared(only_argument(expression, "tuple"));
    return std::make_shared<SugaredTupleValue>(source->asTuple(range, method_));
  }
  if (form == aten::list || form == aten::dict) {
    return emit_container_constructor(expression, form, hint);
  }
  if (form == prim::range) {
    std::vector<Value*> arguments = toValues(graph(), emit_arguments(expression[1]));
    return std::make_shared<RangeValue>(range, method_, std::move(arguments));
  }
  if (form == prim::zip || form == prim::enumerate) {
    if (expression[1].size() == 0) {
      throw ErrorReport(range) << form.toUnqualString() << " expected at least 1 arguments, got 0";
    }
    std::vector<SugaredValuePtr> children;
    for (const SyntaxPtr& argument : expression[1].children) {
      children.push_back(emit_sugared(*argument));
    }
    if (form == prim::enumerate) {
      if (children.size() > 2) {
        throw ErrorReport(range) << "enumerate expected at most 2 arguments, got " << children.size();
      }
      Value* start = children.size() == 2 ? children[1]->asValue(range, method_) : nullptr;
      for (const SyntaxPtr& keyword : expression[2].children) {
        start = emit((*keyword)[0]);
      }
      std::vector<Value*> bounds{constant(std::numeric_limits<int64_t>::max(), range)};
      if (start) {
        bounds.insert(bounds.begin(), start);
      }
      children.resize(1);
      children.insert(children.begin(), std::make_shared<RangeValue>(range, method_, std::move(bounds)));
    }
    return std::make_shared<IterableTree>(range, method_, std::move(children));
  }
  if (form == aten::sorted) {
    const std::vector<NamedValue> arguments = emit_arguments(expression[1]);
    return BuiltinFunction(form, std::nullopt).call(range, method_, arguments, emit_keywords(expression[2]), 1);
  }
  throw ErrorReport(range) << "unknown special form: " << form.toUnqualString();
}

} // namespace torch::jit
