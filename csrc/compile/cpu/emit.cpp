// Machine code for bodies of loops: registers, unrolling, the ends of runs.
#include <csrc/compile/cpu/micro.h>

#include <csrc/compile/cpu/assembler.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace torch::fused::cpu {

// Note [Emitted loops]
// The body stands in the code for several vectors at a time, whose instructions alternate, so that none waits for the
// one before it; then for one vector; then for one element, in vectors of which the other lanes are of no account. So
// nothing is read or written that is no element. Values keep their registers from the instruction that makes them to
// the last that reads them. Nothing is spilled: a body that needs more registers is emitted for fewer vectors at a
// time, and for none if it needs more for one.

namespace {

constexpr int kVectorRegisters = 16, kVectorBytes = 32, kMostUnrolled = 4;
/// Where operands' pointers are kept; rax counts, rsi is the end, rdi is free for a moment.
constexpr std::array<Register, 12> kPointers{rdx, rcx, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15};
constexpr size_t kMostOperands = 12, kFirstSaved = 6;

bool is_store(Micro op) {
  return op >= Micro::Store;
}

/// Bytes of an element of an operand.
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

/// The instruction for lanes of 4 bytes, and for those of 8.
struct LaneOps {
  VectorOp narrow, wide;
};

/// Arithmetic has a prefix for doubles, or a bit.
constexpr VectorOp of_doubles(VectorOp op) {
  return op.map == 2 ? VectorOp{2, op.prefix, 1, op.opcode} : VectorOp{op.map, 1, op.w, op.opcode};
}
constexpr LaneOps arithmetic(VectorOp op) {
  return {op, of_doubles(op)};
}
constexpr LaneOps same(VectorOp op) {
  return {op, op};
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
    default:
      return same(kMove);
  }
}

/// Emits one copy of the body, for `unroll` vectors or for one element.
class BodyEmitter {
 public:
  BodyEmitter(Assembler& code, const MicroBody& micro, int unroll, bool is_single)
      : code_(code),
        body_(micro.insts()),
        width_(micro.width()),
        unroll_(unroll),
        is_single_(is_single),
        last_(body_.size()),
        registers_(body_.size()) {
    const auto& body = body_;
    // From the last to the first: what a store needs, and who reads it last.
    is_needed_.resize(body.size());
    for (size_t i = body.size(); i-- > 0;) {
      is_needed_[i] = is_needed_[i] || is_store(body[i].op);
      const uint32_t sources[] = {body[i].a, body[i].b, body[i].c};
      for (int s = 0; is_needed_[i] && s < num_sources(body[i].op); ++s) {
        last_[sources[s]] = is_needed_[sources[s]] ? last_[sources[s]] : i;
        is_needed_[sources[s]] = true;
      }
    }
    free_.resize(kVectorRegisters);
    for (int r = 0; r < kVectorRegisters; ++r) {
      free_[r] = kVectorRegisters - 1 - r;
    }
  }

  /// False where registers did not suffice; the code is of no use then.
  bool run() {
    for (size_t i = 0; i < body_.size() && fits_; ++i) {
      emit(i);
    }
    return fits_;
  }

 private:
  Address address(const MicroInst& inst, int copy) const {
    const int size = element_bytes(inst.op, width_), lanes = kVectorBytes / width_;
    return {kPointers[inst.operand], rax, static_cast<uint8_t>(size), copy * lanes * size};
  }

  int take() {
    if (free_.empty()) {
      fits_ = false;
      return 0;
    }
    const int reg = free_.back();
    free_.pop_back();
    return reg;
  }

  bool is_constant(uint32_t value) const {
    return body_[value].op == Micro::Constant;
  }
  /// What all copies and turns have in common.
  bool is_same_in_all(uint32_t value) const {
    return is_constant(value) || body_[value].op == Micro::LoadFirst;
  }

  /// The register of a value's copy. Loads and constants get theirs when they are first read.
  int get(uint32_t value, int copy) {
    auto& own = registers_[value];
    if (own.empty()) {
      const MicroInst& inst = body_[value];
      if (inst.op == Micro::Constant) {
        own.push_back(take());
        code_.op_constant(kMove, own[0], 0, code_.constant(inst.words));
      } else if (inst.op == Micro::LoadFirst) {
        own.push_back(take());
        code_.op(width_ == 4 ? kBroadcastFloat : kBroadcastDouble, own[0], 0, Address{kPointers[inst.operand], rsp, 1});
      } else {
        for (int u = 0; u < unroll_; ++u) {
          own.push_back(take());
          load(inst, own[u], u);
        }
      }
    }
    return own[std::min<size_t>(copy, own.size() - 1)];
  }

