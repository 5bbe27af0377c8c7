// Loads and stores of a body: elements that are narrower than a lane, single ones, and masks.
#include <csrc/compile/cpu/body_emitter.h>

namespace torch::fused::cpu {

void BodyEmitter::load_constant(int to, const MicroInst& inst) {
  code_.op_constant(kMove, to, 0, code_.constant(inst.words));
}

void BodyEmitter::load(const MicroInst& inst, int to, int copy) {
  const Address from = address(inst, copy);
  switch (inst.op) {
    case Micro::LoadHalf:
      load_small(to, from, kHalfToFloat);
      if (is_single()) {
        code_.op(kHalfToFloat, to, 0, to);
      }
      return;
    case Micro::LoadBFloat16:
      load_small(to, from, kWordsToInts);
      return shift(Micro::ShiftLeft, to, to, 16);
    case Micro::LoadMask:
      load_small(to, from, width_ == 4 ? kBytesToInts : kBytesToLongs);
      if (width_ == 4 || is_wide_) {
        const auto to_sign = static_cast<uint8_t>(8 * width_ - 1);
        shift(Micro::ShiftLeft, to, to, to_sign);
        return shift(Micro::ShiftRight, to, to, to_sign);
      }
      // AVX2 has no shift of longs with their sign: it is one of their upper halves, which are copied to the lower.
      shift(Micro::ShiftLeft, to, to, 63);
      code_.op(kShuffleInts, to, 0, to);
      code_.byte(0xF5);
      code_.op(kShiftInts, 4, to, to);
      return code_.byte(31);
    default:
      return code_.op(
          !is_single()      ? whole(kLoadVector)
              : width_ == 4 ? kLoadFloat
                            : kLoadDouble,
          to, 0, from, true, loaded());
  }
}

void BodyEmitter::load_small(int to, Address from, VectorOp widen) {
  if (!is_single()) {
    return code_.op(widen, to, 0, from, true, loaded());
  }
  if (from.scale == 1) {
    code_.load_byte(rdi, from);
  } else {
    code_.load_word(rdi, from);
  }
  code_.op(kMoveFromGeneral, to, 0, rdi, /*wide=*/false);
}

void BodyEmitter::store(const MicroInst& inst, int copy) {
  const int value = get(inst.a, copy);
  const Address to = address(inst, copy);
  switch (inst.op) {
    case Micro::StoreHalf:
      return store_half(value, to);
    case Micro::StoreBFloat16:
      return store_bfloat16(value, to);
    case Micro::StoreMask:
      return store_mask(value, to);
    default:
      return code_.op(
          !is_single()      ? whole(kStoreVector)
              : width_ == 4 ? kStoreFloat
                            : kStoreDouble,
          value, 0, to, true, stored());
  }
}

void BodyEmitter::store_half(int value, Address to) {
  if (!is_single()) {
    code_.op(kFloatToHalf, value, 0, to, true, stored());
    return code_.byte(0);
  }
  const int half = take();
  code_.op(kFloatToHalf, value, 0, half);
  code_.byte(0);
  code_.op(kStoreWord, half, 0, to, /*wide=*/false);
  code_.byte(0);
  free_.push_back(half);
}

void BodyEmitter::store_bfloat16(int value, Address to) {
  const int low = take();
  shift(Micro::ShiftRightZeros, low, value, 16);
  if (is_wide_) {
    code_.op(kIntsToWords, low, 0, to, true, stored());
  } else if (is_single()) {
    code_.op(kStoreWord, low, 0, to, /*wide=*/false);
    code_.byte(0);
  } else {
    const int high = take();
    code_.op(kUpperHalf, low, 0, high);
    code_.byte(1);
    code_.op(kPackIntsUnsigned, low, low, high, /*wide=*/false);
    code_.op(kStoreVector, low, 0, to, /*wide=*/false);
    free_.push_back(high);
  }
  free_.push_back(low);
}

void BodyEmitter::store_mask(int value, Address to) {
  const int low = take();
  if (is_wide_) {
    code_.op_constant(
        kAnd, low, value, code_.constant(width_ == 4 ? std::vector<uint32_t>{1} : std::vector<uint32_t>{1, 0}));
    code_.op(width_ == 4 ? kIntsToBytes : kLongsToBytes, low, 0, to, true, stored());
    free_.push_back(low);
    return;
  }
  const int high = take();
  code_.op(kUpperHalf, value, 0, high);
  code_.byte(1);
  if (width_ == 8) {
    code_.op(kShuffleFloats, low, value, high, /*wide=*/false); // one word of each lane
    code_.byte(0x88);
    code_.op(kPackInts, low, low, low, /*wide=*/false);
  } else {
    code_.op(kPackInts, low, value, high, /*wide=*/false);
  }
  code_.op(kPackWords, low, low, low, /*wide=*/false);
  code_.op_constant(kAnd, low, low, code_.constant({0x01010101u}));
  if (is_single()) {
    code_.op(kStoreByte, low, 0, to, /*wide=*/false);
    code_.byte(0);
  } else {
    code_.op(width_ == 4 ? kStoreEight : kStoreFour, low, 0, to, /*wide=*/false);
  }
  free_.push_back(low);
  free_.push_back(high);
}

} // namespace torch::fused::cpu
