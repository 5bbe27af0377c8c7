#include <csrc/fx/size_table.h>

#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace torch::fx {

namespace {

// Deeper expressions are refused: evaluation and printing walk them recursively.
constexpr uint32_t kMaxSizeDepth = 200;
// Written out: entries share parts, and an expression could be short in the table and endless on paper.
constexpr uint32_t kMaxSizeLength = 10000;

int64_t floor_div(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
}

int64_t apply(SizeOp op, int64_t a, int64_t b) {
  int64_t out = 0;
  bool overflow = false;
  const auto divides = [&] {
    TORCH_CHECK(b != 0, "division of a size by zero");
    TORCH_CHECK(!(a == INT64_MIN && b == -1), "a size does not fit into 64 bits");
  };
  switch (op) {
    case SizeOp::Add:
      overflow = __builtin_add_overflow(a, b, &out);
      break;
    case SizeOp::Sub:
      overflow = __builtin_sub_overflow(a, b, &out);
      break;
    case SizeOp::Mul:
      overflow = __builtin_mul_overflow(a, b, &out);
      break;
    case SizeOp::FloorDiv:
      divides();
      return floor_div(a, b);
    case SizeOp::CeilDiv:
      divides();
      return floor_div(a, b) + (a % b != 0 ? 1 : 0);
    case SizeOp::Mod:
      divides();
      return a - floor_div(a, b) * b;
    case SizeOp::Min:
      return std::min(a, b);
    case SizeOp::Max:
      return std::max(a, b);
    case SizeOp::Symbol:
      TORCH_INTERNAL_ASSERT(false, "a symbol has no operands");
  }
  TORCH_CHECK(!overflow, "a size does not fit into 64 bits");
  return out;
}

struct Spelling {
  const char* text;
  int precedence; // 0: written as a function
};

Spelling spelling(SizeOp op) {
  switch (op) {
    case SizeOp::Add:
      return {"+", 1};
    case SizeOp::Sub:
      return {"-", 1};
    case SizeOp::Mul:
      return {"*", 2};
    case SizeOp::FloorDiv:
      return {"//", 2};
    case SizeOp::Mod:
      return {"%", 2};
    case SizeOp::CeilDiv:
      return {"ceil_div", 0};
    case SizeOp::Min:
      return {"min", 0};
    default:
      return {"max", 0};
  }
}

} // namespace

Dim SizeTable::symbol(const std::string& name, std::optional<int64_t> min, std::optional<int64_t> max) {
  const auto [found, is_new] = symbols_.emplace(name, static_cast<uint32_t>(entries_.size()));
  if (is_new) {
    entries_.push_back({SizeOp::Symbol, 0, 0, name, min, max});
    depths_.push_back(1);
    lengths_.push_back(1);
    return Dim::expression(found->second);
  }
  Entry& entry = entries_[found->second];
  entry.min = entry.min && min ? std::max(*entry.min, *min) : (entry.min ? entry.min : min);
  entry.max = entry.max && max ? std::min(*entry.max, *max) : (entry.max ? entry.max : max);
  return Dim::expression(found->second);
}

Dim SizeTable::find_symbol(const std::string& name) const {
  const auto found = symbols_.find(name);
  TORCH_CHECK(found != symbols_.end(), "the graph has no size named '", name, "'; declare it with symbol()");
  return Dim::expression(found->second);
}

Dim SizeTable::make(SizeOp op, Dim a, Dim b) {
  TORCH_CHECK(op != SizeOp::Symbol, "symbols are made by symbol()");
  for (const Dim dim : {a, b}) {
    TORCH_CHECK(!dim.is_expression() || dim.index() < entries_.size(), "a size of another graph's table");
  }
  if (!a.is_expression() && !b.is_expression()) {
    return apply(op, a.value(), b.value());
  }
  const bool commutes = op == SizeOp::Add || op == SizeOp::Mul || op == SizeOp::Min || op == SizeOp::Max;
  if (commutes && (!a.is_expression() || (b.is_expression() && b.index() < a.index()))) {
    std::swap(a, b); // numbers stand last
  }
  const auto is = [](Dim dim, int64_t value) { return !dim.is_expression() && dim.value() == value; };
  if (((op == SizeOp::Add || op == SizeOp::Sub) && is(b, 0)) ||
      ((op == SizeOp::Mul || op == SizeOp::FloorDiv || op == SizeOp::CeilDiv) && is(b, 1))) {
    return a;
  }
  if (op == SizeOp::Mul && is(b, 0)) {
    return 0;
  }
  if ((op == SizeOp::Min || op == SizeOp::Max) && a == b) {
    return a;
  }
  if (op == SizeOp::Sub && a == b) {
    return 0;
  }
  const auto key = std::make_tuple(op, a.is_expression(), a.value(), b.is_expression(), b.value());
  const auto found = made_.find(key);
  if (found != made_.end()) {
    return Dim::expression(found->second);
  }
  const auto depth_of = [&](Dim dim) { return dim.is_expression() ? depths_[dim.index()] : 0u; };
  const uint32_t depth = 1 + std::max(depth_of(a), depth_of(b));
  TORCH_CHECK(depth <= kMaxSizeDepth, "a size is made by more than ", kMaxSizeDepth, " nested operations");
  const auto length_of = [&](Dim dim) { return dim.is_expression() ? lengths_[dim.index()] : 1u; };
  const uint32_t length = length_of(a) + length_of(b);
  TORCH_CHECK(length <= kMaxSizeLength, "a size has more than ", kMaxSizeLength, " nested operations in all");
  const auto index = static_cast<uint32_t>(entries_.size());
  entries_.push_back({op, a, b, "", {}, {}});
  depths_.push_back(depth);
  lengths_.push_back(length);
  made_.emplace(key, index);
  return Dim::expression(index);
}

