#include <csrc/jit/frontend/schema_matching.h>

#include <aten/core/type_matching.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/frontend/builtin_functions.h>
#include <csrc/jit/frontend/error_report.h>
#include <csrc/jit/runtime/operator.h>

#include <algorithm>
#include <sstream>

namespace torch::jit {

namespace {

bool has_symint(const Type& type) {
  const at::ArrayRef<TypePtr> contained = type.containedTypes();
  return type.kind() == TypeKind::SymIntType ||
      std::any_of(contained.begin(), contained.end(), [](const TypePtr& each) { return has_symint(*each); });
}

TypePtr without_optional(const TypePtr& type) {
  const OptionalType* optional = type->castRaw<OptionalType>();
  return optional ? optional->getElementType() : type;
}

Value* insert_operator(const SourceRange& range, Graph& graph, Symbol name, Value* input) {
  return emitBuiltinCall(range, graph, name, {NamedValue(range, input)}, {});
}

std::vector<Value*> unpack(const SourceRange& range, Graph& graph, Value* tuple) {
  if (tuple->node()->kind() == prim::TupleConstruct) {
    return tuple->node()->inputs().vec();
  }
  return graph.insertNode(graph.createTupleUnpack(tuple)->setSourceRange(range))->outputs().vec();
}

// Tensors and bools become the number that is asked for, numbers of unknown type the known one.
Symbol conversion_to_number(const Type& from, const Type& to) {
  const bool from_tensor = from.kind() == TypeKind::TensorType;
  if (from.kind() == TypeKind::BoolType) {
    const bool to_int = to.kind() == TypeKind::IntType || to.kind() == TypeKind::NumberType;
    return to.kind() == TypeKind::FloatType ? Symbol(aten::Float) : to_int ? Symbol(aten::Int) : Symbol(prim::Assign);
  }
  if (!from_tensor && from.kind() != TypeKind::NumberType) {
    return prim::Assign;
  }
  switch (to.kind()) {
    case TypeKind::FloatType:
      return from_tensor ? aten::FloatImplicit : aten::Float;
    case TypeKind::ComplexType:
      return from_tensor ? aten::ComplexImplicit : aten::Complex;
    case TypeKind::IntType:
      return from_tensor ? aten::IntImplicit : aten::Int;
    case TypeKind::NumberType:
      return from_tensor ? aten::ScalarImplicit : prim::Assign;
    default:
      return prim::Assign;
  }
}

} // namespace

TypePtr withoutSymInts(const TypePtr& type) {
  if (!has_symint(*type)) {
    return type;
  }
  if (type->kind() == TypeKind::SymIntType) {
    return IntType::get();
  }
  std::vector<TypePtr> contained;
  for (const TypePtr& each : type->containedTypes()) {
    contained.push_back(withoutSymInts(each));
  }
  return type->withContained(std::move(contained));
}

bool convertibleToList(const TypePtr& type, const TypePtr& list_type) {
  const ListType* list = list_type->castRaw<ListType>();
  if (!list) {
    return false;
  }
  if (type->isSubtypeOf(*list_type)) {
    return true;
  }
  const TupleType* tuple = type->castRaw<TupleType>();
  return tuple && std::all_of(tuple->elements().begin(), tuple->elements().end(), [&](const TypePtr& element) {
           return element->isSubtypeOf(*list->getElementType()) ||
               (list->getElementType()->kind() == TypeKind::FloatType && element->kind() == TypeKind::FloatType);
         });
}

Value* tryConvertToType(
    const SourceRange& range, Graph& graph, const TypePtr& concrete_type, Value* value, bool allow_conversions) {
  if (const OptionalType* optional = concrete_type->castRaw<OptionalType>()) {
    if (value->type()->kind() != TypeKind::OptionalType && value->type()->kind() != TypeKind::NoneType) {
      return tryConvertToType(range, graph, optional->getElementType(), value, allow_conversions);
    }
    return value;
  }
  // A list that is written without elements takes the type that is asked for.
  if (const ListType* list = concrete_type->castRaw<ListType>()) {
    Node* literal = value->node();
    if (literal->kind() == prim::ListConstruct && literal->inputs().empty() && !value->hasUses() &&
        !value->type()->isSubtypeOf(*concrete_type) && !list->hasFreeVariables()) {
      return value->setType(concrete_type);
    }
  }
  if (value->type()->kind() == TypeKind::TupleType) {
    if (const ListType* list = concrete_type->castRaw<ListType>();
        list && convertibleToList(value->type(), concrete_type)) {
      const std::vector<Value*> elements = unpack(range, graph, value);
      return graph.insertNode(graph.createList(list->getElementType(), elements)->setSourceRange(range))->output();
    }
    const TupleType* wanted = concrete_type->castRaw<TupleType>();
    if (wanted && !value->type()->isSubtypeOf(*concrete_type) &&
        wanted->elements().size() == value->type()->containedTypes().size()) {
      std::vector<Value*> converted;
      for (Value* element : unpack(range, graph, value)) {
        converted.push_back(
            tryConvertToType(range, graph, wanted->elements()[converted.size()], element, allow_conversions));
      }
      value = graph.insertNode(graph.createTuple(converted)->setSourceRange(range))->output();
    }
  }
  if (!allow_conversions) {
    return value;
  }
  const Symbol conversion = conversion_to_number(*value->type(), *concrete_type);
  if (conversion != prim::Assign) {
    return insert_operator(range, graph, conversion, value);
  }
  if (value->type()->kind() == TypeKind::StringType && concrete_type->kind() == TypeKind::DeviceObjType) {
    return insert_operator(range, graph, aten::device, value);
  }
  return value;
}

std::optional<size_t> findInputWithName(
    const std::string& name, at::ArrayRef<NamedValue> keyword_arguments, bool is_aten) {
  for (size_t i = 0; i < keyword_arguments.size(); ++i) {
    const std::string& given = keyword_arguments[i].name();
    // Functions of torch call their first argument input, methods self.
    if (given == name || (is_aten && name == "self" && given == "input")) {
      return i;
    }
  }
  return std::nullopt;
}

namespace {

/// The positional arguments of a call, whose first one may be the object of a method.
struct Positional {
  const NamedValue* self;
  at::ArrayRef<NamedValue> rest;

