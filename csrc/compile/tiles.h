// Runs groups tile by tile, with the kernels that operators have.
#pragma once

#include <csrc/compile/cpu/loop_code.h>
#include <csrc/compile/ir.h>

#include <aten/core/Tensor.h>

#include <vector>

namespace torch::fused {

// Note [Tiles]
// A tile is so many turns of a group's loop that all values which live at once fit the first-level cache. The body runs
// once for a tile, instruction by instruction, each for all its elements: what goes from one to the next stays in the
// cache. Elements that lie side by side are read and written where they are; others are gathered into a tile first.
//
// Instructions that are known as those of the processor run together, as machine code that takes their operands element
// by element (csrc/compile/cpu): what goes between them stays in registers.
//
// Tiles are shared out over the library's threads. How a loop is cut depends on sizes alone, and no element on how it
// is cut.

/// A group made ready.
class TileLoop {
 public:
  TileLoop(const Program& program, const Group& group);

  /// Runs it. `bases` has the first element of each buffer; `tensors` are those of RowCalls, in their order.
  void run(char* const* bases, const std::vector<at::Tensor>& tensors) const;

  /// Elements of a tile, and bytes of what a thread works in.
  int64_t tile() const {
    return tile_;
  }
  int64_t scratch_bytes() const {
    return scratch_bytes_;
  }

 private:
  /// A value that is read or written where its buffer lies.
  struct Moving {
    uint32_t value;
    uint32_t buffer;
    int64_t size; // bytes of an element
    bool is_row;
    const Access* access; // null: linear
  };
  struct Op {
    const Inst* inst; // null: machine code
    int32_t segment; // of it
    uint32_t value;
    uint32_t first_arg; // in args_
    uint32_t num_args;
    bool is_row;
    uint32_t tensors; // of a RowCall: the first of its tensors
    uint32_t row_call; // of a RowCall: how many there are before it
  };
  struct RowTensors;
  struct Streamed {
    uint32_t value;
    uint32_t buffer;
    int64_t size;
  };

  void note_segments();
  void choose_tile();
  void place_values(const Program& program);
  void add_ops();
  bool is_inside_code(size_t value) const {
    return place_in_code_[value] == InCode::Inside;
  }
  bool is_read_in_place(const Inst& inst) const;
  bool is_same_for_all_tiles(const Inst& inst) const;
  bool is_read_first(const Store& store) const;
  void run_tiles(int64_t begin, int64_t end, char* const* bases, const std::vector<at::Tensor>& tensors) const;
  void run_op(
      const Op& op,
      int64_t start,
      int64_t n,
      char* const* bases,
      char* const* values,
      const std::vector<at::Tensor>& tensors,
      std::vector<RowTensors>& on_rows) const;
  void run_code(const Op& op, int64_t n, char* const* values) const;
  void run_row_call(
      const Op& op, int64_t n, char* const* values, const std::vector<at::Tensor>& whole, RowTensors& on_rows) const;

  /// What a value is to machine code.
  enum class InCode : uint8_t {
    Outside, ///< memory
    Inside, ///< a register, or part of the code
    Result ///< memory that it writes
  };

  const Group& group_;
  std::vector<cpu::CodeSegment> segments_;
  std::vector<int32_t> segment_of_; // by value; -1: none
  std::vector<InCode> place_in_code_; // by value
  int64_t tile_ = 0; // elements
  int64_t period_ = 0; // no tile crosses a multiple of it
  int64_t tiles_in_period_ = 0;
  int64_t num_tiles_ = 0;
  int64_t grain_ = 1; // tiles
  int64_t scratch_bytes_ = 0;
  uint32_t num_row_calls_ = 0;
  std::vector<int64_t> scratch_; // by value: offset, or -1
  std::vector<Moving> moving_;
  std::vector<Streamed> streamed_;
  std::vector<Op> once_; // before the first tile
  std::vector<Op> body_;
  std::vector<uint32_t> args_;
};

} // namespace torch::fused
