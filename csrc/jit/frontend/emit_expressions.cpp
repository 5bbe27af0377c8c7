// Expressions and conditions.
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/module_value.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/serialize/stack_room.h>

#include <aten/core/type_matching.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <sstream>
#include <unordered_map>

namespace torch::jit {

Value* Emitter::emit_builtin(const SourceRange& range, Symbol name, at::ArrayRef<Value*> arguments) {
  std::vector<NamedValue> named;
  for (Value* argument : arguments) {
    named.emplace_back(range, argument);
  }
  return emitBuiltinCall(range, graph(), name, named, {});
}

Value* Emitter::emit_operator(
    const SourceRange& range, const std::string& method_name, Symbol name, at::ArrayRef<Value*> arguments) {
  const ClassType* object = arguments[0]->type()->castRaw<ClassType>();
  if (!object) {
    return emit_builtin(range, name, arguments);
  }
  std::vector<NamedValue> rest;
  for (Value* argument : arguments.slice(1)) {
    rest.emplace_back(range, argument);
  }
  return SimpleValue(arguments[0])
      .attr(range, method_, method_name)
      ->call(range, method_, rest, {}, 1)
      ->asValue(range, method_);
}

Value* Emitter::emit(const Syntax& expression, const TypePtr& hint) {
  return emit_sugared(expression, hint)->asValue(expression.range, method_);
}

SugaredValuePtr Emitter::emit_sugared(const Syntax& expression, const TypePtr& hint) {
  // Operators and attributes in a row nest to the left, without end for the parser.
  check_stack_room("expressions");
  switch (expression.kind) {
    case SyntaxKind::Name:
      return environment_->getSugaredVar(expression.text, expression.range);
    case SyntaxKind::Attribute:
      return emit_sugared(expression[0])->attr(expression.range, method_, expression.text);
    case SyntaxKind::Call:
      return emit_call(expression, hint);
    case SyntaxKind::Subscript:
      return emit_subscript(expression, hint);
    default:
      return std::make_shared<SimpleValue>(emit_simple(expression, hint));
  }
}

Value* Emitter::emit_simple(const Syntax& expression, const TypePtr& hint) {
  const SourceRange& range = expression.range;
  switch (expression.kind) {
    case SyntaxKind::Number:
      return emit_number(expression);
    case SyntaxKind::String:
      return constant(expression.text, range);
    case SyntaxKind::True:
      return constant(true, range);
    case SyntaxKind::False:
      return constant(false, range);
    case SyntaxKind::None:
      return constant(IValue(), range);
    case SyntaxKind::Binary:
      return emit_binary(expression);
    case SyntaxKind::Unary:
      return emit_unary(expression);
    case SyntaxKind::Conditional:
      return emit_conditional(expression, hint);
    case SyntaxKind::Tuple:
      return emit_tuple(expression);
    case SyntaxKind::List:
      return emit_list(expression, hint);
    case SyntaxKind::Dict:
      return emit_dict(expression, hint);
    case SyntaxKind::ListComprehension:
      return emit_list_comprehension(expression, hint);
    case SyntaxKind::DictComprehension:
      return emit_dict_comprehension(expression, hint);
    case SyntaxKind::Starred:
      throw ErrorReport(range) << "Unexpected starred expansion. File a bug report";
    case SyntaxKind::Ellipsis:
      throw ErrorReport(range) << "Cannot emit expr for: (dots)\n";
    default:
      throw ErrorReport(range) << "Cannot emit expr for: " << toString(expression.kind);
  }
}

// ---- literals -------------------------------------------------------------------------------------------------------

Value* Emitter::number(const IValue& value, const SourceRange& range) {
  Value* unshared = nullptr;
  Value*& known = value.isInt() ? ints_[value.toInt()]
      : value.isDouble()        ? floats_[std::bit_cast<uint64_t>(value.toDouble())]
                                : unshared;
  if (!known) {
    const WithInsertPoint at(graph().return_node()->next());
    known = constant(value, range);
  }
  return known;
}

Value* Emitter::emit_number(const Syntax& expression, bool negative) {
  const std::string text = (negative ? "-" : "") + expression.text;
  const SourceRange& range = expression.range;
  const bool hexadecimal = expression.text.size() > 2 && (expression.text[1] | 0x20) == 'x';
  if (text.back() == 'j' || text.back() == 'J') {
    return number(c10::complex<double>(0, std::strtod(text.c_str(), nullptr)), range);
  }
  if (!hexadecimal && text.find_first_of(".eE") != std::string::npos) {
    return number(std::strtod(text.c_str(), nullptr), range);
  }
  errno = 0;
  const long long value = std::strtoll(text.c_str(), nullptr, hexadecimal ? 16 : 10);
  if (errno == ERANGE) {
    throw ErrorReport(range) << "Integral constant out of range (must fit in a signed 64 bit integer)";
  }
  return number(static_cast<int64_t>(value), range);
}

Value* Emitter::emit_tuple(const Syntax& expression) {
  std::vector<Value*> values;
  for (const SyntaxPtr& element : expression.children) {
    if (element->is(SyntaxKind::Starred)) {
      const Syntax& starred = (*element)[0];
      for (const SugaredValuePtr& each : emit_sugared(starred)->asTuple(starred.range, method_)) {
        values.push_back(each->asValue(starred.range, method_));
      }
      continue;
    }
    values.push_back(emit(*element));
  }
  return graph().insertNode(graph().createTuple(values)->setSourceRange(expression.range))->output();
}

namespace {

// The type that a list, optional or union asks of the elements; null if it asks for none.
TypePtr element_hint(const TypePtr& hint) {
  if (!hint) {
    return nullptr;
  }
  if (const ListType* list = hint->castRaw<ListType>()) {
    return list->getElementType();
  }
  if (const OptionalType* optional = hint->castRaw<OptionalType>()) {
    return element_hint(optional->getElementType());
  }
  return nullptr;
}

const DictType* dict_hint(const TypePtr& hint) {
  if (!hint) {
    return nullptr;
  }
  if (const OptionalType* optional = hint->castRaw<OptionalType>()) {
    return dict_hint(optional->getElementType());
  }
  return hint->castRaw<DictType>();
}

std::vector<TypePtr> types_of(const std::vector<Value*>& values) {
  std::vector<TypePtr> types;
  for (const Value* value : values) {
    types.push_back(value->type());
  }
  return types;
}

// The type that all have, or a union of their types.
TypePtr one_type_of(const std::vector<Value*>& values) {
  TypePtr type = values[0]->type();
  for (const Value* value : values) {
    const std::optional<TypePtr> unified = unifyTypes(type, value->type());
    type = unified ? *unified : TypePtr(UnionType::create({type, value->type()}));
  }
  return type;
}

// Tensors of one list may differ in what is known of them.
TypePtr unshaped(const TypePtr& type) {
  return type->kind() == TypeKind::TensorType ? TypePtr(TensorType::get()) : type;
}

} // namespace

namespace {

// A literal where one of several types is wanted is of all of them, as in libtorch.
Value* widened(Graph& graph, Value* literal, const TypePtr& hint) {
  const bool wider = hint && (hint->kind() == TypeKind::OptionalType || hint->kind() == TypeKind::UnionType);
  return wider ? graph.insertUncheckedCast(literal, hint) : literal;
}

} // namespace

Value* Emitter::emit_list(const Syntax& expression, const TypePtr& hint) {
  const SourceRange& range = expression.range;
  const TypePtr wanted = element_hint(hint);
  std::vector<Value*> values;
  for (const SyntaxPtr& element : expression.children) {
    if (element->is(SyntaxKind::Starred)) {
      for (const SugaredValuePtr& each : emit_sugared((*element)[0])->asTuple(element->range, method_)) {
        values.push_back(each->asValue(element->range, method_));
      }
    } else {
      values.push_back(emit(*element));
    }
  }
  TypePtr type = wanted ? wanted : TypePtr(TensorType::get());
  if (!values.empty() && !wanted) {
    type = unshaped(one_type_of(values));
  }
  const auto fits = [&](const Value* value) { return value->type()->isSubtypeOf(*wanted); };
  if (wanted && !std::all_of(values.begin(), values.end(), fits)) {
    throw ErrorReport(range) << "List type annotation `" << ListType::create(wanted)->repr_str()
                             << "` did not match the types of the given list elements, which were unified to "
                             << one_type_of(values)->repr_str();
  }
  return widened(graph(), graph().insertNode(graph().createList(type, values)->setSourceRange(range))->output(), hint);
}

namespace {

void check_entries(
    const SourceRange& range,
    const DictType& type,
    const std::vector<Value*>& keys,
    const std::vector<Value*>& values) {
  const auto misfit = [](const std::vector<Value*>& all, const TypePtr& wanted) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Value* each) { return !each->type()->isSubtypeOf(*wanted); });
    return found == all.end() ? nullptr : (*found)->type();
  };
  if (const TypePtr key = misfit(keys, type.getKeyType())) {
    throw ErrorReport(range) << "Type annotation was inferred to be " << type.repr_str()
                             << "but the type of keys given by the dict literal is " << key->repr_str();
  }
  if (const TypePtr value = misfit(values, type.getValueType())) {
    throw ErrorReport(range) << "Type annotation was inferred to be `" << type.repr_str()
                             << "`, but the type of values given by the dict literal is " << value->repr_str();
  }
}

} // namespace

