#pragma once

#include <c10/macros/Export.h>

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace c10 {

/// The key of an operator: qualified name "ns::op" and overload name, which may be empty.
struct OperatorName final {
  std::string name;
  std::string overload_name;

  OperatorName(std::string name, std::string overload_name)
      : name(std::move(name)), overload_name(std::move(overload_name)) {}

  /// The part before "::", if there is one.
  TORCH_API std::optional<std::string_view> getNamespace() const;
  /// Puts `ns` in front of a name without namespace; returns whether it did.
  TORCH_API bool setNamespaceIfNotSet(const char* ns);
};

/// A view of an operator's key, for look-ups that make no strings.
struct OperatorNameView final {
  std::string_view name;
  std::string_view overload_name;

  constexpr OperatorNameView(std::string_view name, std::string_view overload_name)
      : name(name), overload_name(overload_name) {}
  /* implicit */ OperatorNameView(const OperatorName& full) : name(full.name), overload_name(full.overload_name) {}
  /// Splits "ns::op.overload".
  constexpr static OperatorNameView parse(std::string_view full) {
    const size_t dot = full.find('.');
    return dot == std::string_view::npos ? OperatorNameView(full, {})
                                         : OperatorNameView(full.substr(0, dot), full.substr(dot + 1));
  }
};

inline bool operator==(const OperatorName& a, const OperatorName& b) {
  return a.name == b.name && a.overload_name == b.overload_name;
}
inline bool operator!=(const OperatorName& a, const OperatorName& b) {
  return !(a == b);
}

/// "ns::op.overload", or "ns::op" without an overload name.
TORCH_API std::string toString(const OperatorName& name);
TORCH_API std::ostream& operator<<(std::ostream& out, const OperatorName& name);

} // namespace c10

template <>
struct std::hash<c10::OperatorName> {
  size_t operator()(const c10::OperatorName& x) const noexcept {
    return std::hash<std::string>()(x.name) ^ (~std::hash<std::string>()(x.overload_name));
  }
};
