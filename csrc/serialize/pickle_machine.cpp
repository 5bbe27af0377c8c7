#include <csrc/serialize/pickle_machine.h>

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace torch::serialize {

PickleReader::~PickleReader() = default;

std::string_view PickleReader::take(uint64_t size) {
  if (size > pickle_.size() - position_) {
    fail(fmt::format("{} more bytes are needed, {} are left", size, pickle_.size() - position_));
  }
  const std::string_view bytes = pickle_.substr(position_, size);
  position_ += size;
  return bytes;
}

std::string_view PickleReader::take_line() {
  const size_t end = pickle_.find('\n', position_);
  if (end == std::string_view::npos) {
    fail("a line does not end");
  }
  const std::string_view line = pickle_.substr(position_, end - position_);
  position_ = end + 1;
  return line;
}

template <class T>
T PickleReader::number() {
  T value;
  std::memcpy(&value, take(sizeof value).data(), sizeof value);
  return value;
}

void PickleReader::read_long(std::string_view bytes, PickleInstruction& instruction) const {
  const bool negative = !bytes.empty() && (bytes.back() & 0x80);
  if (bytes.size() > 9 || (bytes.size() == 9 && bytes.back() != 0)) {
    fail("an int does not fit into 64 bits");
  }
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) {
    const auto byte = i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : static_cast<uint8_t>(negative ? 0xff : 0);
    value |= uint64_t(byte) << (8 * i);
  }
  instruction.opcode = Opcode::BinInt;
  instruction.number = static_cast<int64_t>(value);
  instruction.is_unsigned = bytes.size() == 9;
}

PickleInstruction PickleReader::next() {
  PickleInstruction instruction;
  while (!read(instruction)) {
  }
  return instruction;
}

bool PickleReader::read(PickleInstruction& instruction) {
  begin_ = position_;
  const auto opcode = static_cast<Opcode>(number<uint8_t>());
  const auto becomes = [&](Opcode general, int64_t value) {
    instruction.opcode = general;
    instruction.number = value;
  };
  const auto becomes_text = [&](std::string_view text) {
    instruction.opcode = Opcode::BinUnicode;
    instruction.text = text;
  };
  instruction.opcode = opcode;
  switch (opcode) {
    case Opcode::Proto:
      if (const auto version = number<uint8_t>(); version < 2 || version > 5) {
        fail(fmt::format("pickle protocol {} is not supported, 2 to 5 are", version));
      }
      return false;
    case Opcode::Frame:
      take(8);
      return false;
    case Opcode::NewTrue:
    case Opcode::NewFalse:
      becomes(Opcode::NewTrue, opcode == Opcode::NewTrue ? 1 : 0);
      break;
    case Opcode::BinInt1:
      becomes(Opcode::BinInt, number<uint8_t>());
      break;
    case Opcode::BinInt2:
      becomes(Opcode::BinInt, number<uint16_t>());
      break;
    case Opcode::BinInt:
      becomes(Opcode::BinInt, number<int32_t>());
      break;
    case Opcode::Long1:
      read_long(take(number<uint8_t>()), instruction);
      break;
    case Opcode::Long4:
      read_long(take(number<uint32_t>()), instruction);
      break;
    case Opcode::BinFloat:
      instruction.real = std::bit_cast<double>(__builtin_bswap64(number<uint64_t>()));
      break;
    case Opcode::ShortBinString:
    case Opcode::ShortBinBytes:
    case Opcode::ShortBinUnicode:
      becomes_text(take(number<uint8_t>()));
      break;
    case Opcode::BinString:
    case Opcode::BinBytes:
    case Opcode::BinUnicode:
      becomes_text(take(number<uint32_t>()));
      break;
    case Opcode::BinUnicode8:
      becomes_text(take(number<uint64_t>()));
      break;
    case Opcode::EmptyTuple:
      becomes(Opcode::Tuple1, 0);
      break;
    case Opcode::Tuple1:
    case Opcode::Tuple2:
    case Opcode::Tuple3:
      becomes(Opcode::Tuple1, 1 + static_cast<int64_t>(opcode) - static_cast<int64_t>(Opcode::Tuple1));
      break;
    case Opcode::BinPut:
    case Opcode::BinGet:
      instruction.number = number<uint8_t>();
      break;
    case Opcode::LongBinPut:
      becomes(Opcode::BinPut, number<uint32_t>());
      break;
    case Opcode::LongBinGet:
      becomes(Opcode::BinGet, number<uint32_t>());
      break;
    case Opcode::Global:
      instruction.text = take_line();
      instruction.name = take_line();
      break;
    case Opcode::Stop:
    case Opcode::Mark:
    case Opcode::Pop:
    case Opcode::PopMark:
    case Opcode::Dup:
    case Opcode::None:
    case Opcode::BinPersistentId:
    case Opcode::Reduce:
    case Opcode::Append:
    case Opcode::Appends:
    case Opcode::Build:
    case Opcode::Dict:
    case Opcode::EmptyDict:
    case Opcode::List:
    case Opcode::EmptyList:
    case Opcode::SetItem:
    case Opcode::SetItems:
    case Opcode::Tuple:
    case Opcode::NewObj:
    case Opcode::StackGlobal:
    case Opcode::Memoize:
      break;
    default:
      fail(fmt::format(
          "opcode 0x{:02x} does not occur in PyTorch's files and is not supported", static_cast<unsigned>(opcode)));
  }
  return true;
}

} // namespace torch::serialize
