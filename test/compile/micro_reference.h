// Random bodies of loops, and what they compute, element by element in C++: what machine code is compared with.
#pragma once

#include <csrc/compile/cpu/micro.h>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace micro {

using torch::fused::cpu::CodeLevel;
using torch::fused::cpu::Micro;
using torch::fused::cpu::MicroBody;
using torch::fused::cpu::MicroInst;

/// What a value is: bits mean nothing to floats, and NaN may have any of several.
enum class Kind : uint8_t { Number, Integer, Mask };

struct Operand {
  Micro op; // that loads or stores it
  Kind kind;
};

struct RandomBody {
  MicroBody body;
  std::vector<Operand> operands;
};

/// Computes with lanes of floats and 32-bit ints, or of doubles and 64-bit ones.
template <class Float, class Int>
class Reference {
 public:
  using Unsigned = std::make_unsigned_t<Int>;

  /// Runs a body for one element; `operands` point to it.
  static void run(const std::vector<MicroInst>& body, const std::vector<char*>& operands) {
    std::vector<Unsigned> values(body.size());
    for (size_t i = 0; i < body.size(); ++i) {
      const MicroInst& inst = body[i];
      const auto value = [&](uint32_t source) { return values[source]; };
      if (inst.op >= Micro::Store) {
        store(inst.op, value(inst.a), operands[inst.operand]);
      } else if (inst.op < Micro::Constant) {
        values[i] = load(inst.op, operands[inst.operand]);
      } else if (inst.op == Micro::Constant) {
        values[i] = constant(inst.words);
      } else if (inst.op == Micro::LookUp) {
        values[i] = body[inst.b].words[value(inst.a) % 8];
      } else if (inst.op == Micro::LookUpPair) {
        const auto index = static_cast<size_t>(value(inst.a) % 32);
        values[i] = body[index < 16 ? inst.b : inst.c].words[index % 16];
      } else {
        values[i] = compute(inst, value(inst.a), value(inst.b), value(inst.c));
      }
    }
  }

 private:
  static Float number(Unsigned bits) {
    return std::bit_cast<Float>(bits);
  }
  static Unsigned bits(Float number) {
    return std::bit_cast<Unsigned>(number);
  }
  static Unsigned mask(bool is_set) {
    return is_set ? ~Unsigned(0) : 0;
  }

  static Unsigned constant(const std::vector<uint32_t>& words) {
    Unsigned value = words[0];
    if constexpr (sizeof(Int) == 8) {
      value |= static_cast<Unsigned>(words[1 % words.size()]) << 32;
    }
    return value;
  }

  static Unsigned load(Micro op, const char* from) {
    if (op == Micro::LoadMask) {
      return mask(*from != 0);
    }
    if (op == Micro::LoadHalf || op == Micro::LoadBFloat16) {
      uint16_t small = 0;
      std::memcpy(&small, from, sizeof(small));
      const float wide = op == Micro::LoadHalf ? static_cast<float>(c10::Half(small, c10::Half::from_bits()))
                                               : static_cast<float>(c10::BFloat16(small, c10::BFloat16::from_bits()));
      return bits(static_cast<Float>(wide));
    }
    Unsigned value = 0;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }

  static void store(Micro op, Unsigned value, char* to) {
    if (op == Micro::StoreMask) {
      *to = value != 0 ? 1 : 0;
    } else if (op == Micro::StoreHalf) {
      const uint16_t half = c10::Half(static_cast<float>(number(value))).x;
      std::memcpy(to, &half, sizeof(half));
    } else if (op == Micro::StoreBFloat16) {
      const auto upper = static_cast<uint16_t>(value >> 16);
      std::memcpy(to, &upper, sizeof(upper));
    } else {
      std::memcpy(to, &value, sizeof(value));
    }
  }

  static bool compare(uint8_t predicate, Float a, Float b) {
    switch (predicate) {
      case 0:
        return a == b;
      case 3:
        return a != a || b != b;
      case 4:
        return !(a == b);
      case 17:
        return a < b;
      case 18:
        return a <= b;
      case 29:
        return a >= b;
      default:
        return a > b;
    }
  }

