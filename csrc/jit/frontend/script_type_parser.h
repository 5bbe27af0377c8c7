// Annotations as types, from trees of programs.
#pragma once

#include <csrc/jit/frontend/resolver.h>
#include <csrc/jit/frontend/tree_views.h>
#include <csrc/jit/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace torch::jit {

/// Reads annotations. Names of classes are those that the resolver knows. All throw ErrorReport for what is wrong.
class TORCH_API ScriptTypeParser {
 public:
  explicit ScriptTypeParser(ResolverPtr resolver = nullptr) : resolver_(std::move(resolver)) {}

  TypePtr parseTypeFromExpr(const Expr& expr) const;
  TypePtr parseType(const std::string& str) const;
  /// Of `BroadcastingList2[int]` the list and 2; nullopt for other types.
  std::optional<std::pair<TypePtr, int32_t>> parseBroadcastList(const Expr& expr) const;
  /// The signature of a function with its default values; without its first parameter if `skip_self`. Parameters
  /// without annotation are tensors.
  FunctionSchema parseSchemaFromDef(const Def& def, bool skip_self) const;
  /// The value of `name : Final[T] = value`, or `name : T = value`.
  IValue parseClassConstant(const Assign& assign) const;

 private:
  ResolverPtr resolver_;
};

} // namespace torch::jit
