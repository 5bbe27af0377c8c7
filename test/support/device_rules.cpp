#include "test/support/device_rules.h"

#include <algorithm>
#include <initializer_list>

namespace test {

namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(
      parts.begin(), parts.end(), [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

} // namespace

bool belongs_on_host(std::string_view op, std::string_view argument) {
  if (argument == "batch_sizes" || argument == "tensor_indices_or_sections") {
    return true;
  }
  if (argument == "scalars" && contains_any(op, {"_foreach_"})) {
    return true;
  }
  return (argument == "lengths" && contains_any(op, {"_pack_padded_sequence"})) ||
      (argument == "shape" && contains_any(op, {"_reshape_from_tensor"}));
}

bool only_host_looks(std::string_view message) {
  return contains_any(message, {"ZeroDivisionError", "p_in >= 0", "between 0 and 1", "allocated size does not match"});
}

bool any_write_may_stay(std::string_view op) {
  if (contains_any(op, {"reduce"})) {
    return false;
  }
  return contains_any(
      op,
      {"aten::scatter.", "aten::scatter_.", "aten::index_copy", "aten::put", "index_put", "aten::as_strided_scatter"});
}

} // namespace test