  size_t size() const {
    return rest.size() + (self ? 1 : 0);
  }
  const NamedValue& operator[](size_t i) const {
    return !self ? rest[i] : i == 0 ? *self : rest[i - 1];
  }
};

/// One try to fit arguments to one schema. What it inserts is removed again if it fails.
class Matcher {
 public:
  Matcher(
      const FunctionSchema& schema,
      const SourceRange& range,
      Graph& graph,
      bool allow_conversions,
      std::ostream* why_not)
      : schema_(schema), range_(range), graph_(graph), allow_conversions_(allow_conversions), why_not_(why_not) {}

  std::optional<MatchedSchema> match(const Positional& arguments, at::ArrayRef<NamedValue> keyword_arguments) {
    Node* const before = graph_.insertPoint()->prev();
    std::optional<MatchedSchema> matched = try_match(arguments, keyword_arguments);
    if (!matched) {
      while (graph_.insertPoint()->prev() != before) {
        graph_.insertPoint()->prev()->destroy();
      }
    }
    return matched;
  }

 private:
  template <class... Parts>
  std::nullopt_t fail(const Parts&... parts) {
    if (why_not_) {
      *why_not_ << '\n' << schema_ << ":\n";
      (*why_not_ << ... << parts);
      *why_not_ << '\n';
    }
    return std::nullopt;
  }

