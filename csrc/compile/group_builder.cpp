#include <csrc/compile/group_builder.h>

#include <csrc/compile/lower.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace torch::fused {

namespace {

/// Of a body.
constexpr size_t kMaxInsts = 256;

bool same_inst(const Inst& a, const Inst& b) {
  if (a.kind != b.kind || a.form != b.form || a.dtype != b.dtype || a.args != b.args) {
    return false;
  }
  if (a.kind == InstKind::Load) {
    return a.buffer == b.buffer && a.access == b.access;
  }
  return a.kind == InstKind::Constant ? a.value == b.value : a.kind == InstKind::Convert || a.kind == InstKind::Repeat;
}

} // namespace

uint32_t GroupBuilder::add_buffer(
    std::string name, c10::ScalarType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.dtype = dtype;
  buffer.sizes = std::move(sizes);
  buffer.strides = std::move(strides);
  program_.buffers.push_back(std::move(buffer));
  makers_.emplace_back();
  reads_.push_back(0);
  return static_cast<uint32_t>(program_.buffers.size() - 1);
}

void GroupBuilder::add_first(Call call, uint32_t buffer) {
  first_.emplace_back(std::move(call), buffer);
}

void GroupBuilder::add_step(Step step, const std::vector<uint32_t>& buffers) {
  for (const uint32_t buffer : buffers) {
    makers_[buffer].step = static_cast<int64_t>(program_.steps.size());
  }
  program_.steps.push_back(std::move(step));
  growth_.emplace_back();
}

void GroupBuilder::mark_read(uint32_t buffer) {
  ++reads_[buffer];
}

void GroupBuilder::mark_read(const CallArg& arg) {
  if (const auto* const view = std::get_if<View>(&arg.what)) {
    mark_read(view->buffer);
  } else if (const auto* const list = std::get_if<std::vector<CallArg>>(&arg.what)) {
    for (const CallArg& item : *list) {
      mark_read(item);
    }
  }
}

void GroupBuilder::keep_group(uint32_t buffer) {
  const Maker maker = makers_[buffer];
  if (maker.step >= 0 && maker.value >= 0) {
    growth_[maker.step].only_call.reset();
  }
}

int64_t GroupBuilder::last_maker(const std::vector<Operand>& operands) const {
  int64_t last = -1;
  for (const Operand& operand : operands) {
    if (operand.buffer) {
      last = std::max(last, makers_[*operand.buffer].step);
    }
  }
  return last;
}

bool GroupBuilder::is_in_step(const Operand& operand, int64_t step, const Group& group, Form form) const {
  if (!operand.buffer || makers_[*operand.buffer].step != step) {
    return true;
  }
  const Inst& made = group.insts[makers_[*operand.buffer].value];
  if (operand.access.offset != 0) {
    return false;
  }
  if (made.form == form) {
    return operand.access.is_linear() && operand.access.numel() == group.numel_of(form);
  }
  return made.form == Form::Row && form == Form::Full && operand.access.is_row_of(group.row);
}

std::optional<Form> GroupBuilder::form_in(int64_t step, const std::vector<Operand>& operands, int64_t numel) const {
  const Group* const group = program_.steps[step].group();
  if (!group || group->insts.size() >= kMaxInsts) {
    return std::nullopt;
  }
  for (const Form form : {Form::Full, Form::Row}) {
    if (form == Form::Row && group->row == 0) {
      break;
    }
    const bool fits = numel == group->numel_of(form) &&
        std::all_of(operands.begin(), operands.end(),
                    [&](const Operand& operand) { return is_in_step(operand, step, *group, form); });
    if (fits) {
      return form;
    }
  }
  return std::nullopt;
}

bool GroupBuilder::shares_a_buffer(const Group& group, const std::vector<Operand>& operands) const {
  return std::any_of(group.insts.begin(), group.insts.end(), [&](const Inst& inst) {
    return inst.kind == InstKind::Load && std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
             return operand.buffer == inst.buffer && operand.access == inst.access && !operand.access.is_uniform();
           });
  });
}

