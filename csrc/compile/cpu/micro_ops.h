// What the instructions of a body are in the processor's encoding.
#pragma once

#include <csrc/compile/cpu/assembler.h>
#include <csrc/compile/cpu/micro.h>

namespace torch::fused::cpu {

/// The instruction for lanes of 4 bytes, and for those of 8.
struct LaneOps {
  VectorOp narrow, wide;
};

/// Arithmetic has a prefix and a bit for doubles.
constexpr VectorOp of_doubles(VectorOp op) {
  return op.map == 2 ? VectorOp{2, op.prefix, 1, op.opcode} : VectorOp{op.map, 1, 1, op.opcode};
}

/// Moves between registers where an instruction is several.
LaneOps opcodes_of(Micro op);

/// Bytes of an element of an operand.
int element_bytes(Micro op, int width);

inline bool is_store(Micro op) {
  return op >= Micro::Store;
}
/// Whether AVX2 lacks it.
inline bool is_of_avx512(Micro op) {
  return op >= Micro::LookUpPair && op <= Micro::Mantissa;
}
inline bool is_fused(Micro op) {
  return op == Micro::MulAdd || op == Micro::NegMulAdd || op == Micro::MulSub;
}
inline bool compares_to_mask(Micro op) {
  return op == Micro::Compare || op == Micro::EqualInts || op == Micro::GreaterInts;
}
inline bool is_commutative(Micro op) {
  return op == Micro::Add || op == Micro::Mul || op == Micro::And || op == Micro::Or || op == Micro::Xor ||
      op == Micro::AddInts;
}

} // namespace torch::fused::cpu
