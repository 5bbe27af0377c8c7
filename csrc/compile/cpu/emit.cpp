// Machine code for bodies of loops: unrolling, and the ends of runs.
#include <csrc/compile/cpu/body_emitter.h>
#include <csrc/compile/cpu/micro.h>

#include <algorithm>

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
constexpr size_t kFirstSaved = 6;

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

std::optional<std::vector<uint8_t>> emit(const MicroBody& body, uint16_t num_operands, CodeLevel level) {
  const auto& insts = body.insts();
  const bool is_wide = level == CodeLevel::Avx512;
  if (num_operands > kPointers.size() ||
      (!is_wide &&
       std::any_of(insts.begin(), insts.end(), [](const MicroInst& inst) { return is_of_avx512(inst.op); }))) {
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
