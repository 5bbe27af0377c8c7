#include <csrc/compile/cpu/assembler.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace torch::fused::cpu {

namespace {

/// The high bit of a register's number.
int high(int reg) {
  return reg >> 3 & 1;
}
/// That of one of 32 vectors above it.
int highest(int reg) {
  return reg >> 4 & 1;
}
int low(int reg) {
  return reg & 7;
}
/// The logarithm of a scale.
int shift_of(uint8_t scale) {
  return scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
}

} // namespace

void Assembler::word(int32_t value) {
  uint8_t bytes[4];
  std::memcpy(bytes, &value, sizeof(value));
  code_.insert(code_.end(), bytes, bytes + sizeof(bytes));
}

/// `b` is the second source or the base of an address; `index` of the address, or the upper bits of the second source.
void Assembler::prefix(VectorOp op, int to, int a, int b, int index, bool wide, Masking masking) {
  const auto upper_bits = [&] { return (high(to) ^ 1) << 7 | (high(index) ^ 1) << 6 | (high(b) ^ 1) << 5; };
  const int source = (~a & 15) << 3;
  if (is_wide_) {
    byte(0x62);
    byte(static_cast<uint8_t>(upper_bits() | (highest(to) ^ 1) << 4 | op.map));
    byte(static_cast<uint8_t>(op.w << 7 | source | 4 | op.prefix));
    byte(static_cast<uint8_t>((masking.zeros ? 0x80 : 0) | (wide ? 0x40 : 0) | (highest(a) ^ 1) << 3 | masking.mask));
  } else {
    byte(0xC4);
    byte(static_cast<uint8_t>(upper_bits() | op.map));
    byte(static_cast<uint8_t>(op.w << 7 | source | (wide ? 4 : 0) | op.prefix));
  }
  byte(op.opcode);
}

void Assembler::op(VectorOp op, int to, int a, int b, bool wide, Masking masking) {
  prefix(op, to, a, b, b >> 1, wide, masking);
  byte(static_cast<uint8_t>(0xC0 | low(to) << 3 | low(b)));
}

void Assembler::op(VectorOp op, int to, int a, Address b, bool wide, Masking masking) {
  prefix(op, to, a, b.base, b.index, wide, masking);
  byte(static_cast<uint8_t>(0x84 | low(to) << 3));
  byte(static_cast<uint8_t>(shift_of(b.scale) << 6 | low(b.index) << 3 | low(b.base)));
  word(b.offset);
}

void Assembler::op_constant(VectorOp op, int to, int a, uint32_t constant, int immediate) {
  prefix(op, to, a, 0, 0, true, {});
  byte(static_cast<uint8_t>(0x05 | low(to) << 3));
  const size_t place = code_.size();
  word(0);
  if (immediate >= 0) {
    byte(static_cast<uint8_t>(immediate));
  }
  constant_uses_.push_back({place, code_.size(), constant});
}

uint32_t Assembler::constant(const std::vector<uint32_t>& words) {
  const auto found = std::find(constants_.begin(), constants_.end(), words);
  if (found != constants_.end()) {
    return static_cast<uint32_t>(found - constants_.begin());
  }
  constants_.push_back(words);
  return static_cast<uint32_t>(constants_.size() - 1);
}

void Assembler::load_pointer(Register to, Register base, int32_t offset) {
  byte(static_cast<uint8_t>(0x48 | high(to) << 2 | high(base)));
  byte(0x8B);
  byte(static_cast<uint8_t>(0x80 | low(to) << 3 | low(base)));
  word(offset);
}

void Assembler::load_zeros(uint8_t opcode, Register to, Address from) {
  byte(static_cast<uint8_t>(0x40 | high(to) << 2 | high(from.index) << 1 | high(from.base)));
  byte(0x0F);
  byte(opcode);
  byte(static_cast<uint8_t>(0x84 | low(to) << 3));
  byte(static_cast<uint8_t>(shift_of(from.scale) << 6 | low(from.index) << 3 | low(from.base)));
  word(from.offset);
}

