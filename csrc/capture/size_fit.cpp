#include <csrc/capture/size_fit.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace torch::capture {

namespace {

using fx::Arg;
using fx::Dim;
using fx::SizeOp;

// Sizes that may be combined with one another; more are combined with constants alone.
constexpr size_t kMaxPaired = 24;
constexpr int64_t kMaxDivisor = 64;

bool are_equal(const Observed& values) {
  return std::all_of(values.begin(), values.end(), [&](int64_t value) { return value == values[0]; });
}

/// Element by element; empty where a result does not fit into 64 bits.
template <class Compute>
std::optional<Observed> zip(const Observed& a, const Observed& b, const Compute& compute) {
  Observed out(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (compute(a[i], b[i], &out[i])) {
      return {};
    }
  }
  return out;
}

constexpr auto kAdd = [](int64_t a, int64_t b, int64_t* out) { return __builtin_add_overflow(a, b, out); };
constexpr auto kSub = [](int64_t a, int64_t b, int64_t* out) { return __builtin_sub_overflow(a, b, out); };
constexpr auto kMul = [](int64_t a, int64_t b, int64_t* out) { return __builtin_mul_overflow(a, b, out); };

/// values == factor * atom, with one factor that is not 0.
std::optional<int64_t> factor_of(const Observed& atom, const Observed& values) {
  if (atom[0] == 0 || values[0] % atom[0] != 0) {
    return {};
  }
  const int64_t factor = values[0] / atom[0];
  const auto product = zip(atom, Observed(atom.size(), factor), kMul);
  return factor != 0 && product && *product == values ? std::optional<int64_t>(factor) : std::nullopt;
}

/// values == floor(atom / divisor), or the ceiling.
std::optional<int64_t> divisor_of(const Observed& atom, const Observed& values, bool is_ceiling) {
  for (int64_t divisor = 2; divisor <= kMaxDivisor; ++divisor) {
    bool fits = true;
    for (size_t i = 0; fits && i < atom.size(); ++i) {
      fits = atom[i] >= 0 && (atom[i] + (is_ceiling ? divisor - 1 : 0)) / divisor == values[i];
    }
    if (fits) {
      return divisor;
    }
  }
  return {};
}

/// values == floor(atom / divisor) + constant.
std::optional<std::pair<int64_t, int64_t>> quotient_of(const Observed& atom, const Observed& values) {
  for (int64_t divisor = 2; divisor <= kMaxDivisor; ++divisor) {
    int64_t constant = 0;
    bool fits = !__builtin_sub_overflow(values[0], atom[0] / divisor, &constant);
    bool differs = false;
    for (size_t i = 0; fits && i < atom.size(); ++i) {
      fits = atom[i] >= 0 && values[i] == atom[i] / divisor + constant;
      differs = differs || atom[i] / divisor != atom[0] / divisor;
    }
    if (fits && differs) {
      return std::pair(divisor, constant);
    }
  }
  return {};
}

/// values == factor * atom + constant.
std::optional<std::pair<int64_t, int64_t>> line_through(const Observed& atom, const Observed& values) {
  const auto other = std::find_if(atom.begin(), atom.end(), [&](int64_t value) { return value != atom[0]; });
  if (other == atom.end()) {
    return {};
  }
  const auto at = static_cast<size_t>(other - atom.begin());
  int64_t rise = 0, run = 0, product = 0, constant = 0;
  if (__builtin_sub_overflow(values[at], values[0], &rise) || __builtin_sub_overflow(atom[at], atom[0], &run) ||
      rise == 0 || rise % run != 0) {
    return {};
  }
  const int64_t factor = rise / run;
  if (__builtin_mul_overflow(factor, atom[0], &product) || __builtin_sub_overflow(values[0], product, &constant)) {
    return {};
  }
  for (size_t i = 0; i < atom.size(); ++i) {
    int64_t value = 0;
    if (__builtin_mul_overflow(factor, atom[i], &product) || __builtin_add_overflow(product, constant, &value) ||
        value != values[i]) {
      return {};
    }
  }
  return std::pair(factor, constant);
}

const char* function_of(SizeOp op) {
  switch (op) {
    case SizeOp::Add:
      return "add";
    case SizeOp::Sub:
      return "sub";
    case SizeOp::Mul:
      return "mul";
    default:
      return "floordiv";
  }
}

} // namespace

void SizeFit::add_symbol(const Observed& values, Dim symbol) {
  symbols_.push_back({values, symbol, {}, 0});
  known_.emplace(values, symbol);
}

