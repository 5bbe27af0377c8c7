// Runs of instructions of a group as machine code.
#pragma once

#include <csrc/compile/cpu/micro.h>
#include <csrc/compile/ir.h>

#include <cstdint>
#include <vector>

namespace torch::fused::cpu {

/// Runs a body for n elements of its operands.
using LoopCode = void (*)(char* const* operands, int64_t n);

/// Instructions of a group that run as one piece of code.
struct CodeSegment {
  /// In order; instructions between them are no part of it, and run before it.
  std::vector<uint32_t> insts;
  /// Values that it reads and then those that it writes: operands.
  std::vector<uint32_t> operands;
  /// Whether it takes values of rows: then it runs for one row at a time.
  bool by_rows = false;
  LoopCode code = nullptr;
};

/// What of a group runs as machine code: runs of two instructions and more, or of a long one.
TORCH_API std::vector<CodeSegment> make_code(const Group& group);

/// Code for a body, which is made once for all equal ones; nullptr if there is none.
TORCH_API LoopCode code_for(const MicroBody& body, uint16_t num_operands);

/// Lets groups be made without machine code from now on, or with it: for tests.
TORCH_API void allow_code(bool allowed);

} // namespace torch::fused::cpu
