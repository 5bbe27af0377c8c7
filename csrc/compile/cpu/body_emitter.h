// Emits one copy of a loop's body; see Note [Emitted loops].
#pragma once

#include <csrc/compile/cpu/assembler.h>
#include <csrc/compile/cpu/micro.h>
#include <csrc/compile/cpu/micro_ops.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace torch::fused::cpu {

/// Where operands' pointers are kept; rax counts, rsi is the end, rdi is free for a moment.
inline constexpr std::array<Register, 12> kPointers{rdx, rcx, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15};

/// What of a loop a copy of the body computes.
enum class Part : uint8_t {
  Vectors, ///< some at a time
  Element, ///< one
  Rest ///< the lanes of one vector that mask register 7 has
};

/// Registers are given out as the body is walked: by value and copy, from the instruction that makes a value on.
class BodyEmitter {
 public:
  BodyEmitter(Assembler& code, const MicroBody& micro, CodeLevel level, int unroll, Part part);
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

  // --- registers

  /// A free one; where there is none, `fits_` is false from then on.
  int take();
  bool is_constant(uint32_t value) const {
    return body_[value].op == Micro::Constant;
  }
  /// What all copies and turns have in common.
  bool is_same_in_all(uint32_t value) const {
    return is_constant(value) || body_[value].op == Micro::LoadFirst;
  }
  /// Whether an instruction may read a constant from memory: a register for all copies is better, if there are some.
  bool is_read_from_memory(uint32_t value) const;
  /// Whether an instruction may write over what it reads here.
  bool ends_at(uint32_t value, size_t index) const {
    return last_[value] == index && !is_same_in_all(value);
  }
  /// The register of a value's copy. Loads and constants get theirs when they are first read.
  int get(uint32_t value, int copy);
  /// Registers for a result of an instruction that writes over one of its sources: those of `over`, or copies.
  std::vector<int> take_over(uint32_t over, size_t index);
  /// A register for copy u of a result. It may be one of those that this copy reads, not one that later copies read.
  int take_for(const std::vector<int>& a, const std::vector<int>& b, const std::vector<int>& c, int u);
  /// Constants are given back at once: others may be read in between, and they cost one load.
  void release(size_t index);

  // --- memory

  void load_constant(int to, const MicroInst& inst);
  void load(const MicroInst& inst, int to, int copy);
  /// Elements that are narrower than a lane, each into a lane of its own; one as it is.
  void load_small(int to, Address from, VectorOp widen);
  void store(const MicroInst& inst, int copy);
  void store_half(int value, Address to);
  void store_bfloat16(int value, Address to);
  /// Masks become ones and then bytes, or words, bytes, and then ones.
  void store_mask(int value, Address to);

  // --- instructions

  void emit(size_t index);
  void emit_plain(size_t index);
  /// a * b + c, in the place of c, or of a factor that is not needed any more.
  void emit_fused(size_t index);
  /// Of AVX-512: by a mask register, or over a mask that is a vector.
  void emit_choice(size_t index);
  /// Of AVX-512: over the indices.
  void emit_look_up(size_t index);
  /// Of AVX-512: into a mask register, and from there into a vector where others than choices take it.
  void emit_comparison(size_t index);
  /// `memory`: the constant that is the second source, which is in no register.
  void compute(const MicroInst& inst, int to, int a, int b, int c, const MicroInst* memory);
  void shift(Micro op, int to, int a, uint8_t by);

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

} // namespace torch::fused::cpu
