// Statements.
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/local_function.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/constants.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace torch::jit {

void Emitter::emit_statements(const Syntax& statements) {
  for (const SyntaxPtr& statement : statements.children) {
    // What follows an exit is never run.
    if (exit_blocks_.count(environment_->block()) > 0) {
      return;
    }
    emit_statement(*statement);
  }
}

void Emitter::emit_statement(const Syntax& statement) {
  ErrorReport::CallStack::update_pending_range(statement.range);
  switch (statement.kind) {
    case SyntaxKind::Expression:
      emit_sugared(statement[0]);
      break;
    case SyntaxKind::Assign:
      emit_assign(statement);
      break;
    case SyntaxKind::AugmentedAssign:
      emit_augmented_assign(statement);
      break;
    case SyntaxKind::Return:
      emit_return(statement);
      break;
    case SyntaxKind::If:
      emit_if(statement);
      break;
    case SyntaxKind::While:
      emit_while(statement);
      break;
    case SyntaxKind::For:
      emit_for(statement);
      break;
    case SyntaxKind::With:
      emit_with(statement);
      break;
    case SyntaxKind::Raise:
      emit_raise(statement);
      break;
    case SyntaxKind::Assert:
      emit_assert(statement);
      break;
    case SyntaxKind::Delete:
      emit_delete(statement);
      break;
    case SyntaxKind::Pass:
      break;
    case SyntaxKind::Break:
    case SyntaxKind::Continue: {
      const bool is_break = statement.is(SyntaxKind::Break);
      if (loop_depth_ == 0) {
        throw ErrorReport(statement.range) << "SyntaxError: '" << (is_break ? "break" : "continue") << "' outside loop";
      }
      graph().insertNode(
          graph().create(is_break ? prim::BreakStmt : prim::ContinueStmt, 0)->setSourceRange(statement.range));
      exit_blocks_.insert(environment_->block());
      break;
    }
    case SyntaxKind::Function:
      environment_->setSugaredVar(statement.range, statement.text, std::make_shared<LocalFunction>(statement));
      break;
    case SyntaxKind::Global:
      throw ErrorReport(statement.range) << "Unrecognized statement kind global";
    default:
      throw ErrorReport(statement.range) << "Unrecognized statement kind " << toString(statement.kind);
  }
}

// ---- assignments ----------------------------------------------------------------------------------------------------

namespace {

void check_target(const Syntax& target) {
  switch (target.kind) {
    case SyntaxKind::Name:
    case SyntaxKind::Tuple:
    case SyntaxKind::Attribute:
    case SyntaxKind::Subscript:
      return;
    default:
      throw ErrorReport(target.range) << "unexpected expression on left-hand side of assignment";
  }
}

} // namespace

void Emitter::emit_assign(const Syntax& statement) {
  const Syntax& targets = statement[0];
  if (!statement.has(1)) {
    // A declaration alone: the variable gets its type when it is assigned.
    throw ErrorReport(statement.range) << "For an assignment, expected an expression on the right-hand side";
  }
  const TypePtr annotation = statement.has(2) ? types_.parse(statement[2]) : nullptr;
  for (const SyntaxPtr& target : targets.children) {
    check_target(*target);
  }
  if (annotation || (targets.size() == 1 && targets[0].is(SyntaxKind::Name))) {
    const Syntax& target = targets[0];
    if (target.is(SyntaxKind::Name)) {
      SugaredValuePtr value = emit_sugared(statement[1], annotation);
      if (annotation) {
        Value* converted =
            tryConvertToType(statement.range, graph(), annotation, value->asValue(statement.range, method_), false);
        value = std::make_shared<SimpleValue>(converted);
      }
      environment_->setSugaredVar(target.range, target.text, std::move(value), annotation);
      return;
    }
  }
  if (targets.size() == 1 && targets[0].is(SyntaxKind::Attribute)) {
    // The object comes before what it is given.
    const SugaredValuePtr object = emit_sugared(targets[0][0]);
    Value* value = emit(statement[1], annotation);
    object->setAttr(statement.range, method_, targets[0].text, value);
    return;
  }
  const SugaredValuePtr value = emit_sugared(statement[1], annotation);
  for (const SyntaxPtr& target : targets.children) {
    // Errors mark the statement or, where several values are unpacked, these.
    const bool unpacks = target->is(SyntaxKind::Tuple);
    emit_assign_to(*target, value, unpacks ? statement[1].range : statement.range);
  }
}

void Emitter::emit_assign_to(const Syntax& target, const SugaredValuePtr& value, const SourceRange& range) {
  switch (target.kind) {
    case SyntaxKind::Name:
      environment_->setSugaredVar(target.range, target.text, value);
      break;
    case SyntaxKind::Tuple:
      emit_unpack(target, value, range);
      break;
    case SyntaxKind::Attribute:
      emit_sugared(target[0])->setAttr(range, method_, target.text, value->asValue(range, method_));
      break;
    case SyntaxKind::Subscript:
      emit_subscript_assign(target, value->asValue(range, method_), range);
      break;
    default:
      check_target(target);
  }
}

void Emitter::emit_unpack(const Syntax& target, const SugaredValuePtr& value, const SourceRange& range) {
  const auto is_starred = [](const SyntaxPtr& each) { return each->is(SyntaxKind::Starred); };
  const ptrdiff_t stars = std::count_if(target.children.begin(), target.children.end(), is_starred);
  if (stars > 1) {
    throw ErrorReport(target.range) << "Only one starred expression is allowed on the lhs";
  }
  const size_t count = target.size();
  const std::vector<SugaredValuePtr> elements =
      value->asTuple(range, method_, stars > 0 ? std::nullopt : std::optional<size_t>(count));
  if (elements.size() < count - static_cast<size_t>(stars)) {
    throw ErrorReport(target.range) << "need " << (stars > 0 ? "at least " : "") << count - static_cast<size_t>(stars)
                                    << " values to unpack but found only " << elements.size();
  }
  if (elements.size() > count && stars == 0) {
    throw ErrorReport(target.range) << "too many values to unpack: need " << count << " but found " << elements.size();
  }
  size_t next = 0;
  for (const SyntaxPtr& each : target.children) {
    if (!each->is(SyntaxKind::Starred)) {
      emit_assign_to(*each, elements[next++], range);
      continue;
    }
    const size_t taken = elements.size() - (count - 1);
    std::vector<Value*> rest;
    for (size_t i = 0; i < taken; ++i) {
      rest.push_back(elements[next++]->asValue(range, method_));
    }
    Value* tuple = graph().insertNode(graph().createTuple(rest)->setSourceRange(range))->output();
    emit_assign_to((*each)[0], std::make_shared<SimpleValue>(tuple), range);
  }
}

void Emitter::emit_subscript_assign(const Syntax& target, Value* value, const SourceRange& range) {
  const SugaredValuePtr sugared = emit_sugared(target[0]);
  Value* object = sugared->asValue(target[0].range, method_);
  const Syntax& indices = target[1];
  if (object->type()->kind() == TypeKind::TensorType) {
    const auto [sliced, index] = emit_indices(target.range, object, indices);
    if (value->type()->isSubtypeOf(*NumberType::get()) || value->type()->kind() == TypeKind::BoolType) {
      // Of the tensor's dtype, on its device.
      value = emitBuiltinCall(
          range, graph(), aten::tensor, {NamedValue(range, value)},
          {NamedValue(range, "dtype", emit_builtin(range, prim::dtype, {sliced})),
           NamedValue(range, "device", emit_builtin(range, prim::device, {sliced}))});
    }
    if (index.empty()) {
      emit_builtin(range, aten::copy_, {sliced, value, constant(false, range)});
    } else {
      emit_builtin(range, aten::index_put_, {sliced, index_list(range, index), value, constant(false, range)});
    }
    return;
  }
  if (indices.size() != 1) {
    throw ErrorReport(range) << "Expected a single index for assignment to " << object->type()->repr_str();
  }
  if (indices[0].is(SyntaxKind::Slice)) {
    throw ErrorReport(indices[0].range)
        << "Sliced expression not yet supported for subscripted assignment. File a bug if you want this";
  }
  Value* index = emit(indices[0]);
  if (object->type()->kind() == TypeKind::ClassType) {
    sugared->attr(range, method_, "__setitem__")
        ->call(range, method_, {NamedValue(range, index), NamedValue(range, value)}, {}, 0);
    return;
  }
  if (object->type()->kind() == TypeKind::TupleType) {
    throw ErrorReport(target.range) << object->type()->repr_str() << " does not support subscripted assignment";
  }
  emit_builtin(range, aten::_set_item, {object, index, value});
}

namespace {

// The operator of a statement such as +=, and the one that writes to its first argument where there is one.
struct AugmentedOperator {
  const char* text;
  const char* name;
  const char* inplace;
  const char* method;
};
constexpr AugmentedOperator kAugmentedOperators[] = {
    {"+", "add", "add_", "__iadd__"},
    {"-", "sub", "sub_", "__isub__"},
    {"*", "mul", "mul_", "__imul__"},
    {"/", "div", "div_", "__itruediv__"},
    {"%", "fmod", "fmod_", "__imod__"},
    {"|", "__or__", "bitwise_or_", "__ior__"},
    {"&", "__and__", "bitwise_and_", "__iand__"},
    {"^", "__xor__", "bitwise_xor_", "__ixor__"},
    {"<<", "__lshift__", "__lshift__", "__ilshift__"},
    {">>", "__rshift__", "__rshift__", "__irshift__"},
    {"**", "pow", "pow_", "__ipow__"}};

const AugmentedOperator& augmented_operator(const Syntax& statement) {
  for (const AugmentedOperator& op : kAugmentedOperators) {
    if (statement.text == op.text) {
      return op;
    }
  }
  throw ErrorReport(statement.range) << "unknown augmented assignment: " << statement.text << '=';
}

} // namespace

void Emitter::emit_augmented_assign(const Syntax& statement) {
  const Syntax& target = statement[0];
  const AugmentedOperator& op = augmented_operator(statement);
  if (target.is(SyntaxKind::Subscript)) {
    emit_augmented_subscript(statement);
    return;
  }
  if (!target.is(SyntaxKind::Name) && !target.is(SyntaxKind::Attribute)) {
    throw ErrorReport(target.range)
        << (target.is(SyntaxKind::Tuple) ? "augmented assignment can only have one LHS expression"
                                         : "unexpected expression on left-hand side of augmented assignment");
  }
  const SugaredValuePtr sugared = emit_sugared(target);
  Value* before = sugared->asValue(target.range, method_);
  const TypeKind kind = before->type()->kind();
  const SourceRange& range = statement.range;
  Value* after = nullptr;
  if (kind == TypeKind::ClassType) {
    const ClassType& type = before->type()->expectRef<ClassType>();
    const std::string plain = "__" + std::string(op.method).substr(3);
    const std::string name = type.hasMethod(op.method) ? op.method : plain;
    Value* value = emit(statement[1]);
    after = sugared->attr(range, method_, name)
                ->call(range, method_, {NamedValue(range, value)}, {}, 1)
                ->asValue(range, method_);
  } else {
    const bool writes = kind == TypeKind::TensorType || kind == TypeKind::ListType;
    Value* value = emit(statement[1]);
    after = emit_builtin(range, Symbol::aten(writes ? op.inplace : op.name), {before, value});
  }
  emit_assign_to(target, std::make_shared<SimpleValue>(after), range);
  if (kind != TypeKind::TensorType && target.is(SyntaxKind::Name)) {
    environment_->loadIfDefined(target.text); // as in libtorch
  }
}

void Emitter::emit_augmented_subscript(const Syntax& statement) {
  const Syntax& target = statement[0];
  const AugmentedOperator& op = augmented_operator(statement);
  const SourceRange& range = statement.range;
  Value* object = emit(target[0]);
  if (object->type()->kind() == TypeKind::TensorType) {
    const auto [sliced, index] = emit_indices(range, object, target[1]);
    if (index.empty()) {
      emit_builtin(range, Symbol::aten(op.inplace), {sliced, emit(statement[1])});
      return;
    }
    Value* list = index_list(range, index);
    Value* picked = emit_builtin(range, aten::index, {sliced, list});
    Value* changed = emit_builtin(range, Symbol::aten(op.inplace), {picked, emit(statement[1])});
    emit_builtin(range, aten::index_put_, {sliced, list, changed, constant(false, range)});
    return;
  }
  if (target[1].size() != 1 || target[1][0].is(SyntaxKind::Slice)) {
    throw ErrorReport(target.range) << "Sliced expression not yet supported for subscripted augmented assignment. "
                                    << "File a bug if you want this";
  }
  Value* index = emit(target[1][0]);
  if (object->type()->kind() == TypeKind::ClassType) {
    const SugaredValuePtr sugared = std::make_shared<SimpleValue>(object);
    Value* item = sugared->attr(range, method_, "__getitem__")
                      ->call(range, method_, {NamedValue(range, index)}, {}, 1)
                      ->asValue(range, method_);
    Value* changed = emit_builtin(range, Symbol::aten(op.name), {item, emit(statement[1])});
    sugared->attr(range, method_, "__setitem__")
        ->call(range, method_, {NamedValue(range, index), NamedValue(range, changed)}, {}, 0);
    return;
  }
  // In this order in libtorch.
  Value* value = emit(statement[1]);
  Value* item = emit_builtin(range, aten::__getitem__, {object, index});
  const bool writes = item->type()->kind() == TypeKind::TensorType;
  Value* changed = emit_builtin(range, Symbol::aten(writes ? op.inplace : op.name), {item, value});
  emit_builtin(range, aten::_set_item, {object, index, changed});
}

void Emitter::emit_delete(const Syntax& statement) {
  for (const SyntaxPtr& target : statement.children) {
    if (target->is(SyntaxKind::Name)) {
      // Python's del unbinds a name; the value goes when nothing uses it.
      environment_->getVar(target->text, target->range);
      const std::string name = target->text;
      environment_->setVariableTypeError(name, [name] { return name + " was deleted "; });
      continue;
    }
    if (!target->is(SyntaxKind::Subscript) || (*target)[1].size() != 1) {
      throw ErrorReport(target->range)
          << "del statements are only supported for deleting list and dict items and variables";
    }
    const SugaredValuePtr sugared = emit_sugared((*target)[0]);
    Value* object = sugared->asValue(target->range, method_);
    Value* index = emit((*target)[1][0]);
    if (object->type()->kind() == TypeKind::ClassType) {
      sugared->attr(target->range, method_, "__delitem__")
          ->call(target->range, method_, {NamedValue(target->range, index)}, {}, 0);
    } else {
      emit_builtin(target->range, aten::Delete, {object, index});
    }
  }
}

// ---- exceptions -----------------------------------------------------------------------------------------------------

void Emitter::emit_raise_message(const SourceRange& range, Value* message, Value* class_name) {
  graph().insertNode(graph().create(prim::RaiseException, {message, class_name}, 0)->setSourceRange(range));
  graph().skipNumbers(1); // its results, as a tuple
  exit_blocks_.insert(environment_->block());
}

void Emitter::emit_raise(const Syntax& statement) {
  const SourceRange& range = statement.range;
  const SugaredValuePtr raised = emit_sugared(statement[0]);
  if (dynamic_cast<ExceptionValue*>(raised.get())) {
    emit_raise_message(range, constant(std::string(), range), graph().insertNode(graph().createNone())->output());
    return;
  }
  if (const auto* exception = dynamic_cast<ExceptionMessageValue*>(raised.get())) {
    emit_raise_message(range, exception->message, exception->class_name);
    return;
  }
  Value* value = raised->asValue(range, method_);
  if (value->type()->kind() == TypeKind::ClassType) {
    // A class of the program's own that derives from an exception: its name and what it says.
    const std::string name = value->type()->expectRef<ClassType>().name()->qualifiedName();
    emit_raise_message(range, emit_builtin(range, aten::str, {value}), constant(name, range));
    return;
  }
  throw ErrorReport(range) << "exceptions must derive from BaseException";
}

void Emitter::emit_assert(const Syntax& statement) {
  const SourceRange& range = statement.range;
  const Condition condition = emit_condition(statement[0]);
  const auto fail = [&] {
    Value* message = constant(std::string("AssertionError: "), range);
    if (statement.has(1)) {
      Value* text = emit(statement[1]);
      if (text->type()->kind() != TypeKind::StringType) {
        text = emit_builtin(range, aten::str, {text});
      }
      message = emit_builtin(range, aten::add, {message, text});
    }
    emit_raise_message(range, message, graph().insertNode(graph().createNone())->output());
  };
  if (condition.known) {
    insert_refinements(range, *condition.known ? condition.refinements.when_true : condition.refinements.when_false);
    if (!*condition.known) {
      fail();
    }
    return;
  }
  const Syntax nothing(SyntaxKind::Sequence, range);
  Node* node = graph().insertNode(graph().create(prim::If, {condition.value}, 0)->setSourceRange(range));
  Block* holds = node->addBlock();
  Block* fails = node->addBlock();
  const std::shared_ptr<Environment> then = emit_branch(holds, nothing, condition.refinements.when_true);
  push_frame(fails);
  {
    const WithInsertPoint at(fails);
    insert_refinements(range, condition.refinements.when_false);
    fail();
  }
  const std::shared_ptr<Environment> otherwise = pop_frame();
  merge_branches(range, node, then, otherwise);
}

// ---- branches -------------------------------------------------------------------------------------------------------

void Emitter::insert_refinements(const SourceRange& range, const std::vector<Refinement>& refinements) {
  for (const Refinement& refinement : refinements) {
    Value* before = environment_->getVar(refinement.name, range);
    if (before->type() == refinement.type || *before->type() == *refinement.type) {
      continue;
    }
    Value* cast = graph().insertUncheckedCast(before, refinement.type);
    if (isMeaningfulName(refinement.name)) {
      cast->setDebugName(refinement.name);
    }
    if (environment_->next()) {
      environment_->next()->loadIfDefined(refinement.name);
    }
    environment_->insertStore(refinement.name, range, cast, refinement.type);
  }
}

std::shared_ptr<Environment> Emitter::emit_branch(
    Block* block, const Syntax& statements, const std::vector<Refinement>& refinements) {
  push_frame(block);
  const WithInsertPoint at(block);
  insert_refinements(statements.range, refinements);
  emit_statements(statements);
  return pop_frame();
}

void Emitter::emit_if(const Syntax& statement) {
  emit_if(statement.range, emit_condition(statement[0]), statement[1], statement[2]);
}

void Emitter::emit_if(
    const SourceRange& range, const Condition& condition, const Syntax& then, const Syntax& otherwise) {
  if (condition.known) {
    const Refinements& refinements = condition.refinements;
    insert_refinements(range, *condition.known ? refinements.when_true : refinements.when_false);
    emit_statements(*condition.known ? then : otherwise);
    return;
  }
  Node* node = graph().insertNode(graph().create(prim::If, {condition.value}, 0)->setSourceRange(range));
  Block* true_block = node->addBlock();
  Block* false_block = node->addBlock();
  const std::shared_ptr<Environment> after_true = emit_branch(true_block, then, condition.refinements.when_true);
  const std::shared_ptr<Environment> after_false =
      emit_branch(false_block, otherwise, condition.refinements.when_false);
  merge_branches(range, node, after_true, after_false);
}

// The types of variables behind an If, and which of them exist only on one way.
void Emitter::merge_branches(
    const SourceRange& range,
    Node* node,
    const std::shared_ptr<Environment>& then,
    const std::shared_ptr<Environment>& otherwise) {
  const bool then_exits = exit_blocks_.count(node->blocks()[0]) > 0;
  const bool otherwise_exits = exit_blocks_.count(node->blocks()[1]) > 0;
  std::set<std::string> names;
  for (const std::string& name : then->definedVariables()) {
    names.insert(name);
    otherwise->loadIfDefined(name);
  }
  for (const std::string& name : otherwise->definedVariables()) {
    names.insert(name);
    then->loadIfDefined(name);
  }
  if (then_exits && otherwise_exits) {
    exit_blocks_.insert(node->owningBlock());
    return;
  }
  for (const std::string& name : names) {
    const bool in_both = then_exits || otherwise_exits || (then->isDefined(name) && otherwise->isDefined(name));
    if (in_both && !then_exits) {
      then->loadIfDefined(name);
    }
    if (in_both && !otherwise_exits) {
      otherwise->loadIfDefined(name);
    }
    const TypePtr in_then = then_exits ? nullptr : then->findType(name);
    const TypePtr in_otherwise = otherwise_exits ? nullptr : otherwise->findType(name);
    if (then_exits || otherwise_exits) {
      const TypePtr& only = then_exits ? in_otherwise : in_then;
      const std::shared_ptr<Environment>& live = then_exits ? otherwise : then;
      const std::shared_ptr<Environment>& dead = then_exits ? then : otherwise;
      if (!only) {
        continue;
      }
      // The way that exits gives some value of the type that nobody sees.
      const WithInsertPoint at(dead->block());
      Value* nothing = graph().insertNode(graph().createUninitialized(only))->output();
      dead->insertStore(name, range, nothing, only);
      if (!live->isDefined(name)) {
        continue;
      }
      environment_->loadIfDefined(name);
      environment_->setType(name, only);
      continue;
    }
    if (!in_then || !in_otherwise) {
      const bool was_defined = environment_->isDefined(name);
      const char* branch = in_then ? "false" : "true";
      const std::optional<std::string> reason = (in_then ? otherwise : then)->findVariableTypeError(name);
      if (!was_defined || reason) {
        // The text is made when somebody uses the variable, which is rare.
        environment_->setVariableTypeError(name, [range, name, branch, reason] {
          return reason
              ? *reason
              : std::string((ErrorReport(range) << name << " is not defined in the " << branch << " branch").what());
        });
      }
      continue;
    }
    environment_->loadIfDefined(name);
    if (const std::optional<TypePtr> unified = unifyTypes(in_then, in_otherwise)) {
      environment_->setType(name, *unified);
      continue;
    }
    ErrorReport report(range);
    report << "Type mismatch: " << name << " is set to type " << in_then->repr_str() << " in the true branch and type "
           << in_otherwise->repr_str() << " in the false branch";
    const std::string message = report.what();
    environment_->setVariableTypeError(name, [message] { return message; });
  }
}

// ---- loops ----------------------------------------------------------------------------------------------------------

void Emitter::emit_loop(
    const SourceRange& range,
    const SugaredValuePtr& iterable,
    const Syntax* condition,
    const Syntax* target,
    const std::function<void()>& body) {
  Value* trips = iterable ? iterable->len(range, method_) : number(std::numeric_limits<int64_t>::max(), range);
  Node* node = graph().insertNode(graph().create(prim::Loop, {trips}, 0)->setSourceRange(range));
  // Until it is in SSA form, a loop has two blocks: one computes whether it goes on, the other is the body.
  Block* condition_block = node->addBlock();
  Block* body_block = node->addBlock();
  push_frame(condition_block);
  Refinements refinements;
  if (condition) {
    const WithInsertPoint at(condition_block);
    const Condition emitted = emit_condition(*condition);
    condition_block->registerOutput(emitted.value);
    refinements = emitted.refinements;
  } else {
    const WithInsertPoint at(node);
    condition_block->registerOutput(constant(true, range));
  }
  pop_frame();
  Value* iteration = body_block->addInput()->setType(IntType::get());
  push_frame(body_block);
  if (std::exchange(own_variables_, false)) {
    environment_->setOwnVariables('@' + std::to_string(++comprehensions_));
  }
  ++loop_depth_;
  {
    const WithInsertPoint at(body_block);
    insert_refinements(range, refinements.when_true);
    if (iterable) {
      Value* item = iterable->getitem(range, method_, iteration)->asValue(range, method_);
      emit_assign_to(*target, std::make_shared<SimpleValue>(item), range);
    }
    body();
  }
  --loop_depth_;
  exit_blocks_.erase(body_block);
  pop_frame();
}

void Emitter::emit_while(const Syntax& statement) {
  emit_loop(statement.range, nullptr, &statement[0], nullptr, [&] { emit_statements(statement[1]); });
}

void Emitter::emit_for(const Syntax& statement) {
  // Errors of what does not fit the variables mark the whole loop.
  const SyntaxPtr several = statement[0].is(SyntaxKind::Tuple)
      ? makeSyntax(SyntaxKind::Tuple, statement.range, std::string(), SyntaxChildren(statement[0].children))
      : nullptr;
  const Syntax& target = several ? *several : statement[0];
  const SugaredValuePtr iterable = emit_sugared(statement[1])->iter(statement.range, method_);
  if (iterable->shouldEmitUnrolled()) {
    emit_unrolled(statement.range, iterable, target, statement[2]);
    return;
  }
  emit_loop(statement.range, iterable, nullptr, &target, [&] { emit_statements(statement[2]); });
}

namespace {

bool leaves_loop(const Syntax& statements) {
  return std::any_of(statements.children.begin(), statements.children.end(), [](const SyntaxPtr& statement) {
    switch (statement->kind) {
      case SyntaxKind::Break:
      case SyntaxKind::Continue:
        return true;
      case SyntaxKind::If:
        return leaves_loop((*statement)[1]) || leaves_loop((*statement)[2]);
      case SyntaxKind::With:
        return leaves_loop((*statement)[1]);
      default:
        return false;
    }
  });
}

} // namespace

void Emitter::emit_unrolled(
    const SourceRange& range, const SugaredValuePtr& iterable, const Syntax& target, const Syntax& body) {
  const std::optional<int64_t> length = iterable->staticLen();
  TORCH_INTERNAL_ASSERT(length, "an unrolled loop of unknown length");
  if (leaves_loop(body)) {
    throw ErrorReport(range)
        << "Because we emit iteration over Modulelists or Tuples as unrolled loops, we do not support break or "
        << "continue inside the body of these loops";
  }
  for (int64_t i = 0; i < *length && exit_blocks_.count(environment_->block()) == 0; ++i) {
    const SugaredValuePtr item = iterable->getitem(range, method_, constant(i, range));
    emit_assign_to(target, item, range);
    emit_statements(body);
  }
}

// ---- with -----------------------------------------------------------------------------------------------------------

void Emitter::emit_with(const Syntax& statement) {
  std::vector<std::pair<Value*, const Syntax*>> entered;
  std::vector<Block*> blocks;
  std::vector<Node*> nodes;
  // Each context holds those behind it in a block of its own.
  std::vector<Node*> insert_points;
  for (const SyntaxPtr& item : statement[0].children) {
    Value* context = emit((*item)[0]);
    const ClassType* type = context->type()->castRaw<ClassType>();
    if (!type) {
      throw ErrorReport(item->range) << "With item expression must return an object";
    }
    Function* enter = type->findMethod("__enter__");
    Function* exit = type->findMethod("__exit__");
    if (!enter || !exit) {
      throw ErrorReport(item->range)
          << "Object returned by with item expression does not define __enter__ and __exit__ methods";
    }
    enter->ensure_defined();
    exit->ensure_defined();
    if (enter->getSchema().arguments().size() != 1) {
      throw ErrorReport(item->range) << "__enter__ must have only one argument and one return value";
    }
    if (exit->getSchema().arguments().size() != 4) {
      throw ErrorReport(item->range) << "__exit__ must have four arguments";
    }
    Node* entering = graph().insertNode(graph().create(prim::Enter, {context})->setSourceRange(item->range));
    entering->output()->setType(enter->getSchema().returns().at(0).type());
    if (item->has(1)) {
      emit_assign_to((*item)[1], std::make_shared<SimpleValue>(entering->output()), item->range);
    }
    Node* node = graph().insertNode(graph().create(prim::With, {context}, 0)->setSourceRange(item->range));
    nodes.push_back(node);
    insert_points.push_back(graph().insertPoint());
    blocks.push_back(node->addBlock());
    graph().setInsertPoint(blocks.back());
    push_frame(blocks.back());
  }
  emit_statements(statement[1]);
  while (!blocks.empty()) {
    const std::shared_ptr<Environment> inner = pop_frame();
    if (exit_blocks_.count(blocks.back()) > 0) {
      exit_blocks_.insert(environment_->block());
    }
    for (const std::string& name : inner->definedVariables()) {
      environment_->setType(name, inner->findType(name));
    }
    graph().setInsertPoint(insert_points.back());
    nodes.back()->i_(attr::value, static_cast<int64_t>(graph().reserveNumber()));
    nodes.pop_back();
    insert_points.pop_back();
    blocks.pop_back();
  }
}

} // namespace torch::jit