void SizeFit::add_result(const Observed& values, fx::Value tensor, int64_t dim) {
  const bool is_known = known_.count(values) != 0 ||
      std::any_of(results_.begin(), results_.end(), [&](const Atom& atom) { return atom.values == values; });
  if (!is_known) {
    results_.push_back({values, Arg(), tensor, dim});
  }
}

Arg SizeFit::read(Atom& atom) {
  if (atom.arg.is_none()) {
    atom.arg = graph_.call_operator("aten::sym_size.int", {atom.tensor, atom.dim});
  }
  return atom.arg;
}

Arg SizeFit::combine(SizeOp op, const Arg& a, const Arg& b) {
  const auto dim_of = [](const Arg& arg) -> std::optional<Dim> {
    return arg.is_value() ? std::nullopt
                          : std::optional<Dim>(arg.is_constant() ? Dim(arg.constant().toInt()) : arg.size());
  };
  const auto x = dim_of(a), y = dim_of(b);
  if (x && y) {
    return graph_.sizes().make(op, *x, *y);
  }
  if (op == SizeOp::CeilDiv) {
    // As Python writes it: -(-a // b).
    const Arg negative = graph_.call_function("neg", {a});
    return graph_.call_function("neg", {graph_.call_function("floordiv", {negative, b})});
  }
  return graph_.call_function(function_of(op), {a, b});
}

Arg SizeFit::apply(Arg arg, const std::vector<Term>& terms) {
  for (const Term& term : terms) {
    arg = combine(term.op, arg, term.number);
  }
  return arg;
}

/// How the number follows from one size; no terms where it is the size.
std::optional<std::vector<SizeFit::Term>> SizeFit::of_one(const Observed& atom, const Observed& values) const {
  if (atom == values) {
    return std::vector<Term>();
  }
  if (const auto factor = factor_of(atom, values)) {
    return std::vector<Term>{{SizeOp::Mul, *factor}};
  }
  if (const auto divisor = divisor_of(atom, values, /*is_ceiling=*/false)) {
    return std::vector<Term>{{SizeOp::FloorDiv, *divisor}};
  }
  if (const auto divisor = divisor_of(atom, values, /*is_ceiling=*/true)) {
    return std::vector<Term>{{SizeOp::CeilDiv, *divisor}};
  }
  if (const auto line = line_through(atom, values)) {
    std::vector<Term> terms;
    if (line->first != 1) {
      terms.push_back({SizeOp::Mul, line->first});
    }
    terms.push_back({SizeOp::Add, line->second});
    return terms;
  }
  if (const auto quotient = quotient_of(atom, values)) {
    return std::vector<Term>{{SizeOp::FloorDiv, quotient->first}, {SizeOp::Add, quotient->second}};
  }
  return {};
}

std::optional<Arg> SizeFit::find_of_pairs(const Observed& values) {
  std::vector<Atom*> atoms;
  for (std::vector<Atom>* list : {&symbols_, &results_}) {
    for (auto atom = list->rbegin(); atom != list->rend() && atoms.size() < kMaxPaired; ++atom) {
      atoms.push_back(&*atom);
    }
  }
  for (size_t i = 0; i < atoms.size(); ++i) {
    for (size_t j = i; j < atoms.size(); ++j) {
      const Observed &a = atoms[i]->values, &b = atoms[j]->values;
      const auto product = zip(a, b, kMul);
      const auto factor = product ? factor_of(*product, values) : std::nullopt;
      const auto divisor = product && !factor ? divisor_of(*product, values, /*is_ceiling=*/false) : std::nullopt;
      if (factor || divisor) {
        const Arg made = combine(SizeOp::Mul, read(*atoms[i]), read(*atoms[j]));
        return factor ? combine(SizeOp::Mul, made, *factor) : combine(SizeOp::FloorDiv, made, *divisor);
      }
    }
  }
  for (const auto& [op, compute] :
       {std::pair(SizeOp::Add, std::function<bool(int64_t, int64_t, int64_t*)>(kAdd)),
        std::pair(SizeOp::Sub, std::function<bool(int64_t, int64_t, int64_t*)>(kSub))}) {
    for (size_t i = 0; i < atoms.size(); ++i) {
      for (size_t j = 0; j < atoms.size(); ++j) {
        const auto sum = i == j ? std::nullopt : zip(atoms[i]->values, atoms[j]->values, compute);
        if (!sum || are_equal(*sum)) {
          continue;
        }
        if (const auto factor = factor_of(*sum, values)) {
          return combine(SizeOp::Mul, combine(op, read(*atoms[i]), read(*atoms[j])), *factor);
        }
        const auto rest = zip(values, *sum, kSub);
        if (rest && are_equal(*rest)) {
          return combine(SizeOp::Add, combine(op, read(*atoms[i]), read(*atoms[j])), (*rest)[0]);
        }
      }
    }
  }
  return {};
}

