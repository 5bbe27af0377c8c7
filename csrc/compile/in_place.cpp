// Groups that write to inputs.
#include <csrc/compile/lower.h>

#include <algorithm>

namespace torch::fused {

namespace {

// Note [Inputs in place]
// What an input is to hold in the end stands behind the graph as a copy. Where a group makes it, and nothing reads the
// input behind that group, the group may store to the input's own memory: an update of parameters or of an average is
// one loop then, and takes no memory. The group itself may read the input element by element. Nobody else may lie in
// that memory, which only the caller knows (BackendInput::is_alone).

/// A call that copies all of a buffer to all of an input.
struct FinalCopy {
  size_t step;
  uint32_t input, from;
};

bool is_whole(const Program& program, const View& view) {
  const Buffer& buffer = program.buffers[view.buffer];
  return view.layout == Layout{buffer.sizes, buffer.strides, 0};
}

std::optional<FinalCopy> final_copy(const Program& program, size_t step) {
  const Call* const call = std::get_if<Call>(&program.steps[step].what);
  if (!call || call->op.operator_name().name != "aten::copy_") {
    return std::nullopt;
  }
  const View* const to = std::get_if<View>(&call->args[0].what);
  const View* const from = std::get_if<View>(&call->args[1].what);
  if (!to || !from || !is_whole(program, *to) || !is_whole(program, *from)) {
    return std::nullopt;
  }
  return FinalCopy{step, to->buffer, from->buffer};
}

class InPlace {
 public:
  InPlace(Program& program, const std::vector<bool>& is_alone) : program_(program), is_alone_(is_alone) {
    readers_.resize(program.buffers.size());
    for (size_t s = 0; s < program.steps.size(); ++s) {
      visit_reads(program.steps[s], [&](uint32_t buffer) { readers_[buffer].push_back(s); });
    }
  }

  void run() {
    std::vector<bool> is_done(program_.steps.size());
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const auto copy = final_copy(program_, s);
      is_done[s] = copy && store_in_place(*copy);
    }
    size_t s = 0;
    program_.steps.erase(
        std::remove_if(program_.steps.begin(), program_.steps.end(), [&](const Step&) { return is_done[s++]; }),
        program_.steps.end());
  }

 private:
  bool is_returned(const Buffer& buffer) const {
    return std::find(program_.outputs.begin(), program_.outputs.end(), Output(buffer.slot)) != program_.outputs.end();
  }

  /// The step whose group makes a buffer, and where it is stored.
  std::pair<size_t, Store*> maker_of(uint32_t buffer) {
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      Group* const group = program_.steps[s].group();
      for (size_t i = 0; group && i < group->stores.size(); ++i) {
        if (group->stores[i].buffer == buffer) {
          return {s, &group->stores[i]};
        }
      }
    }
    return {0, nullptr};
  }

  /// Whether the group computes the value element by element, and takes the input so if at all.
  bool goes_by_elements(const Group& group, uint32_t value, uint32_t input) const {
    const InstKind kind = group.insts[value].kind;
    if (group.insts[value].form != Form::Full || (kind != InstKind::Kernel && kind != InstKind::Convert)) {
      return false;
    }
    return std::all_of(group.insts.begin(), group.insts.end(), [&](const Inst& inst) {
      const bool is_weight = inst.kind == InstKind::RowCall &&
          std::any_of(inst.row_call->tensors.begin(), inst.row_call->tensors.end(),
                      [&](const auto& tensor) { return tensor.second.buffer == input; });
      const bool loads = inst.kind == InstKind::Load && inst.buffer == input;
      return !is_weight && (!loads || (inst.form == Form::Full && inst.access.is_linear() && inst.access.offset == 0));
    });
  }

  bool store_in_place(const FinalCopy& copy) {
    Buffer &input = program_.buffers[copy.input], &from = program_.buffers[copy.from];
    const bool is_input = input.home == Buffer::Home::Slot && input.slot < program_.inputs.size();
    if (!is_input || input.slot >= is_alone_.size() || !is_alone_[input.slot] || !input.is_like(from) ||
        readers_[copy.from].size() != 1 || is_returned(from)) {
      return false;
    }
    const auto [maker, store] = maker_of(copy.from);
    const auto& readers = readers_[copy.input];
    const bool is_read_later =
        std::any_of(readers.begin(), readers.end(), [&, m = maker](size_t s) { return s > m && s != copy.step; });
    if (!store || is_read_later || !goes_by_elements(*program_.steps[maker].group(), store->value, copy.input)) {
      return false;
    }
    store->buffer = copy.input;
    from.home = Buffer::Home::Nowhere;
    input.is_written = true;
    return true;
  }

  Program& program_;
  const std::vector<bool>& is_alone_;
  std::vector<std::vector<size_t>> readers_; // by buffer
};

} // namespace

void write_in_place(Program& program, const std::vector<bool>& is_alone) {
  InPlace(program, is_alone).run();
}

} // namespace torch::fused
