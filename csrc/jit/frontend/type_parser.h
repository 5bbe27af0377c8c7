// Annotations as types.
#pragma once

#include <csrc/jit/frontend/resolver.h>
#include <csrc/jit/frontend/syntax.h>
#include <csrc/jit/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit {

/// Reads `int`, `List[Tensor]`, `Optional[Dict[str, int]]`, `int | None`, `BroadcastingList2[int]`, names of classes,
/// and strings that hold such. All throw ErrorReport for what is no type.
struct TORCH_API TypeParser {
  explicit TypeParser(ResolverPtr resolver = nullptr) : resolver_(std::move(resolver)) {}

  TypePtr parse(const Syntax& annotation) const;
  TypePtr parse(const std::string& annotation) const;
  /// A `BroadcastingListN[int]` or `[float]`: the list and N.
  std::optional<std::pair<TypePtr, int32_t>> parseBroadcastingList(const Syntax& annotation) const;
  /// The signature of a function. Arguments without annotation are tensors; `self_type` is that of a method's first
  /// argument.
  FunctionSchema parseSchema(const Syntax& function, const TypePtr& self_type) const;

 private:
  TypePtr parse_subscript(const Syntax& annotation) const;
  TypePtr parse_name(const std::string& name, const SourceRange& range) const;
  TypePtr only_element(const Syntax& annotation) const;
  std::vector<TypePtr> parse_all(const Syntax& annotations) const;

  ResolverPtr resolver_;
};

/// The methods that an interface declares. Throws ErrorReport for one without self or without a type for its result.
TORCH_API void addInterfaceMethods(
    c10::InterfaceType& type, const std::vector<SyntaxPtr>& definitions, const TypeParser& types);

/// `a.b.c` as text; nullopt if the expression is something else.
TORCH_API std::optional<std::string> dottedName(const Syntax& expression);

} // namespace torch::jit
