// Bodies of loops, as instructions that processors have.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace torch::fused::cpu {

/// Values are lanes of 4 or 8 bytes, as many as a vector holds: floats or doubles, ints, or masks of all bits or none.
enum class Micro : uint8_t {
  Load, ///< elements of an operand, as wide as a lane
  LoadHalf, ///< half numbers, as floats
  LoadBFloat16,
  LoadMask, ///< bytes 0 and 1
  LoadFirst, ///< the first element of an operand, as wide as a lane, in all lanes
  Constant, ///< words, of which lane i of 4 bytes has word i mod their number
  Add,
  Sub,
  Mul,
  Div,
  Min, ///< the second where one is NaN or both are zero, as processors do it
  Max,
  Sqrt,
  And,
  AndNot, ///< of the complement of the first
  Or,
  Xor,
  Compare, ///< a mask; `immediate` is the predicate of the instruction
  Blend, ///< a where the mask c is set, else b
  MulAdd, ///< a * b + c, rounded once
  NegMulAdd, ///< c - a * b, rounded once
  MulSub, ///< a * b - c, rounded once
  AddInts,
  SubInts,
  MulInts, ///< of lanes of 4 bytes
  MulLow, ///< of the lower halves of lanes of 8 bytes
  MinInts, ///< of lanes of 4 bytes
  MaxInts, ///< of lanes of 4 bytes
  EqualInts, ///< a mask
  GreaterInts, ///< a mask
  ShiftLeft, ///< of ints, by `immediate`
  ShiftRight, ///< with the sign; of lanes of 4 bytes
  ShiftRightZeros, ///< zeros come in
  FloatsOfInts, ///< of lanes of 4 bytes
  Round, ///< to a whole number, as `immediate` says
  RoundToHalf, ///< floats to the nearest half numbers, as floats
  LookUp, ///< entry (a mod 8) of the constant b; of lanes of 4 bytes
  LookUpPair, ///< entry (a mod 32) of the constants b and c of 16 words each; of lanes of 4 bytes, for AVX-512
  Scale, ///< a * 2^floor(b); for AVX-512
  Exponent, ///< floor(log2(|a|)) as a number; for AVX-512
  Mantissa, ///< a over a power of two, as `immediate` says; for AVX-512
  Store, ///< to elements of an operand, as wide as a lane
  StoreHalf, ///< floats that are half numbers
  StoreBFloat16, ///< floats that are bfloat16 numbers
  StoreMask ///< bytes 0 and 1
};

/// Values are numbered by the instruction that gives them.
struct MicroInst {
  Micro op;
  uint8_t immediate = 0;
  uint16_t operand = 0; // of loads and stores
  uint32_t a = 0, b = 0, c = 0;
  std::vector<uint32_t> words = {}; // of a constant

  bool operator==(const MicroInst&) const = default;
};

/// Values among `a`, `b` and `c`.
TORCH_API int num_sources(Micro op);

/// Grows a body.
class TORCH_API MicroBody {
 public:
  /// `width`: bytes of a lane.
  explicit MicroBody(uint8_t width = 4) : width_(width) {}

  uint32_t load(uint16_t operand, Micro op = Micro::Load) {
    return put({op, 0, operand});
  }
  void store(uint16_t operand, uint32_t value, Micro op = Micro::Store) {
    insts_.push_back({op, 0, operand, value});
  }
  /// A float or a double.
  uint32_t number(double value);
  /// An int as wide as a lane.
  uint32_t integer(int64_t value);
  /// A lane that has the sign bit of a number set and no other.
  uint32_t sign_bit();
  /// Words of lanes of 4 bytes.
  uint32_t constant(std::vector<uint32_t> words);
  uint32_t op(Micro op, uint32_t a, uint32_t b = 0, uint32_t c = 0, uint8_t immediate = 0) {
    return put({op, immediate, 0, a, b, c});
  }
  const std::vector<MicroInst>& insts() const {
    return insts_;
  }
  uint8_t width() const {
    return width_;
  }

 private:
  uint32_t put(MicroInst inst);

  uint8_t width_;
  std::vector<MicroInst> insts_;
};

/// Processors that code is made for: AVX2, FMA and F16C, or AVX-512 F, BW, DQ and VL.
enum class CodeLevel : uint8_t { Avx2, Avx512 };

/// Machine code of a function (char* const* operands, int64_t n) that runs a body for n elements; nothing where it
/// needs more registers than there are, or what the level does not have. See LoopCode.
TORCH_API std::optional<std::vector<uint8_t>> emit(
    const MicroBody& body, uint16_t num_operands, CodeLevel level = CodeLevel::Avx2);

} // namespace torch::fused::cpu