  std::optional<MatchedSchema> try_match(const Positional& arguments, at::ArrayRef<NamedValue> keyword_arguments) {
    const bool is_aten = schema_.name().compare(0, 6, "aten::") == 0;
    c10::SmallVector<bool, 16> used_keywords(keyword_arguments.size(), false);
    size_t used = 0;
    MatchedSchema matched;
    matched.inputs.reserve(schema_.arguments().size());
    for (size_t i = 0; i < schema_.arguments().size(); ++i) {
      const c10::Argument& argument = schema_.arguments()[i];
      Value* input = nullptr;
      if (!argument.kwarg_only() && used < arguments.size()) {
        if (takes_rest_as_list(i, arguments[used])) {
          Value* list = rest_as_list(argument, arguments, used);
          if (!list) {
            return std::nullopt;
          }
          used = arguments.size();
          matched.inputs.push_back(list);
          continue;
        }
        input = fit(argument, arguments[used++]);
      } else if (const auto keyword = findInputWithName(argument.name(), keyword_arguments, is_aten)) {
        input = fit(argument, keyword_arguments[*keyword]);
        used_keywords[*keyword] = true;
      } else if (argument.default_value()) {
        input = fit(argument, NamedValue(*argument.default_value()));
      } else {
        return fail("Argument ", argument.name(), " not provided.");
      }
      if (!input) {
        return std::nullopt;
      }
      matched.inputs.push_back(input);
    }
    if (schema_.is_vararg()) {
      for (; used < arguments.size(); ++used) {
        matched.inputs.push_back(arguments[used].value(graph_));
      }
    }
    if (used < arguments.size()) {
      // The object of a method is not counted.
      const size_t given = arguments.rest.size();
      return fail(
          "Expected at most ", used + given - arguments.size(), " arguments but found ", given,
          " positional arguments.");
    }
    for (size_t i = 0; i < used_keywords.size(); ++i) {
      if (!used_keywords[i]) {
        const std::string& name = keyword_arguments[i].name();
        return schema_.argumentIndexWithName(name) ? fail("Keyword argument ", name, " specified twice.")
                                                   : fail("Keyword argument ", name, " unknown.");
      }
    }
    return finish(std::move(matched));
  }

  std::optional<MatchedSchema> finish(MatchedSchema matched) {
    const std::vector<c10::Argument>& returns = schema_.returns();
    for (const c10::Argument& result : schema_.returns()) {
      TypePtr type = c10::tryEvalTypeVariables(withoutSymInts(result.type()), type_env_);
      TORCH_CHECK(
          type, "the type variables of result ", result.type()->repr_str(), " of ", schema_,
          " are not determined by its arguments");
      matched.return_types.push_back(std::move(type));
    }
    const auto is_named = [](const c10::Argument& result) { return !result.name().empty(); };
    if (returns.size() > 1 && std::all_of(returns.begin(), returns.end(), is_named)) {
      matched.return_field_names.emplace();
      for (const c10::Argument& result : returns) {
        matched.return_field_names->push_back(result.name());
      }
    }
    matched.schema_name = schema_.name();
    if (!schema_.overload_name().empty()) {
      matched.schema_name += '.' + schema_.overload_name();
    }
    return matched;
  }

  // x.view(1, 2, 3): the last positional argument is a list, and the call gives its elements.
  bool takes_rest_as_list(size_t index, const NamedValue& first) {
    const std::vector<c10::Argument>& arguments = schema_.arguments();
    const c10::Argument& argument = arguments[index];
    const bool is_last = index + 1 == arguments.size() || arguments[index + 1].kwarg_only();
    const TypePtr type = without_optional(withoutSymInts(argument.type()));
    if (!allow_conversions_ || !is_last || type->kind() != TypeKind::ListType || argument.N() ||
        type->hasFreeVariables()) {
      return false;
    }
    const TypePtr actual = first.type();
    return actual->kind() != TypeKind::ListType && actual->kind() != TypeKind::NoneType &&
        actual->kind() != TypeKind::OptionalType && !convertibleToList(actual, type);
  }

  Value* rest_as_list(const c10::Argument& argument, const Positional& arguments, size_t first) {
    const TypePtr element = without_optional(withoutSymInts(argument.type()))->containedType(0);
    const c10::Argument one("<varargs>", element);
    std::vector<Value*> elements;
    for (size_t i = first; i < arguments.size(); ++i) {
      Value* fitting = fit(one, arguments[i]);
      if (!fitting) {
        return nullptr;
      }
      elements.push_back(fitting);
    }
    return graph_.insertNode(graph_.createList(element, elements)->setSourceRange(range_))->output();
  }