Value* Emitter::emit_dict(const Syntax& expression, const TypePtr& hint) {
  const SourceRange& range = expression.range;
  const DictType* wanted = dict_hint(hint);
  std::vector<Value*> keys;
  std::vector<Value*> values;
  for (size_t i = 0; i < expression[0].size(); ++i) {
    keys.push_back(emit(expression[0][i]));
    values.push_back(emit(expression[1][i]));
  }
  TypePtr key_type = wanted ? wanted->getKeyType() : TypePtr(StringType::get());
  TypePtr value_type = wanted ? wanted->getValueType() : TypePtr(TensorType::get());
  if (!wanted && !keys.empty()) {
    const std::vector<TypePtr> key_types = types_of(keys);
    for (size_t i = 0; i < key_types.size(); ++i) {
      if (*key_types[i] != *key_types[0]) {
        throw ErrorReport(expression[0][i].range)
            << "Dict keys must contain only a single type. Expected: " << key_types[0]->repr_str() << " but found "
            << key_types[i]->repr_str() << " instead";
      }
    }
    key_type = unshaped(key_types[0]);
    value_type = unshaped(one_type_of(values));
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = tryConvertToType(range, graph(), key_type, keys[i], true);
    values[i] = tryConvertToType(range, graph(), value_type, values[i], true);
  }
  check_entries(range, *DictType::create(key_type, value_type), keys, values);
  Node* node = graph().insertNode(graph().createDict(key_type, value_type, keys, values)->setSourceRange(range));
  return widened(graph(), node->output(), hint);
}

