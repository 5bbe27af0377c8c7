#pragma once

#include <aten/core/function.h>

#include <functional>
#include <string>
#include <utility>

namespace torch::jit {

/// A function implemented by C++ code that works on the stack.
struct BuiltinOpFunction final : Function {
  BuiltinOpFunction(
      c10::QualifiedName qualname,
      c10::FunctionSchema schema,
      std::function<void(Stack&)> callable,
      std::string doc_string = "")
      : name_(std::move(qualname)),
        callable_(std::move(callable)),
        schema_(std::move(schema)),
        doc_string_(std::move(doc_string)) {}

  std::string_view doc_string() const override {
    return doc_string_;
  }
  void run(Stack& stack) override {
    callable_(stack);
  }
  const c10::QualifiedName& qualname() const override {
    return name_;
  }
  const c10::FunctionSchema& getSchema() const override {
    return schema_;
  }
  size_t num_inputs() const override {
    return schema_.arguments().size();
  }
  Function& setSchema(c10::FunctionSchema schema) override {
    schema_ = std::move(schema);
    return *this;
  }

 private:
  c10::QualifiedName name_;
  std::function<void(Stack&)> callable_;
  c10::FunctionSchema schema_;
  std::string doc_string_;
};

} // namespace torch::jit
