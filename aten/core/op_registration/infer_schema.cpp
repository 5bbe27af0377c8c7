#include <aten/core/op_registration/infer_schema.h>

#include <c10/util/StringUtil.h>

#include <algorithm>

namespace c10 {

namespace detail::infer_schema {

FunctionSchema make_function_schema(
    std::string name, std::string overload_name, ArrayRef<ArgumentDef> arguments, ArrayRef<ArgumentDef> returns) {
  // Results are named as arguments are: "(Tensor _0) -> (Tensor _0, int _1)".
  const auto make = [](ArrayRef<ArgumentDef> defs) {
    std::vector<Argument> out;
    out.reserve(defs.size());
    for (size_t i = 0; i < defs.size(); ++i) {
      out.emplace_back("_" + std::to_string(i), (*defs[i].getFakeTypeFn)(), (*defs[i].getTypeFn)());
    }
    return out;
  };
  return FunctionSchema(std::move(name), std::move(overload_name), make(arguments), make(returns));
}

} // namespace detail::infer_schema

std::string markDifference(const std::string& a, const std::string& b) {
  const size_t at = static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin()).first -
      a.begin());
  return a + "\n" + b + "\n" + std::string(at, ' ') + "^ here";
}

namespace {

// Types only: names, defaults and annotations cannot be told from a C++ function.
std::string types_of(const std::vector<Argument>& list) {
  std::string out = "(";
  for (const Argument& argument : list) {
    if (out.size() > 1) {
      out += ", ";
    }
    out += argument.type()->str();
  }
  return out + ")";
}

bool compatible(const Type& specified, const Type& inferred) {
  if (specified == inferred) {
    return true;
  }
  // A C++ function cannot have a type variable: it takes what Any takes.
  if (specified.kind() == TypeKind::VarType && inferred.kind() == TypeKind::AnyType) {
    return true;
  }
  if (specified.kind() == TypeKind::ListType && inferred.kind() == TypeKind::AnyListType) {
    return specified.hasFreeVariables();
  }
  return false;
}

std::optional<std::string> find_difference(
    const char* what, const std::vector<Argument>& specified, const std::vector<Argument>& inferred) {
  const auto shown = [&] {
    return "\n    " + std::string("expected ") + types_of(specified) + "\n    inferred " + types_of(inferred);
  };
  if (specified.size() != inferred.size()) {
    return str("The number of ", what, "s is different. ", specified.size(), " vs ", inferred.size(), ".", shown());
  }
  for (size_t i = 0; i < specified.size(); ++i) {
    if (compatible(*specified[i].type(), *inferred[i].type())) {
      continue;
    }
    // The mark goes under the first type that differs.
    const std::vector<Argument> before(specified.begin(), specified.begin() + static_cast<std::ptrdiff_t>(i));
    const size_t column = types_of(before).size() - 1 + (i == 0 ? 0 : 2);
    return str(
        "Type mismatch in ", what, " ", i + 1, ": ", specified[i].type()->str(), " vs ", inferred[i].type()->str(), ".",
        shown(), "\n    ", std::string(std::string("expected ").size() + column, ' '), "^ here");
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> findSchemaDifferences(const FunctionSchema& specified, const FunctionSchema& inferred) {
  const FunctionSchema real = inferred.cloneWithRealTypes();
  if (auto difference = find_difference("argument", specified.arguments(), real.arguments())) {
    return difference;
  }
  return find_difference("return", specified.returns(), real.returns());
}

} // namespace c10
