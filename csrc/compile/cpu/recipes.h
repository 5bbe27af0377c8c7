// Pointwise operators on floats as instructions of processors.
#pragma once

#include <csrc/compile/cpu/micro.h>
#include <csrc/compile/ir.h>

#include <optional>
#include <vector>

namespace torch::fused::cpu {

// Note [Recipes]
// A recipe says which instructions an operator's kernel is made of. How its author, the compiler and its contraction of
// products and sums arranged them is not known, so there are several for some operators, and a recipe is used where it
// gives the bits of the kernel on values that tell arrangements apart: infinities, NaN, both zeros, the ends of the
// range, and random ones. A kernel for which none does is called as it is.

using Recipe = uint32_t (*)(MicroBody& body, const uint32_t* args, const float* functor);

/// The recipe for an instruction of a group, a Kernel on floats that gives floats or a mask; nullptr if there is none.
/// `sources` are the instructions that give its arguments.
Recipe find_recipe(const Inst& inst, const std::vector<const Inst*>& sources);

} // namespace torch::fused::cpu