// A loop that appends to a list, whose type is known when the first element has been emitted.
Value* Emitter::emit_list_comprehension(const Syntax& expression, const TypePtr& hint) {
  const SourceRange& range = expression.range;
  const TypePtr wanted = element_hint(hint);
  Node* list_node = graph().insertNode(graph().createList(TensorType::get(), {})->setSourceRange(range));
  Value* list = list_node->output();
  list->setType(ListType::create(wanted ? wanted : TypePtr(TensorType::get())));
  const SugaredValuePtr iterable = emit_sugared(expression[2])->iter(range, method_);
  const auto append = [&] {
    Value* element = emit(expression[0], wanted);
    if (!wanted) {
      list->setType(ListType::create(unshaped(element->type())));
    }
    emit_builtin(range, aten::append, {list, element});
  };
  const WithOwnVariables own(*this);
  if (iterable->shouldEmitUnrolled()) {
    // The elements are known one by one, and may be of several types.
    std::vector<Value*> elements;
    push_frame(graph().insertPoint()->owningBlock());
    for (int64_t i = 0; i < *iterable->staticLen(); ++i) {
      emit_assign_to(expression[1], iterable->getitem(range, method_, constant(i, range)), expression[1].range);
      elements.push_back(emit(expression[0], wanted));
    }
    pop_frame();
    if (elements.empty()) {
      return list;
    }
    std::ostringstream reason;
    const std::vector<TypePtr> types = types_of(elements);
    const std::optional<TypePtr> unified = wanted ? std::optional<TypePtr>(wanted) : c10::unifyTypeList(types, reason);
    if (!unified) {
      throw ErrorReport(range) << "Lists must contain only a single type. " << reason.str();
    }
    return graph().insertNode(graph().createList(unshaped(*unified), elements)->setSourceRange(range))->output();
  }
  emit_loop(range, iterable, nullptr, &expression[1], append);
  return list;
}

