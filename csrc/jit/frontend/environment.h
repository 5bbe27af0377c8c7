// The variables of a function that is being compiled.
#pragma once

#include <csrc/jit/frontend/sugared_value.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::jit {

// Note [Variables]
// While a function is emitted, an assignment to a variable is a node prim::Store and a use of it a node prim::Load, so
// that control flow needs no thought here; convert_to_ssa.h turns them into values that blocks take and give. What the
// compiler must know at once is the type of each variable at each place, and that is what frames keep: one for each
// block, with those variables that are assigned in it. Things that are no values of the graph (functions, modules) live
// in frames alone.

/// Whether a value may have the variable's name: names that the printer makes up say nothing.
bool isMeaningfulName(const std::string& name);

/// The variables assigned in one block, in front of those of the blocks around it.
struct Environment {
  Environment(GraphFunction& method, ResolverPtr resolver, Block* block, std::shared_ptr<Environment> next);

  /// Throws if the variable cannot take the value: it has another type outside, or its annotation says so.
  void setVar(const SourceRange& range, const std::string& name, Value* value);
  void setSugaredVar(
      const SourceRange& range,
      const std::string& name,
      SugaredValuePtr value,
      const TypePtr& annotated_type = nullptr);
  /// What a name stands for: a variable, a builtin, or what the resolver knows. Null if there is none and `required` is
  /// false.
  SugaredValuePtr getSugaredVar(const std::string& name, const SourceRange& range, bool required = true);
  Value* getVar(const std::string& name, const SourceRange& range);
  /// Loads a variable that there is at the end of the block, as libtorch's compiler does where branches meet: nobody
  /// uses the value, but the names and numbers of values count it.
  void loadIfDefined(const std::string& name);
  /// The type from now on; the value is that of the next load.
  void setType(const std::string& name, TypePtr type);
  /// Why the variable cannot be used any more.
  void setVariableTypeError(const std::string& name, std::function<std::string()> message);
  std::optional<std::string> findVariableTypeError(const std::string& name) const;
  bool isDefined(const std::string& name) const;
  TypePtr findType(const std::string& name) const;
  /// The names assigned in this block.
  std::vector<std::string> definedVariables() const;
  void insertStore(const std::string& name, const SourceRange& range, Value* value, TypePtr type);

  /// From now on variables that are assigned here are other variables than those of the same name outside: those of a
  /// comprehension.
  void setOwnVariables(std::string suffix) {
    suffix_ = std::move(suffix);
  }

  Block* block() const {
    return block_;
  }
  const std::shared_ptr<Environment>& next() const {
    return next_;
  }
  const ResolverPtr& resolver() const {
    return resolver_;
  }

 private:
  SugaredValuePtr load(const std::string& name, const TypePtr& type);
  std::string name_in_graph(const std::string& name) const;
  SugaredValuePtr find_here(const std::string& name);
  SugaredValuePtr find_outside(const std::string& name);
  SugaredValuePtr resolve(const std::string& name, const SourceRange& range);

  GraphFunction& method_;
  ResolverPtr resolver_;
  Block* block_;
  std::shared_ptr<Environment> next_;
  // What the names of this frame's own variables end with in the graph.
  std::string suffix_;
  std::map<std::string, TypePtr> types_;
  std::map<std::string, SugaredValuePtr> values_;
  std::map<std::string, std::function<std::string()>> errors_;
};

} // namespace torch::jit
