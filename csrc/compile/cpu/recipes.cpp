#include <csrc/compile/cpu/recipes.h>

#include <csrc/compile/cpu/code_memory.h>
#include <csrc/compile/cpu/loop_code.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace torch::fused::cpu {

namespace {

using Body = MicroBody;

constexpr uint32_t kSign = 0x80000000u;

/// Predicates of comparisons.
enum Predicate : uint8_t {
  Equal = 0,
  Less = 17,
  LessEqual = 18,
  Unordered = 3,
  NotEqual = 4,
  GreaterEqual = 29,
  Greater = 30
};

uint32_t add(Body& b, uint32_t x, uint32_t y) {
  return b.op(Micro::Add, x, y);
}
uint32_t sub(Body& b, uint32_t x, uint32_t y) {
  return b.op(Micro::Sub, x, y);
}
uint32_t mul(Body& b, uint32_t x, uint32_t y) {
  return b.op(Micro::Mul, x, y);
}
uint32_t div(Body& b, uint32_t x, uint32_t y) {
  return b.op(Micro::Div, x, y);
}
/// x * y + z
uint32_t fma(Body& b, uint32_t x, uint32_t y, uint32_t z) {
  return b.op(Micro::MulAdd, x, y, z);
}
/// z - x * y
uint32_t fnma(Body& b, uint32_t x, uint32_t y, uint32_t z) {
  return b.op(Micro::NegMulAdd, x, y, z);
}
template <Predicate P>
uint32_t compare(Body& b, uint32_t x, uint32_t y) {
  return b.op(Micro::Compare, x, y, 0, P);
}
uint32_t select(Body& b, uint32_t mask, uint32_t x, uint32_t y) {
  return b.op(Micro::Blend, x, y, mask);
}
uint32_t abs(Body& b, uint32_t x) {
  return b.op(Micro::And, x, b.bits(~kSign));
}
uint32_t negate(Body& b, uint32_t x) {
  return b.op(Micro::Xor, x, b.bits(kSign));
}
uint32_t copysign(Body& b, uint32_t x, uint32_t sign) {
  return b.op(Micro::Or, abs(b, x), b.op(Micro::And, sign, b.bits(kSign)));
}
/// c0 + c1 x + ...
uint32_t polynomial(Body& b, uint32_t x, std::initializer_list<float> coefficients) {
  const float* const c = coefficients.begin();
  uint32_t y = b.number(c[coefficients.size() - 1]);
  for (size_t i = coefficients.size() - 1; i-- > 0;) {
    y = fma(b, y, x, b.number(c[i]));
  }
  return y;
}
uint32_t polynomial_by_pairs(Body& b, uint32_t x, std::initializer_list<float> coefficients) {
  std::vector<uint32_t> terms;
  for (const float c : coefficients) {
    terms.push_back(b.number(c));
  }
  for (; terms.size() > 1; x = mul(b, x, x)) {
    std::vector<uint32_t> joined;
    for (size_t i = 0; i < terms.size(); i += 2) {
      joined.push_back(i + 1 < terms.size() ? fma(b, terms[i + 1], x, terms[i]) : terms[i]);
    }
    terms = std::move(joined);
  }
  return terms[0];
}

/// e^x from a table of powers of two and a short polynomial, as aten/native/vec/math.h has it for AVX2.
template <bool IsNormal>
uint32_t exp_of(Body& b, uint32_t x) {
  static const std::vector<uint32_t> kPowers = [] {
    const float powers[] = {1.0f, 1.0905077f, 1.1892071f, 1.2968396f, 1.4142135f, 1.5422108f, 1.6817929f, 1.8340081f};
    std::vector<uint32_t> words(8);
    std::memcpy(words.data(), powers, sizeof(powers));
    return words;
  }();
  const uint32_t magic = b.number(1572864.0f);
  const uint32_t shifted = fma(b, x, b.number(1.44269504088896340736f), magic), n = sub(b, shifted, magic);
  const uint32_t r = fnma(b, n, b.number(0x1.7f7d1cp-20f), fnma(b, n, b.number(0x1.62e4p-1f), x));
  const uint32_t rest = fma(b, polynomial(b, r, {0.5f, 0.16666667f, 0.041666668f}), mul(b, r, r), r);
  const uint32_t fraction = b.op(Micro::LookUp, shifted, b.constant(kPowers)), field = b.bits(0xFF800000u);
  uint32_t whole = b.op(Micro::And, b.op(Micro::ShiftLeft, shifted, 0, 0, 20), field);
  if constexpr (IsNormal) {
    const uint32_t first = b.op(Micro::AddInts, fraction, whole);
    return fma(b, first, rest, first);
  } else {
    const uint32_t half = b.op(Micro::And, b.op(Micro::ShiftLeft, shifted, 0, 0, 19), field);
    const uint32_t first = b.op(Micro::AddInts, fraction, b.op(Micro::SubInts, whole, half));
    return mul(b, fma(b, first, rest, first), b.op(Micro::AddInts, half, b.bits(0x3F800000u)));
  }
}
uint32_t exp(Body& b, uint32_t x) {
  const uint32_t low = b.op(Micro::Min, b.number(89.0f), x);
  return exp_of<false>(b, b.op(Micro::Max, b.number(-104.0f), low));
}
uint32_t logistic(Body& b, uint32_t x) {
  const uint32_t e = exp(b, negate(b, abs(b, x))), one = b.number(1);
  return div(b, select(b, compare<Less>(b, x, b.number(0)), e, one), add(b, e, one));
}
uint32_t tanh(Body& b, uint32_t x) {
  const uint32_t a = abs(b, x), z = mul(b, x, x);
  const uint32_t small =
      fma(b, mul(b, x, z), polynomial(b, z, {-0.33333328f, 0.13332583f, -0.053823758f, 0.02087346f, -0.005923726f}), x);
  const uint32_t e = exp_of<true>(b, b.op(Micro::Min, b.number(20.0f), add(b, a, a))), one = b.number(1);
  const uint32_t large = sub(b, one, div(b, b.number(2), add(b, e, one)));
  return copysign(b, select(b, compare<Less>(b, a, b.number(0.65f)), small, large), x);
}
uint32_t erf(Body& b, uint32_t x) {
  const uint32_t a = abs(b, x);
  const uint32_t p = polynomial_by_pairs(
      b, b.op(Micro::Min, b.number(4), a),
      {-0.000282300665f, -1.62689209f, -0.919259667f, -0.149941593f, 0.0320666656f, -0.00439043436f, 0.000282677647f});
  const uint32_t magic = b.number(0x1.8p23f), shifted = add(b, p, magic);
  const uint32_t power = polynomial_by_pairs(
      b, sub(b, p, sub(b, shifted, magic)),
      {1.0f, 0.693147182f, 0.240226462f, 0.0555032864f, 0.00961848907f, 0.00133999309f, 0.000153458124f});
  const uint32_t tail = b.op(Micro::AddInts, power, b.op(Micro::ShiftLeft, shifted, 0, 0, 23));
  const uint32_t large = b.op(Micro::Or, sub(b, b.number(1), tail), b.op(Micro::And, x, b.bits(kSign)));
  const uint32_t small =
      fma(b, x,
          polynomial(
              b, mul(b, x, x),
              {0.1283791664f, -0.3761263172f, 0.1128366466f, -0.02685770518f, 0.005196888912f, -0.0008096477723f,
               8.178395868e-5f}),
          x);
  return select(b, compare<GreaterEqual>(b, a, b.number(0.92f)), large, small);
}

/// P(normal variable < x): 1/2 and x times a quotient of polynomials.
uint32_t normal_cdf(Body& b, uint32_t x) {
  const uint32_t held = b.op(Micro::Min, b.number(5.65f), b.op(Micro::Max, b.number(-5.65f), x)),
                 t = mul(b, held, held);
  const uint32_t p = polynomial(
      b, t, {0.398942275f, 0.0332031534f, 0.00463770711f, 0.000162223246f, 6.31048816e-06f, 2.32964546e-08f});
  const uint32_t q =
      polynomial(b, t, {1.0f, 0.249894409f, 0.0282746602f, 0.00184730428f, 7.15421588e-05f, 1.21030612e-06f});
  const uint32_t y = add(b, div(b, mul(b, held, p), q), b.number(0.5f));
  return b.op(Micro::Min, b.number(1), b.op(Micro::Max, b.number(0), y));
}
/// x / 2 (1 + tanh(sqrt(2 / pi) inner))
uint32_t gelu_by_tanh(Body& b, uint32_t x, uint32_t inner) {
  const uint32_t y = tanh(b, mul(b, inner, b.number(0.79788456080286535588f)));
  return mul(b, mul(b, x, b.number(0.5f)), add(b, y, b.number(1)));
}

/// The greater; NaN where one is.
template <bool Greatest>
uint32_t extremum(Body& b, uint32_t x, uint32_t y) {
  const uint32_t chosen = Greatest ? compare<Greater>(b, y, x) : compare<Less>(b, y, x);
  return select(b, b.op(Micro::Or, chosen, compare<Unordered>(b, y, y)), y, x);
}

/// What there is for an operator.
struct Rule {
  std::string_view op; // without its overload
  size_t num_args;
  std::array<Recipe, 4> recipes;
};

constexpr Rule kRules[] = {
    {"aten::add",
     2,
     {[](Body& b, const uint32_t* x, const float* f) {
        return f[0] == 1 ? add(b, x[0], x[1]) : fma(b, x[1], b.number(f[0]), x[0]);
      },
      [](Body& b, const uint32_t* x, const float* f) { return add(b, x[0], mul(b, x[1], b.number(f[0]))); }}},
    {"aten::sub",
     2,
     {[](Body& b, const uint32_t* x, const float* f) {
        return f[0] == 1 ? sub(b, x[0], x[1]) : fnma(b, x[1], b.number(f[0]), x[0]);
      },
      [](Body& b, const uint32_t* x, const float* f) { return sub(b, x[0], mul(b, x[1], b.number(f[0]))); }}},
    {"aten::rsub",
     2,
     {[](Body& b, const uint32_t* x, const float* f) {
        return f[0] == 1 ? sub(b, x[0], x[1]) : fnma(b, x[1], b.number(f[0]), x[0]);
      },
      [](Body& b, const uint32_t* x, const float* f) { return sub(b, x[0], mul(b, x[1], b.number(f[0]))); }}},
    {"aten::mul", 2, {[](Body& b, const uint32_t* x, const float*) { return mul(b, x[0], x[1]); }}},
    {"aten::div", 2, {[](Body& b, const uint32_t* x, const float*) { return div(b, x[0], x[1]); }}},
    {"aten::neg", 1, {[](Body& b, const uint32_t* x, const float*) { return negate(b, x[0]); }}},
    {"aten::abs", 1, {[](Body& b, const uint32_t* x, const float*) { return abs(b, x[0]); }}},
    {"aten::square", 1, {[](Body& b, const uint32_t* x, const float*) { return mul(b, x[0], x[0]); }}},
    {"aten::square", 2, {[](Body& b, const uint32_t* x, const float*) { return mul(b, x[0], x[0]); }}},
    {"aten::pow",
     2,
     {[](Body& b, const uint32_t* x, const float*) { return mul(b, x[0], x[0]); },
      [](Body& b, const uint32_t* x, const float*) { return mul(b, mul(b, x[0], x[0]), x[0]); },
      [](Body& b, const uint32_t* x, const float*) { return b.op(Micro::Sqrt, x[0]); },
      [](Body& b, const uint32_t* x, const float*) { return div(b, b.number(1), x[0]); }}},
    {"aten::sqrt", 1, {[](Body& b, const uint32_t* x, const float*) { return b.op(Micro::Sqrt, x[0]); }}},
    {"aten::rsqrt", 1, {[](Body& b, const uint32_t* x, const float*) {
       return div(b, b.number(1), b.op(Micro::Sqrt, x[0]));
     }}},
    {"aten::reciprocal", 1, {[](Body& b, const uint32_t* x, const float*) { return div(b, b.number(1), x[0]); }}},
    {"aten::relu",
     1,
     {[](Body& b, const uint32_t* x, const float*) { return b.op(Micro::Max, b.number(0), x[0]); },
      [](Body& b, const uint32_t* x, const float*) {
        return b.op(Micro::AndNot, compare<Less>(b, x[0], b.number(0)), x[0]);
      }}},
    {"aten::threshold_backward", 2, {[](Body& b, const uint32_t* x, const float* f) {
       return b.op(Micro::AndNot, compare<LessEqual>(b, x[0], b.number(f[0])), x[1]);
     }}},
    {"aten::leaky_relu", 1, {[](Body& b, const uint32_t* x, const float* f) {
       return select(b, compare<Greater>(b, x[0], b.number(0)), x[0], mul(b, x[0], b.number(f[0])));
     }}},
    {"aten::leaky_relu_backward", 2, {[](Body& b, const uint32_t* x, const float* f) {
       return select(b, compare<Greater>(b, x[0], b.number(0)), x[1], mul(b, x[1], b.number(f[0])));
     }}},
    {"aten::maximum", 2, {[](Body& b, const uint32_t* x, const float*) { return extremum<true>(b, x[0], x[1]); }}},
    {"aten::minimum", 2, {[](Body& b, const uint32_t* x, const float*) { return extremum<false>(b, x[0], x[1]); }}},
    {"aten::clamp_min", 2, {[](Body& b, const uint32_t* x, const float*) { return extremum<true>(b, x[0], x[1]); }}},
    {"aten::clamp_max", 2, {[](Body& b, const uint32_t* x, const float*) { return extremum<false>(b, x[0], x[1]); }}},
    {"aten::clamp", 3, {[](Body& b, const uint32_t* x, const float*) {
       return extremum<false>(b, extremum<true>(b, x[0], x[1]), x[2]);
     }}},
    {"aten::tanh_backward",
     2,
     {[](Body& b, const uint32_t* x, const float*) { return mul(b, x[0], fnma(b, x[1], x[1], b.number(1))); },
      [](Body& b, const uint32_t* x, const float*) { return mul(b, x[0], sub(b, b.number(1), mul(b, x[1], x[1]))); }}},
    {"aten::sigmoid_backward",
     2,
     {[](Body& b, const uint32_t* x, const float*) { return mul(b, mul(b, x[0], sub(b, b.number(1), x[1])), x[1]); },
      [](Body& b, const uint32_t* x, const float*) { return mul(b, x[0], mul(b, sub(b, b.number(1), x[1]), x[1])); }}},
    {"aten::addcmul",
     3,
     {[](Body& b, const uint32_t* x, const float* f) {
        return f[0] == 1 ? fma(b, x[1], x[2], x[0]) : fma(b, mul(b, x[1], b.number(f[0])), x[2], x[0]);
      },
      [](Body& b, const uint32_t* x, const float* f) {
        return add(b, x[0], mul(b, mul(b, x[1], b.number(f[0])), x[2]));
      }}},
    {"aten::addcdiv",
     3,
     {[](Body& b, const uint32_t* x, const float* f) {
        return add(b, x[0], div(b, mul(b, x[1], b.number(f[0])), x[2]));
      },
      [](Body& b, const uint32_t* x, const float* f) { return fma(b, div(b, x[1], x[2]), b.number(f[0]), x[0]); }}},
    {"aten::eq", 2, {[](Body& b, const uint32_t* x, const float*) { return compare<Equal>(b, x[0], x[1]); }}},
    {"aten::ne", 2, {[](Body& b, const uint32_t* x, const float*) { return compare<NotEqual>(b, x[0], x[1]); }}},
    {"aten::lt", 2, {[](Body& b, const uint32_t* x, const float*) { return compare<Less>(b, x[0], x[1]); }}},
    {"aten::le", 2, {[](Body& b, const uint32_t* x, const float*) { return compare<LessEqual>(b, x[0], x[1]); }}},
    {"aten::gt", 2, {[](Body& b, const uint32_t* x, const float*) { return compare<Greater>(b, x[0], x[1]); }}},
    {"aten::ge", 2, {[](Body& b, const uint32_t* x, const float*) { return compare<GreaterEqual>(b, x[0], x[1]); }}},
    {"aten::exp", 1, {[](Body& b, const uint32_t* x, const float*) { return exp(b, x[0]); }}},
    {"aten::sigmoid", 1, {[](Body& b, const uint32_t* x, const float*) { return logistic(b, x[0]); }}},
    {"aten::silu", 1, {[](Body& b, const uint32_t* x, const float*) { return mul(b, x[0], logistic(b, x[0])); }}},
    {"aten::tanh", 1, {[](Body& b, const uint32_t* x, const float*) { return tanh(b, x[0]); }}},
    {"aten::erf", 1, {[](Body& b, const uint32_t* x, const float*) { return erf(b, x[0]); }}},
    {"aten::gelu",
     1,
     {[](Body& b, const uint32_t* x, const float*) { return mul(b, x[0], normal_cdf(b, x[0])); },
      [](Body& b, const uint32_t* x, const float*) {
        const uint32_t cube = mul(b, mul(b, mul(b, x[0], b.number(0.044715f)), x[0]), x[0]);
        return gelu_by_tanh(b, x[0], add(b, x[0], cube));
      },
      [](Body& b, const uint32_t* x, const float*) {
        const uint32_t square = mul(b, mul(b, x[0], b.number(0.044715f)), x[0]);
        return gelu_by_tanh(b, x[0], fma(b, square, x[0], x[0]));
      }}},
    {"aten::gelu_backward", 2, {[](Body& b, const uint32_t* x, const float*) {
       const uint32_t square = mul(b, mul(b, x[1], b.number(-0.5f)), x[1]);
       const uint32_t pdf = mul(b, exp(b, square), b.number(0.39894228040143267794f));
       return mul(b, x[0], fma(b, x[1], pdf, normal_cdf(b, x[1])));
     }}},
    {"aten::silu_backward", 2, {[](Body& b, const uint32_t* x, const float*) {
       const uint32_t s = logistic(b, x[1]), one = b.number(1);
       return mul(b, x[0], mul(b, s, fma(b, x[1], sub(b, one, s), one)));
     }}},
};

/// Numbers that tell arrangements apart, the argument `which` of several.
std::vector<float> trial_numbers(size_t which, size_t count) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kLeast = std::numeric_limits<float>::denorm_min();
  const float special[] = {0.0f,   -0.0f,   1,     -1,     kInf,   -kInf, std::nanf(""),
                           kLeast, -kLeast, 3e38f, -3e38f, 1e-38f, 2,     0.5f};
  std::mt19937 random(static_cast<uint32_t>(17 + which));
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    const float spread = i % 7 == 0 ? 50.0f : i % 7 == 1 ? 5.0f : 1.0f;
    numbers[i] = random() % 4 == 0 ? special[random() % std::size(special)] : normal(random) * spread;
  }
  return numbers;
}

