// Values that groups compute again.
#include <csrc/compile/lower.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace torch::fused {

namespace {

// Note [Values computed again]
// Where a few light operators make a large value of one tensor and of small ones, the later loops that take it compute
// it again: they read that tensor in its place, and nothing is stored. Such is a normalized value, which an activation
// takes in the forward and in the backward pass of a training step. That takes no memory: the tensor stays in the place
// of the value.

bool is_light(const Inst& inst) {
  static constexpr std::string_view kNames[] = {
      "aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor", "aten::addcmul"};
  return inst.kind == InstKind::Kernel &&
      std::find(std::begin(kNames), std::end(kNames), inst.name) != std::end(kNames);
}

bool reads_elements(const Inst& inst) {
  return inst.kind == InstKind::Load && inst.form == Form::Full && inst.access.is_linear() && inst.access.offset == 0;
}

bool same_load(const Inst& a, const Inst& b) {
  return a.kind == InstKind::Load && b.kind == InstKind::Load && a.form == b.form && a.buffer == b.buffer &&
      a.access == b.access;
}

class Repeater {
 public:
  explicit Repeater(Program& program) : program_(program) {}

  static bool is_cheap(const Program& program, const Group& group, uint32_t value) {
    return is_large(group, value) && is_cheap_tree(program, group, tree_of(group, {value}));
  }

  void run() {
    for (size_t s = program_.steps.size(); s-- > 0;) {
      Group* const group = program_.steps[s].group();
      for (size_t i = group ? group->stores.size() : 0; i-- > 0;) {
        if (repeat(s, group->stores[i])) {
          program_.buffers[group->stores[i].buffer].home = Buffer::Home::Nowhere;
          group->stores.erase(group->stores.begin() + static_cast<std::ptrdiff_t>(i));
          drop_unneeded(*group);
        }
      }
    }
    std::erase_if(program_.steps, [](const Step& step) { return step.group() && step.group()->stores.empty(); });
  }

 private:
  /// What values are computed from, in order, and these.
  static std::vector<uint32_t> tree_of(const Group& group, const std::vector<uint32_t>& values) {
    std::vector<bool> is_needed(group.insts.size());
    for (const uint32_t value : values) {
      is_needed[value] = true;
    }
    std::vector<uint32_t> tree;
    for (size_t i = group.insts.size(); i-- > 0;) {
      if (is_needed[i]) {
        tree.push_back(static_cast<uint32_t>(i));
        for (const uint32_t arg : group.insts[i].args) {
          is_needed[arg] = true;
        }
      }
    }
    std::reverse(tree.begin(), tree.end());
    return tree;
  }

  static bool is_large(const Group& group, uint32_t value) {
    constexpr int64_t kLeastElements = 4096;
    return group.numel >= kLeastElements && group.insts[value].form == Form::Full;
  }

  /// Whether a value is made of one large tensor by a few light operators.
  static bool is_cheap_tree(const Program& program, const Group& group, const std::vector<uint32_t>& tree) {
    constexpr size_t kMostLight = 4;
    constexpr int64_t kSmall = 16; // times as many elements
    std::optional<uint32_t> source;
    size_t count = 0;
    for (const uint32_t i : tree) {
      const Inst& inst = group.insts[i];
      if (inst.kind == InstKind::Constant || (inst.kind == InstKind::Load && inst.form == Form::Uniform)) {
        continue;
      }
      if (inst.kind != InstKind::Load) {
        if (!is_light(inst) || inst.form != Form::Full || ++count > kMostLight) {
          return false;
        }
      } else if (reads_elements(inst)) {
        if (source.value_or(inst.buffer) != inst.buffer) {
          return false;
        }
        source = inst.buffer;
      } else if (inst.form != Form::Full || program.buffers[inst.buffer].numel() * kSmall > group.numel) {
        return false;
      }
    }
    return source.has_value();
  }

