// Classes, interfaces, named tuples and enumerations from an archive's source files.
#include <csrc/jit/serialize/source_importer.h>

#include <aten/core/enum_type.h>
#include <aten/core/interface_type.h>
#include <c10/util/Exception.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/error_report.h>
#include <csrc/jit/frontend/syntax_parser.h>
#include <csrc/jit/frontend/type_parser.h>
#include <csrc/jit/serialize/literal_values.h>
#include <csrc/jit/serialize/stack_room.h>

#include <utility>

namespace torch::jit {

/// What a class says before its first function.
struct SourceImporterImpl::ClassStatements {
  ClassStatements(const Pending& pending);

  SourceRange range;
  std::string base; // empty if there is none
  std::vector<SyntaxPtr> statements; // Assign
};

SourceImporterImpl::ClassStatements::ClassStatements(const Pending& pending) {
  const SourcePart& part = pending.definition.all;
  SyntaxParser parser(pending.source, part.begin, part.end);
  Lexer& lexer = parser.lexer();
  lexer.expect("class");
  range = lexer.expect(TK_IDENT).range;
  if (lexer.nextIf("(")) {
    if (!lexer.cur().is(")")) {
      base = dottedName(*parser.parseExpression()).value_or("?");
    }
    lexer.nextIf(",");
    lexer.expect(")");
  }
  lexer.expect(":");
  lexer.expect(TK_NEWLINE);
  if (!lexer.nextIf(TK_INDENT)) {
    return;
  }
  while (!lexer.nextIf(TK_DEDENT)) {
    SyntaxPtr statement = parser.parseTopLevel();
    if (statement->is(SyntaxKind::Assign) && (*statement)[0].size() == 1) {
      statements.push_back(std::move(statement));
    } else if (!statement->is(SyntaxKind::Pass)) {
      throw ErrorReport(statement->range) << "Unexpected statement kind in class: " << toString(statement->kind);
    }
  }
}

namespace {

const Syntax& target_of(const Syntax& assign) {
  return assign[0][0];
}

// The strings of `__parameters__ = ["a", "b", ]`.
std::vector<std::string> strings_of(const Syntax& assign) {
  if (!assign.has(1) || !assign[1].is(SyntaxKind::List)) {
    throw ErrorReport(assign.range) << target_of(assign).text << " must be a list of names";
  }
  std::vector<std::string> strings;
  for (const SyntaxPtr& element : assign[1].children) {
    if (!element->is(SyntaxKind::String)) {
      throw ErrorReport(element->range) << target_of(assign).text << " must be a list of names";
    }
    strings.push_back(element->text);
  }
  return strings;
}

bool is_final(const Syntax& type) {
  return type.is(SyntaxKind::Subscript) && type[0].is(SyntaxKind::Name) && type[0].text == "Final";
}

// The type of a declaration, of `Final[T]` the T.
SyntaxPtr declared_type(const Syntax& assign) {
  const SyntaxPtr& type = assign.children[2];
  return is_final(*type) && (*type)[1].size() == 1 ? (*type)[1].children[0] : type;
}

// `name : type` or `__annotations__["name"] = type`.
struct Declaration {
  std::string name;
  const Syntax* type;
};

std::optional<Declaration> declaration_of(const Syntax& assign) {
  const Syntax& target = target_of(assign);
  if (target.is(SyntaxKind::Name) && assign.has(2)) {
    return Declaration{target.text, &assign[2]};
  }
  const bool by_subscript = target.is(SyntaxKind::Subscript) && target[0].is(SyntaxKind::Name) &&
      target[0].text == "__annotations__" && target[1].size() == 1 && target[1][0].is(SyntaxKind::String);
  if (by_subscript && assign.has(1)) {
    return Declaration{target[1][0].text, &assign[1]};
  }
  return std::nullopt;
}

} // namespace

TypePtr SourceImporterImpl::import_type(const c10::QualifiedName& name, const Pending& pending) {
  check_stack_room("classes that name each other");
  const ClassStatements statements(pending);
  const std::string& base = statements.base;
  if (base == "NamedTuple") {
    return import_named_tuple(name, statements);
  }
  if (base == "Enum") {
    return import_enum(name, statements);
  }
  if (base == "Interface" || base == "ModuleInterface") {
    return import_interface(name, pending, base == "ModuleInterface");
  }
  if (!base.empty() && base != "Module") {
    throw ErrorReport(statements.range) << "Torchscript does not support class inheritance: base '" << base << "'";
  }
  return import_class(name, pending, statements);
}

// ---- classes --------------------------------------------------------------------------------------------------------

TypePtr SourceImporterImpl::import_class(
    const c10::QualifiedName& name, const Pending& pending, const ClassStatements& statements) {
  const std::shared_ptr<CompilationUnit> cu = cu_.lock();
  c10::ClassTypePtr type = ClassType::create(name, cu_, statements.base == "Module");
  // Attributes may be of the class itself.
  unit().register_type(type);
  try {
    add_members(type, pending, statements);
  } catch (...) {
    type->clearMembers();
    unit().unsafeRemoveType(name);
    throw;
  }
  return type;
}

void SourceImporterImpl::add_members(
    const c10::ClassTypePtr& type, const Pending& pending, const ClassStatements& statements) {
  std::unordered_set<std::string> parameters;
  std::unordered_set<std::string> buffers;
  std::vector<std::string> pre_hooks;
  std::vector<std::string> hooks;
  std::vector<SyntaxPtr> constants;
  const TypeParser types(shared_from_this());
  for (const SyntaxPtr& statement : statements.statements) {
    const std::string& target = target_of(*statement).text;
    if (const std::optional<Declaration> declared = declaration_of(*statement)) {
      if (is_final(*declared->type)) {
        constants.push_back(statement);
        continue;
      }
      type->addAttribute(
          declared->name, types.parse(*declared->type), parameters.count(declared->name) > 0,
          buffers.count(declared->name) > 0);
    } else if (target == "__parameters__" || target == "__buffers__") {
      for (std::string& name : strings_of(*statement)) {
        (target == "__parameters__" ? parameters : buffers).insert(std::move(name));
      }
    } else if (target == "__forward_pre_hooks__") {
      pre_hooks = strings_of(*statement);
    } else if (target == "__forward_hooks__") {
      hooks = strings_of(*statement);
    } else if (target != "__annotations__") {
      throw ErrorReport(statement->range) << "Unexpected statement in a class";
    }
  }
  add_constants(*type, constants);
  std::unordered_map<std::string, Function*> functions;
  const std::unordered_set<std::string> pre_hook_names(pre_hooks.begin(), pre_hooks.end());
  const std::unordered_set<std::string> hook_names(hooks.begin(), hooks.end());
  const c10::QualifiedName& class_name = *type->name();
  for (const SourcePart& part : pending.definition.functions) {
    Function* function = define_later(c10::QualifiedName(class_name, part.name), pending, part, type);
    functions.emplace(part.name, function);
    if (pre_hook_names.count(part.name) == 0 && hook_names.count(part.name) == 0) {
      type->addMethod(function);
    }
  }
  for (const bool before : {true, false}) {
    for (const std::string& name : before ? pre_hooks : hooks) {
      const auto found = functions.find(name);
      if (found == functions.end()) {
        throw ErrorReport(statements.range) << "hook '" << name << "' is not defined in the class";
      }
      before ? type->addForwardPreHook(found->second) : type->addForwardHook(found->second);
    }
  }
  // Archives of 1.0 and 1.1 do not declare the attributes of a class; the assignments of its __init__ do.
  const auto initializer = functions.find("__init__");
  if (!type->is_module() && type->numAttributes() == 0 && initializer != functions.end()) {
    initializer->second->ensure_defined();
  }
}

// Most constants are literals; the others are compiled as the defaults of a function's parameters are.
void SourceImporterImpl::add_constants(ClassType& type, const std::vector<SyntaxPtr>& declarations) {
  const std::vector<IValue> values = evaluate(declarations);
  for (size_t i = 0; i < declarations.size(); ++i) {
    type.addConstant(target_of(*declarations[i]).text, values[i]);
  }
}

// The values of declarations `name : type = value`.
std::vector<IValue> SourceImporterImpl::evaluate(const std::vector<SyntaxPtr>& declarations) {
  const TypeParser types(shared_from_this());
  std::vector<IValue> values(declarations.size());
  std::vector<size_t> places;
  SyntaxChildren parameters;
  for (size_t i = 0; i < declarations.size(); ++i) {
    const Syntax& assign = *declarations[i];
    if (!target_of(assign).is(SyntaxKind::Name) || !assign.has(1)) {
      throw ErrorReport(assign.range) << "a constant must have a value";
    }
    if (std::optional<IValue> literal = literalValue(assign[1], types.parse(*declared_type(assign)))) {
      values[i] = std::move(*literal);
      continue;
    }
    places.push_back(i);
    parameters.push_back(makeSyntax(
        SyntaxKind::Parameter, assign.range, target_of(assign).text,
        SyntaxChildren{declared_type(assign), assign.children[1], makeSyntax(SyntaxKind::Sequence, assign.range)}));
  }
  if (parameters.empty()) {
    return values;
  }
  const SourceRange range = parameters[0]->range;
  const auto sequence = [&](SyntaxChildren items) {
    return makeSyntax(SyntaxKind::Sequence, range, std::string(), std::move(items));
  };
  const auto none = makeSyntax(SyntaxKind::Missing, range);
  const Syntax function(
      SyntaxKind::Function, range, "constants", {sequence(std::move(parameters)), none, sequence({})});
  GraphFunction scratch("constants", std::make_shared<Graph>(), nullptr);
  compileFunction(function, nullptr, scratch, shared_from_this());
  for (size_t i = 0; i < places.size(); ++i) {
    values[places[i]] = *scratch.getSchema().arguments().at(i).default_value();
  }
  return values;
}

// ---- interfaces, named tuples, enumerations -------------------------------------------------------------------------

TypePtr SourceImporterImpl::import_interface(const c10::QualifiedName& name, const Pending& pending, bool is_module) {
  const c10::InterfaceTypePtr type = InterfaceType::create(name, is_module);
  // Methods may be of the interface itself.
  unit().register_type(type);
  try {
    std::vector<SyntaxPtr> methods;
    for (const SourcePart& part : pending.definition.functions) {
      methods.push_back(SyntaxParser(pending.source, part.begin, part.end).parseFunction());
    }
    addInterfaceMethods(*type, methods, TypeParser(shared_from_this()));
  } catch (...) {
    unit().unsafeRemoveType(name);
    throw;
  }
  return type;
}

TypePtr SourceImporterImpl::import_named_tuple(const c10::QualifiedName& name, const ClassStatements& statements) {
  const TypeParser parser(shared_from_this());
  std::vector<std::string> names;
  std::vector<TypePtr> types;
  std::vector<SyntaxPtr> with_default;
  for (const SyntaxPtr& statement : statements.statements) {
    const std::optional<Declaration> field = declaration_of(*statement);
    if (!field) {
      throw ErrorReport(statement->range) << "Unexpected statement in a NamedTuple";
    }
    names.push_back(field->name);
    types.push_back(parser.parse(*field->type));
    if (statement->has(1) && statement->has(2)) {
      with_default.push_back(statement);
    } else if (!with_default.empty()) {
      throw ErrorReport(statement->range)
          << "Non-default namedtuple field '" << field->name << "' cannot follow a field with a default";
    }
  }
  const c10::TupleTypePtr type = TupleType::createNamed(name, names, types, evaluate(with_default));
  unit().register_type(type);
  return type;
}

TypePtr SourceImporterImpl::import_enum(const c10::QualifiedName& name, const ClassStatements& statements) {
  std::vector<c10::EnumNameValue> members;
  TypePtr value_type;
  for (const SyntaxPtr& statement : statements.statements) {
    const Syntax& target = target_of(*statement);
    std::optional<IValue> value = statement->has(1) ? literalValue((*statement)[1], nullptr) : std::nullopt;
    if (!target.is(SyntaxKind::Name) || !value) {
      throw ErrorReport(statement->range) << "Expected name and value of a member of an Enum class";
    }
    const TypePtr type = value->type();
    if (value_type && *type != *value_type) {
      throw ErrorReport(statement->range) << "Enum class with varying value types are not supported.";
    }
    value_type = type;
    members.emplace_back(target.text, std::move(*value));
  }
  if (!value_type) {
    throw ErrorReport(statements.range) << "No enum values defined for " << name.qualifiedName();
  }
  TypePtr type = EnumType::create(name, value_type, std::move(members), cu_);
  enums_.emplace(name, type);
  return type;
}

} // namespace torch::jit