uint32_t GroupBuilder::add_inst(int64_t step, Inst inst) {
  auto& insts = program_.steps[step].group()->insts;
  insts.push_back(std::move(inst));
  return static_cast<uint32_t>(insts.size() - 1);
}

uint32_t GroupBuilder::find_or_add(int64_t step, Inst inst) {
  const auto& insts = program_.steps[step].group()->insts;
  const auto found =
      std::find_if(insts.begin(), insts.end(), [&](const Inst& other) { return same_inst(inst, other); });
  return found != insts.end() ? static_cast<uint32_t>(found - insts.begin()) : add_inst(step, std::move(inst));
}

/// The value of an operand in a group, in the dtype that is wanted.
uint32_t GroupBuilder::value_of(int64_t step, const Operand& operand, Form form, bool converts) {
  uint32_t value;
  if (!operand.buffer) {
    Inst constant;
    constant.kind = InstKind::Constant;
    constant.form = Form::Uniform;
    constant.dtype = operand.dtype;
    constant.value = operand.value;
    return find_or_add(step, constant);
  }
  const Maker maker = makers_[*operand.buffer];
  if (maker.step == step && maker.value >= 0) {
    value = static_cast<uint32_t>(maker.value);
  } else {
    Inst load;
    load.kind = InstKind::Load;
    load.form = operand.access.is_uniform() ? Form::Uniform : form;
    load.dtype = program_.buffers[*operand.buffer].dtype;
    load.buffer = *operand.buffer;
    load.access = operand.access;
    const size_t count = program_.steps[step].group()->insts.size();
    value = find_or_add(step, std::move(load));
    if (value == count) {
      mark_read(*operand.buffer);
    }
  }
  const auto& insts = program_.steps[step].group()->insts;
  if (converts && insts[value].dtype != operand.dtype) {
    Inst convert;
    convert.kind = InstKind::Convert;
    convert.form = insts[value].form;
    convert.dtype = operand.dtype;
    convert.args = {value};
    value = find_or_add(step, std::move(convert));
  }
  if (insts[value].form == Form::Row && form == Form::Full) {
    Inst repeat;
    repeat.kind = InstKind::Repeat;
    repeat.form = Form::Full;
    repeat.dtype = insts[value].dtype;
    repeat.args = {value};
    value = find_or_add(step, std::move(repeat));
  }
  return value;
}

void GroupBuilder::note_made(int64_t step, uint32_t value, uint32_t buffer, std::optional<Call> call, bool is_first) {
  makers_[buffer] = {step, static_cast<int64_t>(value)};
  Growth& growth = growth_[step];
  growth.made.emplace_back(value, buffer);
  if (is_first) {
    growth.only_call = growth.num_nodes++ == 0 ? std::move(call) : std::nullopt;
  }
}

/// Whether a step reads a buffer that another makes. What stays alone becomes a call, whose arguments need not be
/// operands, as that of zeros_like().
bool GroupBuilder::reads_from(int64_t step, int64_t maker) const {
  const auto is_made = [&](uint32_t buffer) { return makers_[buffer].step == maker; };
  const auto arg_reads = [&](const CallArg& arg, const auto& self) -> bool {
    if (const auto* const view = std::get_if<View>(&arg.what)) {
      return is_made(view->buffer);
    }
    const auto* const list = std::get_if<std::vector<CallArg>>(&arg.what);
    return list && std::any_of(list->begin(), list->end(), [&](const CallArg& item) { return self(item, self); });
  };
  const auto call_reads = [&](const Call& call) {
    return std::any_of(
        call.args.begin(), call.args.end(), [&](const CallArg& arg) { return arg_reads(arg, arg_reads); });
  };
  const auto& only_call = growth_[step].only_call;
  if (only_call && call_reads(*only_call)) {
    return true;
  }
  return std::visit(
      Overloaded{
          [&](const Group& group) {
            return std::any_of(group.insts.begin(), group.insts.end(), [&](const Inst& inst) {
              return inst.kind == InstKind::Load && is_made(inst.buffer);
            });
          },
          call_reads, [](const Unpack&) { return false; }},
      program_.steps[step].what);
}

