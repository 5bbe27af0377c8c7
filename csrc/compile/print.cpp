// The text form of programs, and what tells that one is sound.
#include <csrc/compile/ir.h>

#include <c10/util/Exception.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace torch::fused {

namespace {

std::string type_of(const Buffer& buffer) {
  return fmt::format("{}[{}]", c10::toString(buffer.dtype), fmt::join(buffer.sizes, ", "));
}

std::string bytes(int64_t n) {
  if (n < 10 * 1024) {
    return fmt::format("{} B", n);
  }
  return n < 10 * 1024 * 1024 ? fmt::format("{} KB", n / 1024) : fmt::format("{} MB", n / (1024 * 1024));
}

const char* name_of(Form form) {
  return form == Form::Full ? "" : form == Form::Row ? " row" : " uniform";
}

std::string arguments(const Inst& inst) {
  std::vector<std::string> names;
  for (const uint32_t arg : inst.args) {
    names.push_back(fmt::format("%{}", arg));
  }
  return fmt::format("({})", fmt::join(names, ", "));
}

std::string constant(const Inst& inst) {
  std::ostringstream text;
  const at::Scalar value = [&]() -> at::Scalar {
    switch (inst.dtype) {
      case c10::ScalarType::Float:
        return *reinterpret_cast<const float*>(inst.value.data());
      case c10::ScalarType::Double:
        return *reinterpret_cast<const double*>(inst.value.data());
      case c10::ScalarType::Half:
        return static_cast<float>(*reinterpret_cast<const c10::Half*>(inst.value.data()));
      case c10::ScalarType::BFloat16:
        return static_cast<float>(*reinterpret_cast<const c10::BFloat16*>(inst.value.data()));
      case c10::ScalarType::Int:
        return *reinterpret_cast<const int32_t*>(inst.value.data());
      case c10::ScalarType::Short:
        return *reinterpret_cast<const int16_t*>(inst.value.data());
      case c10::ScalarType::Char:
        return *reinterpret_cast<const int8_t*>(inst.value.data());
      case c10::ScalarType::Byte:
        return *reinterpret_cast<const uint8_t*>(inst.value.data());
      case c10::ScalarType::Bool:
        return inst.value[0] != 0;
      default:
        return *reinterpret_cast<const int64_t*>(inst.value.data());
    }
  }();
  text << value;
  return text.str();
}

std::string print(const Program& program, const View& view) {
  const Buffer& buffer = program.buffers[view.buffer];
  if (view.layout == Layout{buffer.sizes, buffer.strides, 0}) {
    return buffer.name;
  }
  return fmt::format(
      "{}[{} : {}]", buffer.name, fmt::join(view.layout.sizes, ", "), fmt::join(view.layout.strides, ", "));
}

std::string print(const Program& program, const Inst& inst) {
  switch (inst.kind) {
    case InstKind::Load:
      return fmt::format("load {} {}", program.buffers[inst.buffer].name, inst.access.to_string());
    case InstKind::Constant:
      return "constant " + constant(inst);
    case InstKind::Kernel:
    case InstKind::RowCall:
      return inst.name + arguments(inst);
    case InstKind::Convert:
      return "convert" + arguments(inst);
    case InstKind::Repeat:
      return "repeat" + arguments(inst);
    case InstKind::Result:
      return fmt::format("result {} of %{}", inst.result, inst.args[0]);
  }
  return "";
}

std::string print(const Program& program, const Group& group) {
  const Traffic traffic = traffic_of(program, group);
  std::string text = fmt::format("  group {}", group.numel);
  if (group.row != 0) {
    text += fmt::format(" rows of {}", group.row);
  }
  text += fmt::format(" reads {} writes {}\n", bytes(traffic.read), bytes(traffic.written));
  for (size_t i = 0; i < group.insts.size(); ++i) {
    const Inst& inst = group.insts[i];
    text += fmt::format("    %{}: {}{} = {}\n", i, c10::toString(inst.dtype), name_of(inst.form), print(program, inst));
  }
  for (const Store& store : group.stores) {
    text += fmt::format("    {} = %{}", program.buffers[store.buffer].name, store.value);
    text += store.over ? fmt::format(" over {}\n", program.buffers[*store.over].name) : "\n";
  }
  return text;
}

std::string print(const Program& program, const Call& call) {
  std::vector<std::string> args;
  const auto add = [&](const CallArg& arg, const auto& self) -> std::string {
    return std::visit(
        Overloaded{
            [](const c10::IValue& value) {
              std::ostringstream text;
              if (value.isTensor()) {
                text << (value.toTensor().defined() ? "tensor" : "None");
              } else {
                text << value;
              }
              return text.str();
            },
            [&](const View& view) { return print(program, view); },
            [](uint32_t slot) { return fmt::format("slot {}", slot); },
            [&](const std::vector<CallArg>& list) {
              std::vector<std::string> items;
              for (const CallArg& item : list) {
                items.push_back(self(item, self));
              }
              return fmt::format("[{}]", fmt::join(items, ", "));
            }},
        arg.what);
  };
  for (const CallArg& arg : call.args) {
    args.push_back(add(arg, add));
  }
  return fmt::format(
      "  {} = call {}({}){}\n", call.name, c10::toString(call.op.operator_name()), fmt::join(args, ", "),
      call.on_copies.empty() ? "" : " on copies");
}

void check(bool holds, const char* rule, size_t step) {
  TORCH_CHECK(holds, "a compiled program is broken at step ", step, ": ", rule);
}

void lint_inst(const Program& program, const Group& group, size_t index, size_t step) {
  const Inst& inst = group.insts[index];
  for (const uint32_t arg : inst.args) {
    check(arg < index, "an instruction takes a value that comes later", step);
    const Form form = group.insts[arg].form;
    const bool fits = inst.kind == InstKind::Repeat                       ? form == Form::Row
        : inst.kind == InstKind::RowCall || inst.kind == InstKind::Result ? true
                                                                          : form == inst.form || form == Form::Uniform;
    check(fits, "an instruction takes a value of another form", step);
  }
  check(group.row != 0 || inst.form != Form::Row, "a row in a group that has none", step);
  if (inst.kind == InstKind::Kernel) {
    check(inst.kernel != nullptr && inst.args.size() <= 8, "a kernel is missing", step);
  } else if (inst.kind == InstKind::Load) {
    check(inst.buffer < program.buffers.size(), "a load of no buffer", step);
    const bool fits = inst.access.is_uniform() || inst.access.numel() == group.numel_of(inst.form);
    check(fits, "a load has another number of elements than the loop", step);
    // The last element that it can reach.
    int64_t last = inst.access.offset, first = inst.access.offset;
    for (const Range& range : inst.access.ranges) {
      (range.stride < 0 ? first : last) += (range.size - 1) * range.stride;
    }
    const Buffer& buffer = program.buffers[inst.buffer];
    int64_t reach = 0;
    for (size_t d = 0; d < buffer.sizes.size(); ++d) {
      reach += (buffer.sizes[d] - 1) * buffer.strides[d];
    }
    check(first >= 0 && last <= reach, "a load reaches out of its buffer", step);
    check(inst.dtype == buffer.dtype, "a load has another dtype than its buffer", step);
  }
}

} // namespace