Value* Emitter::emit_dict_comprehension(const Syntax& expression, const TypePtr& hint) {
  const SourceRange& range = expression.range;
  const DictType* wanted = dict_hint(hint);
  const TypePtr any_key = StringType::get();
  Node* node = graph().insertNode(graph()
                                      .createDict(
                                          wanted ? wanted->getKeyType() : any_key,
                                          wanted ? wanted->getValueType() : TypePtr(TensorType::get()), {}, {})
                                      ->setSourceRange(range));
  Value* dict = node->output();
  const SugaredValuePtr iterable = emit_sugared(expression[3])->iter(range, method_);
  const WithOwnVariables own(*this);
  emit_loop(range, iterable, nullptr, &expression[2], [&] {
    Value* key = emit(expression[0], wanted ? wanted->getKeyType() : nullptr);
    Value* value = emit(expression[1], wanted ? wanted->getValueType() : nullptr);
    if (!wanted) {
      dict->setType(DictType::create(unshaped(key->type()), unshaped(value->type())));
    }
    emit_builtin(range, aten::_set_item, {dict, key, value});
  });
  return dict;
}

// ---- operators ------------------------------------------------------------------------------------------------------

namespace {

struct OperatorNames {
  const char* name; // in aten
  const char* method; // of objects
};

const OperatorNames& binary_operator(const Syntax& expression) {
  static const auto& operators = *new std::unordered_map<std::string, OperatorNames>{
      {"+", {"add", "__add__"}},
      {"-", {"sub", "__sub__"}},
      {"*", {"mul", "__mul__"}},
      {"/", {"div", "__truediv__"}},
      {"//", {"floordiv", "__floordiv__"}},
      {"%", {"remainder", "__mod__"}},
      {"**", {"pow", "__pow__"}},
      {"@", {"matmul", "__matmul__"}},
      {"&", {"__and__", "__and__"}},
      {"|", {"__or__", "__or__"}},
      {"^", {"__xor__", "__xor__"}},
      {"<<", {"__lshift__", "__lshift__"}},
      {">>", {"__rshift__", "__rshift__"}},
      {"<", {"lt", "__lt__"}},
      {"<=", {"le", "__le__"}},
      {">", {"gt", "__gt__"}},
      {">=", {"ge", "__ge__"}},
      {"==", {"eq", "__eq__"}},
      {"!=", {"ne", "__ne__"}},
      {"is", {"__is__", "__is__"}},
      {"is not", {"__isnot__", "__isnot__"}}};
  const auto found = operators.find(expression.text);
  if (found == operators.end()) {
    throw ErrorReport(expression.range) << "unknown operator " << expression.text;
  }
  return found->second;
}

bool is_logical(const Syntax& expression) {
  return expression.is(SyntaxKind::Binary) && (expression.text == "and" || expression.text == "or");
}

} // namespace

Value* Emitter::emit_binary(const Syntax& expression) {
  const SourceRange& range = expression.range;
  if (is_logical(expression) || expression.text == "is" || expression.text == "is not") {
    return emit_condition(expression).value;
  }
  if (expression.text == "in" || expression.text == "not in") {
    Value* element = emit(expression[0]);
    Value* container = emit(expression[1]);
    const auto modules = ModuleContainer::of(container);
    Value* contains = modules && !container->type()->castRaw<ClassType>()->hasMethod("__contains__")
        ? modules->contains(range, method_, element)
        : emit_operator(range, "__contains__", aten::__contains__, {container, element});
    return expression.text == "in" ? contains : emit_builtin(range, aten::__not__, {contains});
  }
  const OperatorNames& names = binary_operator(expression);
  Value* left = emit(expression[0]);
  Value* right = emit(expression[1]);
  // "%" of a string formats.
  const Symbol name = expression.text == "%" && left->type()->kind() == TypeKind::StringType
      ? Symbol(aten::percentFormat)
      : Symbol::aten(names.name);
  if (name == aten::percentFormat && right->type()->kind() == TypeKind::TupleType) {
    std::vector<Value*> arguments{left};
    for (const SugaredValuePtr& each : SimpleValue(right).asTuple(range, method_, std::nullopt)) {
      arguments.push_back(each->asValue(range, method_));
    }
    return emit_builtin(range, name, arguments);
  }
  if (expression.text == "+" && left->type()->kind() == TypeKind::TupleType &&
      right->type()->kind() == TypeKind::TupleType) {
    std::vector<Value*> elements;
    for (Value* tuple : {left, right}) {
      for (const SugaredValuePtr& each : SimpleValue(tuple).asTuple(range, method_, std::nullopt)) {
        elements.push_back(each->asValue(range, method_));
      }
    }
    return graph().insertNode(graph().createTuple(elements)->setSourceRange(range))->output();
  }
  return emit_operator(range, names.method, name, {left, right});
}

