// Where traced and inlined nodes come from.
#pragma once

#include <aten/core/class_type.h>
#include <aten/core/symbol.h>
#include <c10/util/intrusive_ptr.h>
#include <csrc/jit/frontend/source_range.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace torch::jit {

struct Function;
struct Scope;
using ScopePtr = c10::intrusive_ptr<Scope>;

/// A place in the tree of modules, as tracing meets them. The root has no name.
struct TORCH_API Scope : c10::intrusive_ptr_target {
  Scope() = default;
  Scope(ScopePtr parent, c10::Symbol name) : parent_(std::move(parent)), name_(name) {}

  ScopePtr push(c10::Symbol name);
  const ScopePtr& parent() const {
    return parent_;
  }
  bool isRoot() const {
    return !parent_;
  }
  bool isBlank() const {
    return isRoot();
  }
  c10::Symbol name() const {
    return name_;
  }
  /// The names from below the root on, with a separator between them.
  std::string namesFromRoot(const std::string& separator = "/") const;

 private:
  ScopePtr parent_;
  c10::Symbol name_ = c10::Symbol();
};

/// The class of an object whose method is called, and the caller's name for the object.
struct ModuleInstanceInfo {
  ModuleInstanceInfo() = default;
  ModuleInstanceInfo(c10::ClassTypePtr module_type, std::string instance_name)
      : module_type_(std::move(module_type)), instance_name_(std::move(instance_name)) {}

  const c10::ClassTypePtr& class_type() const {
    return module_type_;
  }
  /// The attribute that holds it; "SELF" for the caller's own object.
  const std::string& instance_name() const {
    return instance_name_;
  }
  bool operator==(const ModuleInstanceInfo& other) const {
    return module_type_ == other.module_type_ && instance_name_ == other.instance_name_;
  }

 private:
  c10::ClassTypePtr module_type_;
  std::string instance_name_;
};

struct InlinedCallStack;
using InlinedCallStackPtr = c10::intrusive_ptr<InlinedCallStack>;
/// What is called, where, and for methods of which object.
using InlinedCallStackEntry = std::tuple<Function*, SourceRange, std::optional<ModuleInstanceInfo>>;

/// The calls that a node was inlined through, outermost first: each links to the next, and nodes share them.
struct TORCH_API InlinedCallStack : c10::intrusive_ptr_target {
  InlinedCallStack(
      Function* function, SourceRange range, std::optional<ModuleInstanceInfo> module_instance = std::nullopt)
      : InlinedCallStack(InlinedCallStackPtr(), function, std::move(range), std::move(module_instance)) {}
  /// `callee` is the next call; null if there is none.
  InlinedCallStack(
      InlinedCallStackPtr callee,
      Function* function,
      SourceRange range,
      std::optional<ModuleInstanceInfo> module_instance = std::nullopt);

  /// The call that was made from within the function.
  std::optional<InlinedCallStackPtr> callee() const {
    return callee_ ? std::optional<InlinedCallStackPtr>(callee_) : std::nullopt;
  }
  /// What is called. It may have gone when nothing but a graph is left; its name stays.
  Function* function() const {
    return function_;
  }
  const std::string& function_name() const {
    return function_name_;
  }
  /// The call.
  const SourceRange& source_range() const {
    return range_;
  }
  const std::optional<ModuleInstanceInfo>& module_instance() const {
    return module_instance_;
  }
  /// From this call to the innermost one.
  std::vector<InlinedCallStackEntry> vec() const;

 private:
  InlinedCallStackPtr callee_;
  Function* function_;
  std::string function_name_;
  SourceRange range_;
  std::optional<ModuleInstanceInfo> module_instance_;
};

} // namespace torch::jit
