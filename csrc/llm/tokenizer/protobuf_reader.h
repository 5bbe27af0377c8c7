// Fields of a protocol buffer, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace torch::llm {

/// Reads the wire format. Every length is checked against the bytes that are there; c10::Error tells the place.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view bytes) : bytes_(bytes) {}

  /// Goes to the next field; false at the end.
  bool next();
  /// The number of the field.
  uint32_t field() const {
    return field_;
  }

  // The value, which must have the kind asked for.
  uint64_t varint() const;
  float float_value() const;
  std::string_view bytes() const;
  bool flag() const {
    return varint() != 0;
  }

 private:
  enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

  uint64_t read_varint();
  std::string_view take(uint64_t count);
  void check_wire(Wire wanted) const;

  std::string_view bytes_;
  size_t position_ = 0;
  uint32_t field_ = 0;
  Wire wire_ = Wire::Varint;
  uint64_t number_ = 0;
  std::string_view value_;
};

} // namespace torch::llm