Value* Emitter::emit_unary(const Syntax& expression) {
  const SourceRange& range = expression.range;
  if (expression.text == "not") {
    return emit_condition(expression).value;
  }
  const bool minus = expression.text == "-";
  // The least of all ints has no positive.
  if (minus && expression[0].is(SyntaxKind::Number)) {
    return emit_number(expression[0], true);
  }
  Value* operand = emit(expression[0]);
  if (minus) {
    // Negative numbers are constants.
    if (const std::optional<IValue> number = toIValue(operand)) {
      graph().skipNumbers(1); // the operator, in libtorch
      if (number->isInt() && number->toInt() != std::numeric_limits<int64_t>::min()) {
        return constant(-number->toInt(), range);
      }
      if (number->isDouble()) {
        return constant(-number->toDouble(), range);
      }
    }
  }
  return emit_operator(range, minus ? "__neg__" : "__invert__", minus ? aten::neg : aten::bitwise_not, {operand});
}

Value* Emitter::emit_branches(
    const SourceRange& range,
    const Condition& condition,
    const std::function<Value*()>& when_true,
    const std::function<Value*()>& when_false) {
  if (condition.known) {
    insert_refinements(range, *condition.known ? condition.refinements.when_true : condition.refinements.when_false);
    return *condition.known ? when_true() : when_false();
  }
  Node* node = graph().insertNode(graph().create(prim::If, {condition.value}, 0)->setSourceRange(range));
  const auto emit_block = [&](const std::function<Value*()>& value, const std::vector<Refinement>& refinements) {
    Block* block = node->addBlock();
    push_frame(block);
    const WithInsertPoint at(block);
    insert_refinements(range, refinements);
    Value* result = value();
    block->registerOutput(result);
    pop_frame();
    return result->type();
  };
  const TypePtr true_type = emit_block(when_true, condition.refinements.when_true);
  const TypePtr false_type = emit_block(when_false, condition.refinements.when_false);
  const std::optional<TypePtr> unified = unifyTypes(true_type, false_type);
  if (!unified) {
    throw ErrorReport(range) << "if-expression's true branch has type " << true_type->repr_str()
                             << " but false branch has type " << false_type->repr_str();
  }
  return node->addOutput()->setType(*unified);
}

Value* Emitter::emit_conditional(const Syntax& expression, const TypePtr& hint) {
  const Condition condition = emit_condition(expression[0]);
  return emit_branches(
      expression.range, condition, [&] { return emit(expression[1], hint); },
      [&] { return emit(expression[2], hint); });
}

// ---- conditions -----------------------------------------------------------------------------------------------------

namespace {

const Refinement* find_refinement(const std::vector<Refinement>& refinements, const std::string& name) {
  const auto found =
      std::find_if(refinements.begin(), refinements.end(), [&](const Refinement& each) { return each.name == name; });
  return found == refinements.end() ? nullptr : &*found;
}

// Both hold: what is known later wins.
std::vector<Refinement> both(const std::vector<Refinement>& a, const std::vector<Refinement>& b) {
  std::vector<Refinement> all = b;
  for (const Refinement& each : a) {
    if (!find_refinement(b, each.name)) {
      all.push_back(each);
    }
  }
  return all;
}

// One of them holds: only what is known of a variable in both cases.
std::vector<Refinement> either(const std::vector<Refinement>& a, const std::vector<Refinement>& b) {
  std::vector<Refinement> common;
  for (const Refinement& each : a) {
    const Refinement* other = find_refinement(b, each.name);
    const std::optional<TypePtr> unified = other ? unifyTypes(each.type, other->type) : std::nullopt;
    if (unified) {
      common.push_back({each.name, *unified});
    }
  }
  return common;
}

} // namespace

Refinements Refinements::And(const Refinements& other) const {
  return {both(when_true, other.when_true), either(when_false, other.when_false)};
}

Refinements Refinements::Or(const Refinements& other) const {
  return {either(when_true, other.when_true), both(when_false, other.when_false)};
}

