#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace c10 {

using std::string_view;
template <class CharT>
using basic_string_view = std::basic_string_view<CharT>;
using c10_string_view = std::string_view;

/// Hash of a map with keys std::string that is searched by std::string_view.
struct TransparentStringHash {
  using is_transparent = void;

  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

constexpr bool starts_with(std::string_view text, std::string_view prefix) noexcept {
  return text.size() >= prefix.size() && text.substr(0, prefix.size()) == prefix;
}
constexpr bool starts_with(std::string_view text, char prefix) noexcept {
  return !text.empty() && text.front() == prefix;
}
constexpr bool ends_with(std::string_view text, std::string_view suffix) noexcept {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}
constexpr bool ends_with(std::string_view text, char suffix) noexcept {
  return !text.empty() && text.back() == suffix;
}

} // namespace c10