  void load(const MicroInst& inst, int to, int copy) {
    const Address from = address(inst, copy);
    switch (inst.op) {
      case Micro::LoadHalf:
        load_small(to, from, kHalfToFloat);
        if (is_single_) {
          code_.op(kHalfToFloat, to, 0, to);
        }
        return;
      case Micro::LoadBFloat16:
        load_small(to, from, kWordsToInts);
        return shift(Micro::ShiftLeft, to, to, 16);
      case Micro::LoadMask:
        load_small(to, from, width_ == 4 ? kBytesToInts : kBytesToLongs);
        if (width_ == 4) {
          shift(Micro::ShiftLeft, to, to, 31);
          return shift(Micro::ShiftRight, to, to, 31);
        }
        // There is no shift of longs with their sign: it is one of their upper halves, which are copied to the lower.
        shift(Micro::ShiftLeft, to, to, 63);
        code_.op(kShuffleInts, to, 0, to);
        code_.byte(0xF5);
        code_.op(kShiftInts, 4, to, to);
        return code_.byte(31);
      default:
        return code_.op(!is_single_ ? kLoadVector : width_ == 4 ? kLoadFloat : kLoadDouble, to, 0, from);
    }
  }

  /// Elements that are narrower than a lane, each into a lane of its own; one as it is.
  void load_small(int to, Address from, VectorOp widen) {
    if (!is_single_) {
      return code_.op(widen, to, 0, from);
    }
    if (from.scale == 1) {
      code_.load_byte(rdi, from);
    } else {
      code_.load_word(rdi, from);
    }
    code_.op(kMoveFromGeneral, to, 0, rdi, /*wide=*/false);
  }

  void shift(Micro op, int to, int a, uint8_t by) {
    const int kind = op == Micro::ShiftLeft ? 6 : op == Micro::ShiftRight ? 4 : 2;
    code_.op(width_ == 4 ? kShiftInts : kShiftLongs, kind, to, a);
    code_.byte(by);
  }

  /// Constants are given back at once: others may be read in between, and they cost one load.
  void release(size_t index) {
    const MicroInst& inst = body_[index];
    const uint32_t sources[] = {inst.a, inst.b, inst.c};
    for (int s = 0; s < num_sources(inst.op); ++s) {
      auto& own = registers_[sources[s]];
      if (last_[sources[s]] == index || is_same_in_all(sources[s])) {
        free_.insert(free_.end(), own.begin(), own.end());
        own.clear();
      }
    }
  }

  void emit(size_t index) {
    const MicroInst& inst = body_[index];
    if (!is_needed_[index] || num_sources(inst.op) == 0) {
      return;
    }
    if (is_store(inst.op)) {
      for (int u = 0; u < unroll_; ++u) {
        store(inst, u);
      }
      release(index);
      return;
    }
    const bool reads_memory = num_sources(inst.op) == 2 && is_constant(inst.b) && registers_[inst.b].empty();
    std::vector<int> a, b, c, to;
    for (int u = 0; u < unroll_; ++u) {
      a.push_back(get(inst.a, u));
      b.push_back(num_sources(inst.op) >= 2 && !reads_memory ? get(inst.b, u) : 0);
      c.push_back(num_sources(inst.op) >= 3 ? get(inst.c, u) : 0);
    }
    const bool is_fused = inst.op == Micro::MulAdd || inst.op == Micro::NegMulAdd || inst.op == Micro::MulSub;
    if (!is_fused) {
      release(index); // of what is read last the result takes the place
    }
    for (int u = 0; u < unroll_; ++u) {
      to.push_back(take_for(a, b, c, u));
    }
    for (int u = 0; u < unroll_; ++u) {
      compute(inst, to[u], a[u], b[u], c[u], reads_memory);
    }
    registers_[index] = to;
    if (is_fused) {
      release(index);
    }
  }

  /// A register for copy u of a result. It may be one of those that this copy reads, not one that later copies read.
  int take_for(const std::vector<int>& a, const std::vector<int>& b, const std::vector<int>& c, int u) {
    const auto is_read_later = [&](int reg) {
      for (int later = u + 1; later < unroll_; ++later) {
        if (a[later] == reg || b[later] == reg || c[later] == reg) {
          return true;
        }
      }
      return false;
    };
    for (size_t i = free_.size(); i-- > 0;) {
      if (!is_read_later(free_[i])) {
        const int reg = free_[i];
        free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
        return reg;
      }
    }
    fits_ = false;
    return 0;
  }