  Value* fit(const c10::Argument& argument, const NamedValue& named) {
    Value* value = named.value(graph_);
    const SourceRange& range = named.locOr(range_);
    if (Value* list = broadcast(argument, value, range)) {
      return list;
    }
    const TypePtr formal = withoutSymInts(argument.type());
    const c10::MatchTypeReturn matched = c10::matchTypeVariables(formal, value->type(), type_env_);
    if (!matched.success()) {
      if (why_not_) {
        fail(
            "Could not match type ", value->type()->repr_str(), " to ", argument.type()->repr_str(), " in argument '",
            argument.name(), "': ", matched.reason(), ".");
      }
      return nullptr;
    }
    const TypePtr concrete = c10::tryEvalTypeVariables(formal, type_env_);
    if (!concrete) {
      // Nothing but None was given for it.
      if (why_not_) {
        fail(
            "Type variables in type ", argument.type()->repr_str(), " could not be inferred from actual type ",
            value->type()->repr_str(), ".");
      }
      return nullptr;
    }
    value = tryConvertToType(range, graph_, concrete, value, allow_conversions_);
    if (!value->type()->isSubtypeOf(*concrete)) {
      refuse_type(argument, *value->type(), *concrete);
      return nullptr;
    }
    return value;
  }

  void refuse_type(const c10::Argument& argument, const Type& actual, const Type& wanted) {
    if (!why_not_) {
      return;
    }
    std::ostringstream reason;
    actual.isSubtypeOfExt(wanted, &reason);
    std::string hint;
    const TensorType* tensor = actual.castRaw<TensorType>();
    if (tensor && tensor->isInferredType()) {
      hint = "\nInferred the value for argument '" + argument.name() +
          "' to be of type 'Tensor' because it was not annotated with an explicit type.";
    }
    const ListType* list = actual.castRaw<ListType>();
    if (list && list->getElementType()->kind() == TypeKind::TensorType) {
      hint =
          "\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty list"
          " of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list for Python 2)";
    }
    fail(argument.formatTypeMismatchMsg(actual.repr_str()), hint, reason.str());
  }

  // One number where the schema says int[2].
  Value* broadcast(const c10::Argument& argument, Value* value, const SourceRange& range) {
    const TypePtr type = without_optional(withoutSymInts(argument.type()));
    if (!argument.N() || type->kind() != TypeKind::ListType) {
      return nullptr;
    }
    const TypePtr& element = type->containedType(0);
    const bool is_tensor = value->type()->kind() == TypeKind::TensorType && element->kind() != TypeKind::TensorType;
    if (!value->type()->isSubtypeOf(*element) && !(is_tensor && allow_conversions_)) {
      return nullptr;
    }
    value = tryConvertToType(range, graph_, element, value, allow_conversions_);
    if (!value->type()->isSubtypeOf(*element)) {
      return nullptr;
    }
    const std::vector<Value*> repeated(static_cast<size_t>(*argument.N()), value);
    return graph_.insertNode(graph_.createList(element, repeated)->setSourceRange(range))->output();
  }

  const FunctionSchema& schema_;
  const SourceRange& range_;
  Graph& graph_;
  bool allow_conversions_;
  std::ostream* why_not_;
  c10::TypeEnv type_env_;
};

// Operators of methods may take self by name, at any place.
bool takes_self_first(const FunctionSchema& schema) {
  return schema.arguments().empty() || schema.argumentIndexWithName("self").value_or(0) == 0;
}

std::optional<MatchedSchema> try_match(
    const FunctionSchema& schema,
    const SourceRange& range,
    Graph& graph,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    const std::optional<NamedValue>& self,
    bool allow_conversions,
    std::ostream* why_not) {
  Matcher matcher(schema, range, graph, allow_conversions, why_not);
  if (self && !takes_self_first(schema)) {
    std::vector<NamedValue> keywords(keyword_arguments.begin(), keyword_arguments.end());
    keywords.emplace_back(self->locOr(range), "self", self->value(graph));
    return matcher.match({nullptr, arguments}, keywords);
  }
  return matcher.match({self ? &*self : nullptr, arguments}, keyword_arguments);
}

std::string prefix_lines(const std::string& text, const std::string& prefix) {
  std::string out = prefix;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) {
      out += prefix;
    }
  }
  return out;
}

} // namespace

MatchedSchema matchSchema(
    const FunctionSchema& schema,
    const SourceRange& range,
    Graph& graph,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    const std::optional<NamedValue>& self) {
  // Reasons cost more than matching, so they are made when they are needed.
  if (auto matched = try_match(schema, range, graph, arguments, keyword_arguments, self, true, nullptr)) {
    return *std::move(matched);
  }
  std::ostringstream why_not;
  try_match(schema, range, graph, arguments, keyword_arguments, self, true, &why_not);
  throw ErrorReport(range) << why_not.str();
}

