// Between the dispatcher's SymInt arguments and the plain integers that kernels take.
#pragma once

#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <cstdint>
#include <optional>

namespace at::detail {

/// Each throws when a value is symbolic: a kernel needs numbers.
inline int64_t from_sym(const c10::SymInt& value) {
  return value.guard_int(__FILE__, __LINE__);
}
inline c10::IntArrayRef from_sym(c10::SymIntArrayRef values) {
  return c10::asIntArrayRefSlow(values, __FILE__, __LINE__);
}
inline std::optional<int64_t> from_sym(const std::optional<c10::SymInt>& value) {
  return value ? std::optional<int64_t>(from_sym(*value)) : std::nullopt;
}
inline c10::OptionalArrayRef<int64_t> from_sym(const c10::OptionalArrayRef<c10::SymInt>& values) {
  return values ? c10::OptionalArrayRef<int64_t>(from_sym(*values)) : c10::OptionalArrayRef<int64_t>();
}

inline std::optional<c10::SymInt> to_sym(const std::optional<int64_t>& value) {
  return value ? std::optional<c10::SymInt>(c10::SymInt(*value)) : std::nullopt;
}
inline c10::OptionalArrayRef<c10::SymInt> to_sym(const c10::OptionalArrayRef<int64_t>& values) {
  return values ? c10::OptionalArrayRef<c10::SymInt>(c10::fromIntArrayRefSlow(*values))
                : c10::OptionalArrayRef<c10::SymInt>();
}

} // namespace at::detail
