#include <csrc/jit/frontend/type_parser.h>

#include <csrc/jit/frontend/bound_class.h>
#include <csrc/jit/frontend/error_report.h>
#include <csrc/jit/frontend/syntax_parser.h>
#include <csrc/jit/serialize/stack_room.h>

#include <unordered_map>

namespace torch::jit {

std::optional<std::string> dottedName(const Syntax& expression) {
  std::vector<const std::string*> parts;
  const Syntax* part = &expression;
  for (; part->is(SyntaxKind::Attribute); part = &(*part)[0]) {
    parts.push_back(&part->text);
  }
  if (!part->is(SyntaxKind::Name)) {
    return std::nullopt;
  }
  std::string name = part->text;
  for (auto each = parts.rbegin(); each != parts.rend(); ++each) {
    name += '.' + **each;
  }
  return name;
}

namespace {

const std::unordered_map<std::string, TypePtr>& simple_types() {
  static const auto& types = *new std::unordered_map<std::string, TypePtr>{
      {"Tensor", TensorType::get()}, {"torch.Tensor", TensorType::get()}, {"int", IntType::get()},
      {"float", FloatType::get()},   {"bool", BoolType::get()},           {"complex", ComplexType::get()},
      {"str", StringType::get()},    {"Device", DeviceObjType::get()},    {"Stream", StreamObjType::get()},
      {"number", NumberType::get()}, {"None", NoneType::get()},           {"NoneType", NoneType::get()},
      {"Any", AnyType::get()},       {"Capsule", CapsuleType::get()},     {"Generator", GeneratorType::get()}};
  return types;
}

// What errors call an expression that is no type.
std::string kind_in_words(const Syntax& expression) {
  switch (expression.kind) {
    case SyntaxKind::Binary:
    case SyntaxKind::Unary:
      // A number with a sign is a number.
      return expression.text == "-" && expression.size() == 1 && expression[0].is(SyntaxKind::Number)
          ? "const"
          : kindToString(stringToKind(expression.text));
    case SyntaxKind::Conditional:
      return "if";
    case SyntaxKind::Call:
      return "apply";
    case SyntaxKind::Number:
      return "const";
    case SyntaxKind::Ellipsis:
      return "dots";
    case SyntaxKind::Starred:
      return "starred";
    case SyntaxKind::Tuple:
      return "tuple-literal";
    case SyntaxKind::List:
      return "list-literal";
    case SyntaxKind::Dict:
      return "dict-literal";
    case SyntaxKind::ListComprehension:
      return "list comprehension";
    case SyntaxKind::DictComprehension:
      return "dict comprehension";
    default:
      return toString(expression.kind);
  }
}

// The container's name without the module that it comes from.
std::string container_name(const Syntax& annotation) {
  std::optional<std::string> name = dottedName(annotation);
  if (!name) {
    throw ErrorReport(annotation.range) << "Subscripted type must be a type identifier";
  }
  for (const std::string_view prefix : {"typing.", "torch.jit.", "torch.distributed.rpc."}) {
    if (name->compare(0, prefix.size(), prefix) == 0) {
      name->erase(0, prefix.size());
    }
  }
  return *name;
}

// Some type or None is an Optional.
TypePtr union_of(std::vector<TypePtr> members) {
  const auto is_none = [](const TypePtr& each) { return each->kind() == TypeKind::NoneType; };
  if (members.size() == 2 && is_none(members[0]) != is_none(members[1])) {
    return OptionalType::create(is_none(members[0]) ? members[1] : members[0]);
  }
  return UnionType::create(std::move(members));
}

} // namespace

std::vector<TypePtr> TypeParser::parse_all(const Syntax& annotations) const {
  std::vector<TypePtr> types;
  for (const SyntaxPtr& each : annotations.children) {
    // Tuple[int, str] may also be written Tuple[(int, str)].
    if (each->is(SyntaxKind::Tuple)) {
      for (const SyntaxPtr& inner : each->children) {
        types.push_back(parse(*inner));
      }
    } else {
      types.push_back(parse(*each));
    }
  }
  return types;
}

TypePtr TypeParser::only_element(const Syntax& annotation) const {
  std::vector<TypePtr> types = parse_all(annotation[1]);
  if (types.size() != 1) {
    throw ErrorReport(annotation.range) << " expected exactly one element type but found " << types.size();
  }
  return types[0];
}

TypePtr TypeParser::parse_subscript(const Syntax& annotation) const {
  const std::string container = container_name(annotation[0]);
  if (container == "List" || container == "list") {
    return ListType::create(only_element(annotation));
  }
  if (container == "Optional") {
    return OptionalType::create(only_element(annotation));
  }
  if (container == "Future") {
    return FutureType::create(only_element(annotation));
  }
  if (container == "Await" || container == "_Await") {
    return AwaitType::create(only_element(annotation));
  }
  if (container == "RRef") {
    return RRefType::create(only_element(annotation));
  }
  if (container == "Tuple" || container == "tuple") {
    return TupleType::create(parse_all(annotation[1]));
  }
  if (container == "Union") {
    std::vector<TypePtr> members = parse_all(annotation[1]);
    return members.size() == 1 ? members[0] : union_of(std::move(members));
  }
  if (container == "Dict" || container == "dict") {
    std::vector<TypePtr> types = parse_all(annotation[1]);
    if (types.size() != 2) {
      throw ErrorReport(annotation.range) << " expected exactly 2 element types but found " << types.size();
    }
    return DictType::create(types[0], types[1]);
  }
  if (const auto broadcasting = parseBroadcastingList(annotation)) {
    return broadcasting->first;
  }
  throw ErrorReport(annotation.range) << "Unknown type constructor " << container;
}

TypePtr TypeParser::parse_name(const std::string& name, const SourceRange& range) const {
  if (resolver_) {
    if (TypePtr known = resolver_->resolveType(name, range)) {
      return known;
    }
  }
  if (name == "list" || name == "tuple") {
    throw ErrorReport(range) << "Attempted to use " << name
                             << " without a contained type. Please add a contained type, "
                             << "e.g. " << name << "[int]";
  }
  const auto simple = simple_types().find(name);
  if (simple != simple_types().end()) {
    return simple->second;
  }
  if (TypePtr bound = boundClass(name)) {
    return bound;
  }
  throw ErrorReport(range) << "Unknown type name '" << name << "'";
}

TypePtr TypeParser::parse(const Syntax& annotation) const {
  check_stack_room("types");
  switch (annotation.kind) {
    case SyntaxKind::Subscript:
      return parse_subscript(annotation);
    case SyntaxKind::None:
      return NoneType::get();
    case SyntaxKind::String:
      // Strings are names that come later, for whoever knows them.
      if (resolver_) {
        if (TypePtr known = resolver_->resolveType(annotation.text, annotation.range)) {
          return known;
        }
      }
      throw ErrorReport(annotation.range) << "Unknown type name '" << annotation.text << "'";
    case SyntaxKind::Tuple:
      if (annotation.size() == 0) {
        return TupleType::create();
      }
      break;
    case SyntaxKind::Binary:
      if (annotation.text == "|") {
        TypePtr left = parse(annotation[0]);
        TypePtr right = parse(annotation[1]);
        return union_of({std::move(left), std::move(right)});
      }
      break;
    default:
      break;
  }
  if (const std::optional<std::string> name = dottedName(annotation)) {
    return parse_name(*name, annotation.range);
  }
  throw ErrorReport(annotation.range) << "Expression of type " << kind_in_words(annotation)
                                      << " cannot be used in a type expression";
}

TypePtr TypeParser::parse(const std::string& annotation) const {
  SyntaxParser parser(std::make_shared<Source>(annotation));
  const SyntaxPtr tree = parser.parseExpression();
  return parse(*tree);
}

std::optional<std::pair<TypePtr, int32_t>> TypeParser::parseBroadcastingList(const Syntax& annotation) const {
  if (annotation.is(SyntaxKind::Subscript) && annotation[0].is(SyntaxKind::Name) && annotation[0].text == "Optional" &&
      annotation[1].size() == 1) {
    auto inner = parseBroadcastingList(annotation[1][0]);
    if (inner) {
      inner->first = OptionalType::create(inner->first);
    }
    return inner;
  }
  constexpr std::string_view kPrefix = "BroadcastingList";
  if (!annotation.is(SyntaxKind::Subscript) || !annotation[0].is(SyntaxKind::Name) ||
      annotation[0].text.compare(0, kPrefix.size(), kPrefix) != 0) {
    return std::nullopt;
  }
  const std::string length = annotation[0].text.substr(kPrefix.size());
  if (length.size() != 1 || length[0] < '1' || length[0] > '9') {
    throw ErrorReport(annotation.range)
        << "subscripted Broadcastable type must be BroadcastingList1 to BroadcastingList6";
  }
  return std::pair(ListType::create(only_element(annotation)), static_cast<int32_t>(length[0] - '0'));
}

FunctionSchema TypeParser::parseSchema(const Syntax& function, const TypePtr& self_type) const {
  std::vector<c10::Argument> arguments;
  for (const SyntaxPtr& parameter : function[0].children) {
    const bool keyword_only = (*parameter)[2].size() > 0;
    if (self_type && arguments.empty()) {
      arguments.emplace_back(parameter->text, self_type);
      continue;
    }
    TypePtr type = TensorType::getInferred();
    std::optional<int32_t> length;
    if (parameter->has(0)) {
      if (const auto broadcasting = parseBroadcastingList((*parameter)[0])) {
        type = broadcasting->first;
        length = broadcasting->second;
      } else {
        type = parse((*parameter)[0]);
      }
    }
    arguments.emplace_back(parameter->text, type, length, std::nullopt, keyword_only);
  }
  std::vector<c10::Argument> returns;
  if (function.has(1)) {
    returns.emplace_back("", parse(function[1]));
  }
  return FunctionSchema(function.text, "", std::move(arguments), std::move(returns));
}

void addInterfaceMethods(c10::InterfaceType& type, const std::vector<SyntaxPtr>& definitions, const TypeParser& types) {
  for (const SyntaxPtr& definition : definitions) {
    if ((*definition)[0].size() == 0) {
      throw ErrorReport(definition->range) << "methods must have a self argument";
    }
    if (!definition->has(1)) {
      throw ErrorReport(definition->range) << "interface declarations must have a return type annotated.";
    }
    type.addMethod(types.parseSchema(*definition, type.ptr()));
  }
}

} // namespace torch::jit
