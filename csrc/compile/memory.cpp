// Which memory buffers have, and how long.
#include <csrc/compile/lower.h>

#include <algorithm>
#include <functional>

namespace torch::fused {

namespace {

constexpr int64_t kAlignment = 64;
/// From so many bytes on a buffer is a tensor of its own, which goes with its last use: an arena stays as large as its
/// largest moment through all of a call, beside inputs and results that come and go. Up to the size of caches an arena
/// is faster, since its memory is used again while they hold it; less is taken where memory counts more.
constexpr int64_t kOwnBytes = int64_t{4} << 20;

/// Calls visit_slot(slot) for what a step reads or writes beside buffers.
void visit_slots(const Step& step, const std::function<void(uint32_t)>& visit_slot) {
  const auto visit_arg = [&](const CallArg& arg, const auto& self) -> void {
    if (const auto* const slot = std::get_if<uint32_t>(&arg.what)) {
      visit_slot(*slot);
    } else if (const auto* const list = std::get_if<std::vector<CallArg>>(&arg.what)) {
      for (const CallArg& item : *list) {
        self(item, self);
      }
    }
  };
  if (const Call* const call = std::get_if<Call>(&step.what)) {
    for (const CallArg& arg : call->args) {
      visit_arg(arg, visit_arg);
    }
    for (uint32_t i = 0; i < call->num_results; ++i) {
      visit_slot(call->first_slot + i);
    }
  } else if (const Unpack* const unpack = std::get_if<Unpack>(&step.what)) {
    visit_slot(unpack->list);
    visit_slot(unpack->slot);
  }
}

/// A buffer's part of the arena, from the step that writes it to the last that reads it.
struct Interval {
  uint32_t buffer;
  int64_t first;
  int64_t last;
  int64_t bytes;
};

// Note [Memory of operands]
// A large tensor that a group makes may lie in the memory of one that the group reads element by element and that
// nothing reads later: a loop touches two tensors less of three then, and where steps need the most memory, they need
// less. Whether somebody else holds that memory is seen when the step runs (Runner::take_over), since it may be that of
// an input, of a result of a call, or of what the forward pass has kept.

/// Whether a group reads a buffer, and that element by element alone.
bool reads_by_elements(const Group& group, uint32_t buffer) {
  bool reads = false;
  for (const Inst& inst : group.insts) {
    if (inst.kind == InstKind::Load && inst.buffer == buffer) {
      reads = true;
      if (inst.form != Form::Full || !inst.access.is_linear() || inst.access.offset != 0) {
        return false;
      }
    } else if (inst.kind == InstKind::RowCall) {
      for (const auto& [place, view] : inst.row_call->tensors) {
        if (view.buffer == buffer) {
          return false;
        }
      }
    }
  }
  return reads;
}

/// Finds memory for what a step stores among that of tensors whose last use it is.
void take_memory_of_operands(Program& program, Step& step) {
  Group* const group = step.group();
  std::vector<uint32_t> candidates;
  for (uint32_t b = 0; group && b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    const bool has_tensor = buffer.home == Buffer::Home::Slot || buffer.home == Buffer::Home::Own;
    const auto& ends = step.last_uses;
    if (has_tensor && !buffer.is_written && std::find(ends.begin(), ends.end(), buffer.slot) != ends.end() &&
        reads_by_elements(*group, b)) {
      candidates.push_back(b);
    }
  }
  for (size_t i = 0; !candidates.empty() && i < group->stores.size(); ++i) {
    Store& store = group->stores[i];
    const Buffer& made = program.buffers[store.buffer];
    const Inst& inst = group->insts[store.value];
    const bool is_computed = inst.kind != InstKind::Load && inst.kind != InstKind::Constant;
    if (made.home != Buffer::Home::Own || made.bytes() < Buffer::kLeastOwnBytes || inst.form != Form::Full ||
        !is_computed) {
      continue;
    }
    const auto found = std::find_if(
        candidates.begin(), candidates.end(), [&](uint32_t buffer) { return program.buffers[buffer].is_like(made); });
    if (found != candidates.end()) {
      store.over = *found;
      candidates.erase(found);
    }
  }
}

int64_t pack(std::vector<Interval>& intervals, std::vector<Buffer>& buffers) {
  // The largest first, each at the lowest place where nothing lies while it lives.
  std::stable_sort(
      intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.bytes > b.bytes; });
  int64_t total = 0;
  std::vector<const Interval*> placed;
  for (const Interval& interval : intervals) {
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (const Interval* other : placed) {
      if (other->first <= interval.last && interval.first <= other->last) {
        const int64_t begin = buffers[other->buffer].arena_offset;
        taken.emplace_back(begin, begin + other->bytes);
      }
    }
    std::sort(taken.begin(), taken.end());
    int64_t place = 0;
    for (const auto& [begin, end] : taken) {
      if (begin >= place + interval.bytes) {
        break;
      }
      place = std::max(place, end);
    }
    buffers[interval.buffer].arena_offset = place;
    placed.push_back(&interval);
    total = std::max(total, place + interval.bytes);
  }
  return total;
}

} // namespace

