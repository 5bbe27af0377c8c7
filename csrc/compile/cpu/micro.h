// Bodies of loops over floats, as instructions that processors have.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace torch::fused::cpu {

enum class Micro : uint8_t {
  Load, ///< floats of an operand
  LoadBool, ///< bytes of an operand, as floats 0 and 1
  Constant, ///< words, of which lane i has word i mod their number
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
  Compare, ///< all bits or none; `immediate` is the predicate of the instruction
  Blend, ///< a where the mask c is set, else b
  MulAdd, ///< a * b + c, rounded once
  NegMulAdd, ///< c - a * b, rounded once
  MulSub, ///< a * b - c, rounded once
  AddInts,
  SubInts,
  ShiftLeft, ///< of ints, by `immediate`
  ShiftRight, ///< with the sign
  Round, ///< to a whole number, as `immediate` says
  LookUp, ///< entry (a mod 8) of the constant b
  Store, ///< floats to an operand
  StoreMask ///< bytes 0 and 1 to an operand
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
int num_sources(Micro op);

/// Grows a body.
class TORCH_API MicroBody {
 public:
  uint32_t load(uint16_t operand) {
    return put({Micro::Load, 0, operand});
  }
  uint32_t load_bool(uint16_t operand) {
    return put({Micro::LoadBool, 0, operand});
  }
  void store(uint16_t operand, uint32_t value, bool is_mask) {
    insts_.push_back({is_mask ? Micro::StoreMask : Micro::Store, 0, operand, value});
  }
  uint32_t number(float value);
  uint32_t bits(uint32_t value) {
    return constant({value});
  }
  uint32_t constant(std::vector<uint32_t> words);
  uint32_t op(Micro op, uint32_t a, uint32_t b = 0, uint32_t c = 0, uint8_t immediate = 0) {
    return put({op, immediate, 0, a, b, c});
  }
  const std::vector<MicroInst>& insts() const {
    return insts_;
  }

 private:
  uint32_t put(MicroInst inst);

  std::vector<MicroInst> insts_;
};

/// Machine code of a function (char* const* operands, int64_t n) that runs a body for n elements; nothing where it
/// needs more registers than there are. See LoopCode.
std::optional<std::vector<uint8_t>> emit(const std::vector<MicroInst>& body, uint16_t num_operands);

} // namespace torch::fused::cpu
