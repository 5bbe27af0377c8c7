// A small JSON reader: enough for the corpus lines and the safetensors headers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace conformance {

/// One JSON value. Numbers without fraction or exponent are Int, all others Double.
class Json {
 public:
  enum class Kind : uint8_t { Null, Bool, Int, Double, String, Array, Object };
  using Member = std::pair<std::string, Json>;

  /// Parses `text` whole; throws std::runtime_error with the byte offset of the first fault.
  static Json parse(std::string_view text);

  Kind kind() const {
    return kind_;
  }
  bool is_null() const {
    return kind_ == Kind::Null;
  }
  bool is_string() const {
    return kind_ == Kind::String;
  }
  bool is_array() const {
    return kind_ == Kind::Array;
  }

  bool as_bool() const;
  int64_t as_int() const;
  /// Also reads the strings "nan", "inf" and "-inf", which the corpus writes in place of numbers.
  double as_double() const;
  const std::string& as_string() const;
  const std::vector<Json>& items() const;
  const std::vector<Member>& members() const;
  std::vector<int64_t> as_ints() const;

  /// The member called `key`, or nullptr.
  const Json* find(std::string_view key) const;
  /// The member called `key`; throws std::runtime_error when there is none.
  const Json& at(std::string_view key) const;

 private:
  friend class JsonParser;

  Kind kind_ = Kind::Null;
  int64_t int_ = 0;
  double double_ = 0;
  std::string string_;
  std::vector<Json> items_;
  std::vector<Member> members_;
};

} // namespace conformance
