#include <csrc/jit/api/compilation_unit.h>

#include <aten/core/interface_type.h>
#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>
#include <csrc/jit/api/compile_lock.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/frontend/resolver.h>

#include <algorithm>
#include <unordered_map>

namespace torch::jit {

struct CompilationUnit::Members {
  // In the order of their definition; null where one was removed.
  std::vector<std::unique_ptr<Function>> functions;
  std::unordered_map<c10::QualifiedName, size_t> function_places;
  std::vector<c10::NamedTypePtr> types;
  std::unordered_map<c10::QualifiedName, c10::NamedTypePtr> types_by_name;
  size_t next_mangled = 0;
};

CompilationUnit::CompilationUnit() : members_(new Members()) {}
CompilationUnit::CompilationUnit(const std::string& source) : CompilationUnit() {
  define(std::nullopt, source, nativeResolver(), nullptr);
}
CompilationUnit::~CompilationUnit() = default;

std::unique_lock<std::recursive_mutex> CompilationUnit::lock() const {
  return compile_lock();
}

// ---- functions ------------------------------------------------------------------------------------------------------

Function* CompilationUnit::find_function(const c10::QualifiedName& name) const {
  const auto held = lock();
  const auto found = members_->function_places.find(name);
  return found == members_->function_places.end() ? nullptr : members_->functions[found->second].get();
}

Function& CompilationUnit::get_function(const c10::QualifiedName& name) const {
  Function* function = find_function(name);
  TORCH_CHECK(function, "attempted to get undefined function ", name.name());
  return *function;
}

std::vector<Function*> CompilationUnit::get_functions() const {
  const auto held = lock();
  std::vector<Function*> functions;
  for (const std::unique_ptr<Function>& function : members_->functions) {
    if (function) {
      functions.push_back(function.get());
    }
  }
  return functions;
}

Function* CompilationUnit::create_function(c10::QualifiedName name, std::shared_ptr<Graph> graph, bool shouldMangle) {
  const auto held = lock();
  if (shouldMangle) {
    name = mangle(name);
  }
  return register_function(std::make_unique<GraphFunction>(std::move(name), std::move(graph), nullptr));
}

Function* CompilationUnit::register_function(std::unique_ptr<Function> function) {
  const auto held = lock();
  const c10::QualifiedName& name = function->qualname();
  TORCH_CHECK(!find_function(name), "method '", name.qualifiedName(), "' already defined.");
  members_->function_places.emplace(name, members_->functions.size());
  members_->functions.push_back(std::move(function));
  return members_->functions.back().get();
}

void CompilationUnit::unsafeRemoveFunction(const c10::QualifiedName& name) {
  const auto held = lock();
  const auto found = members_->function_places.find(name);
  TORCH_CHECK(found != members_->function_places.end(), "method '", name.qualifiedName(), "' does not exist.");
  // The name may be the function's own.
  const std::unique_ptr<Function> removed = std::move(members_->functions[found->second]);
  members_->function_places.erase(found);
}

void CompilationUnit::drop_all_functions() {
  const auto held = lock();
  members_->function_places.clear();
  members_->functions.clear();
}

// ---- types ----------------------------------------------------------------------------------------------------------

void CompilationUnit::register_type(c10::NamedTypePtr type) {
  TORCH_CHECK(type && type->name(), "CompilationUnit::register_type: the type must have a name");
  const c10::QualifiedName name = *type->name();
  const auto held = lock();
  TORCH_CHECK(!get_type(name), "class '", name.qualifiedName(), "' already defined.");
  members_->types_by_name.emplace(name, type);
  members_->types.push_back(std::move(type));
}

c10::NamedTypePtr CompilationUnit::get_type(const c10::QualifiedName& name) const {
  const auto held = lock();
  const auto found = members_->types_by_name.find(name);
  return found == members_->types_by_name.end() ? nullptr : found->second;
}

c10::ClassTypePtr CompilationUnit::get_class(const c10::QualifiedName& name) const {
  const c10::NamedTypePtr type = get_type(name);
  return type ? type->cast<c10::ClassType>() : nullptr;
}

c10::InterfaceTypePtr CompilationUnit::get_interface(const c10::QualifiedName& name) const {
  const c10::NamedTypePtr type = get_type(name);
  return type ? type->cast<c10::InterfaceType>() : nullptr;
}

c10::TupleTypePtr CompilationUnit::get_named_tuple(const c10::QualifiedName& name) const {
  const c10::NamedTypePtr type = get_type(name);
  return type ? type->cast<c10::TupleType>() : nullptr;
}

std::vector<c10::NamedTypePtr> CompilationUnit::get_types() const {
  const auto held = lock();
  return members_->types;
}

void CompilationUnit::unsafeRemoveType(const c10::QualifiedName& name) {
  const auto held = lock();
  const c10::NamedTypePtr type = get_type(name);
  TORCH_CHECK(type, "class '", name.qualifiedName(), "' does not exist.");
  std::vector<c10::NamedTypePtr>& types = members_->types;
  types.erase(std::find(types.begin(), types.end(), type));
  members_->types_by_name.erase(name);
}

// ---- names ----------------------------------------------------------------------------------------------------------

namespace {

constexpr const char* kMangled = "___torch_mangle_";

} // namespace

c10::QualifiedName CompilationUnit::mangle(const c10::QualifiedName& name) const {
  const auto held = lock();
  c10::QualifiedName mangled = name;
  while (find_function(mangled) || get_type(mangled)) {
    std::vector<std::string> atoms;
    for (const std::string& atom : name.atoms()) {
      if (atom.rfind(kMangled, 0) != 0) {
        atoms.push_back(atom);
      }
    }
    atoms.insert(atoms.end() - 1, kMangled + std::to_string(members_->next_mangled++));
    mangled = c10::QualifiedName(std::move(atoms));
  }
  return mangled;
}

// ---- old switches ---------------------------------------------------------------------------------------------------

void CompilationUnit::set_optimized(bool) {
  TORCH_WARN(
      "CompilationUnit::set_optimized() is deprecated and has no effect. "
      "Please use setGraphExecutorOptimize()");
}

bool CompilationUnit::is_optimized() const {
  TORCH_WARN(
      "CompilationUnit::is_optimized() is deprecated and always returns true. "
      "Please use getGraphExecutorOptimize()");
  return true;
}

} // namespace torch::jit
