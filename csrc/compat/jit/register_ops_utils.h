// For programs that register operators of TorchScript on the stack.
#pragma once

#include <aten/core/List.h>
#include <csrc/jit/runtime/operator.h>
#include <csrc/compat/jit/operator_generator.h>

#include <cstdint>
#include <utility>

namespace torch::jit {

/// What an operator does is what its schema says.
constexpr AliasAnalysisKind aliasAnalysisFromSchema() {
  return AliasAnalysisKind::FROM_SCHEMA;
}
/// It may do anything.
constexpr AliasAnalysisKind aliasAnalysisConservative() {
  return AliasAnalysisKind::CONSERVATIVE;
}
/// The analysis knows the operator by its name.
constexpr AliasAnalysisKind aliasAnalysisSpecialCase() {
  return AliasAnalysisKind::INTERNAL_SPECIAL_CASE;
}

/// An index as Python has it: negative ones count from the end. May still be out of range.
constexpr int64_t normalizeIndex(int64_t idx, int64_t list_size) {
  return idx < 0 ? idx + list_size : idx;
}

/// Python's list[idx]. Throws c10::IndexError if there is no such element.
template <class T>
T getItem(const c10::List<T>& list, int64_t idx) {
  const int64_t size = static_cast<int64_t>(list.size());
  const int64_t place = normalizeIndex(idx, size);
  TORCH_CHECK_INDEX(place >= 0 && place < size, "list index out of range");
  return list.get(static_cast<size_t>(place));
}

/// Python's list[idx] = value. Throws c10::IndexError if there is no such element.
template <class T>
void setItem(const c10::List<T>& list, int64_t idx, T&& value) {
  const int64_t size = static_cast<int64_t>(list.size());
  const int64_t place = normalizeIndex(idx, size);
  TORCH_CHECK_INDEX(place >= 0 && place < size, "list index out of range");
  list.set(static_cast<size_t>(place), std::forward<T>(value));
}

} // namespace torch::jit