/// Whether an argument decides on what the kernel does.
bool depends_on_constants(const Inst& inst) {
  return inst.name.rfind("aten::pow", 0) == 0 || inst.name.rfind("aten::square", 0) == 0;
}

/// Whether a recipe gives what the kernel gives.
bool gives_the_same(const Inst& inst, const std::vector<const Inst*>& sources, Recipe recipe) {
  constexpr size_t kCount = 1003;
  const size_t num_args = inst.args.size();
  const bool is_mask = inst.dtype == c10::ScalarType::Bool;
  Body body;
  std::vector<uint32_t> args;
  for (size_t i = 0; i < num_args; ++i) {
    args.push_back(body.load(static_cast<uint16_t>(i)));
  }
  body.store(
      static_cast<uint16_t>(num_args), recipe(body, args.data(), reinterpret_cast<const float*>(inst.functor.data())),
      is_mask);
  const LoopCode code = code_for(body.insts(), static_cast<uint16_t>(num_args + 1));
  if (!code) {
    return false;
  }
  std::vector<std::vector<float>> inputs;
  std::vector<char*> operands;
  std::vector<const char*> pointers;
  for (size_t i = 0; i < num_args; ++i) {
    inputs.push_back(trial_numbers(i, kCount));
    if (depends_on_constants(inst) && sources[i]->kind == InstKind::Constant) {
      std::fill(inputs.back().begin(), inputs.back().end(), *reinterpret_cast<const float*>(sources[i]->value.data()));
    }
  }
  for (auto& input : inputs) {
    operands.push_back(reinterpret_cast<char*>(input.data()));
    pointers.push_back(operands.back());
  }
  std::vector<float> wanted(kCount), got(kCount);
  inst.kernel({inst.functor.data(), inst.wide_inputs}, reinterpret_cast<char*>(wanted.data()), pointers.data(), kCount);
  operands.push_back(reinterpret_cast<char*>(got.data()));
  code(operands.data(), kCount);
  if (is_mask) {
    return std::memcmp(got.data(), wanted.data(), kCount) == 0;
  }
  for (size_t i = 0; i < kCount; ++i) {
    const bool are_nan = std::isnan(got[i]) && std::isnan(wanted[i]);
    if (!are_nan && std::memcmp(&got[i], &wanted[i], sizeof(float)) != 0) {
      return false;
    }
  }
  return true;
}

} // namespace

