#include <csrc/compile/cpu/micro_ops.h>

namespace torch::fused::cpu {

namespace {

constexpr LaneOps arithmetic(VectorOp op) {
  return {op, of_doubles(op)};
}
constexpr LaneOps same(VectorOp op) {
  return {op, op};
}

} // namespace

int element_bytes(Micro op, int width) {
  switch (op) {
    case Micro::LoadHalf:
    case Micro::LoadBFloat16:
    case Micro::StoreHalf:
    case Micro::StoreBFloat16:
      return 2;
    case Micro::LoadMask:
    case Micro::StoreMask:
      return 1;
    default:
      return width;
  }
}

LaneOps opcodes_of(Micro op) {
  switch (op) {
    case Micro::Add:
      return arithmetic(kAddFloats);
    case Micro::Sub:
      return arithmetic(kSubFloats);
    case Micro::Mul:
      return arithmetic(kMulFloats);
    case Micro::Div:
      return arithmetic(kDivFloats);
    case Micro::Min:
      return arithmetic(kMinFloats);
    case Micro::Max:
      return arithmetic(kMaxFloats);
    case Micro::Sqrt:
      return arithmetic(kSqrtFloats);
    case Micro::And:
      return same(kAnd);
    case Micro::AndNot:
      return same(kAndNot);
    case Micro::Or:
      return same(kOr);
    case Micro::Xor:
      return same(kXor);
    case Micro::Compare:
      return arithmetic(kCompareFloats);
    case Micro::Blend:
      return {kBlend, kBlendDoubles};
    case Micro::MulAdd:
      return arithmetic(kMulAdd);
    case Micro::NegMulAdd:
      return arithmetic(kNegMulAdd);
    case Micro::MulSub:
      return arithmetic(kMulSub);
    case Micro::AddInts:
      return {kAddInts, kAddLongs};
    case Micro::SubInts:
      return {kSubInts, kSubLongs};
    case Micro::MulInts:
      return same(kMulInts);
    case Micro::MulLow:
      return same(kMulLow);
    case Micro::MinInts:
      return same(kMinInts);
    case Micro::MaxInts:
      return same(kMaxInts);
    case Micro::EqualInts:
      return {kEqualInts, kEqualLongs};
    case Micro::GreaterInts:
      return {kGreaterInts, kGreaterLongs};
    case Micro::FloatsOfInts:
      return same(kFloatsOfInts);
    case Micro::Round:
      return {kRound, kRoundDoubles};
    case Micro::LookUp:
      return same(kPermute);
    case Micro::LookUpPair:
      return same(kPermutePair);
    case Micro::Scale:
      return arithmetic(kScale);
    case Micro::Exponent:
      return arithmetic(kExponent);
    case Micro::Mantissa:
      return {kMantissa, {kMantissa.map, kMantissa.prefix, 1, kMantissa.opcode}};
    default:
      return same(kMove);
  }
}

} // namespace torch::fused::cpu
