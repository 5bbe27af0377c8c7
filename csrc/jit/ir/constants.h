// Values that graphs hold as prim::Constant nodes.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <optional>

namespace torch::jit {

/// Thrown where a graph cannot hold a value as a constant.
struct TORCH_API constant_not_supported_error : c10::Error {
  using c10::Error::Error;
};

/// Whether insertConstant takes it. Tensors that require gradients, objects and containers of them are not taken.
TORCH_API bool insertableIValue(const IValue& value);

/// Adds a constant at the insert point. Throws constant_not_supported_error if a graph cannot hold it.
TORCH_API Value* insertConstant(
    Graph& graph,
    const IValue& value,
    std::optional<SourceRange> range = std::nullopt,
    std::optional<ScopePtr> scope = std::nullopt);
/// As insertConstant, but nullopt in place of the error.
TORCH_API std::optional<Value*> tryInsertConstant(
    Graph& graph,
    const IValue& value,
    std::optional<SourceRange> range = std::nullopt,
    std::optional<ScopePtr> scope = std::nullopt);

/// What a value is, if it is a constant.
TORCH_API std::optional<IValue> toIValue(const Value* value);

/// As toIValue, converted.
template <class T>
std::optional<T> constant_as(const Value* value) {
  if (std::optional<IValue> known = toIValue(value)) {
    return known->to<T>();
  }
  return std::nullopt;
}

} // namespace torch::jit
