// The owner of TorchScript's functions and classes.
#pragma once

#include <aten/core/class_type.h>
#include <aten/core/function.h>
#include <c10/util/Indirect.h>
#include <c10/util/OwnedPtr.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::jit {

struct Graph;
struct GraphFunction;
struct Resolver;
struct Self;
struct Syntax;
using ResolverPtr = std::shared_ptr<Resolver>;

/// Functions and named types by name; keeps both alive.
struct TORCH_API CompilationUnit : std::enable_shared_from_this<CompilationUnit> {
  CompilationUnit();
  /// Defines the functions of a source.
  explicit CompilationUnit(const std::string& source);
  CompilationUnit(const CompilationUnit&) = delete;
  CompilationUnit& operator=(const CompilationUnit&) = delete;
  ~CompilationUnit();

  // -- functions
  /// Null if there is none.
  Function* find_function(const c10::QualifiedName& name) const;
  /// Throws if there is none.
  Function& get_function(const c10::QualifiedName& name) const;
  std::vector<Function*> get_functions() const;
  /// Throws if the name is taken; with `shadow`, the function is kept under another name.
  Function* create_function(c10::QualifiedName name, std::shared_ptr<Graph> graph, bool shadow = false);
  Function* register_function(std::unique_ptr<Function> function);
  void unsafeRemoveFunction(const c10::QualifiedName& name);

  /// Compiles the functions of a source and returns them. `self` makes them methods of its class. Bodies that are wrong
  /// throw ErrorReport, and nothing is left behind.
  std::vector<Function*> define(
      const std::optional<c10::QualifiedName>& prefix,
      const std::string& source,
      const ResolverPtr& resolver,
      const Self* self);
  /// As above, from trees, each with its resolver. Functions with `lazily` are compiled when they are first needed.
  std::vector<Function*> define(
      const std::optional<c10::QualifiedName>& prefix,
      const std::vector<std::shared_ptr<const Syntax>>& definitions,
      const std::vector<ResolverPtr>& resolvers,
      const Self* self,
      bool lazily = false);
  /// Calls a function by its name.
  template <class... Values>
  c10::IValue run_method(const c10::QualifiedName& name, Values&&... inputs) {
    return get_function(name)({c10::IValue(std::forward<Values>(inputs))...});
  }

  // -- types
  /// Throws if the name is taken.
  void register_type(c10::NamedTypePtr type);
  /// nullptr if there is none.
  c10::NamedTypePtr get_type(const c10::QualifiedName& name) const;
  c10::ClassTypePtr get_class(const c10::QualifiedName& name) const;
  c10::NamedTypePtr get_interface(const c10::QualifiedName& name) const;
  c10::NamedTypePtr get_named_tuple(const c10::QualifiedName& name) const;
  std::vector<c10::NamedTypePtr> get_types() const;
  void unsafeRemoveType(const c10::QualifiedName& name);

  /// A name that no type or function has: with "___torch_mangle_N" before its last part if it is taken.
  c10::QualifiedName mangle(const c10::QualifiedName& name) const;

 private:
  struct Members;
  c10::OwnedPtr<Members> members_;
};

/// Compiles the functions of a TorchScript source; throws ErrorReport, which shows the place, where it is wrong.
TORCH_API std::shared_ptr<CompilationUnit> compile(const std::string& source);

} // namespace torch::jit
