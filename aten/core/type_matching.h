// Type variables of generic schemas: what `t` stands for in `append.t(t[](a!) self, t el)` when types are given.
#pragma once

#include <aten/core/jit_type.h>

#include <string>
#include <unordered_map>

namespace c10 {

/// What each variable stands for.
using TypeEnv = std::unordered_map<std::string, TypePtr>;

/// Whether types fit, and if not, why.
struct MatchTypeReturn {
  static MatchTypeReturn Success() {
    return {};
  }
  explicit MatchTypeReturn(std::string reason) : success_(false), reason_(std::move(reason)) {}
  bool success() const {
    return success_;
  }
  const std::string& reason() const {
    return reason_;
  }

 private:
  MatchTypeReturn() = default;
  bool success_ = true;
  std::string reason_;
};

/// Finds what the variables of `formal` stand for if the argument is of type `actual`, and adds that to `type_env`.
/// A variable that is met again keeps its type, with which the other one must unify: whether the argument fits is left
/// to the caller.
TORCH_API MatchTypeReturn matchTypeVariables(const TypePtr& formal, const TypePtr& actual, TypeEnv& type_env);
/// `type` with its variables replaced; null if one of them is not known.
TORCH_API TypePtr tryEvalTypeVariables(const TypePtr& type, TypeEnv& type_env);
/// Whether the elements say what a container of that element type holds: not so for Any, unions and optionals.
TORCH_API bool elementTypeCanBeInferredFromMembers(const TypePtr& element);
/// Smallest type that all are subtypes of, if there is one. With `why_not`, says which two do not unify.
TORCH_API std::optional<TypePtr> unifyTypeList(ArrayRef<TypePtr> types, std::ostream& why_not);

} // namespace c10
