// The owner of TorchScript's functions and classes.
#pragma once

#include <aten/core/class_type.h>
#include <aten/core/function.h>
#include <aten/core/interface_type.h>
#include <aten/core/jit_type.h>
#include <c10/util/Indirect.h>
#include <c10/util/OwnedPtr.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace torch::jit {

struct ClassDef;
struct Def;
struct Graph;
struct GraphFunction;
struct Property;
struct Resolver;
struct Self;
struct Syntax;
using ResolverPtr = std::shared_ptr<Resolver>;

/// Functions and named types by name; keeps both alive. Threads may use units at once: while one defines functions or
/// calls a function for the first time, which compiles it, the others wait that look something up or do the same.
/// Functions that are compiled are called without a lock, so keep the Function, Method or Module that is called often.
struct TORCH_API CompilationUnit : std::enable_shared_from_this<CompilationUnit> {
  CompilationUnit();
  /// Defines the functions of a source.
  explicit CompilationUnit(const std::string& source);
  CompilationUnit(const CompilationUnit&) = delete;
  CompilationUnit& operator=(const CompilationUnit&) = delete;
  ~CompilationUnit();

  /// Holds the lock of all units, which a thread may take several times: for several changes that belong together.
  /// Functions of several units may refer to each other. Do not wait for another thread meanwhile.
  std::unique_lock<std::recursive_mutex> lock() const;

  // -- functions
  /// Null if there is none.
  Function* find_function(const c10::QualifiedName& name) const;
  /// Throws if there is none.
  Function& get_function(const c10::QualifiedName& name) const;
  std::vector<Function*> get_functions() const;
  /// A function that is the graph, whose inputs and outputs make its schema. Throws if the name is taken, unless
  /// `shouldMangle`, which gives the function a name like it.
  Function* create_function(c10::QualifiedName name, std::shared_ptr<Graph> graph, bool shouldMangle = false);
  /// Throws if the name is taken.
  Function* register_function(std::unique_ptr<Function> function);
  /// Throws if there is none. Nothing may use the function any more.
  void unsafeRemoveFunction(const c10::QualifiedName& name);
  void unsafeRemoveMethod(const c10::QualifiedName& name) {
    unsafeRemoveFunction(name);
  }
  /// Nothing may use the functions any more.
  void drop_all_functions();

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
  /// As above, from trees of programs (torch::jit::Parser), with properties of `self`'s class: their getters and
  /// setters become methods, too. With `shouldMangle`, names that are taken get another one. Operators mean what the
  /// resolvers know, whatever `operator_set_version` is.
  std::vector<Function*> define(
      const std::optional<c10::QualifiedName>& prefix,
      const std::vector<Property>& properties,
      const std::vector<ResolverPtr>& propResolvers,
      const std::vector<Def>& definitions,
      const std::vector<ResolverPtr>& defResolvers,
      const Self* self,
      bool shouldMangle = false,
      std::optional<size_t> operator_set_version = std::nullopt);
  /// Compiles functions that a call of a module, `module({x})` or `self.child(x)` in a program, runs behind and before
  /// method `forward` of `self`'s class, in this order; a Def that comes several times runs as often. A pre-hook takes
  /// self and the tuple of forward's arguments, and gives None or the arguments to use instead; a hook takes the
  /// result, too, and gives the one to use instead, or None. Throws where a signature does not fit or a name is taken;
  /// then nothing is left behind.
  void define_hooks(
      const std::optional<c10::QualifiedName>& prefix,
      const std::vector<Def>& hookDefs,
      const std::vector<ResolverPtr>& hookResolvers,
      const std::vector<Def>& preHookDefs,
      const std::vector<ResolverPtr>& preHookResolvers,
      const Self* self,
      bool shouldMangle = false);
  /// Makes an interface of the methods that a class declares, each with `self` and a type for its result. Bodies are
  /// not looked at. `is_module` for those of modules.
  void define_interface(
      const c10::QualifiedName& qualifiedName, const ClassDef& classDef, ResolverPtr rcb, bool is_module = false);
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
  c10::InterfaceTypePtr get_interface(const c10::QualifiedName& name) const;
  c10::TupleTypePtr get_named_tuple(const c10::QualifiedName& name) const;
  std::vector<c10::NamedTypePtr> get_types() const;
  void unsafeRemoveType(const c10::QualifiedName& name);

  /// A name that no type or function has: with "___torch_mangle_N" before its last part if it is taken.
  c10::QualifiedName mangle(const c10::QualifiedName& name) const;

  /// Without effect, as in libtorch: warns. See setGraphExecutorOptimize().
  void set_optimized(bool o);
  /// Always true, as in libtorch: warns.
  bool is_optimized() const;

 private:
  struct Members;
  c10::OwnedPtr<Members> members_;
};

/// A function with the compilation unit that owns it.
struct StrongFunctionPtr {
  StrongFunctionPtr(std::shared_ptr<CompilationUnit> cu, Function* function)
      : cu_(std::move(cu)), function_(function) {}
  std::shared_ptr<CompilationUnit> cu_;
  Function* function_;
};

namespace script {
using CompilationUnit = ::torch::jit::CompilationUnit;
} // namespace script

/// Compiles the functions of a TorchScript source; throws ErrorReport, which shows the place, where it is wrong.
TORCH_API std::shared_ptr<CompilationUnit> compile(const std::string& source);

} // namespace torch::jit
