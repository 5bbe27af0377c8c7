// Errors of the system as fmt writes them. Needs fmt's headers.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <string_view>
#include <system_error>

/// "errno", or the category's name and " error".
template <>
struct fmt::formatter<std::error_category> {
  constexpr auto parse(format_parse_context& context) {
    return context.begin();
  }
  template <typename Context>
  auto format(const std::error_category& category, Context& context) const {
    return category == std::generic_category() ? fmt::format_to(context.out(), "errno")
                                               : fmt::format_to(context.out(), "{} error", category.name());
  }
};

/// "(errno: 2 - No such file or directory)".
template <>
struct fmt::formatter<std::error_code> {
  constexpr auto parse(format_parse_context& context) {
    return context.begin();
  }
  template <typename Context>
  auto format(const std::error_code& error, Context& context) const {
    return fmt::format_to(context.out(), "({}: {} - {})", error.category(), error.value(), error.message());
  }
};

namespace c10d::detail {

/// The errno of this thread.
inline std::error_code lastError() noexcept {
  return {errno, std::generic_category()};
}

} // namespace c10d::detail