  void compute(const MicroInst& inst, int to, int a, int b, int c, bool reads_memory) {
    const LaneOps ops = opcodes_of(inst.op);
    const VectorOp op = width_ == 4 ? ops.narrow : ops.wide;
    switch (inst.op) {
      case Micro::Sqrt:
      case Micro::FloatsOfInts:
        return code_.op(op, to, 0, a);
      case Micro::Round:
        code_.op(op, to, 0, a);
        return code_.byte(inst.immediate);
      case Micro::RoundToHalf:
        code_.op(kFloatToHalf, a, 0, to);
        code_.byte(0);
        return code_.op(kHalfToFloat, to, 0, to);
      case Micro::ShiftLeft:
      case Micro::ShiftRight:
      case Micro::ShiftRightZeros:
        return shift(inst.op, to, a, inst.immediate);
      case Micro::Blend:
        code_.op(op, to, b, a);
        return code_.byte(static_cast<uint8_t>(c << 4));
      case Micro::MulAdd:
      case Micro::NegMulAdd:
      case Micro::MulSub:
        code_.op(kMove, to, 0, c);
        return code_.op(op, to, a, b);
      default:
        break;
    }
    const bool compares = inst.op == Micro::Compare;
    if (reads_memory) {
      return code_.op_constant(op, to, a, code_.constant(body_[inst.b].words), compares ? inst.immediate : -1);
    }
    code_.op(op, to, a, b);
    if (compares) {
      code_.byte(inst.immediate);
    }
  }

  void store(const MicroInst& inst, int copy) {
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
        return code_.op(!is_single_ ? kStoreVector : width_ == 4 ? kStoreFloat : kStoreDouble, value, 0, to);
    }
  }

  void store_half(int value, Address to) {
    if (!is_single_) {
      code_.op(kFloatToHalf, value, 0, to);
      return code_.byte(0);
    }
    const int half = take();
    code_.op(kFloatToHalf, value, 0, half);
    code_.byte(0);
    code_.op(kStoreWord, half, 0, to, /*wide=*/false);
    code_.byte(0);
    free_.push_back(half);
  }

  void store_bfloat16(int value, Address to) {
    const int low = take(), high = take();
    shift(Micro::ShiftRightZeros, low, value, 16);
    if (is_single_) {
      code_.op(kStoreWord, low, 0, to, /*wide=*/false);
      code_.byte(0);
    } else {
      code_.op(kUpperHalf, low, 0, high);
      code_.byte(1);
      code_.op(kPackIntsUnsigned, low, low, high, /*wide=*/false);
      code_.op(kStoreVector, low, 0, to, /*wide=*/false);
    }
    free_.push_back(low);
    free_.push_back(high);
  }

  /// Masks become words, bytes, and then ones.
  void store_mask(int value, Address to) {
    const int low = take(), high = take();
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
    if (is_single_) {
      code_.op(kStoreByte, low, 0, to, /*wide=*/false);
      code_.byte(0);
    } else {
      code_.op(width_ == 4 ? kStoreEight : kStoreFour, low, 0, to, /*wide=*/false);
    }
    free_.push_back(low);
    free_.push_back(high);
  }

  Assembler& code_;
  const std::vector<MicroInst>& body_;
  const int width_; // bytes of a lane
  int unroll_;
  bool is_single_;
  bool fits_ = true;
  std::vector<bool> is_needed_;
  std::vector<size_t> last_; // by value: the last instruction that reads it
  std::vector<std::vector<int>> registers_; // by value, by copy
  std::vector<int> free_;
};

/// A loop that goes on while there are `step` elements.
bool emit_loop(Assembler& code, const MicroBody& body, int unroll, bool is_single) {
  const int step = is_single ? 1 : unroll * (kVectorBytes / body.width());
  const size_t again = code.label(), done = code.label();
  code.set(again);
  code.add_to(rdi, rax, step);
  code.compare(rdi, rsi);
  code.jump(Assembler::Jump::IfAbove, done);
  if (!BodyEmitter(code, body, unroll, is_single).run()) {
    return false;
  }
  code.add(rax, step);
  code.jump(Assembler::Jump::Always, again);
  code.set(done);
  return true;
}

} // namespace

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
    case Micro::Store:
    case Micro::StoreHalf:
    case Micro::StoreBFloat16:
    case Micro::StoreMask:
      return 1;
    case Micro::Blend:
    case Micro::MulAdd:
    case Micro::NegMulAdd:
    case Micro::MulSub:
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

std::optional<std::vector<uint8_t>> emit(const MicroBody& body, uint16_t num_operands) {
  if (num_operands > kMostOperands) {
    return std::nullopt;
  }
  for (int unroll = kMostUnrolled; unroll >= 1; unroll /= 2) {
    Assembler code;
    for (size_t k = kFirstSaved; k < num_operands; ++k) {
      code.push(kPointers[k]);
    }
    for (size_t k = 0; k < num_operands; ++k) {
      code.load_pointer(kPointers[k], rdi, static_cast<int32_t>(k * sizeof(void*)));
    }
    code.clear(rax);
    if (!emit_loop(code, body, unroll, false) || (unroll > 1 && !emit_loop(code, body, 1, false)) ||
        !emit_loop(code, body, 1, true)) {
      continue;
    }
    code.clear_upper();
    for (size_t k = num_operands; k-- > kFirstSaved;) {
      code.pop(kPointers[k]);
    }
    code.end();
    return code.finish();
  }
  return std::nullopt;
}

} // namespace torch::fused::cpu
