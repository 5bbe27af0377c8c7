#include <csrc/jit/frontend/environment.h>

#include <csrc/jit/frontend/schema_matching.h>

namespace torch::jit {

namespace {

Value* as_simple(const SugaredValuePtr& value) {
  const auto* simple = dynamic_cast<SimpleValue*>(value.get());
  return simple ? simple->getValue() : nullptr;
}

} // namespace

bool isMeaningfulName(const std::string& name) {
  if (name.empty() || name[0] == '$') {
    return false;
  }
  if (name[0] != '_') {
    return true;
  }
  return name.find_first_not_of("_0123456789") != std::string::npos;
}

Environment::Environment(GraphFunction& method, ResolverPtr resolver, Block* block, std::shared_ptr<Environment> next)
    : method_(method), resolver_(std::move(resolver)), block_(block), next_(std::move(next)) {}

void Environment::setType(const std::string& name, TypePtr type) {
  errors_.erase(name);
  values_.erase(name);
  types_[name] = std::move(type);
}

void Environment::setVariableTypeError(const std::string& name, std::function<std::string()> message) {
  types_.erase(name);
  values_.erase(name);
  errors_[name] = std::move(message);
}

std::optional<std::string> Environment::findVariableTypeError(const std::string& name) const {
  for (const Environment* frame = this; frame; frame = frame->next_.get()) {
    const auto found = frame->errors_.find(name);
    if (found != frame->errors_.end()) {
      return found->second();
    }
    if (frame->types_.count(name) > 0 || frame->values_.count(name) > 0) {
      break;
    }
  }
  return std::nullopt;
}

std::vector<std::string> Environment::definedVariables() const {
  std::vector<std::string> names;
  for (const auto& [name, type] : types_) {
    names.push_back(name);
  }
  return names;
}

TypePtr Environment::findType(const std::string& name) const {
  for (const Environment* frame = this; frame; frame = frame->next_.get()) {
    const auto found = frame->types_.find(name);
    if (found != frame->types_.end()) {
      return found->second;
    }
    if (frame->errors_.count(name) > 0) {
      break;
    }
  }
  return nullptr;
}

bool Environment::isDefined(const std::string& name) const {
  return findType(name) != nullptr;
}

// A variable belongs to the innermost frame with variables of its own that has assigned it.
std::string Environment::name_in_graph(const std::string& name) const {
  for (const Environment* frame = this; frame; frame = frame->next_.get()) {
    if (!frame->suffix_.empty() && frame->types_.count(name) > 0) {
      return name + frame->suffix_;
    }
  }
  return name;
}

SugaredValuePtr Environment::load(const std::string& name, const TypePtr& type) {
  Graph& graph = *method_.graph();
  Value* value = graph.insertNode(graph.createLoad(name_in_graph(name), type))->output();
  if (isMeaningfulName(name)) {
    value->setDebugName(name);
  }
  return std::make_shared<SimpleValue>(value);
}

SugaredValuePtr Environment::find_here(const std::string& name) {
  const auto value = values_.find(name);
  if (value != values_.end()) {
    return value->second;
  }
  const auto type = types_.find(name);
  return type == types_.end() ? nullptr : load(name, type->second);
}

SugaredValuePtr Environment::find_outside(const std::string& name) {
  for (Environment* frame = next_.get(); frame; frame = frame->next_.get()) {
    if (SugaredValuePtr value = frame->find_here(name)) {
      return value;
    }
    if (frame->errors_.count(name) > 0) {
      break;
    }
  }
  return nullptr;
}

SugaredValuePtr Environment::resolve(const std::string& name, const SourceRange& range) {
  if (SugaredValuePtr builtin = builtinName(name)) {
    return builtin;
  }
  if (!resolver_) {
    return nullptr;
  }
  if (SugaredValuePtr value = resolver_->resolveValue(name, method_, range)) {
    return value;
  }
  const TypePtr type = resolver_->resolveType(name, range);
  if (!type) {
    return nullptr;
  }
  if (const ClassTypePtr object = type->cast<ClassType>()) {
    return std::make_shared<ClassValue>(object);
  }
  if (const TupleTypePtr tuple = type->cast<TupleType>()) {
    return std::make_shared<NamedTupleConstructor>(tuple);
  }
  if (const EnumTypePtr enumeration = type->cast<EnumType>()) {
    return std::make_shared<SugaredEnumClass>(enumeration);
  }
  return nullptr;
}

SugaredValuePtr Environment::getSugaredVar(const std::string& name, const SourceRange& range, bool required) {
  if (SugaredValuePtr value = find_here(name)) {
    return value;
  }
  if (errors_.count(name) == 0) {
    if (SugaredValuePtr value = find_outside(name)) {
      return value;
    }
    if (SugaredValuePtr value = findVariableTypeError(name) ? nullptr : resolve(name, range)) {
      return value;
    }
  }
  if (!required) {
    return nullptr;
  }
  if (const std::optional<std::string> message = findVariableTypeError(name)) {
    throw ErrorReport(range) << *message << "and was used here";
  }
  throw ErrorReport(range) << "undefined value " << name;
}

Value* Environment::getVar(const std::string& name, const SourceRange& range) {
  return getSugaredVar(name, range)->asValue(range, method_);
}

void Environment::loadIfDefined(const std::string& name) {
  const WithInsertPoint at(block_->return_node());
  if (!find_here(name) && errors_.count(name) == 0) {
    find_outside(name);
  }
}

void Environment::setVar(const SourceRange& range, const std::string& name, Value* value) {
  setSugaredVar(range, name, std::make_shared<SimpleValue>(value));
}

void Environment::insertStore(const std::string& name, const SourceRange& range, Value* value, TypePtr type) {
  Graph& graph = *method_.graph();
  setType(name, std::move(type));
  graph.insertNode(graph.createStore(name_in_graph(name), value))->setSourceRange(range);
}

void Environment::setSugaredVar(
    const SourceRange& range, const std::string& name, SugaredValuePtr value, const TypePtr& annotated_type) {
  Value* simple = as_simple(value);
  if (simple && !simple->hasDebugName() && isMeaningfulName(name) && simple->node()->owningBlock() == block_) {
    simple->setDebugName(name);
  }
  // What a variable of a block outside becomes here depends on control flow, so it must be a value of the same type.
  const bool is_value_outside =
      next_ && suffix_.empty() && types_.count(name) == 0 && values_.count(name) == 0 && errors_.count(name) == 0;
  SugaredValuePtr outside = is_value_outside ? find_outside(name) : nullptr;
  if (!outside && next_ && suffix_.empty() && types_.count(name) > 0) {
    outside = find_outside(name);
  }
  if (outside) {
    if (annotated_type) {
      throw ErrorReport(range) << "Attempting to declare and annotate the type of variable '" << name
                               << "' that is already defined in an outer block";
    }
    if (!simple) {
      throw ErrorReport(range) << "Cannot re-assign '" << name << "' to a value of type " << value->kind()
                               << " because " << name
                               << " is not a first-class value.  Only reassignments to first-class values are allowed";
    }
    const Value* before = as_simple(outside);
    if (!before) {
      throw ErrorReport(range) << "Cannot re-assign '" << name << "' because it has type " << outside->kind() << " and "
                               << name
                               << " is not a first-class value.  Only reassignments to first-class values are allowed";
    }
    const TypePtr type = before->type();
    simple = tryConvertToType(range, *method_.graph(), type, simple, true);
    if (!simple->type()->isSubtypeOf(*type)) {
      ErrorReport report(range);
      report << "Variable '" << name << "' previously had type " << type->repr_str()
             << " but is now being assigned to a value of type " << simple->type()->repr_str() << '\n';
      if (type->kind() == TypeKind::ListType && simple->type()->kind() == TypeKind::ListType) {
        report << ". (The element type of an empty list defaults to Tensor; annotate the list.)";
      }
      throw report;
    }
  }
  if (!simple) {
    types_.erase(name);
    errors_.erase(name);
    values_[name] = std::move(value);
    return;
  }
  if (annotated_type && !simple->type()->isSubtypeOf(*annotated_type)) {
    throw ErrorReport(range) << "Variable '" << name << "' is annotated with type " << annotated_type->repr_str()
                             << " but is being assigned to a value of type " << simple->type()->repr_str();
  }
  insertStore(name, range, simple, annotated_type ? annotated_type : simple->type());
}

} // namespace torch::jit
