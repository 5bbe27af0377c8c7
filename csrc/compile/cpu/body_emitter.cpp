// Registers and computing instructions of a body.
#include <csrc/compile/cpu/body_emitter.h>

#include <algorithm>
#include <utility>

namespace torch::fused::cpu {

BodyEmitter::BodyEmitter(Assembler& code, const MicroBody& micro, CodeLevel level, int unroll, Part part)
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

int BodyEmitter::take() {
  if (free_.empty()) {
    fits_ = false;
    return 0;
  }
  const int reg = free_.back();
  free_.pop_back();
  return reg;
}

bool BodyEmitter::is_read_from_memory(uint32_t value) const {
  return is_constant(value) && registers_[value].empty() &&
      (!is_wide_ || unroll_ == 1 || free_.size() < static_cast<size_t>(2 * unroll_ + 2));
}

int BodyEmitter::get(uint32_t value, int copy) {
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

void BodyEmitter::shift(Micro op, int to, int a, uint8_t by) {
  const int kind = op == Micro::ShiftLeft ? 6 : op == Micro::ShiftRight ? 4 : 2;
  code_.op(width_ == 4 ? kShiftInts : op == Micro::ShiftRight ? kShiftLongsSigned : kShiftLongs, kind, to, a);
  code_.byte(by);
}

void BodyEmitter::release(size_t index) {
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

void BodyEmitter::emit(size_t index) {
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

void BodyEmitter::emit_plain(size_t index) {
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

std::vector<int> BodyEmitter::take_over(uint32_t over, size_t index) {
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

void BodyEmitter::emit_fused(size_t index) {
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

void BodyEmitter::emit_choice(size_t index) {
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
      const VectorOp op{kBlendByMask.map, kBlendByMask.prefix, static_cast<uint8_t>(width_ == 8), kBlendByMask.opcode};
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

void BodyEmitter::emit_look_up(size_t index) {
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

void BodyEmitter::emit_comparison(size_t index) {
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

int BodyEmitter::take_for(const std::vector<int>& a, const std::vector<int>& b, const std::vector<int>& c, int u) {
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

void BodyEmitter::compute(const MicroInst& inst, int to, int a, int b, int c, const MicroInst* memory) {
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

} // namespace torch::fused::cpu