  static Unsigned compute(const MicroInst& inst, Unsigned a, Unsigned b, Unsigned c) {
    const Float x = number(a), y = number(b), z = number(c);
    switch (inst.op) {
      case Micro::Add:
        return bits(x + y);
      case Micro::Sub:
        return bits(x - y);
      case Micro::Mul:
        return bits(x * y);
      case Micro::Div:
        return bits(x / y);
      case Micro::Min:
        return x < y ? a : b;
      case Micro::Max:
        return x > y ? a : b;
      case Micro::Sqrt:
        return bits(std::sqrt(x));
      case Micro::And:
        return a & b;
      case Micro::AndNot:
        return ~a & b;
      case Micro::Or:
        return a | b;
      case Micro::Xor:
        return a ^ b;
      case Micro::Compare:
        return mask(compare(inst.immediate, x, y));
      case Micro::Blend:
        return static_cast<Int>(c) < 0 ? a : b;
      case Micro::MulAdd:
        return bits(std::fma(x, y, z));
      case Micro::NegMulAdd:
        return bits(std::fma(-x, y, z));
      case Micro::MulSub:
        return bits(std::fma(x, y, -z));
      default:
        return compute_integer(inst, a, b);
    }
  }

  static Unsigned compute_integer(const MicroInst& inst, Unsigned a, Unsigned b) {
    const auto x = static_cast<Int>(a), y = static_cast<Int>(b);
    switch (inst.op) {
      case Micro::AddInts:
        return a + b;
      case Micro::SubInts:
        return a - b;
      case Micro::MulInts:
        return a * b;
      case Micro::MulLow:
        return static_cast<Unsigned>(static_cast<uint64_t>(static_cast<uint32_t>(a)) * static_cast<uint32_t>(b));
      case Micro::MinInts:
        return x < y ? a : b;
      case Micro::MaxInts:
        return x > y ? a : b;
      case Micro::EqualInts:
        return mask(a == b);
      case Micro::GreaterInts:
        return mask(x > y);
      case Micro::ShiftLeft:
        return a << inst.immediate;
      case Micro::ShiftRight:
        return static_cast<Unsigned>(x >> inst.immediate);
      case Micro::ShiftRightZeros:
        return a >> inst.immediate;
      case Micro::FloatsOfInts:
        return bits(static_cast<Float>(x));
      case Micro::Round:
        return bits(round(number(a), inst.immediate));
      case Micro::RoundToHalf:
        return bits(static_cast<Float>(static_cast<float>(c10::Half(static_cast<float>(number(a))))));
      case Micro::Scale:
        return bits(scale(number(a), number(b)));
      case Micro::Exponent:
        return bits(std::logb(number(a)));
      case Micro::Mantissa:
        return bits(mantissa(number(a)));
      default:
        throw std::logic_error("an instruction that has no reference");
    }
  }

  static Float scale(Float x, Float y) {
    if (std::isnan(x) && std::isinf(y)) {
      return y > 0 ? y : 0; // as the processor has it
    }
    if (std::isnan(x) || std::isnan(y)) {
      return std::numeric_limits<Float>::quiet_NaN();
    }
    if (std::isinf(y)) {
      return y > 0 ? x * y : std::isinf(x) ? std::numeric_limits<Float>::quiet_NaN() : x * 0;
    }
    return std::ldexp(x, static_cast<int>(std::clamp<Float>(std::floor(y), -9999, 9999)));
  }

  /// In [3/4, 3/2), and NaN of negative numbers.
  static Float mantissa(Float x) {
    if (x < 0 || std::isnan(x)) {
      return std::numeric_limits<Float>::quiet_NaN();
    }
    if (x == 0 || std::isinf(x)) {
      return std::copysign(Float(1), x);
    }
    int exponent = 0;
    const Float half = std::frexp(x, &exponent);
    return half < Float(0.75) ? half * 2 : half;
  }

  static Float round(Float x, uint8_t how) {
    switch (how) {
      case 9:
        return std::floor(x);
      case 10:
        return std::ceil(x);
      case 11:
        return std::trunc(x);
      default:
        return std::nearbyint(x);
    }
  }
};

/// Makes bodies.
class Generator {
 public:
  explicit Generator(uint64_t seed, CodeLevel level = CodeLevel::Avx2) : random_(seed), level_(level) {}

  RandomBody make() {
    made_ = {MicroBody(pick(2) == 0 ? 4 : 8), {}};
    const int loads = 1 + pick(4), steps = 1 + pick(20), stores = 1 + pick(3);
    for (int i = 0; i < loads; ++i) {
      add_load();
    }
    for (int i = 0; i < steps; ++i) {
      add_step();
    }
    for (int i = 0; i < stores; ++i) {
      add_store();
    }
    return std::move(made_);
  }

