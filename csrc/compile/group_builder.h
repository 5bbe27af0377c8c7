// Puts instructions into groups: which loops become one.
#pragma once

#include <csrc/compile/ir.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::fused {

// Note [Grouping]
// Steps run in the order of the list, and a node may be added to any group that comes after all that the node needs. It
// joins the group that makes its last operand, if the two go through their elements in the same order (in step), or one
// behind it which reads a buffer that it reads too; else it becomes a group of its own at the end. So no cycle can come
// about, and the time is linear in nodes.
//
// Where other operands come from groups before that one, these move down into it, if no step in between reads what they
// make: branches of an expression that began apart become one loop when they meet.

/// An operand of a node that is lowered: elements of a buffer, or a constant.
struct Operand {
  /// Nothing: a constant.
  std::optional<uint32_t> buffer;
  Access access;
  /// In which the node reads it.
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::array<char, 16> value{};
};

/// Grows a program, node by node.
class GroupBuilder {
 public:
  explicit GroupBuilder(Program& program) : program_(program) {}

  /// A new buffer, which nothing writes yet.
  uint32_t add_buffer(
      std::string name, c10::ScalarType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides);
  /// A call before all others, which reads inputs alone; left out where no group reads `buffer` in the end.
  void add_first(Call call, uint32_t buffer);
  /// A step at the end that gives these buffers.
  void add_step(Step step, const std::vector<uint32_t>& buffers);
  /// Notes that something outside of its group reads a buffer.
  void mark_read(uint32_t buffer);
  /// The same for all buffers in an argument.
  void mark_read(const CallArg& arg);
  /// The group that makes a buffer stays one, also of a single node: what it makes goes to an input.
  void keep_group(uint32_t buffer);
  bool is_input(uint32_t buffer) const {
    return makers_[buffer].step < 0;
  }

  /// Adds a node that computes `result`, whose elements are in the order of the loop, from the operands with `inst`,
  /// whose arguments are filled in here. `call` is the node as a call, for where it stays alone.
  void add_pointwise(Inst inst, const std::vector<Operand>& operands, uint32_t result, std::optional<Call> call);
  /// Adds a node on rows of `row` elements: operands are Full, results Full or Row as `inst.row_call` says. False where
  /// the rows do not lie as they have to.
  bool add_rows(
      Inst inst, const std::vector<Operand>& operands, int64_t row, const std::vector<uint32_t>& results, Call call);
  /// Makes nodes that stayed alone calls, gives buffers that are read from elsewhere a home, and leaves out what
  /// nothing needs. Where memory is to be saved, nodes that may write over an operand stay groups.
  void finish(bool saves_memory);

 private:
  /// Who writes a buffer: a step, and an instruction if that is a group.
  struct Maker {
    int64_t step = -1;
    int64_t value = -1;
  };
  /// What is known of a step while groups grow.
  struct Growth {
    size_t num_nodes = 0;
    std::optional<Call> only_call;
    std::vector<std::pair<uint32_t, uint32_t>> made; // value, buffer
  };

  int64_t last_maker(const std::vector<Operand>& operands) const;
  bool is_in_step(const Operand& operand, int64_t step, const Group& group, Form form) const;
  std::optional<Form> form_in(int64_t step, const std::vector<Operand>& operands, int64_t numel) const;
  std::pair<int64_t, Form> place_for(const std::vector<Operand>& operands, int64_t numel);
  bool joins_rows(int64_t step, const std::vector<Operand>& operands, int64_t numel, int64_t row) const;
  void merge_makers(const std::vector<Operand>& operands, int64_t numel);
  bool can_merge(int64_t from, int64_t to) const;
  void merge(int64_t from, int64_t to);
  bool reads_from(int64_t step, int64_t maker) const;
  bool shares_a_buffer(const Group& group, const std::vector<Operand>& operands) const;
  uint32_t value_of(int64_t step, const Operand& operand, Form form, bool converts);
  uint32_t add_inst(int64_t step, Inst inst);
  uint32_t find_or_add(int64_t step, Inst inst);
  void note_made(int64_t step, uint32_t value, uint32_t buffer, std::optional<Call> call, bool is_first);
  bool may_write_over_operand(size_t step) const;
  bool reads_cheap_value(size_t step) const;
  void finish_group(size_t step);
  void add_only_call(Growth& growth, std::vector<Step>& steps);

  Program& program_;
  std::vector<std::pair<Call, uint32_t>> first_;
  std::vector<Maker> makers_; // by buffer
  std::vector<uint32_t> reads_; // by buffer: loads of groups and reads by other steps
  std::vector<Growth> growth_; // by step
};

} // namespace torch::fused
