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

constexpr int kVectorRegisters = 16, kLanes = 8, kMostUnrolled = 4;
/// Where operands' pointers are kept; rax counts, rsi is the end, rdi is free for a moment.
constexpr std::array<Register, 12> kPointers{rdx, rcx, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15};
constexpr size_t kMostOperands = 12, kFirstSaved = 6;

bool is_store(Micro op) {
  return op == Micro::Store || op == Micro::StoreMask;
}

VectorOp opcode_of(Micro op) {
  switch (op) {
    case Micro::Add:
      return kAddFloats;
    case Micro::Sub:
      return kSubFloats;
    case Micro::Mul:
      return kMulFloats;
    case Micro::Div:
      return kDivFloats;
    case Micro::Min:
      return kMinFloats;
    case Micro::Max:
      return kMaxFloats;
    case Micro::Sqrt:
      return kSqrtFloats;
    case Micro::And:
      return kAnd;
    case Micro::AndNot:
      return kAndNot;
    case Micro::Or:
      return kOr;
    case Micro::Xor:
      return kXor;
    case Micro::Compare:
      return kCompareFloats;
    case Micro::MulAdd:
      return kMulAdd;
    case Micro::NegMulAdd:
      return kNegMulAdd;
    case Micro::MulSub:
      return kMulSub;
    case Micro::AddInts:
      return kAddInts;
    case Micro::SubInts:
      return kSubInts;
    case Micro::Round:
      return kRound;
    case Micro::LookUp:
      return kPermute;
    default:
      return kMove;
  }
}

/// Emits one copy of the body, for `unroll` vectors or for one element.
class BodyEmitter {
 public:
  BodyEmitter(Assembler& code, const std::vector<MicroInst>& body, int unroll, bool is_single)
      : code_(code), body_(body), unroll_(unroll), is_single_(is_single), last_(body.size()), registers_(body.size()) {
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
  Address address(const MicroInst& inst, int copy, uint8_t size) const {
    return {kPointers[inst.operand], rax, size, copy * kLanes * size};
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

  /// The register of a value's copy. Loads and constants get theirs when they are first read.
  int get(uint32_t value, int copy) {
    auto& own = registers_[value];
    if (own.empty()) {
      const MicroInst& inst = body_[value];
      if (inst.op == Micro::Constant) {
        own.push_back(take());
        code_.op_constant(kMove, own[0], 0, code_.constant(inst.words));
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
    if (inst.op == Micro::Load) {
      code_.op(is_single_ ? kLoadOne : kLoadFloats, to, 0, address(inst, copy, 4));
      return;
    }
    if (is_single_) {
      code_.load_byte(rdi, address(inst, copy, 1));
      code_.op(kMoveFromGeneral, to, 0, rdi, /*wide=*/false);
    } else {
      code_.op(kWidenBytes, to, 0, address(inst, copy, 1));
    }
    code_.op(kFloatsOfInts, to, 0, to);
  }

  /// Constants are given back at once: others may be read in between, and they cost one load.
  void release(size_t index) {
    const MicroInst& inst = body_[index];
    const uint32_t sources[] = {inst.a, inst.b, inst.c};
    for (int s = 0; s < num_sources(inst.op); ++s) {
      auto& own = registers_[sources[s]];
      if (last_[sources[s]] == index || is_constant(sources[s])) {
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
    const VectorOp op = opcode_of(inst.op);
    switch (inst.op) {
      case Micro::Sqrt:
        return code_.op(op, to, 0, a);
      case Micro::Round:
        code_.op(op, to, 0, a);
        return code_.byte(inst.immediate);
      case Micro::ShiftLeft:
      case Micro::ShiftRight:
        code_.op(kShiftInts, inst.op == Micro::ShiftLeft ? 6 : 4, to, a);
        return code_.byte(inst.immediate);
      case Micro::LookUp:
        return code_.op(op, to, a, b);
      case Micro::Blend:
        code_.op(kBlend, to, b, a);
        return code_.byte(static_cast<uint8_t>(c << 4));
      case Micro::MulAdd:
      case Micro::NegMulAdd:
        code_.op(kMove, to, 0, c);
        return code_.op(op, to, a, b);
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
    if (inst.op == Micro::Store) {
      return code_.op(is_single_ ? kStoreOne : kStoreFloats, value, 0, address(inst, copy, 4));
    }
    // Masks become words, bytes, and then ones.
    const int low = take(), high = take();
    code_.op(kUpperHalf, value, 0, high);
    code_.byte(1);
    code_.op(kPackInts, low, value, high, /*wide=*/false);
    code_.op(kPackWords, low, low, low, /*wide=*/false);
    code_.op_constant(kAnd, low, low, code_.constant({0x01010101u}));
    if (is_single_) {
      code_.op(kStoreByte, low, 0, address(inst, copy, 1), /*wide=*/false);
      code_.byte(0);
    } else {
      code_.op(kStoreEight, low, 0, address(inst, copy, 1), /*wide=*/false);
    }
    free_.push_back(low);
    free_.push_back(high);
  }

  Assembler& code_;
  const std::vector<MicroInst>& body_;
  int unroll_;
  bool is_single_;
  bool fits_ = true;
  std::vector<bool> is_needed_;
  std::vector<size_t> last_; // by value: the last instruction that reads it
  std::vector<std::vector<int>> registers_; // by value, by copy
  std::vector<int> free_;
};

/// A loop that goes on while there are `step` elements.
bool emit_loop(Assembler& code, const std::vector<MicroInst>& body, int unroll, bool is_single) {
  const int step = is_single ? 1 : unroll * kLanes;
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
    case Micro::LoadBool:
    case Micro::Constant:
      return 0;
    case Micro::Sqrt:
    case Micro::ShiftLeft:
    case Micro::ShiftRight:
    case Micro::Round:
    case Micro::Store:
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

uint32_t MicroBody::number(float value) {
  uint32_t word = 0;
  std::memcpy(&word, &value, sizeof(word));
  return bits(word);
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

std::optional<std::vector<uint8_t>> emit(const std::vector<MicroInst>& body, uint16_t num_operands) {
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