  /// An element for an operand that is loaded.
  uint64_t element(const Operand& operand, int width) {
    if (operand.kind == Kind::Mask) {
      return static_cast<uint64_t>(pick(2));
    }
    if (operand.kind == Kind::Integer) {
      return pick(3) == 0 ? static_cast<uint64_t>(pick(5)) - 2 : random_();
    }
    const double specials[] = {0.0, -0.0, 1, -1, 0.5, INFINITY, -INFINITY, NAN, 1e-40, -3e38, 65504, 65520, 6e-8};
    const double value = pick(3) == 0 ? specials[pick(std::size(specials))] : std::normal_distribution<>(0, 3)(random_);
    if (operand.op == Micro::LoadHalf) {
      return c10::Half(static_cast<float>(value)).x;
    }
    if (operand.op == Micro::LoadBFloat16) {
      return c10::BFloat16(static_cast<float>(value)).x;
    }
    return width == 4 ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<uint64_t>(value);
  }
  int pick(size_t count) {
    return static_cast<int>(random_() % count);
  }

 private:
  bool is_narrow() const {
    return made_.body.width() == 4;
  }
  uint32_t note(uint32_t value, Kind kind) {
    values_.emplace_back(value, kind);
    return value;
  }
  void add_load() {
    const Micro ops[] = {Micro::Load,      Micro::Load,     Micro::LoadMask,
                         Micro::LoadFirst, Micro::LoadHalf, Micro::LoadBFloat16};
    const Micro op = ops[pick(is_narrow() ? 6 : 4)];
    const Kind kind = op == Micro::LoadMask ? Kind::Mask
        : op == Micro::Load && pick(3) == 0 ? Kind::Integer
                                            : Kind::Number;
    const auto operand = static_cast<uint16_t>(made_.operands.size());
    made_.operands.push_back({op, kind});
    if (operand == 0) {
      values_.clear();
    }
    note(made_.body.load(operand, op), kind);
  }
  /// A value of a kind, or a constant.
  uint32_t any(Kind kind) {
    std::vector<uint32_t> found;
    for (const auto& [value, other] : values_) {
      if (other == kind) {
        found.push_back(value);
      }
    }
    if (!found.empty() && pick(8) != 0) {
      return found[static_cast<size_t>(pick(found.size()))];
    }
    MicroBody& b = made_.body;
    return kind == Kind::Number ? b.number((pick(9) - 4) * 0.75)
        : kind == Kind::Integer ? b.integer(pick(7) - 3)
                                : b.constant({pick(2) != 0 ? 0xFFFFFFFFu : 0u});
  }
  void add_step() {
    MicroBody& b = made_.body;
    const Kind kinds[] = {Kind::Number, Kind::Integer, Kind::Mask};
    switch (pick(level_ == CodeLevel::Avx512 ? 12 : 10)) {
      case 10: {
        const uint32_t x = any(Kind::Number);
        const int which = pick(3);
        note(
            which == 0       ? b.op(Micro::Scale, x, any(Kind::Number))
                : which == 1 ? b.op(Micro::Exponent, x)
                             : b.op(Micro::Mantissa, x, 0, 0, 11),
            Kind::Number);
        break;
      }
      case 11: {
        if (!is_narrow()) {
          break;
        }
        const auto table = [&](size_t count) {
          std::vector<uint32_t> words(count);
          std::generate(words.begin(), words.end(), [&] { return static_cast<uint32_t>(random_()); });
          return b.constant(std::move(words));
        };
        const uint32_t index = any(Kind::Integer);
        if (pick(2) == 0) {
          note(b.op(Micro::LookUp, index, table(8)), Kind::Integer);
        } else {
          const uint32_t low = table(16), high = table(16);
          note(b.op(Micro::LookUpPair, index, low, high), Kind::Integer);
        }
        break;
      }
      case 0:
      case 1:
      case 2: {
        const Micro ops[] = {Micro::Add, Micro::Sub, Micro::Mul, Micro::Div, Micro::Min, Micro::Max};
        note(b.op(ops[pick(6)], any(Kind::Number), any(Kind::Number)), Kind::Number);
        break;
      }
      case 3: {
        const Micro ops[] = {Micro::MulAdd, Micro::NegMulAdd, Micro::MulSub};
        note(b.op(ops[pick(3)], any(Kind::Number), any(Kind::Number), any(Kind::Number)), Kind::Number);
        break;
      }
      case 4: {
        const uint8_t predicates[] = {0, 3, 4, 17, 18, 29, 30};
        note(b.op(Micro::Compare, any(Kind::Number), any(Kind::Number), 0, predicates[pick(7)]), Kind::Mask);
        break;
      }
      case 5: {
        const Kind kind = kinds[pick(3)];
        note(b.op(Micro::Blend, any(kind), any(kind), any(Kind::Mask)), kind);
        break;
      }
      case 6: {
        const Micro ops[] = {Micro::And, Micro::AndNot, Micro::Or, Micro::Xor};
        const Kind kind = kinds[1 + pick(2)];
        note(b.op(ops[pick(4)], any(kind), any(kind)), kind);
        break;
      }
      case 7: {
        if (pick(3) == 0) {
          note(b.op(Micro::Sqrt, any(Kind::Number)), Kind::Number);
        } else if (is_narrow() && pick(2) == 0) {
          note(b.op(Micro::RoundToHalf, any(Kind::Number)), Kind::Number);
        } else {
          note(b.op(Micro::Round, any(Kind::Number), 0, 0, static_cast<uint8_t>(8 + pick(4))), Kind::Number);
        }
        break;
      }
      case 8: {
        const Micro narrow[] = {Micro::AddInts, Micro::SubInts, Micro::MulInts, Micro::MinInts, Micro::MaxInts};
        const Micro wide[] = {Micro::AddInts, Micro::SubInts, Micro::MulLow};
        const Micro op = is_narrow() ? narrow[pick(5)] : wide[pick(3)];
        note(b.op(op, any(Kind::Integer), any(Kind::Integer)), Kind::Integer);
        break;
      }
      default: {
        const Micro compares[] = {Micro::EqualInts, Micro::GreaterInts};
        const Micro shifts[] = {Micro::ShiftLeft, Micro::ShiftRightZeros, Micro::ShiftRight};
        if (pick(2) == 0) {
          note(b.op(compares[pick(2)], any(Kind::Integer), any(Kind::Integer)), Kind::Mask);
        } else if (is_narrow() && pick(3) == 0) {
          note(b.op(Micro::FloatsOfInts, any(Kind::Integer)), Kind::Number);
        } else {
          const Micro op = shifts[pick(is_narrow() ? 3 : 2)];
          note(b.op(op, any(Kind::Integer), 0, 0, static_cast<uint8_t>(1 + pick(31))), Kind::Integer);
        }
      }
    }
  }
  void add_store() {
    const auto& [value, kind] =
        values_[values_.size() - 1 - static_cast<size_t>(pick(std::min<size_t>(4, values_.size())))];
    uint32_t stored = value;
    Micro op = kind == Kind::Mask ? Micro::StoreMask : Micro::Store;
    if (kind == Kind::Number && is_narrow() && pick(4) == 0) {
      op = Micro::StoreHalf;
      stored = made_.body.op(Micro::RoundToHalf, value);
    } else if (kind == Kind::Number && is_narrow() && pick(4) == 0) {
      op = Micro::StoreBFloat16;
    }
    made_.body.store(static_cast<uint16_t>(made_.operands.size()), stored, op);
    made_.operands.push_back({op, kind});
  }