/// Whether all that a group computes may be computed in a later one, which takes it as it comes.
bool GroupBuilder::can_merge(int64_t from, int64_t to) const {
  const Group* const first = program_.steps[from].group();
  const Group* const second = program_.steps[to].group();
  if (!first || !second || first->insts.empty() || first->numel != second->numel ||
      (first->row != 0 && second->row != 0 && first->row != second->row) ||
      first->insts.size() + second->insts.size() > kMaxInsts) {
    return false;
  }
  for (int64_t step = from + 1; step < to; ++step) {
    if (reads_from(step, from)) {
      return false;
    }
  }
  return std::all_of(second->insts.begin(), second->insts.end(), [&](const Inst& inst) {
    const bool is_made = inst.kind == InstKind::Load && makers_[inst.buffer].step == from;
    return !is_made ||
        (inst.form == Form::Full && inst.access.is_linear() && inst.access.offset == 0 &&
         first->insts[makers_[inst.buffer].value].form == Form::Full);
  });
}

void GroupBuilder::merge(int64_t from, int64_t to) {
  Group& first = *program_.steps[from].group();
  Group& second = *program_.steps[to].group();
  std::vector<Inst> insts = std::exchange(first.insts, {});
  std::vector<uint32_t> renamed;
  for (Inst& inst : second.insts) {
    if (inst.kind == InstKind::Load && makers_[inst.buffer].step == from) {
      --reads_[inst.buffer];
      renamed.push_back(static_cast<uint32_t>(makers_[inst.buffer].value));
      continue;
    }
    const bool is_given = inst.kind == InstKind::Load || inst.kind == InstKind::Constant;
    const auto same = is_given
        ? std::find_if(insts.begin(), insts.end(), [&](const Inst& other) { return same_inst(inst, other); })
        : insts.end();
    if (same != insts.end()) {
      reads_[inst.buffer] -= inst.kind == InstKind::Load ? 1 : 0;
      renamed.push_back(static_cast<uint32_t>(same - insts.begin()));
      continue;
    }
    for (uint32_t& arg : inst.args) {
      arg = renamed[arg];
    }
    renamed.push_back(static_cast<uint32_t>(insts.size()));
    insts.push_back(std::move(inst));
  }
  second.insts = std::move(insts);
  second.row = std::max(first.row, second.row);
  Growth &early = growth_[from], &late = growth_[to];
  for (auto& [value, buffer] : late.made) {
    value = renamed[value];
    makers_[buffer].value = value;
  }
  for (const auto& [value, buffer] : early.made) {
    makers_[buffer].step = to;
    late.made.emplace_back(value, buffer);
  }
  late.num_nodes += early.num_nodes;
  late.only_call.reset();
  early = Growth();
}

/// Moves groups that make operands of a node into the last of them.
void GroupBuilder::merge_makers(const std::vector<Operand>& operands, int64_t numel) {
  const int64_t last = last_maker(operands);
  const Group* const group = last < 0 ? nullptr : program_.steps[last].group();
  if (!group || group->numel != numel) {
    return;
  }
  for (const Operand& operand : operands) {
    const int64_t maker = operand.buffer ? makers_[*operand.buffer].step : -1;
    if (maker >= 0 && maker < last && operand.access.is_linear() && operand.access.offset == 0 &&
        can_merge(maker, last)) {
      merge(maker, last);
    }
  }
}

/// The group that a node of so many elements joins, and as what.
std::pair<int64_t, Form> GroupBuilder::place_for(const std::vector<Operand>& operands, int64_t numel) {
  merge_makers(operands, numel);
  const int64_t last = last_maker(operands);
  const auto end = static_cast<int64_t>(program_.steps.size());
  for (int64_t step = std::max<int64_t>(0, last); step < end; ++step) {
    const Group* const group = program_.steps[step].group();
    if (group && (step == last || shares_a_buffer(*group, operands))) {
      if (const auto form = form_in(step, operands, numel)) {
        return {step, *form};
      }
    }
  }
  Group group;
  group.numel = numel;
  add_step({std::move(group), {}}, {});
  return {end, Form::Full};
}

