// Machine code for bodies of loops: registers, unrolling, the ends of runs.
#include <csrc/compile/cpu/micro.h>

#include <csrc/compile/cpu/assembler.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace torch::fused::cpu {

// Note [Emitted loops]
// The body stands in the code for several vectors at a time, whose instructions alternate, so that none waits for the
// one before it; then for one vector; then for what is left: for one element, in vectors of which the other lanes are
// of no account, or with AVX-512 for a vector of which a mask register tells the lanes. So nothing is read or written
// that is no element. Values keep their registers from the instruction that makes them to the last that reads them.
// Nothing is spilled: a body that needs more registers is emitted for fewer vectors at a time, and for none if it needs
// more for one.
//
// Masks are values like others, vectors with all bits of a lane or none. With AVX-512, whose instructions compare into
// mask registers, those that only choose between values stay in these.

namespace {

constexpr int kMostUnrolled = 4;
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

/// Arithmetic has a prefix and a bit for doubles.
constexpr VectorOp of_doubles(VectorOp op) {
  return op.map == 2 ? VectorOp{2, op.prefix, 1, op.opcode} : VectorOp{op.map, 1, 1, op.opcode};
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

/// Whether AVX2 has it.
bool is_of_avx512(Micro op) {
  return op >= Micro::LookUpPair && op <= Micro::Mantissa;
}
bool is_fused(Micro op) {
  return op == Micro::MulAdd || op == Micro::NegMulAdd || op == Micro::MulSub;
}
bool compares_to_mask(Micro op) {
  return op == Micro::Compare || op == Micro::EqualInts || op == Micro::GreaterInts;
}
bool is_commutative(Micro op) {
  return op == Micro::Add || op == Micro::Mul || op == Micro::And || op == Micro::Or || op == Micro::Xor ||
      op == Micro::AddInts;
}

/// What of a loop a copy of the body computes.
enum class Part : uint8_t {
  Vectors, ///< some at a time
  Element, ///< one
  Rest ///< the lanes of one vector that mask register 7 has
};

/// Emits one copy of the body.
class BodyEmitter {
 public:
  BodyEmitter(Assembler& code, const MicroBody& micro, CodeLevel level, int unroll, Part part)
      : code_(code),
        body_(micro.insts()),
        width_(micro.width()),
        is_wide_(level == CodeLevel::Avx512),
        unroll_(unroll),
        part_(part),
        last_(body_.size()),
        registers_(body_.size()),
        masks_(body_.size()) {
    const auto& body = body_;
    // From the last to the first: what a store needs, and who reads it last.
    is_needed_.resize(body.size());
    only_chooses_.assign(body.size(), true);
    for (size_t i = body.size(); i-- > 0;) {
      is_needed_[i] = is_needed_[i] || is_store(body[i].op);
      const uint32_t sources[] = {body[i].a, body[i].b, body[i].c};
      for (int s = 0; is_needed_[i] && s < num_sources(body[i].op); ++s) {
        last_[sources[s]] = is_needed_[sources[s]] ? last_[sources[s]] : i;
        is_needed_[sources[s]] = true;
        only_chooses_[sources[s]] = only_chooses_[sources[s]] && body[i].op == Micro::Blend && s == 2;
      }
    }
    const int count = is_wide_ ? 32 : 16;
    for (int r = count; r-- > 0;) {
      free_.push_back(r);
    }
    for (int k = kRestMask; k-- > 1;) {
      free_masks_.push_back(k);
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
  static constexpr int kRestMask = 7;

  bool is_single() const {
    return part_ == Part::Element;
  }
  int lanes() const {
    return (is_wide_ ? 64 : 32) / width_;
  }
  Address address(const MicroInst& inst, int copy) const {
    const int size = element_bytes(inst.op, width_);
    return {kPointers[inst.operand], rax, static_cast<uint8_t>(size), copy * lanes() * size};
  }
  /// A move of a vector: masks count lanes.
  VectorOp whole(VectorOp move) const {
    return is_wide_ && width_ == 8 ? of_doubles(move) : move;
  }
  Masking loaded() const {
    return part_ == Part::Rest ? Masking{kRestMask, true} : Masking{};
  }
  Masking stored() const {
    return part_ == Part::Rest ? Masking{kRestMask, false} : Masking{};
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
  /// Whether an instruction may read a constant from memory: a register for all copies is better, if there are some.
  bool is_read_from_memory(uint32_t value) const {
    return is_constant(value) && registers_[value].empty() &&
        (!is_wide_ || unroll_ == 1 || free_.size() < static_cast<size_t>(2 * unroll_ + 2));
  }
  /// Whether an instruction may write over what it reads here.
  bool ends_at(uint32_t value, size_t index) const {
    return last_[value] == index && !is_same_in_all(value);
  }

  /// The register of a value's copy. Loads and constants get theirs when they are first read.
  int get(uint32_t value, int copy) {
    auto& own = registers_[value];
    if (own.empty()) {
      const MicroInst& inst = body_[value];
      if (inst.op == Micro::Constant) {
        own.push_back(take());
        load_constant(own[0], inst);
      } else if (inst.op == Micro::LoadFirst) {
        own.push_back(take());
        const VectorOp doubles = is_wide_ ? kWideBroadcastDouble : kBroadcastDouble;
        code_.op(width_ == 4 ? kBroadcastFloat : doubles, own[0], 0, Address{kPointers[inst.operand], rsp, 1});
      } else {
        for (int u = 0; u < unroll_; ++u) {
          own.push_back(take());
          load(inst, own[u], u);
        }
      }
    }
    return own[std::min<size_t>(copy, own.size() - 1)];
  }

  void load_constant(int to, const MicroInst& inst) {
    code_.op_constant(kMove, to, 0, code_.constant(inst.words));
  }

  void load(const MicroInst& inst, int to, int copy) {
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

  /// Elements that are narrower than a lane, each into a lane of its own; one as it is.
  void load_small(int to, Address from, VectorOp widen) {
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

  void shift(Micro op, int to, int a, uint8_t by) {
    const int kind = op == Micro::ShiftLeft ? 6 : op == Micro::ShiftRight ? 4 : 2;
    code_.op(width_ == 4 ? kShiftInts : op == Micro::ShiftRight ? kShiftLongsSigned : kShiftLongs, kind, to, a);
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
        auto& masks = masks_[sources[s]];
        free_masks_.insert(free_masks_.end(), masks.begin(), masks.end());
        masks.clear();
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
      return release(index);
    }
    if (is_fused(inst.op)) {
      emit_fused(index);
    } else if (is_wide_ && inst.op == Micro::Blend) {
      emit_choice(index);
    } else if (is_wide_ && inst.op == Micro::LookUpPair) {
      emit_look_up(index);
    } else if (is_wide_ && compares_to_mask(inst.op)) {
      emit_comparison(index);
    } else {
      emit_plain(index);
    }
  }

  void emit_plain(size_t index) {
    const MicroInst& inst = body_[index];
    const int count = num_sources(inst.op);
    const bool swaps = count == 2 && is_commutative(inst.op) && is_constant(inst.a) && !is_constant(inst.b);
    const uint32_t first = swaps ? inst.b : inst.a, second = swaps ? inst.a : inst.b;
    const bool reads_memory = count == 2 && is_read_from_memory(second);
    std::vector<int> a, b, c;
    for (int u = 0; u < unroll_; ++u) {
      a.push_back(get(first, u));
      b.push_back(count >= 2 && !reads_memory ? get(second, u) : 0);
      c.push_back(count >= 3 ? get(inst.c, u) : 0);
    }
    release(index); // of what is read last the result takes the place
    std::vector<int> to;
    for (int u = 0; u < unroll_; ++u) {
      to.push_back(take_for(a, b, c, u));
    }
    for (int u = 0; u < unroll_; ++u) {
      compute(inst, to[u], a[u], b[u], c[u], reads_memory ? &body_[second] : nullptr);
    }
    registers_[index] = to;
  }

  /// Registers for a result of an instruction that writes over one of its sources: those of `over`, or copies.
  std::vector<int> take_over(uint32_t over, size_t index) {
    if (ends_at(over, index)) {
      get(over, 0);
      return std::exchange(registers_[over], {});
    }
    std::vector<int> to;
    for (int u = 0; u < unroll_; ++u) {
      to.push_back(take());
      if (is_constant(over) && registers_[over].empty()) {
        load_constant(to[u], body_[over]);
      } else {
        code_.op(kMove, to[u], 0, get(over, u));
      }
    }
    return to;
  }

  /// a * b + c, in the place of c, or of a factor that is not needed any more.
  void emit_fused(size_t index) {
    const MicroInst& inst = body_[index];
    const LaneOps ops = opcodes_of(inst.op);
    VectorOp op = width_ == 4 ? ops.narrow : ops.wide;
    uint32_t over = inst.c, factor = inst.a, other = inst.b;
    if (!ends_at(inst.c, index) && (ends_at(inst.a, index) || ends_at(inst.b, index))) {
      constexpr uint8_t kFactorForm = 0x10;
      op.opcode = static_cast<uint8_t>(op.opcode - kFactorForm);
      const bool is_first = ends_at(inst.a, index);
      over = is_first ? inst.a : inst.b;
      factor = is_first ? inst.b : inst.a;
      other = inst.c;
    }
    // What it reads beside has to be in registers before those of `over` change hands.
    std::vector<int> a, b;
    const bool reads_memory = is_read_from_memory(other);
    for (int u = 0; u < unroll_; ++u) {
      a.push_back(get(factor, u));
      b.push_back(reads_memory ? 0 : get(other, u));
    }
    const std::vector<int> to = take_over(over, index);
    for (int u = 0; u < unroll_; ++u) {
      if (reads_memory) {
        code_.op_constant(op, to[u], a[u], code_.constant(body_[other].words));
      } else {
        code_.op(op, to[u], a[u], b[u]);
      }
    }
    release(index);
    registers_[index] = to;
  }

  /// Of AVX-512: by a mask register, or over a mask that is a vector.
  void emit_choice(size_t index) {
    const MicroInst& inst = body_[index];
    std::vector<int> a, b;
    for (int u = 0; u < unroll_; ++u) {
      a.push_back(get(inst.a, u));
      b.push_back(get(inst.b, u));
    }
    if (!masks_[inst.c].empty()) {
      const std::vector<int> masks = masks_[inst.c];
      release(index);
      std::vector<int> to;
      for (int u = 0; u < unroll_; ++u) {
        to.push_back(take_for(a, b, a, u));
      }
      for (int u = 0; u < unroll_; ++u) {
        const auto mask = static_cast<uint8_t>(masks[u]);
        const VectorOp op{
            kBlendByMask.map, kBlendByMask.prefix, static_cast<uint8_t>(width_ == 8), kBlendByMask.opcode};
        code_.op(op, to[u], b[u], a[u], true, {mask, false});
      }
      registers_[index] = to;
      return;
    }
    const std::vector<int> to = take_over(inst.c, index);
    constexpr uint8_t kFirstWhereSet = 0xCA;
    for (int u = 0; u < unroll_; ++u) {
      code_.op(kSelect, to[u], a[u], b[u]);
      code_.byte(kFirstWhereSet);
    }
    release(index);
    registers_[index] = to;
  }

  /// Of AVX-512: over the indices.
  void emit_look_up(size_t index) {
    const MicroInst& inst = body_[index];
    std::vector<int> low, high;
    for (int u = 0; u < unroll_; ++u) {
      low.push_back(get(inst.b, u));
      high.push_back(get(inst.c, u));
    }
    const std::vector<int> to = take_over(inst.a, index);
    for (int u = 0; u < unroll_; ++u) {
      code_.op(kPermutePair, to[u], low[u], high[u]);
    }
    release(index);
    registers_[index] = to;
  }

  /// Of AVX-512: into a mask register, and from there into a vector where others than choices take it.
  void emit_comparison(size_t index) {
    const MicroInst& inst = body_[index];
    const LaneOps ops = opcodes_of(inst.op);
    const VectorOp op = width_ == 4 ? ops.narrow : ops.wide;
    const bool reads_memory = is_read_from_memory(inst.b);
    std::vector<int> a, b;
    for (int u = 0; u < unroll_; ++u) {
      a.push_back(get(inst.a, u));
      b.push_back(reads_memory ? 0 : get(inst.b, u));
    }
    const auto compare = [&](int mask, int u) {
      const bool has_predicate = inst.op == Micro::Compare;
      if (reads_memory) {
        return code_.op_constant(
            op, mask, a[u], code_.constant(body_[inst.b].words), has_predicate ? inst.immediate : -1);
      }
      code_.op(op, mask, a[u], b[u]);
      if (has_predicate) {
        code_.byte(inst.immediate);
      }
    };
    const auto count = static_cast<size_t>(unroll_);
    if (only_chooses_[index] && free_masks_.size() > count) {
      for (int u = 0; u < unroll_; ++u) {
        masks_[index].push_back(free_masks_.back());
        free_masks_.pop_back();
        compare(masks_[index].back(), u);
      }
      return release(index);
    }
    if (free_masks_.empty()) {
      fits_ = false;
      return;
    }
    std::vector<int> to;
    for (int u = 0; u < unroll_; ++u) {
      // By turns, so that none waits for the one before it.
      const int mask = free_masks_[static_cast<size_t>(u) % free_masks_.size()];
      compare(mask, u);
      to.push_back(take());
      const VectorOp expand{
          kVectorOfMask.map, kVectorOfMask.prefix, static_cast<uint8_t>(width_ == 8), kVectorOfMask.opcode};
      code_.op(expand, to[u], 0, mask);
    }
    release(index);
    registers_[index] = to;
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

  /// `memory`: the constant that is the second source, which is in no register.
  void compute(const MicroInst& inst, int to, int a, int b, int c, const MicroInst* memory) {
    const LaneOps ops = opcodes_of(inst.op);
    const VectorOp op = width_ == 4 ? ops.narrow : ops.wide;
    switch (inst.op) {
      case Micro::Sqrt:
      case Micro::FloatsOfInts:
      case Micro::Exponent:
        return code_.op(op, to, 0, a);
      case Micro::Round:
      case Micro::Mantissa:
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
      default:
        break;
    }
    const bool compares = inst.op == Micro::Compare;
    if (memory != nullptr) {
      return code_.op_constant(op, to, a, code_.constant(memory->words), compares ? inst.immediate : -1);
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
        return code_.op(
            !is_single()      ? whole(kStoreVector)
                : width_ == 4 ? kStoreFloat
                              : kStoreDouble,
            value, 0, to, true, stored());
    }
  }

  void store_half(int value, Address to) {
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

  void store_bfloat16(int value, Address to) {
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

  /// Masks become ones and then bytes, or words, bytes, and then ones.
  void store_mask(int value, Address to) {
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

  Assembler& code_;
  const std::vector<MicroInst>& body_;
  const int width_; // bytes of a lane
  const bool is_wide_; // AVX-512
  int unroll_;
  Part part_;
  bool fits_ = true;
  std::vector<bool> is_needed_, only_chooses_;
  std::vector<size_t> last_; // by value: the last instruction that reads it
  std::vector<std::vector<int>> registers_, masks_; // by value, by copy
  std::vector<int> free_, free_masks_;
};

/// A loop that goes on while there are `step` elements.
bool emit_loop(Assembler& code, const MicroBody& body, CodeLevel level, int unroll, Part part) {
  const int vector_bytes = level == CodeLevel::Avx512 ? 64 : 32;
  const int step = part == Part::Element ? 1 : unroll * (vector_bytes / body.width());
  const size_t again = code.label(), done = code.label();
  code.set(again);
  code.add_to(rdi, rax, step);
  code.compare(rdi, rsi);
  code.jump(Assembler::Jump::IfAbove, done);
  if (!BodyEmitter(code, body, level, unroll, part).run()) {
    return false;
  }
  code.add(rax, step);
  code.jump(Assembler::Jump::Always, again);
  code.set(done);
  return true;
}

/// What is left: less than a vector.
bool emit_rest(Assembler& code, const MicroBody& body, CodeLevel level) {
  if (level == CodeLevel::Avx2) {
    return emit_loop(code, body, level, 1, Part::Element);
  }
  const size_t done = code.label();
  code.mask_rest(rsi, rax, rdi, done);
  if (!BodyEmitter(code, body, level, 1, Part::Rest).run()) {
    return false;
  }
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

std::optional<std::vector<uint8_t>> emit(const MicroBody& body, uint16_t num_operands, CodeLevel level) {
  const auto& insts = body.insts();
  const bool is_wide = level == CodeLevel::Avx512;
  if (num_operands > kMostOperands || (!is_wide && std::any_of(insts.begin(), insts.end(), [](const MicroInst& inst) {
        return is_of_avx512(inst.op);
      }))) {
    return std::nullopt;
  }
  for (int unroll = kMostUnrolled; unroll >= 1; unroll /= 2) {
    Assembler code(is_wide);
    for (size_t k = kFirstSaved; k < num_operands; ++k) {
      code.push(kPointers[k]);
    }
    for (size_t k = 0; k < num_operands; ++k) {
      code.load_pointer(kPointers[k], rdi, static_cast<int32_t>(k * sizeof(void*)));
    }
    code.clear(rax);
    if (!emit_loop(code, body, level, unroll, Part::Vectors) ||
        (unroll > 1 && !emit_loop(code, body, level, 1, Part::Vectors)) || !emit_rest(code, body, level)) {
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