std::optional<Arg> SizeFit::find_of_triples(const Observed& values) {
  std::vector<Atom*> atoms;
  for (std::vector<Atom>* list : {&symbols_, &results_}) {
    for (auto atom = list->rbegin(); atom != list->rend() && atoms.size() < kMaxPaired / 2; ++atom) {
      atoms.push_back(&*atom);
    }
  }
  for (size_t i = 0; i < atoms.size(); ++i) {
    for (size_t j = i; j < atoms.size(); ++j) {
      const auto pair = zip(atoms[i]->values, atoms[j]->values, kMul);
      for (size_t k = j; pair && k < atoms.size(); ++k) {
        const auto product = zip(*pair, atoms[k]->values, kMul);
        const auto factor = product ? factor_of(*product, values) : std::nullopt;
        if (factor) {
          const Arg first = combine(SizeOp::Mul, read(*atoms[i]), read(*atoms[j]));
          return combine(SizeOp::Mul, combine(SizeOp::Mul, first, read(*atoms[k])), *factor);
        }
      }
    }
  }
  return {};
}

std::optional<Arg> SizeFit::find(const Observed& values) {
  for (std::vector<Atom>* list : {&symbols_, &results_}) {
    // The last result first: a number is mostly about what came just before.
    for (auto atom = list->rbegin(); atom != list->rend(); ++atom) {
      if (atom->values == values) {
        return read(*atom);
      }
    }
  }
  for (std::vector<Atom>* list : {&symbols_, &results_}) {
    for (auto atom = list->rbegin(); atom != list->rend(); ++atom) {
      if (const auto terms = of_one(atom->values, values)) {
        return apply(read(*atom), *terms);
      }
    }
  }
  const auto found = find_of_pairs(values);
  return found ? found : find_of_triples(values);
}

std::optional<Arg> SizeFit::fit(const Observed& values) {
  if (are_equal(values)) {
    return Arg(values[0]);
  }
  const auto known = known_.find(values);
  if (known != known_.end()) {
    return known->second;
  }
  const auto found = find(values);
  if (found) {
    known_.emplace(values, *found);
  }
  return found;
}

std::optional<Dim> SizeFit::fit_size(const Observed& values) {
  if (are_equal(values)) {
    return Dim(values[0]);
  }
  const auto known = known_.find(values);
  if (known != known_.end()) {
    return known->second.kind() == Arg::Kind::Size ? std::optional<Dim>(known->second.size()) : std::nullopt;
  }
  std::vector<Atom> results;
  std::swap(results, results_);
  const auto found = find(values);
  std::swap(results, results_);
  if (!found) {
    return {};
  }
  known_.emplace(values, *found);
  return found->size();
}

std::optional<Arg> SizeFit::fit_double(const std::vector<double>& values) {
  const auto integers = [&](const auto& inverse, const auto& forward) -> std::optional<Observed> {
    Observed out;
    for (const double value : values) {
      const double number = std::nearbyint(inverse(value));
      if (!(std::abs(number) < 9e15) || forward(number) != value) {
        return {};
      }
      out.push_back(static_cast<int64_t>(number));
    }
    return out;
  };
  const auto floated = [&](const Observed& numbers) -> std::optional<Arg> {
    const auto arg = fit(numbers);
    return arg ? std::optional<Arg>(graph_.call_function("sym_float", {*arg})) : std::nullopt;
  };
  const auto same = [](double x) { return x; };
  const auto one_by = [](double x) { return 1.0 / x; };
  const auto square = [](double x) { return x * x; };
  const auto root = [](double x) { return std::sqrt(x); };
  if (const auto numbers = integers(same, same)) {
    return floated(*numbers);
  }
  if (const auto numbers = integers(one_by, one_by)) {
    const auto arg = floated(*numbers);
    return arg ? std::optional<Arg>(graph_.call_function("truediv", {1.0, *arg})) : std::nullopt;
  }
  if (const auto numbers = integers(square, root)) {
    const auto arg = floated(*numbers);
    return arg ? std::optional<Arg>(graph_.call_function("sym_sqrt", {*arg})) : std::nullopt;
  }
  const auto root_of_inverse = [&](double x) { return 1.0 / (x * x); };
  const auto inverse_of_root = [&](double x) { return 1.0 / std::sqrt(x); };
  if (const auto numbers = integers(root_of_inverse, inverse_of_root)) {
    const auto arg = floated(*numbers);
    return arg ? std::optional<Arg>(graph_.call_function("truediv", {1.0, graph_.call_function("sym_sqrt", {*arg})}))
               : std::nullopt;
  }
  return {};
}

} // namespace torch::capture
