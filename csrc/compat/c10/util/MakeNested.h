#pragma once

#include <utility>
#include <vector>

namespace c10 {

/// A vector of these vectors.
template <typename T, typename... Vectors>
std::vector<std::vector<T>> make_nested(std::vector<T>&& head, Vectors&&... tail) {
  std::vector<std::vector<T>> nested;
  nested.reserve(1 + sizeof...(tail));
  nested.push_back(std::move(head));
  (nested.emplace_back(std::forward<Vectors>(tail)), ...);
  return nested;
}

} // namespace c10