std::optional<int64_t> SizeTable::evaluate(Dim dim, const SymbolValues& values) const {
  TORCH_CHECK(!dim.is_expression() || dim.index() < entries_.size(), "a size of another graph's table");
  // Entries may share parts, so that a walk from the top could visit one very often.
  if (!dim.is_expression() || depths_[dim.index()] < 4) {
    return walk(dim, values);
  }
  SymbolValues known = values;
  known.resize(entries_.size());
  for (uint32_t i = 0; i <= dim.index(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.op == SizeOp::Symbol) {
      continue;
    }
    const auto a = entry.a.is_expression() ? known[entry.a.index()] : std::optional<int64_t>(entry.a.value());
    const auto b = entry.b.is_expression() ? known[entry.b.index()] : std::optional<int64_t>(entry.b.value());
    const bool is_wanted = i == dim.index();
    if (a && b && (is_wanted || !(*b == 0 && entry.op >= SizeOp::FloorDiv && entry.op <= SizeOp::Mod))) {
      known[i] = apply(entry.op, *a, *b);
    }
  }
  return known[dim.index()];
}

std::optional<int64_t> SizeTable::walk(Dim dim, const SymbolValues& values) const {
  if (!dim.is_expression()) {
    return dim.value();
  }
  const Entry& entry = entries_[dim.index()];
  if (entry.op == SizeOp::Symbol) {
    return dim.index() < values.size() ? values[dim.index()] : std::nullopt;
  }
  const auto a = walk(entry.a, values);
  const auto b = walk(entry.b, values);
  return a && b ? std::optional<int64_t>(apply(entry.op, *a, *b)) : std::nullopt;
}

bool SizeTable::bind(Dim dim, int64_t size, SymbolValues& values) const {
  if (!dim.is_expression()) {
    return dim.value() == size;
  }
  TORCH_CHECK(dim.index() < entries_.size(), "a size of another graph's table");
  values.resize(std::max(values.size(), entries_.size()));
  if (const auto known = evaluate(dim, values)) {
    return *known == size;
  }
  const Entry& entry = entries_[dim.index()];
  if (entry.op == SizeOp::Symbol) {
    TORCH_CHECK(
        (!entry.min || size >= *entry.min) && (!entry.max || size <= *entry.max), "size ", entry.name, " is ", size,
        " but must lie in [", entry.min ? std::to_string(*entry.min) : "-inf", ", ",
        entry.max ? std::to_string(*entry.max) : "inf", "]");
    values[dim.index()] = size;
    return true;
  }
  const auto a = evaluate(entry.a, values);
  const auto b = evaluate(entry.b, values);
  if (!a == !b) {
    return true;
  }
  const int64_t number = a ? *a : *b;
  const Dim unknown = a ? entry.b : entry.a;
  switch (entry.op) {
    case SizeOp::Add:
      return bind(unknown, apply(SizeOp::Sub, size, number), values);
    case SizeOp::Sub:
      return bind(unknown, a ? apply(SizeOp::Sub, number, size) : apply(SizeOp::Add, size, number), values);
    case SizeOp::Mul:
      if (number == 0) {
        return size == 0;
      }
      return size % number == 0 && bind(unknown, size / number, values);
    default:
      return true;
  }
}

std::string SizeTable::print(Dim dim) const {
  TORCH_CHECK(!dim.is_expression() || dim.index() < entries_.size(), "a size of another graph's table");
  return print(dim, 0);
}

std::string SizeTable::print(Dim dim, int outer) const {
  if (!dim.is_expression()) {
    return dim.value() < 0 && outer > 0 ? fmt::format("({})", dim.value()) : std::to_string(dim.value());
  }
  const Entry& entry = entries_[dim.index()];
  if (entry.op == SizeOp::Symbol) {
    return entry.name;
  }
  const Spelling how = spelling(entry.op);
  if (how.precedence == 0) {
    return fmt::format("{}({}, {})", how.text, print(entry.a, 0), print(entry.b, 0));
  }
  const std::string text =
      fmt::format("{} {} {}", print(entry.a, how.precedence), how.text, print(entry.b, how.precedence + 1));
  return how.precedence < outer ? "(" + text + ")" : text;
}

Dim SizeTable::import(Dim dim, const SizeTable& other) {
  if (!dim.is_expression() || &other == this) {
    return dim;
  }
  TORCH_CHECK(dim.index() < other.entries_.size(), "a size of another graph's table");
  const Entry& entry = other.entries_[dim.index()];
  if (entry.op == SizeOp::Symbol) {
    return symbol(entry.name, entry.min, entry.max);
  }
  const Dim a = import(entry.a, other);
  return make(entry.op, a, import(entry.b, other));
}

} // namespace torch::fx
