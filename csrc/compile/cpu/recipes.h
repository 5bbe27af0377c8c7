// Pointwise operators as instructions of processors.
#pragma once

#include <csrc/compile/cpu/micro.h>
#include <csrc/compile/ir.h>

#include <cstring>
#include <optional>
#include <vector>

namespace torch::fused::cpu {

// Note [Recipes]
// A recipe says which instructions an operator's kernel is made of. How its author, the compiler and its contraction of
// products and sums arranged them is not known, so there are several for some operators, and a recipe is used where it
// gives the bits of the kernel on values that tell arrangements apart: infinities, NaN, both zeros, the ends of the
// range, and random ones. A kernel for which none does is called as it is.
//
// 16-bit numbers are lanes of floats, which are rounded behind each operator as its kernel does it. Bools are masks.

/// What a kernel's functor holds, as numbers of its dtype, or of floats where that is a 16-bit one.
struct Parameters {
  const char* bytes;
  c10::ScalarType dtype;

  double operator[](size_t index) const {
    return dtype == c10::ScalarType::Double ? at<double>(index) : static_cast<double>(at<float>(index));
  }
  int64_t integer(size_t index) const {
    return dtype == c10::ScalarType::Int ? at<int32_t>(index) : at<int64_t>(index);
  }

 private:
  template <class T>
  T at(size_t index) const {
    T value;
    std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
    return value;
  }
};

using Recipe = uint32_t (*)(MicroBody& body, const uint32_t* args, const Parameters& functor);

/// How elements of a dtype are held: bytes of a lane, 0 where any will do (bools), and nothing where there is no code
/// for them.
std::optional<uint8_t> lane_width(c10::ScalarType dtype);
/// How they are loaded and stored.
Micro load_of(c10::ScalarType dtype);
Micro store_of(c10::ScalarType dtype);
/// A constant of the group.
uint32_t constant_of(MicroBody& body, const Inst& inst);
/// A value as another dtype; nothing where there are no instructions for it.
std::optional<uint32_t> convert(MicroBody& body, uint32_t value, c10::ScalarType from, c10::ScalarType to);

/// The recipe for an instruction of a group, a Kernel, or nullptr if there is none. `sources` are the instructions that
/// give its arguments.
Recipe find_recipe(const Inst& inst, const std::vector<const Inst*>& sources);
/// Applies it: gives the value of the instruction in its dtype.
uint32_t apply(Recipe recipe, MicroBody& body, const Inst& inst, const uint32_t* args, c10::ScalarType domain);
/// The dtype of the numbers that an instruction computes with, from those of its arguments; nothing where they are
/// several.
std::optional<c10::ScalarType> domain_of(const Inst& inst, const std::vector<const Inst*>& sources);

} // namespace torch::fused::cpu