Value* Emitter::emit_condition_value(const Syntax& expression) {
  Value* value = emit(expression);
  if (environment_->isDefined("bool")) {
    // Conditions call what has that name.
    throw ErrorReport(expression.range) << "Could not cast value of type " << value->type()->repr_str() << " to bool";
  }
  if (value->type()->kind() == TypeKind::BoolType) {
    graph().insertConstant(int64_t{0}); // as casts do (CastValue)
    return value;
  }
  try {
    return CastValue(BoolType::get(), aten::Bool)
        .call(expression.range, method_, {NamedValue(expression.range, value)}, {}, 1)
        ->asValue(expression.range, method_);
  } catch (const ErrorReport&) {
    throw ErrorReport(expression.range) << "Could not cast value of type " << value->type()->repr_str() << " to bool";
  }
}

Condition Emitter::emit_condition(const Syntax& expression) {
  check_stack_room("conditions");
  const SourceRange& range = expression.range;
  if (expression.is(SyntaxKind::Unary) && expression.text == "not") {
    const Condition inner = emit_condition(expression[0]);
    Value* value = emit_builtin(range, aten::__not__, {inner.value});
    return {value, inner.refinements.Not(), inner.known ? std::optional<bool>(!*inner.known) : std::nullopt};
  }
  if (is_logical(expression)) {
    const bool is_and = expression.text == "and";
    const Condition left = emit_condition(expression[0]);
    Condition right{nullptr, {}, std::nullopt};
    if (left.known && *left.known != is_and) {
      return left;
    }
    const auto emit_right = [&] {
      right = emit_condition(expression[1]);
      return right.value;
    };
    const auto short_cut = [&] { return constant(!is_and, range); };
    Value* value =
        is_and ? emit_branches(range, left, emit_right, short_cut) : emit_branches(range, left, short_cut, emit_right);
    const Refinements refinements =
        is_and ? left.refinements.And(right.refinements) : left.refinements.Or(right.refinements);
    // `x and False` is False, whatever x is.
    const bool decided = left.known || (right.known && *right.known != is_and);
    return {value, refinements, decided ? right.known : std::nullopt};
  }
  if (expression.is(SyntaxKind::Binary) && (expression.text == "is" || expression.text == "is not")) {
    return emit_none_test(expression);
  }
  if (expression.is(SyntaxKind::Call) && expression[0].is(SyntaxKind::Attribute) &&
      expression[0][0].is(SyntaxKind::Name)) {
    // libtorch looks twice at what is called. Where that is an expression it also runs twice there, but not here.
    environment_->loadIfDefined(expression[0][0].text);
  }
  if (expression.is(SyntaxKind::Call) && expression[0].is(SyntaxKind::Name)) {
    const SugaredValuePtr callee = environment_->getSugaredVar(expression[0].text, expression[0].range, false);
    const auto* form = dynamic_cast<SpecialFormValue*>(callee.get());
    if (form && form->form == prim::isinstance) {
      return emit_isinstance(expression);
    }
    if (form && form->form == prim::HasAttr) {
      return emit_hasattr(expression);
    }
  }
  Value* value = emit_condition_value(expression);
  std::optional<bool> known;
  // What is never run is never compiled.
  if (const std::optional<IValue> constant_value = toIValue(value)) {
    known = constant_value->toBool();
  }
  return {value, {}, known};
}

Condition Emitter::emit_none_test(const Syntax& expression) {
  const SourceRange& range = expression.range;
  const bool is = expression.text == "is";
  Value* left = emit(expression[0]);
  Value* right = emit(expression[1]);
  const auto known_none = [](const Value* value) { return value->type()->kind() == TypeKind::NoneType; };
  const Symbol name = is ? aten::__is__ : aten::__isnot__;
  if (!known_none(left) && !known_none(right)) {
    return {emit_builtin(range, name, {left, right}), {}, std::nullopt};
  }
  if (known_none(left) && known_none(right)) {
    return {constant(is, range), {}, is};
  }
  Value* tested = known_none(left) ? right : left;
  const Syntax& variable = known_none(left) ? expression[1] : expression[0];
  if (tested->mustNotBeNone()) {
    return {constant(!is, range), {}, !is};
  }
  Refinements refinements;
  if (variable.is(SyntaxKind::Name)) {
    std::vector<Refinement>& some = is ? refinements.when_false : refinements.when_true;
    std::vector<Refinement>& none = is ? refinements.when_true : refinements.when_false;
    if (const OptionalType* optional = tested->type()->castRaw<OptionalType>()) {
      some.push_back({variable.text, optional->getElementType()});
    } else if (const UnionType* any_of = tested->type()->castRaw<UnionType>()) {
      std::vector<TypePtr> rest;
      for (const TypePtr& member : any_of->containedTypes()) {
        if (member->kind() != TypeKind::NoneType) {
          rest.push_back(member);
        }
      }
      if (!rest.empty()) {
        some.push_back({variable.text, rest.size() == 1 ? rest[0] : TypePtr(UnionType::create(rest))});
        none.push_back({variable.text, NoneType::get()});
      }
    }
  }
  return {emit_builtin(range, name, {left, right}), refinements, std::nullopt};
}

