// Machine code for x86-64 with AVX2, FMA and F16C, or with AVX-512 (F, BW, DQ): the few instructions that loops take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace torch::fused::cpu {

/// General registers, by their numbers in the encoding.
enum Register : uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };

/// A place in memory: base + index * scale + offset; rsp for the index stands for none.
struct Address {
  Register base;
  Register index;
  uint8_t scale;
  int32_t offset = 0;
};

/// An instruction on vectors: opcode map, mandatory prefix, the W bit and the opcode.
struct VectorOp {
  uint8_t map;
  uint8_t prefix; // 0 none, 1 66, 2 F3, 3 F2
  uint8_t w;
  uint8_t opcode;
};

// The W bit counts in the encoding for AVX-512; that for AVX2 ignores it where instructions for doubles have it set
// here.
inline constexpr VectorOp kAddFloats{1, 0, 0, 0x58}, kMulFloats{1, 0, 0, 0x59}, kSubFloats{1, 0, 0, 0x5C},
    kMinFloats{1, 0, 0, 0x5D}, kDivFloats{1, 0, 0, 0x5E}, kMaxFloats{1, 0, 0, 0x5F}, kSqrtFloats{1, 0, 0, 0x51},
    kAnd{1, 0, 0, 0x54}, kAndNot{1, 0, 0, 0x55}, kOr{1, 0, 0, 0x56}, kXor{1, 0, 0, 0x57}, kCompareFloats{1, 0, 0, 0xC2},
    kBlend{3, 1, 0, 0x4A}, kBlendDoubles{3, 1, 0, 0x4B}, kMulAdd{2, 1, 0, 0xB8}, kNegMulAdd{2, 1, 0, 0xBC},
    kMulSub{2, 1, 0, 0xBA}, kMove{1, 0, 0, 0x28}, kLoadVector{1, 0, 0, 0x10}, kStoreVector{1, 0, 0, 0x11},
    kLoadFloat{1, 2, 0, 0x10}, kStoreFloat{1, 2, 0, 0x11}, kLoadDouble{1, 3, 1, 0x10}, kStoreDouble{1, 3, 1, 0x11},
    kBytesToInts{2, 1, 0, 0x31}, kBytesToLongs{2, 1, 0, 0x32}, kWordsToInts{2, 1, 0, 0x33}, kHalfToFloat{2, 1, 0, 0x13},
    kFloatToHalf{3, 1, 0, 0x1D}, kFloatsOfInts{1, 0, 0, 0x5B}, kUpperHalf{3, 1, 0, 0x39}, kPackInts{1, 1, 0, 0x6B},
    kPackIntsUnsigned{2, 1, 0, 0x2B}, kPackWords{1, 1, 0, 0x63}, kStoreEight{1, 1, 0, 0xD6}, kStoreFour{1, 1, 0, 0x7E},
    kMoveFromGeneral{1, 1, 0, 0x6E}, kStoreByte{3, 1, 0, 0x14}, kStoreWord{3, 1, 0, 0x15}, kAddInts{1, 1, 0, 0xFE},
    kSubInts{1, 1, 0, 0xFA}, kAddLongs{1, 1, 1, 0xD4}, kSubLongs{1, 1, 1, 0xFB}, kMulInts{2, 1, 0, 0x40},
    kMulLow{1, 1, 1, 0xF4}, kMinInts{2, 1, 0, 0x39}, kMaxInts{2, 1, 0, 0x3D}, kEqualInts{1, 1, 0, 0x76},
    kEqualLongs{2, 1, 1, 0x29}, kGreaterInts{1, 1, 0, 0x66}, kGreaterLongs{2, 1, 1, 0x37}, kShiftInts{1, 1, 0, 0x72},
    kShiftLongs{1, 1, 1, 0x73}, kShuffleInts{1, 1, 0, 0x70}, kShuffleFloats{1, 0, 0, 0xC6}, kRound{3, 1, 0, 0x08},
    kRoundDoubles{3, 1, 1, 0x09}, kPermute{2, 1, 0, 0x16}, kBroadcastFloat{2, 1, 0, 0x18},
    kBroadcastDouble{2, 1, 0, 0x19};
