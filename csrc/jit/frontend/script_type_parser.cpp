#include <csrc/jit/frontend/script_type_parser.h>

#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/tree_syntax.h>
#include <csrc/jit/frontend/type_parser.h>

namespace torch::jit {

namespace {

// Default values are computed when a function is compiled: of one without statements.
std::vector<Argument> compiled_parameters(const Decl& decl, const ResolverPtr& resolver) {
  const SourceRange& range = decl.range();
  const Decl of_parameters = Decl::create(range, decl.params(), Maybe<Expr>::create(range));
  const Def function = Def::create(
      range, Ident::create(range, "parameters"), of_parameters, List<Stmt>::create(range, {Pass::create(range)}));
  GraphFunction scratch("parameters", std::make_shared<Graph>(), nullptr);
  compileFunction(*toSyntax(function), nullptr, scratch, resolver);
  return scratch.getSchema().arguments();
}

// T of `Final[T]`.
Expr without_final(const Expr& type) {
  if (type.kind() != TK_SUBSCRIPT) {
    return type;
  }
  const Subscript subscript(type);
  const bool is_final = subscript.value().kind() == TK_VAR && Var(subscript.value()).name().name() == "Final";
  return is_final && subscript.subscript_exprs().size() == 1 ? subscript.subscript_exprs()[0] : type;
}

} // namespace

TypePtr ScriptTypeParser::parseTypeFromExpr(const Expr& expr) const {
  return TypeParser(resolver_).parse(*toSyntax(expr));
}

TypePtr ScriptTypeParser::parseType(const std::string& str) const {
  return TypeParser(resolver_).parse(str);
}

std::optional<std::pair<TypePtr, int32_t>> ScriptTypeParser::parseBroadcastList(const Expr& expr) const {
  return TypeParser(resolver_).parseBroadcastingList(*toSyntax(expr));
}

FunctionSchema ScriptTypeParser::parseSchemaFromDef(const Def& def, bool skip_self) const {
  const List<Param> all = def.decl().params();
  if (skip_self && all.empty()) {
    throw ErrorReport(def) << "methods must have a self argument";
  }
  const std::vector<Param> params(skip_self ? std::next(all.begin()) : all.begin(), all.end());
  const Decl decl = Decl::create(all.range(), List<Param>::create(all.range(), params), def.decl().return_type());
  std::vector<Argument> returns;
  if (decl.return_type().present()) {
    returns.emplace_back("", parseTypeFromExpr(decl.return_type().get()));
  }
  return FunctionSchema(def.name().name(), "", compiled_parameters(decl, resolver_), std::move(returns));
}

IValue ScriptTypeParser::parseClassConstant(const Assign& assign) const {
  if (!assign.type().present() || !assign.rhs().present() || assign.lhs().kind() != TK_VAR) {
    throw ErrorReport(assign) << "a constant must have a name, a type and a value";
  }
  const SourceRange& range = assign.range();
  const Param param = Param::create(
      range, Var(assign.lhs()).name(), without_final(assign.type().get()), assign.rhs(), /*kwarg_only=*/false);
  const Decl decl = Decl::create(range, List<Param>::create(range, {param}), Maybe<Expr>::create(range));
  return *compiled_parameters(decl, resolver_).at(0).default_value();
}

} // namespace torch::jit
