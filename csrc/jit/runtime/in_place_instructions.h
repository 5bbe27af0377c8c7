// Which operators have instructions of their own, which read their operands where they are (scalar_instructions.h).
#pragma once

#include <csrc/jit/ir/ir.h>
#include <csrc/jit/runtime/instruction.h>

#include <optional>

namespace torch::jit {

/// Whether it is an int, a float or a bool.
bool is_number(const Value* value);
/// The instruction that reads a node's operands where they are, if there is one.
std::optional<OpCode> in_place_opcode(const Node* node);
bool reads_in_place(const Node* node);
/// The instruction that jumps where this comparison does not hold.
std::optional<OpCode> jump_of(OpCode op);
bool is_jump_of_comparison(OpCode op);
/// Whether it gives a result, in register x or on the stack.
bool gives_result_in_place(OpCode op);

} // namespace torch::jit