  /// The groups that read a value; none where a step takes it otherwise.
  std::vector<size_t> readers_of(size_t maker, uint32_t buffer) const {
    std::vector<size_t> readers;
    for (size_t s = maker + 1; s < program_.steps.size(); ++s) {
      bool reads = false;
      visit_reads(program_.steps[s], [&](uint32_t read) { reads = reads || read == buffer; });
      if (!reads) {
        continue;
      }
      const Group* const group = program_.steps[s].group();
      if (!group || !std::all_of(group->insts.begin(), group->insts.end(), [&](const Inst& inst) {
            return inst.kind != InstKind::Load || inst.buffer != buffer || reads_elements(inst);
          })) {
        return {};
      }
      readers.push_back(s);
    }
    return readers;
  }

  static void drop_unneeded(Group& group) {
    std::vector<uint32_t> values;
    for (const Store& store : group.stores) {
      values.push_back(store.value);
    }
    for (uint32_t i = 0; i < group.insts.size(); ++i) {
      if (group.insts[i].kind == InstKind::Result) {
        values.push_back(i); // results of one call stay together
      }
    }
    const std::vector<uint32_t> kept = tree_of(group, values);
    std::vector<uint32_t> renamed(group.insts.size());
    std::vector<Inst> insts;
    for (const uint32_t i : kept) {
      renamed[i] = static_cast<uint32_t>(insts.size());
      insts.push_back(std::move(group.insts[i]));
      for (uint32_t& arg : insts.back().args) {
        arg = renamed[arg];
      }
    }
    group.insts = std::move(insts);
    for (Store& store : group.stores) {
      store.value = renamed[store.value];
    }
  }

  bool repeat(size_t maker, const Store& store) {
    constexpr size_t kMostInsts = 256;
    const Group& group = *program_.steps[maker].group();
    if (program_.buffers[store.buffer].home != Buffer::Home::Arena || !is_large(group, store.value)) {
      return false;
    }
    const std::vector<uint32_t> tree = tree_of(group, {store.value});
    const std::vector<size_t> readers =
        is_cheap_tree(program_, group, tree) ? readers_of(maker, store.buffer) : std::vector<size_t>();
    if (readers.empty() || std::any_of(readers.begin(), readers.end(), [&](size_t s) {
          return program_.steps[s].group()->insts.size() + tree.size() > kMostInsts;
        })) {
      return false;
    }
    for (const size_t reader : readers) {
      compute_in(*program_.steps[reader].group(), store.buffer, group, tree);
    }
    return true;
  }

  /// Puts the instructions of a value where a group loads it.
  static void compute_in(Group& reader, uint32_t buffer, const Group& maker, const std::vector<uint32_t>& tree) {
    std::vector<Inst> insts;
    std::vector<uint32_t> renamed(reader.insts.size());
    const auto add = [&](Inst inst) {
      const auto same =
          std::find_if(insts.begin(), insts.end(), [&](const Inst& other) { return same_load(inst, other); });
      if (same != insts.end()) {
        return static_cast<uint32_t>(same - insts.begin());
      }
      insts.push_back(std::move(inst));
      return static_cast<uint32_t>(insts.size() - 1);
    };
    for (size_t i = 0; i < reader.insts.size(); ++i) {
      Inst& inst = reader.insts[i];
      if (inst.kind == InstKind::Load && inst.buffer == buffer) {
        std::map<uint32_t, uint32_t> made;
        for (const uint32_t from : tree) {
          Inst copy = maker.insts[from];
          for (uint32_t& arg : copy.args) {
            arg = made.at(arg);
          }
          made[from] = add(std::move(copy));
        }
        renamed[i] = made.at(tree.back());
        continue;
      }
      for (uint32_t& arg : inst.args) {
        arg = renamed[arg];
      }
      renamed[i] = add(std::move(inst));
    }
    reader.insts = std::move(insts);
    for (Store& store : reader.stores) {
      store.value = renamed[store.value];
    }
  }

  Program& program_;
};

} // namespace

bool is_cheap_value(const Program& program, const Group& group, uint32_t value) {
  return Repeater::is_cheap(program, group, value);
}

void repeat_values(Program& program) {
  Repeater(program).run();
}

} // namespace torch::fused
