// Errors of running TorchScript code.
#pragma once

#include <c10/macros/Export.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace torch::jit {

/// An exception that a program raised: `raise ValueError("text")`. Where it leaves the interpreter, its text begins
/// with the trace of the program.
struct TORCH_API JITException : std::runtime_error {
  explicit JITException(
      const std::string& msg,
      std::optional<std::string> python_class_name = std::nullopt,
      std::optional<std::string> original_msg = std::nullopt);
  ~JITException() override;

  /// The qualified name of the raised class, if the program gave it.
  const std::optional<std::string>& getPythonClassName() const {
    return python_class_name_;
  }
  /// What the program itself said, without trace.
  const std::optional<std::string>& getOriginalMsg() const {
    return original_msg_;
  }

 private:
  std::optional<std::string> python_class_name_;
  std::optional<std::string> original_msg_;
};

} // namespace torch::jit