std::pair<size_t, MatchedSchema> matchSchemas(
    const std::vector<const FunctionSchema*>& schemas,
    const SourceRange& range,
    Graph& graph,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    const std::optional<NamedValue>& self) {
  TORCH_INTERNAL_ASSERT(!schemas.empty());
  if (schemas.size() == 1) {
    return {0, matchSchema(*schemas[0], range, graph, arguments, keyword_arguments, self)};
  }
  const auto match_all = [&](bool allow_conversions, std::ostream* why_not) {
    std::optional<std::pair<size_t, MatchedSchema>> found;
    for (size_t i = 0; i < schemas.size() && !found; ++i) {
      std::optional<MatchedSchema> matched =
          try_match(*schemas[i], range, graph, arguments, keyword_arguments, self, allow_conversions, why_not);
      if (matched) {
        found.emplace(i, std::move(*matched));
      }
    }
    return found;
  };
  for (const bool allow_conversions : {false, true}) {
    if (auto found = match_all(allow_conversions, nullptr)) {
      return *std::move(found);
    }
  }
  std::ostringstream why_not;
  match_all(true, &why_not);
  throw ErrorReport(range) << "Arguments for call are not valid.\nThe following variants are available:\n"
                           << prefix_lines(why_not.str(), "  ") << "\nThe original call is";
}

namespace {

Value* pack_outputs(Graph& graph, Node* node, const MatchedSchema& matched) {
  if (node->outputs().size() == 1) {
    return node->output();
  }
  TupleTypePtr type;
  if (matched.return_field_names) {
    type = TupleType::createNamed(std::nullopt, *matched.return_field_names, matched.return_types);
  }
  return graph.insertNode(graph.createTuple(node->outputs(), type)->setSourceRange(node->sourceRange()))->output();
}

} // namespace

namespace {

// The language has no names of dimensions; as strings they would take the place of other arguments.
bool names_dimensions(std::string_view overload) {
  return overload.find("imname") != std::string_view::npos || overload.rfind("names", 0) == 0;
}

} // namespace

Value* emitBuiltinCall(
    const SourceRange& range,
    Graph& graph,
    Symbol name,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    const std::optional<NamedValue>& self) {
  const auto variants = sharedOperatorsFor(name);
  std::vector<const FunctionSchema*> schemas;
  std::vector<const Operator*> operators;
  for (const OperatorPtr& variant : *variants) {
    const std::string& overload = variant->schema().overload_name();
    // x.view(3) asks for a size.
    const bool is_cast = name == Symbol(aten::view) && overload == "dtype";
    if (!names_dimensions(overload) && (!is_cast || findInputWithName("dtype", keyword_arguments))) {
      schemas.push_back(&variant->schema());
      operators.push_back(variant.get());
    }
  }
  const std::vector<Function*>& functions = getAllBuiltinFunctionsFor(name);
  for (Function* function : functions) {
    schemas.push_back(&function->getSchema());
  }
  if (schemas.empty()) {
    ErrorReport report(range);
    report << "Unknown builtin op: " << name.toQualString() << ".\n";
    const std::vector<Symbol> similar = findSimilarOperators(name);
    if (similar.empty()) {
      report << "Could not find any similar ops to " << name.toQualString()
             << ". This op may not exist or may not be currently supported in TorchScript.\n";
    } else {
      report << "Here are some suggestions: \n";
      for (const Symbol each : similar) {
        report << '\t' << each.toQualString() << '\n';
      }
      report << "\nThe original call is";
    }
    throw report;
  }
  const auto [index, matched] = matchSchemas(schemas, range, graph, arguments, keyword_arguments, self);
  if (index >= operators.size()) {
    Function& function = *functions[index - operators.size()];
    Node* const before = graph.insertPoint()->prev();
    Value* result = insertGraph(graph, *toGraphFunction(function).graph(), matched.inputs).at(0);
    for (Node* node = before->next(); node != graph.insertPoint(); node = node->next()) {
      node->setSourceRange(range);
    }
    return result;
  }
  Node* node = graph.insertNode(graph.create(name, matched.inputs, 0))->setSourceRange(range);
  for (const TypePtr& type : matched.return_types) {
    node->addOutput()->setType(type);
  }
  node->setOperator(*operators[index]);
  return pack_outputs(graph, node, matched);
}

} // namespace torch::jit
