#include <csrc/llm/fields.h>

#include <cmath>

namespace torch::llm {

int64_t Fields::size(std::string_view name) const {
  TORCH_CHECK(has(name), where_, ": '", name, "' is missing");
  return size(name, 0);
}

int64_t Fields::size(std::string_view name, int64_t fallback) const {
  const program::Json* const value = find(name);
  if (!value) {
    return fallback;
  }
  TORCH_CHECK(value->is_int(), where_, ": '", name, "' must be an integer, found ", value->to_string().substr(0, 60));
  const int64_t number = value->as_int();
  TORCH_CHECK(
      number >= 1 && number < (int64_t{1} << 31), where_, ": '", name, "' is ", number,
      ": it must be at least 1 and less than 2^31");
  return number;
}

bool Fields::flag(std::string_view name, bool fallback) const {
  const program::Json* const value = find(name);
  if (!value) {
    return fallback;
  }
  TORCH_CHECK(
      value->is_bool(), where_, ": '", name, "' must be true or false, found ", value->to_string().substr(0, 60));
  return value->as_bool();
}

double Fields::number(std::string_view name, double fallback) const {
  const program::Json* const value = find(name);
  if (!value) {
    return fallback;
  }
  TORCH_CHECK(
      value->is_int() || value->is_double(), where_, ": '", name, "' must be a number, found ",
      value->to_string().substr(0, 60));
  const double number = value->as_double();
  TORCH_CHECK(std::isfinite(number), where_, ": '", name, "' must be finite");
  return number;
}

std::string Fields::text(std::string_view name, const std::string& fallback) const {
  const program::Json* const value = find(name);
  if (!value) {
    return fallback;
  }
  TORCH_CHECK(value->is_string(), where_, ": '", name, "' must be a string, found ", value->to_string().substr(0, 60));
  return value->as_string();
}

} // namespace torch::llm
