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

/// What code is made for in this process.
CodeLevel code_level() {
  return at::native::cpu_isa_level() >= 2 ? CodeLevel::Avx512 : CodeLevel::Avx2;
}

/// A body as a key.
std::string key_of(const MicroBody& body) {
  std::string key(1, static_cast<char>(body.width()));
  const auto put = [&](uint32_t value) { key.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  for (const MicroInst& inst : body.insts()) {
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

// Note [Long bodies]
// A processor has some hundred instructions under way. Where the longest chain of a body takes longer than these last,
// turns of the loop wait for one another: two loops, with what goes between them in the first-level cache, are faster
// than one. The estimate counts cycles for a vector.

/// Cycles until a result is there, about the same on all processors that have AVX2.
double latency_of(Micro op) {
  switch (op) {
    case Micro::Div:
    case Micro::Sqrt:
      return 14;
    case Micro::And:
    case Micro::AndNot:
    case Micro::Or:
    case Micro::Xor:
    case Micro::AddInts:
    case Micro::SubInts:
    case Micro::ShiftLeft:
    case Micro::ShiftRight:
    case Micro::ShiftRightZeros:
    case Micro::Blend:
      return 1;
    default:
      return num_sources(op) == 0 ? 0 : 4;
  }
}

double cycles_of(const MicroBody& body, CodeLevel level) {
  const double window = level == CodeLevel::Avx512 ? 320 : 224;
  constexpr double kIssued = 5; // at once
  const auto& insts = body.insts();
  std::vector<double> ends(insts.size());
  double count = 0, longest = 0;
  for (size_t i = 0; i < insts.size(); ++i) {
    const MicroInst& inst = insts[i];
    const uint32_t sources[] = {inst.a, inst.b, inst.c};
    for (int s = 0; s < num_sources(inst.op); ++s) {
      ends[i] = std::max(ends[i], ends[sources[s]]);
    }
    ends[i] += latency_of(inst.op);
    longest = std::max(longest, ends[i]);
    // What writes over a source copies it first, and a vector of a table has two halves.
    count += inst.op == Micro::Constant ? 0.25 : inst.op == Micro::LookUpPair ? 2 : 1;
  }
  return std::max(count / kIssued, longest * count / window);
}

class SegmentMaker {
 public:
  explicit SegmentMaker(const Group& group)
      : group_(group), recipes_(group.insts.size()), domains_(group.insts.size()), widths_(group.insts.size()) {}

  std::vector<CodeSegment> run() {
    std::vector<uint32_t> current;
    uint8_t width = 0; // of lanes; 0 while there are bools alone
    for (uint32_t i = 0; i < group_.insts.size(); ++i) {
      const InstKind kind = group_.insts[i].kind;
      if (kind == InstKind::Load || kind == InstKind::Constant) {
        continue;
      }
      const bool joins = can_join(i);
      if (!joins || (width != 0 && widths_[i] != 0 && widths_[i] != width)) {
        add(std::exchange(current, {}));
        width = 0;
      }
      if (joins) {
        current.push_back(i);
        width = std::max(width, widths_[i]);
      }
    }
    add(std::move(current));
    return std::move(made_);
  }

 private:
  bool can_join(uint32_t index) {
    const Inst& inst = group_.insts[index];
    const auto own = lane_width(inst.dtype);
    if (inst.form != Form::Full || !own) {
      return false;
    }
    if (inst.kind == InstKind::Convert) {
      const Inst& from = group_.insts[inst.args[0]];
      const auto other = lane_width(from.dtype);
      if (!other || (*own != *other && *own != 0 && *other != 0)) {
        return false;
      }
      widths_[index] = std::max(*own, *other);
      MicroBody trial(std::max<uint8_t>(4, widths_[index]));
      return convert(trial, trial.load(0, load_of(from.dtype)), from.dtype, inst.dtype).has_value();
    }
    if (inst.kind == InstKind::Repeat) {
      // A call for each row costs as much as some elements.
      constexpr int64_t kLeastRow = 64;
      widths_[index] = *own;
      return group_.row >= kLeastRow && load_of(inst.dtype) == Micro::Load;
    }
    if (inst.kind != InstKind::Kernel) {
      return false;
    }
    std::vector<const Inst*> sources;
    for (size_t i = 0; i < inst.args.size(); ++i) {
      sources.push_back(&group_.insts[inst.args[i]]);
      if ((inst.wide_inputs >> i & 1) != 0 && sources.back()->dtype != c10::ScalarType::Float) {
        return false;
      }
    }
    const auto domain = domain_of(inst, sources);
    recipes_[index] = domain ? find_recipe(inst, sources) : nullptr;
    domains_[index] = domain.value_or(inst.dtype);
    widths_[index] = lane_width(domains_[index]).value_or(0);
    return recipes_[index] != nullptr;
  }

  /// A run as code, or where that cannot be its halves.
  void add(std::vector<uint32_t> insts) {
    constexpr size_t kLongBody = 16;
    if (insts.empty()) {
      return;
    }
    uint8_t width = 0;
    for (const uint32_t i : insts) {
      width = std::max(width, widths_[i]);
    }
    MicroBody body(std::max<uint8_t>(4, width));
    CodeSegment segment = body_of(insts, body);
    if (insts.size() == 1 && body.insts().size() < kLongBody) {
      return;
    }
    if (const size_t cut = cut_of(insts, body, segment.operands.size())) {
      const auto place = insts.begin() + static_cast<std::ptrdiff_t>(cut);
      add({insts.begin(), place});
      return add({place, insts.end()});
    }
    segment.code = code_for(body, static_cast<uint16_t>(segment.operands.size()));
    if (segment.code) {
      made_.push_back(std::move(segment));
    } else if (insts.size() > 1) {
      const auto middle = insts.begin() + static_cast<std::ptrdiff_t>(insts.size() / 2);
      add({insts.begin(), middle});
      add({middle, insts.end()});
    }
  }

  /// Where two loops are faster than one; 0 where none are. See Note [Long bodies].
  size_t cut_of(const std::vector<uint32_t>& insts, const MicroBody& whole, size_t num_operands) const {
    constexpr size_t kShort = 40, kMostCuts = 8;
    constexpr double kGain = 0.85, kCyclesOfOperand = 0.75; // to store it and load it, beside other work
    if (insts.size() < 2 || whole.insts().size() < kShort) {
      return 0;
    }
    const auto with_operands = [](double cycles, size_t count) {
      return cycles + static_cast<double>(count) * kCyclesOfOperand;
    };
    double least = with_operands(cycles_of(whole, code_level()), num_operands) * kGain;
    size_t best = 0;
    const size_t step = (insts.size() + kMostCuts - 1) / kMostCuts;
    for (size_t cut = step; cut < insts.size(); cut += step) {
      const auto place = insts.begin() + static_cast<std::ptrdiff_t>(cut);
      MicroBody first(whole.width()), second(whole.width());
      const CodeSegment a = body_of({insts.begin(), place}, first), b = body_of({place, insts.end()}, second);
      const double cycles = with_operands(
          cycles_of(first, code_level()) + cycles_of(second, code_level()), a.operands.size() + b.operands.size());
      if (cycles < least) {
        least = cycles;
        best = cut;
      }
    }
    return best;
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
      if (inst.kind == InstKind::Constant) {
        made = constant_of(body, inst);
      } else {
        made = body.load(static_cast<uint16_t>(segment.operands.size()), load_of(inst.dtype));
        segment.operands.push_back(value);
      }
      values.emplace(value, made);
      return made;
    };
    for (const uint32_t i : insts) {
      const Inst& inst = group_.insts[i];
      if (inst.kind == InstKind::Repeat) {
        const auto operand = static_cast<uint16_t>(segment.operands.size());
        segment.operands.push_back(inst.args[0]);
        segment.by_rows = true;
        values[i] = body.load(operand, Micro::LoadFirst);
        continue;
      }
      std::vector<uint32_t> args;
      for (const uint32_t arg : inst.args) {
        args.push_back(value_of(arg));
      }
      values[i] = inst.kind == InstKind::Convert ? *convert(body, args[0], group_.insts[inst.args[0]].dtype, inst.dtype)
                                                 : apply(recipes_[i], body, inst, args.data(), domains_[i]);
    }
    for (const uint32_t i : insts) {
      if (is_read_outside(i, is_inside)) {
        body.store(static_cast<uint16_t>(segment.operands.size()), values[i], store_of(group_.insts[i].dtype));
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
  std::vector<c10::ScalarType> domains_; // of numbers that instructions compute with
  std::vector<uint8_t> widths_; // of their lanes
  std::vector<CodeSegment> made_;
};

} // namespace

LoopCode code_for(const MicroBody& body, uint16_t num_operands) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, LoopCode>(); // is used until the process ends
  constexpr size_t kMostKnown = 16384;
  const std::lock_guard<std::mutex> lock(mutex);
  if (known->size() >= kMostKnown) {
    known->clear(); // the code stays, since loops may run it
  }
  const auto [found, is_new] = known->emplace(key_of(body), nullptr);
  if (is_new) {
    if (const auto code = emit(body, num_operands, code_level())) {
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
