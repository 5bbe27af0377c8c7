// JSON as archives of programs hold it.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace torch::program {

/// A value of JSON (RFC 8259). Objects keep their order.
class TORCH_API Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  explicit Json(bool value) : data_(value) {}
  explicit Json(int64_t value) : data_(value) {}
  explicit Json(double value) : data_(value) {}
  explicit Json(std::string value) : data_(std::move(value)) {}
  explicit Json(Array value) : data_(std::move(value)) {}
  explicit Json(Object value) : data_(std::move(value)) {}

  /// Reads a text; `where` begins the message of an error. The value takes at most about 50 times the text's memory.
  static Json parse(std::string_view text, const std::string& where);

  /// The text on one line; numbers that JSON does not have as the strings "Infinity", "-Infinity" and "NaN".
  std::string to_string() const;

  bool is_null() const {
    return data_.index() == 0;
  }
  bool is_bool() const {
    return std::holds_alternative<bool>(data_);
  }
  bool is_int() const {
    return std::holds_alternative<int64_t>(data_);
  }
  bool is_double() const {
    return std::holds_alternative<double>(data_);
  }
  bool is_string() const {
    return std::holds_alternative<std::string>(data_);
  }
  bool is_array() const {
    return std::holds_alternative<Array>(data_);
  }
  bool is_object() const {
    return std::holds_alternative<Object>(data_);
  }

  // These throw c10::Error when the value is of another kind.
  bool as_bool() const;
  int64_t as_int() const;
  /// Also an integer, and "Infinity", "-Infinity" and "NaN" as strings.
  double as_double() const;
  const std::string& as_string() const;
  const Array& items() const;
  const Object& members() const;

  /// The member of an object; throws when there is none.
  const Json& at(std::string_view name) const;
  /// nullptr when there is none or when it is null.
  const Json* find(std::string_view name) const;
  /// The one member of an object that has one, as unions are written.
  const std::pair<std::string, Json>& only() const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> data_;
};

} // namespace torch::program
