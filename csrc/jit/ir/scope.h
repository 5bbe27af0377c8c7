// Where traced and inlined nodes come from.
#pragma once

#include <aten/core/symbol.h>
#include <c10/util/intrusive_ptr.h>
#include <csrc/jit/frontend/source_range.h>

#include <optional>
#include <string>
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

struct InlinedCallStack;
using InlinedCallStackPtr = c10::intrusive_ptr<InlinedCallStack>;

/// The calls that a node was inlined through, outermost first: for stack traces.
struct TORCH_API InlinedCallStack : c10::intrusive_ptr_target {
  /// `callee` is null when the function may have gone; its name stays.
  InlinedCallStack(InlinedCallStackPtr outer, std::string function_name, SourceRange range)
      : outer_(std::move(outer)), function_name_(std::move(function_name)), range_(std::move(range)) {}

  const InlinedCallStackPtr& outer() const {
    return outer_;
  }
  const std::string& function_name() const {
    return function_name_;
  }
  /// The call.
  const SourceRange& source_range() const {
    return range_;
  }
  /// From the outermost call to this one.
  std::vector<std::pair<std::string, SourceRange>> vec() const;

 private:
  InlinedCallStackPtr outer_;
  std::string function_name_;
  SourceRange range_;
};

} // namespace torch::jit