void Assembler::load_byte(Register to, Address from) {
  load_zeros(0xB6, to, from);
}

void Assembler::load_word(Register to, Address from) {
  load_zeros(0xB7, to, from);
}

void Assembler::clear(Register reg) {
  byte(static_cast<uint8_t>(0x48 | high(reg) << 2 | high(reg)));
  byte(0x31);
  byte(static_cast<uint8_t>(0xC0 | low(reg) << 3 | low(reg)));
}

void Assembler::add(Register reg, int32_t value) {
  byte(static_cast<uint8_t>(0x48 | high(reg)));
  byte(0x81);
  byte(static_cast<uint8_t>(0xC0 | low(reg)));
  word(value);
}

void Assembler::add_to(Register to, Register from, int32_t value) {
  byte(static_cast<uint8_t>(0x48 | high(to) << 2 | high(from)));
  byte(0x8D);
  byte(static_cast<uint8_t>(0x80 | low(to) << 3 | low(from)));
  word(value);
}

void Assembler::compare(Register a, Register b) {
  byte(static_cast<uint8_t>(0x48 | high(b) << 2 | high(a)));
  byte(0x39);
  byte(static_cast<uint8_t>(0xC0 | low(b) << 3 | low(a)));
}

void Assembler::push(Register reg) {
  byte(static_cast<uint8_t>(0x40 | high(reg)));
  byte(static_cast<uint8_t>(0x50 | low(reg)));
}

void Assembler::pop(Register reg) {
  byte(static_cast<uint8_t>(0x40 | high(reg)));
  byte(static_cast<uint8_t>(0x58 | low(reg)));
}

void Assembler::clear_upper() {
  byte(0xC5);
  byte(0xF8);
  byte(0x77);
}

void Assembler::mask_rest(Register end, Register index, Register scratch, size_t label_of_none) {
  const auto bytes = [&](std::initializer_list<int> values) {
    for (const int value : values) {
      byte(static_cast<uint8_t>(value));
    }
  };
  bytes({0x48 | high(index) << 2 | high(end), 0x29, 0xC0 | low(index) << 3 | low(end)}); // sub end, index
  jump(Jump::IfZero, label_of_none);
  bytes({0x40 | high(scratch), 0x83, 0xC8 | low(scratch), 0xFF}); // or scratch, -1
  bytes(
      {0xC4, (high(scratch) ^ 1) << 7 | 0x40 | (high(scratch) ^ 1) << 5 | 2, (~end & 15) << 3, 0xF5,
       0xC0 | low(scratch) << 3 | low(scratch)}); // bzhi scratch, scratch, end
  bytes({0xC4, 0xC1 | (high(scratch) ^ 1) << 5, 0x7B, 0x92, 0xF8 | low(scratch)}); // kmovd k7, scratch
}

void Assembler::end() {
  byte(0xC3);
}

void Assembler::jump(Jump kind, size_t label) {
  if (kind != Jump::Always) {
    byte(0x0F);
  }
  byte(static_cast<uint8_t>(kind));
  jumps_.emplace_back(code_.size(), label);
  word(0);
}

std::vector<uint8_t> Assembler::finish() {
  const size_t vector = is_wide_ ? 64 : 32;
  const auto put = [&](size_t place, size_t end, size_t target) {
    const auto offset = static_cast<int32_t>(static_cast<int64_t>(target) - static_cast<int64_t>(end));
    std::memcpy(code_.data() + place, &offset, sizeof(offset));
  };
  for (const auto& [place, label] : jumps_) {
    put(place, place + sizeof(int32_t), labels_[label]);
  }
  code_.resize((code_.size() + vector - 1) / vector * vector);
  const size_t first = code_.size();
  for (const auto& words : constants_) {
    for (size_t i = 0; i < vector / sizeof(uint32_t); ++i) {
      word(static_cast<int32_t>(words[i % words.size()]));
    }
  }
  for (const ConstantUse& use : constant_uses_) {
    put(use.place, use.end, first + use.constant * vector);
  }
  return std::move(code_);
}

} // namespace torch::fused::cpu
