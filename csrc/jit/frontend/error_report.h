// Errors that point at source code.
#pragma once

#include <c10/util/Exception.h>
#include <csrc/jit/frontend/source_range.h>
#include <csrc/jit/frontend/tree.h>

#include <sstream>
#include <string>

namespace torch::jit {

struct Token;

/// An error of the compiler: the message, the marked source, and the functions that were being compiled.
struct TORCH_API ErrorReport : c10::Error {
  explicit ErrorReport(SourceRange range);
  /// Also of the views in tree_views.h. Atoms have no place in a source: throws.
  explicit ErrorReport(const TreeRef& tree) : ErrorReport(tree->range()) {}
  explicit ErrorReport(const Token& token);
  ErrorReport(const ErrorReport& other);

  /// While it lives, errors say that `name` is being compiled, and from where it was called.
  struct TORCH_API CallStack {
    CallStack(const std::string& name, const SourceRange& range);
    CallStack(const CallStack&) = delete;
    CallStack& operator=(const CallStack&) = delete;
    ~CallStack();
    /// Changes the place from which the innermost function is compiled.
    static void update_pending_range(const SourceRange& range);
  };
  /// The functions that are being compiled, innermost first.
  static std::string current_call_stack();

  const char* what() const noexcept override;
  const char* what_without_backtrace() const noexcept override {
    return what();
  }

  template <class T>
  ErrorReport& operator<<(const T& part) {
    message_ << part;
    return *this;
  }

 private:
  std::ostringstream message_;
  SourceRange range_;
  std::string call_stack_;
  mutable std::string what_;
};

} // namespace torch::jit