Recipe find_recipe(const Inst& inst, const std::vector<const Inst*>& sources) {
  using Key = std::tuple<at::native::BlockKernel, std::array<char, kFunctorBytes>, std::string, std::vector<float>>;
  static std::mutex mutex;
  static auto* const known = new std::map<Key, Recipe>(); // is used until the process ends
  const std::string op = inst.name.substr(0, inst.name.find('.'));
  Key key{inst.kernel, inst.functor, op, {}};
  for (const Inst* source : sources) {
    if (depends_on_constants(inst) && source->kind == InstKind::Constant) {
      std::get<3>(key).push_back(*reinterpret_cast<const float*>(source->value.data()));
    }
  }
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = known->find(key);
    if (found != known->end()) {
      return found->second;
    }
  }
  Recipe chosen = nullptr;
  for (const Rule& rule : kRules) {
    if (rule.op != op || rule.num_args != inst.args.size()) {
      continue;
    }
    for (const Recipe recipe : rule.recipes) {
      if (recipe && !chosen && gives_the_same(inst, sources, recipe)) {
        chosen = recipe;
      }
    }
  }
  constexpr size_t kMostKnown = 16384;
  const std::lock_guard<std::mutex> lock(mutex);
  if (known->size() >= kMostKnown) {
    known->clear();
  }
  (*known)[key] = chosen;
  return chosen;
}

} // namespace torch::fused::cpu