void GroupBuilder::add_pointwise(
    Inst inst, const std::vector<Operand>& operands, uint32_t result, std::optional<Call> call) {
  const auto [step, form] = place_for(operands, program_.buffers[result].numel());
  inst.form = form;
  for (const Operand& operand : operands) {
    inst.args.push_back(value_of(step, operand, form, inst.kind != InstKind::Convert));
  }
  uint32_t value = add_inst(step, std::move(inst));
  const c10::ScalarType dtype = program_.buffers[result].dtype;
  if (program_.steps[step].group()->insts[value].dtype != dtype) {
    Inst convert;
    convert.kind = InstKind::Convert;
    convert.form = form;
    convert.dtype = dtype;
    convert.args = {value};
    value = add_inst(step, std::move(convert));
  }
  note_made(step, value, result, std::move(call), true);
}

bool GroupBuilder::joins_rows(int64_t step, const std::vector<Operand>& operands, int64_t numel, int64_t row) const {
  const Group* const group = step < 0 ? nullptr : program_.steps[step].group();
  return group && group->insts.size() < kMaxInsts && (group->row == 0 || group->row == row) && group->numel == numel &&
      std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
           return is_in_step(operand, step, *group, Form::Full);
         });
}

bool GroupBuilder::add_rows(
    Inst inst, const std::vector<Operand>& operands, int64_t row, const std::vector<uint32_t>& results, Call call) {
  const int64_t numel = operands.at(0).access.numel();
  const bool fits = row > 1 && std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
                      return operand.access.numel() == numel && operand.buffer &&
                          program_.buffers[*operand.buffer].dtype == operand.dtype;
                    });
  int64_t step = last_maker(operands);
  if (!fits) {
    return false;
  }
  if (!joins_rows(step, operands, numel, row)) {
    // A group of its own, for what comes behind it.
    if (!std::all_of(operands.begin(), operands.end(), [](const Operand& o) { return o.access.is_linear(); })) {
      return false;
    }
    step = static_cast<int64_t>(program_.steps.size());
    Group group;
    group.numel = numel;
    add_step({std::move(group), {}}, {});
  }
  program_.steps[step].group()->row = row;
  for (const Operand& operand : operands) {
    inst.args.push_back(value_of(step, operand, Form::Full, false));
  }
  const auto row_call = inst.row_call;
  uint32_t first = 0;
  for (size_t r = 0; r < results.size(); ++r) {
    Inst part = inst;
    part.form = row_call->is_row[r] ? Form::Row : Form::Full;
    part.dtype = program_.buffers[results[r]].dtype;
    if (r > 0) {
      part.kind = InstKind::Result;
      part.args = {first};
      part.result = static_cast<uint32_t>(r);
      part.row_call = nullptr;
    }
    const uint32_t value = add_inst(step, std::move(part));
    first = r == 0 ? value : first;
    note_made(step, value, results[r], call, r == 0);
  }
  return true;
}

/// Stores what others read, and leaves out what nothing needs.
void GroupBuilder::finish_group(size_t step) {
  Group& group = *program_.steps[step].group();
  std::vector<bool> is_needed(group.insts.size());
  for (const auto& [value, buffer] : growth_[step].made) {
    if (reads_[buffer] != 0) {
      Buffer& target = program_.buffers[buffer];
      target.home = target.home == Buffer::Home::Nowhere ? Buffer::Home::Arena : target.home;
      group.stores.push_back({value, buffer});
      is_needed[value] = true;
    }
  }
  for (size_t i = group.insts.size(); i-- > 0;) {
    if (is_needed[i]) {
      for (const uint32_t arg : group.insts[i].args) {
        is_needed[arg] = true;
      }
    }
  }
  for (size_t i = 0; i < group.insts.size(); ++i) {
    // Results of one call stay together.
    is_needed[i] = is_needed[i] || (group.insts[i].kind == InstKind::Result && is_needed[group.insts[i].args[0]]);
  }
  std::vector<uint32_t> renamed(group.insts.size());
  std::vector<Inst> kept;
  for (size_t i = 0; i < group.insts.size(); ++i) {
    if (is_needed[i]) {
      renamed[i] = static_cast<uint32_t>(kept.size());
      kept.push_back(std::move(group.insts[i]));
      for (uint32_t& arg : kept.back().args) {
        arg = renamed[arg];
      }
    }
  }
  group.insts = std::move(kept);
  for (Store& store : group.stores) {
    store.value = renamed[store.value];
  }
}

