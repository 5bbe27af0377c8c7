#pragma once

#include <aten/core/function_schema.h>
#include <aten/core/qualified_name.h>
#include <aten/core/stack.h>

#include <functional>
#include <string>
#include <unordered_map>

namespace torch::jit {

using Kwargs = std::unordered_map<std::string, c10::IValue>;

/// Something with a schema that runs on a stack: a bound C++ method or a compiled function.
struct TORCH_API Function {
  Function() = default;
  Function(const Function&) = default;
  Function& operator=(const Function&) = default;
  Function(Function&&) noexcept = default;
  Function& operator=(Function&&) noexcept = default;
  virtual ~Function();

  virtual std::string_view doc_string() const {
    return {};
  }
  virtual bool isGraphFunction() const {
    return false;
  }
  virtual void run(Stack& stack) = 0;
  /// Checks and completes the arguments, runs, and returns the single result.
  c10::IValue operator()(Stack stack);
  c10::IValue operator()(Stack stack, const Kwargs& kwargs);
  virtual const c10::QualifiedName& qualname() const = 0;
  const std::string& name() const {
    return qualname().name();
  }
  /// Compiles the body if that has not happened yet.
  virtual void ensure_defined() {}
  virtual const c10::FunctionSchema& getSchema() const = 0;
  virtual size_t num_inputs() const = 0;
  virtual Function& setSchema(c10::FunctionSchema schema) = 0;
};

} // namespace torch::jit