// Of AVX-512 alone. What compares gives a mask register there, which the others take.
inline constexpr VectorOp kWideBroadcastDouble{2, 1, 1, 0x19}, kSelect{3, 1, 0, 0x25}, kBlendByMask{2, 1, 0, 0x65},
    kVectorOfMask{2, 2, 0, 0x38}, kShiftLongsSigned{1, 1, 1, 0x72}, kIntsToWords{2, 2, 0, 0x33},
    kIntsToBytes{2, 2, 0, 0x31}, kLongsToBytes{2, 2, 0, 0x32}, kScale{2, 1, 0, 0x2C}, kExponent{2, 1, 0, 0x42},
    kMantissa{3, 1, 0, 0x26}, kPermutePair{2, 1, 0, 0x77};

/// What of a vector an instruction for AVX-512 writes: lanes that a mask register has, and zeros in the others of a
/// register if asked for. Mask 0 stands for all.
struct Masking {
  uint8_t mask = 0;
  bool zeros = false;
};

/// Grows code, byte by byte. Vectors have 32 bytes, or 64; registers are given by their numbers.
class Assembler {
 public:
  explicit Assembler(bool is_wide = false) : is_wide_(is_wide) {}

  /// Destination, first and second source; instructions of one source have 0 for the first.
  void op(VectorOp op, int to, int a, int b, bool wide = true, Masking masking = {});
  void op(VectorOp op, int to, int a, Address b, bool wide = true, Masking masking = {});
  /// The second source is a vector of words that repeat, which stands behind the code.
  /// An immediate byte may follow.
  void op_constant(VectorOp op, int to, int a, uint32_t constant, int immediate = -1);
  void byte(uint8_t value) {
    code_.push_back(value);
  }

  /// Index of a vector of constants.
  uint32_t constant(const std::vector<uint32_t>& words);

  void load_pointer(Register to, Register base, int32_t offset);
  void load_byte(Register to, Address from);
  void load_word(Register to, Address from); // of two bytes
  void clear(Register reg);
  void add(Register reg, int32_t value);
  void add_to(Register to, Register from, int32_t value); // to = from + value
  void compare(Register a, Register b);
  void push(Register reg);
  void pop(Register reg);
  void clear_upper(); // halves of vectors, before other code runs
  /// Mask register 7 gets the `end - index` lowest bits, of which there are less than 32; jumps where there are none.
  /// `end` and `scratch` are overwritten.
  void mask_rest(Register end, Register index, Register scratch, size_t label_of_none);
  void end(); // of a function

  enum class Jump : uint8_t { Always = 0xE9, IfAbove = 0x87, IfNotBelow = 0x83, IfZero = 0x84 };
  /// A place to jump to, which may be set later.
  size_t label() {
    labels_.push_back(0);
    return labels_.size() - 1;
  }
  void set(size_t label) {
    labels_[label] = code_.size();
  }
  void jump(Jump kind, size_t label);

  /// The code, with what stands behind it. It may lie at any address that is a multiple of a vector's bytes.
  std::vector<uint8_t> finish();

 private:
  void prefix(VectorOp op, int to, int a, int b, int index, bool wide, Masking masking);
  void load_zeros(uint8_t opcode, Register to, Address from);
  void word(int32_t value);

  const bool is_wide_;
  std::vector<uint8_t> code_;
  std::vector<std::vector<uint32_t>> constants_;
  struct ConstantUse {
    size_t place; // of the offset
    size_t end; // of the instruction
    uint32_t constant;
  };
  std::vector<ConstantUse> constant_uses_;
  std::vector<size_t> labels_;
  std::vector<std::pair<size_t, size_t>> jumps_; // place of the offset, label
};

} // namespace torch::fused::cpu