  std::mt19937_64 random_;
  const CodeLevel level_;
  RandomBody made_{MicroBody(4), {}};
  std::vector<std::pair<uint32_t, Kind>> values_;
};

/// Bytes of an element of an operand.
inline size_t element_bytes(Micro op, int width) {
  switch (op) {
    case Micro::LoadMask:
    case Micro::StoreMask:
      return 1;
    case Micro::LoadHalf:
    case Micro::LoadBFloat16:
    case Micro::StoreHalf:
    case Micro::StoreBFloat16:
      return 2;
    default:
      return static_cast<size_t>(width);
  }
}

/// Whether two elements that were stored are the same, or both NaN.
inline bool same_element(const Operand& operand, int width, const char* a, const char* b) {
  const size_t size = element_bytes(operand.op, width);
  if (std::memcmp(a, b, size) == 0) {
    return true;
  }
  if (operand.kind != Kind::Number) {
    return false;
  }
  const auto is_nan = [&](const char* element) {
    uint64_t bits = 0;
    std::memcpy(&bits, element, size);
    return operand.op == Micro::StoreHalf    ? (bits & 0x7FFF) > 0x7C00
        : operand.op == Micro::StoreBFloat16 ? (bits & 0x7FFF) > 0x7F80
        : width == 4                         ? std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)))
                                             : std::isnan(std::bit_cast<double>(bits));
  };
  return is_nan(a) && is_nan(b);
}

} // namespace micro
