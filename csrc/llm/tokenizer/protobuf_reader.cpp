#include <csrc/llm/tokenizer/protobuf_reader.h>

#include <c10/util/Exception.h>

#include <cstring>

namespace torch::llm {

uint64_t ProtobufReader::read_varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    TORCH_CHECK(position_ < bytes_.size(), "protocol buffer: a number does not end at byte ", position_);
    const auto byte = static_cast<unsigned char>(bytes_[position_++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  TORCH_CHECK(false, "protocol buffer: a number at byte ", position_, " has more than 64 bits");
}

std::string_view ProtobufReader::take(uint64_t count) {
  TORCH_CHECK(
      count <= bytes_.size() - position_, "protocol buffer: field ", field_, " needs ", count, " bytes at ", position_,
      ", but there are ", bytes_.size() - position_);
  const std::string_view part = bytes_.substr(position_, count);
  position_ += count;
  return part;
}

bool ProtobufReader::next() {
  if (position_ == bytes_.size()) {
    return false;
  }
  const uint64_t tag = read_varint();
  TORCH_CHECK(tag >> 3 > 0 && tag >> 3 <= UINT32_MAX, "protocol buffer: no field number at byte ", position_);
  field_ = static_cast<uint32_t>(tag >> 3);
  wire_ = static_cast<Wire>(tag & 7);
  switch (wire_) {
    case Wire::Varint:
      number_ = read_varint();
      return true;
    case Wire::Fixed64:
      value_ = take(8);
      return true;
    case Wire::Bytes:
      value_ = take(read_varint());
      return true;
    case Wire::Fixed32:
      value_ = take(4);
      return true;
  }
  TORCH_CHECK(false, "protocol buffer: field ", field_, " has the unknown wire type ", tag & 7);
}

void ProtobufReader::check_wire(Wire wanted) const {
  TORCH_CHECK(
      wire_ == wanted, "protocol buffer: field ", field_, " has wire type ", static_cast<int>(wire_), ", expected ",
      static_cast<int>(wanted));
}

uint64_t ProtobufReader::varint() const {
  check_wire(Wire::Varint);
  return number_;
}

float ProtobufReader::float_value() const {
  check_wire(Wire::Fixed32);
  float value = 0;
  std::memcpy(&value, value_.data(), sizeof value);
  return value;
}

std::string_view ProtobufReader::bytes() const {
  check_wire(Wire::Bytes);
  return value_;
}

} // namespace torch::llm