/// A node that stayed alone: the operator itself has nothing to gain.
void GroupBuilder::add_only_call(Growth& growth, std::vector<Step>& steps) {
  bool is_read = false;
  for (const auto& [value, buffer] : growth.made) {
    is_read = is_read || reads_[buffer] != 0;
    program_.buffers[buffer].home = Buffer::Home::Slot;
    growth.only_call->buffers.push_back(buffer);
  }
  if (is_read) {
    // An argument need not be an operand, as that of zeros_like().
    for (const CallArg& arg : growth.only_call->args) {
      mark_read(arg);
    }
    steps.push_back({std::move(*growth.only_call), {}});
  }
}

/// Whether a group makes one large tensor, element by element, of such that lie alike. See Note [Memory of operands].
bool GroupBuilder::may_write_over_operand(size_t step) const {
  const Group& group = *program_.steps[step].group();
  if (growth_[step].made.size() != 1) {
    return false;
  }
  const auto [value, buffer] = growth_[step].made[0];
  const Buffer& made = program_.buffers[buffer];
  return group.insts[value].kind == InstKind::Kernel && made.bytes() >= Buffer::kLeastOwnBytes &&
      std::any_of(group.insts.begin(), group.insts.end(), [&](const Inst& inst) {
           return inst.kind == InstKind::Load && inst.form == Form::Full && inst.access.is_linear() &&
               program_.buffers[inst.buffer].is_like(made);
         });
}

/// Whether a group reads what it may compute again. See Note [Values computed again].
bool GroupBuilder::reads_cheap_value(size_t step) const {
  const auto& insts = program_.steps[step].group()->insts;
  return std::any_of(insts.begin(), insts.end(), [&](const Inst& inst) {
    if (inst.kind != InstKind::Load || !inst.access.is_linear() || makers_[inst.buffer].value < 0) {
      return false;
    }
    const Maker maker = makers_[inst.buffer];
    return is_cheap_value(program_, *program_.steps[maker.step].group(), static_cast<uint32_t>(maker.value));
  });
}

void GroupBuilder::finish(bool saves_memory) {
  // From the last to the first, so that what reads a buffer is known before who makes it.
  std::vector<Step> kept;
  for (size_t s = program_.steps.size(); s-- > 0;) {
    Growth& growth = growth_[s];
    if (!program_.steps[s].group()) {
      kept.push_back(std::move(program_.steps[s]));
    } else if (
        growth.num_nodes == 1 && growth.only_call && !(saves_memory && may_write_over_operand(s)) &&
        !reads_cheap_value(s)) {
      add_only_call(growth, kept);
    } else {
      finish_group(s);
      if (!program_.steps[s].group()->stores.empty()) {
        kept.push_back(std::move(program_.steps[s]));
      }
    }
  }
  std::reverse(kept.begin(), kept.end());
  std::vector<bool> is_loaded(program_.buffers.size());
  for (const Step& step : kept) {
    if (const Group* const group = step.group()) {
      for (const Inst& inst : group->insts) {
        is_loaded[inst.buffer] = is_loaded[inst.buffer] || inst.kind == InstKind::Load;
      }
    }
  }
  program_.steps.clear();
  for (auto& [call, buffer] : first_) {
    if (is_loaded[buffer]) {
      program_.steps.push_back({std::move(call), {}});
    }
  }
  std::move(kept.begin(), kept.end(), std::back_inserter(program_.steps));
}

} // namespace torch::fused
