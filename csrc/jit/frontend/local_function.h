// Functions within functions as values of the compiler.
#pragma once

#include <csrc/jit/frontend/sugared_value.h>
#include <csrc/jit/frontend/syntax.h>

namespace torch::jit {

/// A function without arguments that is defined in another and uses its variables; fork() and awaitable() take it.
struct LocalFunction final : SugaredValue {
  explicit LocalFunction(const Syntax& definition) : definition(definition) {}
  std::string kind() const override {
    return "closure";
  }

  const Syntax& definition; // lives as long as the function around it is compiled
};

} // namespace torch::jit