namespace {

bool fits_any(const Type& type, const std::vector<TypePtr>& types) {
  return std::any_of(types.begin(), types.end(), [&](const TypePtr& each) {
    return type.isSubtypeOf(*each) || (each->kind() == TypeKind::AnyListType && type.kind() == TypeKind::ListType) ||
        (each->kind() == TypeKind::AnyTupleType && type.kind() == TypeKind::TupleType);
  });
}

// What a value may be: the members of optionals and unions, or the type itself.
std::vector<TypePtr> alternatives(const TypePtr& type) {
  if (const OptionalType* optional = type->castRaw<OptionalType>()) {
    return {optional->getElementType(), NoneType::get()};
  }
  if (const UnionType* any_of = type->castRaw<UnionType>()) {
    return any_of->containedTypes().vec();
  }
  return {type};
}

TypePtr one_of(const std::vector<TypePtr>& types) {
  return types.size() == 1 ? types[0] : TypePtr(UnionType::create(types));
}

} // namespace

Condition Emitter::emit_isinstance(const Syntax& call) {
  const SourceRange& range = call.range;
  if (call[1].size() != 2 || call[2].size() != 0) {
    throw ErrorReport(range) << "isinstance expected exactly 2 arguments but found " << call[1].size() + call[2].size();
  }
  Value* value = emit(call[1][0]);
  std::vector<TypePtr> types;
  const Syntax& classes = call[1][1];
  const auto add_type = [&](const Syntax& each) {
    // A list or tuple without element types is any of that kind.
    const std::optional<std::string> name = dottedName(each);
    types.push_back(
        name == "list"        ? TypePtr(AnyListType::get())
            : name == "tuple" ? TypePtr(AnyTupleType::get())
                              : types_.parse(each));
  };
  if (classes.is(SyntaxKind::Tuple)) {
    for (const SyntaxPtr& each : classes.children) {
      add_type(*each);
    }
  } else {
    add_type(classes);
  }
  std::vector<TypePtr> matching;
  std::vector<TypePtr> others;
  bool undecided = value->type()->kind() == TypeKind::AnyType || value->type()->kind() == TypeKind::InterfaceType;
  for (const TypePtr& member : alternatives(value->type())) {
    const bool narrower =
        std::any_of(types.begin(), types.end(), [&](const TypePtr& each) { return each->isSubtypeOf(*member); });
    if (fits_any(*member, types)) {
      matching.push_back(member);
    } else {
      undecided = undecided || (narrower && member->kind() == TypeKind::NumberType);
      others.push_back(member);
    }
  }
  if (!undecided && (matching.empty() || others.empty())) {
    const bool known = others.empty();
    return {constant(known, range), {}, known};
  }
  Refinements refinements;
  if (call[1][0].is(SyntaxKind::Name)) {
    const std::string& name = call[1][0].text;
    if (undecided) {
      if (types.size() == 1) {
        refinements.when_true.push_back({name, types[0]});
      }
    } else {
      refinements.when_true.push_back({name, one_of(matching)});
      refinements.when_false.push_back({name, one_of(others)});
    }
  }
  Value* result = graph().insertNode(graph().createIsInstance(value, types)->setSourceRange(range))->output();
  return {result, refinements, std::nullopt};
}

Condition Emitter::emit_hasattr(const Syntax& call) {
  const SourceRange& range = call.range;
  if (call[1].size() != 2) {
    throw ErrorReport(range) << "hasattr expected exactly 2 arguments but found " << call[1].size();
  }
  if (!call[1][1].is(SyntaxKind::String)) {
    throw ErrorReport(call[1][1].range) << "hasattr's second argument must be a string literal";
  }
  const bool known = emit_sugared(call[1][0])->hasAttr(call[1][0].range, method_, call[1][1].text);
  return {constant(known, range), {}, known};
}

} // namespace torch::jit
