// Registrations that a build may leave out, for programs that choose by lists of their own. This library leaves out
// none.
#pragma once

#include <cstddef>
#include <string_view>

namespace c10::impl {

/// Whether the list "a;b.c;d" names the item.
constexpr bool allowlist_contains(std::string_view allowlist, std::string_view item) {
  while (true) {
    const size_t end = allowlist.find(';');
    if (allowlist.substr(0, end) == item) {
      return true;
    }
    if (end == std::string_view::npos) {
      return false;
    }
    allowlist.remove_prefix(end + 1);
  }
}

/// Whether the list names the operator of a schema: "aten::add.Tensor" of "aten::add.Tensor(Tensor self, ...)".
constexpr bool op_allowlist_contains_name_in_schema(std::string_view allowlist, std::string_view schema) {
  return allowlist_contains(allowlist, schema.substr(0, schema.find('(')));
}

constexpr bool op_allowlist_check(std::string_view /*op_name*/) {
  return true;
}
constexpr bool schema_allowlist_check(std::string_view /*schema*/) {
  return true;
}
constexpr bool custom_class_allowlist_check(std::string_view /*custom_class_name*/) {
  return true;
}

} // namespace c10::impl

namespace torch::detail {

/// A name or schema whose type says whether it is to be registered.
template <bool enabled>
class SelectiveStr {
 public:
  constexpr explicit SelectiveStr(const char* name) : name_(name) {}
  constexpr operator const char*() const {
    return name_;
  }

 private:
  const char* name_;
};

} // namespace torch::detail