void visit_reads(const Step& step, const std::function<void(uint32_t)>& visit) {
  const auto visit_arg = [&](const CallArg& arg, const auto& self) -> void {
    if (const View* const view = std::get_if<View>(&arg.what)) {
      visit(view->buffer);
    } else if (const auto* const list = std::get_if<std::vector<CallArg>>(&arg.what)) {
      for (const CallArg& item : *list) {
        self(item, self);
      }
    }
  };
  if (const Call* const call = std::get_if<Call>(&step.what)) {
    for (const CallArg& arg : call->args) {
      visit_arg(arg, visit_arg);
    }
  } else if (const Group* const group = step.group()) {
    for (const Inst& inst : group->insts) {
      if (inst.kind == InstKind::Load) {
        visit(inst.buffer);
      } else if (inst.kind == InstKind::RowCall) {
        for (const auto& [place, view] : inst.row_call->tensors) {
          visit(view.buffer);
        }
      }
    }
  }
}

void plan_memory(Program& program, bool saves_memory) {
  for (Buffer& buffer : program.buffers) {
    if (buffer.home == Buffer::Home::Arena && buffer.bytes() >= (saves_memory ? Buffer::kLeastOwnBytes : kOwnBytes)) {
      buffer.home = Buffer::Home::Own;
    }
  }
  std::vector<Interval> intervals;
  std::vector<int64_t> first(program.buffers.size(), -1), last(program.buffers.size(), -1);
  std::vector<int64_t> slot_last(program.num_slots, -1);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const auto step = static_cast<int64_t>(s);
    const auto visit_slot = [&](uint32_t slot) { slot_last[slot] = step; };
    const auto visit = [&](uint32_t buffer) {
      first[buffer] = first[buffer] < 0 ? step : first[buffer];
      last[buffer] = step;
      const Buffer::Home home = program.buffers[buffer].home;
      if (home == Buffer::Home::Slot || home == Buffer::Home::Own) {
        visit_slot(program.buffers[buffer].slot);
      }
    };
    visit_reads(program.steps[s], visit);
    if (const Group* const group = program.steps[s].group()) {
      for (const Store& store : group->stores) {
        visit(store.buffer);
      }
    }
    visit_slots(program.steps[s], visit_slot);
  }
  for (uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (program.buffers[b].home == Buffer::Home::Arena && first[b] >= 0) {
      const int64_t bytes = (program.buffers[b].bytes() + kAlignment - 1) / kAlignment * kAlignment;
      intervals.push_back({b, first[b], last[b], bytes});
    }
  }
  program.arena_bytes = pack(intervals, program.buffers);
  for (const Output& output : program.outputs) {
    if (output) {
      slot_last[*output] = -1;
    }
  }
  for (uint32_t slot = 0; slot < program.num_slots; ++slot) {
    if (slot_last[slot] >= 0) {
      program.steps[slot_last[slot]].last_uses.push_back(slot);
    }
  }
  for (Step& step : program.steps) {
    take_memory_of_operands(program, step);
  }
}

} // namespace torch::fused
