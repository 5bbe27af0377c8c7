#pragma once

#include <cstdint>

namespace c10 {

/// What optimisers may assume about an operator whose schema has no alias annotations.
enum class AliasAnalysisKind : uint8_t { INTERNAL_SPECIAL_CASE, CONSERVATIVE, FROM_SCHEMA, PURE_FUNCTION };

constexpr const char* toString(AliasAnalysisKind kind) {
  switch (kind) {
    case AliasAnalysisKind::CONSERVATIVE:
      return "CONSERVATIVE";
    case AliasAnalysisKind::FROM_SCHEMA:
      return "FROM_SCHEMA";
    case AliasAnalysisKind::PURE_FUNCTION:
      return "PURE_FUNCTION";
    case AliasAnalysisKind::INTERNAL_SPECIAL_CASE:
      return "INTERNAL_SPECIAL_CASE";
  }
  return "UNKNOWN";
}

} // namespace c10
