// Definitions from the source files of an archive, made when their names are first used.
#pragma once

#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/frontend/resolver.h>
#include <csrc/jit/serialize/source_index.h>
#include <csrc/jit/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace torch::jit {

/// Gives the source file of a module name, `__torch__.a.b`; null if there is none.
using SourceLoader = std::function<std::shared_ptr<Source>(const std::string&)>;

// Note [Importing lazily]
// A file of an archive is cut into its definitions without a look into their bodies. A class comes into being, with its
// attributes, when something names it; its methods are registered by name alone, parsed and compiled when they are
// first needed. So a model costs at loading what its classes cost, not its code. Methods keep the importer, and with it
// the files, until they are compiled; the importer does not keep the compilation unit that owns them.
//
// Threads may need one archive at once: see Note [One lock for compiling].

/// The names of an archive's source files.
struct TORCH_API SourceImporterImpl final : Resolver, std::enable_shared_from_this<SourceImporterImpl> {
  using Constants = std::shared_ptr<const std::vector<IValue>>;

  /// `version` is that of the archive's operators.
  SourceImporterImpl(
      const std::shared_ptr<CompilationUnit>& cu, Constants constants, SourceLoader source_loader, uint64_t version);
  ~SourceImporterImpl() override;

  /// A class, interface, named tuple or enumeration; null if there is none of that name.
  TypePtr findNamedType(const c10::QualifiedName& name);
  /// Null if there is none of that name.
  Function* findFunction(const c10::QualifiedName& name);

  std::shared_ptr<SugaredValue> resolveValue(
      const std::string& name, GraphFunction& method, const SourceRange& range) override;
  TypePtr resolveType(const std::string& name, const SourceRange& range) override;

 private:
  struct Pending {
    std::shared_ptr<Source> source;
    IndexedDefinition definition;
  };
  struct ClassStatements;
  using SyntaxPtr = std::shared_ptr<const Syntax>;

  CompilationUnit& unit() const;
  void index_source(const std::string& qualifier);
  const Pending* find_pending(const c10::QualifiedName& name);
  TypePtr import_type(const c10::QualifiedName& name, const Pending& pending);
  TypePtr import_class(const c10::QualifiedName& name, const Pending& pending, const ClassStatements& statements);
  void add_members(const c10::ClassTypePtr& type, const Pending& pending, const ClassStatements& statements);
  void add_constants(ClassType& type, const std::vector<SyntaxPtr>& declarations);
  TypePtr import_interface(const c10::QualifiedName& name, const Pending& pending, bool is_module);
  TypePtr import_named_tuple(const c10::QualifiedName& name, const ClassStatements& statements);
  TypePtr import_enum(const c10::QualifiedName& name, const ClassStatements& statements);
  std::vector<IValue> evaluate(const std::vector<SyntaxPtr>& declarations);
  Function* define_later(
      const c10::QualifiedName& name, const Pending& pending, const SourcePart& part, c10::ClassTypePtr self);

  std::weak_ptr<CompilationUnit> cu_;
  Constants constants_;
  SourceLoader source_loader_;
  uint64_t version_;
  // Read and changed under the lock of all units.
  std::unordered_set<std::string> indexed_;
  std::unordered_map<c10::QualifiedName, Pending> pending_;
  std::unordered_map<c10::QualifiedName, TypePtr> enums_;
};

/// The classes of an archive's source files, by name.
struct TORCH_API SourceImporter {
  /// Definitions become those of `cu`. The table must live as long as functions of the files may be compiled.
  SourceImporter(
      std::shared_ptr<CompilationUnit> cu,
      const std::vector<at::IValue>* constant_table,
      SourceLoader loader,
      size_t version);
  ~SourceImporter();

  /// Null if there is no class of that name.
  TypePtr loadType(const c10::QualifiedName& name) const;

 private:
  std::shared_ptr<CompilationUnit> cu_;
  std::shared_ptr<SourceImporterImpl> impl_;
};

} // namespace torch::jit
