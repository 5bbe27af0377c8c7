#include <csrc/compile/cpu/micro.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace torch::fused::cpu {

int num_sources(Micro op) {
  switch (op) {
    case Micro::Load:
    case Micro::LoadHalf:
    case Micro::LoadBFloat16:
    case Micro::LoadMask:
    case Micro::LoadFirst:
    case Micro::Constant:
      return 0;
    case Micro::Sqrt:
    case Micro::ShiftLeft:
    case Micro::ShiftRight:
    case Micro::ShiftRightZeros:
    case Micro::FloatsOfInts:
    case Micro::Round:
    case Micro::RoundToHalf:
    case Micro::Exponent:
    case Micro::Mantissa:
    case Micro::Store:
    case Micro::StoreHalf:
    case Micro::StoreBFloat16:
    case Micro::StoreMask:
      return 1;
    case Micro::Blend:
    case Micro::MulAdd:
    case Micro::NegMulAdd:
    case Micro::MulSub:
    case Micro::LookUpPair:
      return 3;
    default:
      return 2;
  }
}

uint32_t MicroBody::number(double value) {
  if (width_ == 4) {
    const auto narrow = static_cast<float>(value);
    uint32_t word = 0;
    std::memcpy(&word, &narrow, sizeof(word));
    return constant({word});
  }
  std::vector<uint32_t> words(2);
  std::memcpy(words.data(), &value, sizeof(value));
  return constant(std::move(words));
}

uint32_t MicroBody::integer(int64_t value) {
  const auto low = static_cast<uint32_t>(value);
  return width_ == 4 ? constant({low}) : constant({low, static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32)});
}

uint32_t MicroBody::sign_bit() {
  return width_ == 4 ? constant({0x80000000u}) : constant({0, 0x80000000u});
}

uint32_t MicroBody::constant(std::vector<uint32_t> words) {
  MicroInst inst{Micro::Constant};
  inst.words = std::move(words);
  return put(std::move(inst));
}

/// Equal instructions give one value.
uint32_t MicroBody::put(MicroInst inst) {
  const auto found = std::find(insts_.begin(), insts_.end(), inst);
  if (found != insts_.end()) {
    return static_cast<uint32_t>(found - insts_.begin());
  }
  insts_.push_back(std::move(inst));
  return static_cast<uint32_t>(insts_.size() - 1);
}

} // namespace torch::fused::cpu