std::string Program::to_string() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    names.push_back(inputs[i] < 0 ? input_names[i] : input_names[i] + ": " + type_of(buffers[inputs[i]]));
  }
  std::string text = fmt::format("program({}) {{\n", fmt::join(names, ", "));
  for (const Step& step : steps) {
    text += std::visit(
        Overloaded{
            [&](const Group& group) { return print(*this, group); },
            [&](const Call& call) { return print(*this, call); },
            [&](const Unpack& unpack) {
              return fmt::format("  slot {} = slot {}[{}]\n", unpack.slot, unpack.list, unpack.index);
            }},
        step.what);
  }
  names.clear();
  for (const Output& output : outputs) {
    std::string name = output ? fmt::format("slot {}", *output) : "None";
    for (const Buffer& buffer : buffers) {
      const bool has_slot = buffer.home == Buffer::Home::Slot || buffer.home == Buffer::Home::Own;
      name = output && has_slot && buffer.slot == *output ? buffer.name : name;
    }
    names.push_back(name);
  }
  text += fmt::format("  return ({})\n}}", fmt::join(names, ", "));
  return arena_bytes == 0 ? text : text + fmt::format(" arena {}", bytes(arena_bytes));
}

void Program::lint() const {
  for (size_t s = 0; s < steps.size(); ++s) {
    const Group* const group = steps[s].group();
    if (!group) {
      continue;
    }
    check(group->numel > 0 && (group->row == 0 || group->numel % group->row == 0), "a loop of no whole rows", s);
    check(!group->stores.empty(), "a group without results", s);
    for (size_t i = 0; i < group->insts.size(); ++i) {
      lint_inst(*this, *group, i, s);
    }
    for (const Store& store : group->stores) {
      check(store.value < group->insts.size() && store.buffer < buffers.size(), "a store of nothing", s);
      const Inst& inst = group->insts[store.value];
      const Buffer& buffer = buffers[store.buffer];
      check(inst.form != Form::Uniform && inst.dtype == buffer.dtype, "a store of another dtype", s);
      check(buffer.numel() == group->numel_of(inst.form), "a store of another number of elements", s);
      const bool has_memory = buffer.home == Buffer::Home::Own || buffer.home == Buffer::Home::Arena;
      check(has_memory || buffer.is_written, "a store to no memory", s);
      check(
          !store.over || (buffer.home == Buffer::Home::Own && buffer.bytes() == buffers[*store.over].bytes()),
          "a store over memory that does not fit", s);
    }
  }
}

Traffic traffic_of(const Program& program, const Group& group) {
  Traffic traffic;
  for (const Inst& inst : group.insts) {
    if (inst.kind == InstKind::Load) {
      int64_t elements = 1;
      for (const Range& range : inst.access.ranges) {
        elements *= range.stride == 0 ? 1 : range.size;
      }
      traffic.read += elements * static_cast<int64_t>(c10::elementSize(inst.dtype));
    }
  }
  for (const Store& store : group.stores) {
    traffic.written += program.buffers[store.buffer].bytes();
  }
  return traffic;
}

} // namespace torch::fused
