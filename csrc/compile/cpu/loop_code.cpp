#include <csrc/compile/cpu/loop_code.h>

#include <csrc/compile/cpu/code_memory.h>
#include <csrc/compile/cpu/recipes.h>

#include <aten/native/support/cpu_isa.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace torch::fused::cpu {

namespace {

std::atomic<bool> is_allowed{true};

/// Whether this processor runs what is emitted.
bool is_possible() {
#if defined(__x86_64__)
  return is_allowed && at::native::cpu_isa_level() >= 1; // AVX2 and FMA
#else
  return false;
#endif
}

/// A body as a key.
std::string key_of(const std::vector<MicroInst>& body) {
  std::string key;
  const auto put = [&](uint32_t value) { key.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  for (const MicroInst& inst : body) {
    put(static_cast<uint32_t>(inst.op) | static_cast<uint32_t>(inst.immediate) << 8 |
        static_cast<uint32_t>(inst.operand) << 16);
    put(inst.a);
    put(inst.b);
    put(inst.c);
    put(static_cast<uint32_t>(inst.words.size()));
    for (const uint32_t word : inst.words) {
      put(word);
    }
  }
  return key;
}

class SegmentMaker {
 public:
  explicit SegmentMaker(const Group& group) : group_(group), recipes_(group.insts.size()) {}

  std::vector<CodeSegment> run() {
    std::vector<uint32_t> current;
    for (uint32_t i = 0; i < group_.insts.size(); ++i) {
      const InstKind kind = group_.insts[i].kind;
      if (kind == InstKind::Load || kind == InstKind::Constant) {
        continue;
      }
      if (can_join(i)) {
        current.push_back(i);
      } else {
        add(std::exchange(current, {}));
      }
    }
    add(std::move(current));
    return std::move(made_);
  }

 private:
  bool can_join(uint32_t index) {
    const Inst& inst = group_.insts[index];
    if (inst.form != Form::Full) {
      return false;
    }
    if (inst.kind == InstKind::Convert) {
      const Inst& from = group_.insts[inst.args[0]];
      return inst.dtype == c10::ScalarType::Float && from.dtype == c10::ScalarType::Bool && from.form == Form::Full;
    }
    if (inst.kind != InstKind::Kernel || inst.wide_inputs != 0 ||
        (inst.dtype != c10::ScalarType::Float && inst.dtype != c10::ScalarType::Bool)) {
      return false;
    }
    std::vector<const Inst*> sources;
    for (const uint32_t arg : inst.args) {
      sources.push_back(&group_.insts[arg]);
      if (sources.back()->dtype != c10::ScalarType::Float) {
        return false;
      }
    }
    recipes_[index] = find_recipe(inst, sources);
    return recipes_[index] != nullptr;
  }

  /// A run as code, or where that cannot be its halves.
  void add(std::vector<uint32_t> insts) {
    constexpr size_t kLongBody = 16;
    if (insts.empty()) {
      return;
    }
    MicroBody body;
    CodeSegment segment = body_of(insts, body);
    if (insts.size() == 1 && body.insts().size() < kLongBody) {
      return;
    }
    segment.code = code_for(body.insts(), static_cast<uint16_t>(segment.operands.size()));
    if (segment.code) {
      made_.push_back(std::move(segment));
    } else if (insts.size() > 1) {
      const auto middle = insts.begin() + static_cast<std::ptrdiff_t>(insts.size() / 2);
      add({insts.begin(), middle});
      add({middle, insts.end()});
    }
  }

  CodeSegment body_of(const std::vector<uint32_t>& insts, MicroBody& body) const {
    CodeSegment segment;
    segment.insts = insts;
    std::map<uint32_t, uint32_t> values; // of the group: in the body
    const auto is_inside = [&](uint32_t value) { return std::binary_search(insts.begin(), insts.end(), value); };
    const auto value_of = [&](uint32_t value) {
      const auto known = values.find(value);
      if (known != values.end()) {
        return known->second;
      }
      const Inst& inst = group_.insts[value];
      uint32_t made = 0;
      if (inst.kind == InstKind::Constant && inst.dtype == c10::ScalarType::Float) {
        made = body.bits(*reinterpret_cast<const uint32_t*>(inst.value.data()));
      } else {
        const auto operand = static_cast<uint16_t>(segment.operands.size());
        segment.operands.push_back(value);
        made = inst.dtype == c10::ScalarType::Bool ? body.load_bool(operand) : body.load(operand);
      }
      values.emplace(value, made);
      return made;
    };
    for (const uint32_t i : insts) {
      const Inst& inst = group_.insts[i];
      std::vector<uint32_t> args;
      for (const uint32_t arg : inst.args) {
        args.push_back(value_of(arg));
      }
      if (inst.kind == InstKind::Convert) {
        values[i] = is_inside(inst.args[0]) ? body.op(Micro::And, args[0], body.number(1)) : args[0];
      } else {
        values[i] = recipes_[i](body, args.data(), reinterpret_cast<const float*>(inst.functor.data()));
      }
    }
    for (const uint32_t i : insts) {
      if (is_read_outside(i, is_inside)) {
        body.store(
            static_cast<uint16_t>(segment.operands.size()), values[i], group_.insts[i].dtype == c10::ScalarType::Bool);
        segment.operands.push_back(i);
      }
    }
    return segment;
  }

  template <class F>
  bool is_read_outside(uint32_t value, const F& is_inside) const {
    for (uint32_t i = value + 1; i < group_.insts.size(); ++i) {
      const auto& args = group_.insts[i].args;
      if (!is_inside(i) && std::find(args.begin(), args.end(), value) != args.end()) {
        return true;
      }
    }
    return std::any_of(
        group_.stores.begin(), group_.stores.end(), [&](const Store& store) { return store.value == value; });
  }

  const Group& group_;
  std::vector<Recipe> recipes_; // by instruction
  std::vector<CodeSegment> made_;
};

} // namespace

LoopCode code_for(const std::vector<MicroInst>& body, uint16_t num_operands) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, LoopCode>(); // is used until the process ends
  constexpr size_t kMostKnown = 16384;
  const std::lock_guard<std::mutex> lock(mutex);
  if (known->size() >= kMostKnown) {
    known->clear(); // the code stays, since loops may run it
  }
  const auto [found, is_new] = known->emplace(key_of(body), nullptr);
  if (is_new) {
    if (const auto code = emit(body, num_operands)) {
      found->second = reinterpret_cast<LoopCode>(reinterpret_cast<uintptr_t>(place_code(*code)));
    }
  }
  return found->second;
}

std::vector<CodeSegment> make_code(const Group& group) {
  return is_possible() ? SegmentMaker(group).run() : std::vector<CodeSegment>();
}

void allow_code(bool allowed) {
  is_allowed = allowed;
}

} // namespace torch::fused::cpu
