// Recipes for floating-point numbers.
#include <csrc/compile/cpu/recipe_rules.h>

#include <aten/native/vec/normal_table.h>
#include <aten/native/vec/tanh_table.h>

#include <cstring>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace torch::fused::cpu {

namespace {
namespace floats {

using Body = MicroBody;

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
  return b.op(Micro::AndNot, b.sign_bit(), x);
}
uint32_t negate(Body& b, uint32_t x) {
  return b.op(Micro::Xor, x, b.sign_bit());
}
uint32_t copysign(Body& b, uint32_t x, uint32_t sign) {
  return b.op(Micro::Or, abs(b, x), b.op(Micro::And, sign, b.sign_bit()));
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

/// Words of a table of floats.
std::vector<uint32_t> words_of(const float* entries, size_t count) {
  std::vector<uint32_t> words(count);
  std::memcpy(words.data(), entries, count * sizeof(float));
  return words;
}
/// Entry (index mod 32) of a table.
uint32_t look_up(Body& b, uint32_t index, const float (&table)[32]) {
  const uint32_t low = b.constant(words_of(table, 16)), high = b.constant(words_of(table + 16, 16));
  return b.op(Micro::LookUpPair, index, low, high);
}
/// A polynomial whose coefficients are those of the piece.
template <size_t Terms>
uint32_t polynomial_of_piece(Body& b, uint32_t t, uint32_t piece, const float (&coefficients)[Terms][32]) {
  uint32_t y = look_up(b, piece, coefficients[Terms - 1]);
  for (size_t i = Terms - 1; i-- > 0;) {
    y = fma(b, y, t, look_up(b, piece, coefficients[i]));
  }
  return y;
}

/// Which of the ways of aten/native/vec/math.h: it has some for AVX-512 alone.
enum class Way : uint8_t { Avx2, Avx512 };

/// e^x from a table of powers of two and a short polynomial, as aten/native/vec/math.h has it.
template <Way W, bool IsNormal>
uint32_t exp_of(Body& b, uint32_t x) {
  const float powers[] = {1.0f, 1.0905077f, 1.1892071f, 1.2968396f, 1.4142135f, 1.5422108f, 1.6817929f, 1.8340081f};
  const uint32_t magic = b.number(1572864.0f);
  const uint32_t shifted = fma(b, x, b.number(1.44269504088896340736f), magic), n = sub(b, shifted, magic);
  const uint32_t r = fnma(b, n, b.number(0x1.7f7d1cp-20f), fnma(b, n, b.number(0x1.62e4p-1f), x));
  const uint32_t rest = fma(b, polynomial(b, r, {0.5f, 0.16666667f, 0.041666668f}), mul(b, r, r), r);
  const uint32_t fraction = b.op(Micro::LookUp, shifted, b.constant(words_of(powers, std::size(powers))));
  if constexpr (W == Way::Avx512) {
    return b.op(Micro::Scale, fma(b, fraction, rest, fraction), n);
  }
  const uint32_t field = b.constant({0xFF800000u});
  const uint32_t whole = b.op(Micro::And, b.op(Micro::ShiftLeft, shifted, 0, 0, 20), field);
  if constexpr (IsNormal) {
    const uint32_t first = b.op(Micro::AddInts, fraction, whole);
    return fma(b, first, rest, first);
  } else {
    const uint32_t half = b.op(Micro::And, b.op(Micro::ShiftLeft, shifted, 0, 0, 19), field);
    const uint32_t first = b.op(Micro::AddInts, fraction, b.op(Micro::SubInts, whole, half));
    return mul(b, fma(b, first, rest, first), b.op(Micro::AddInts, half, b.constant({0x3F800000u})));
  }
}
template <Way W>
uint32_t exp(Body& b, uint32_t x) {
  const uint32_t low = b.op(Micro::Min, b.number(89.0f), x);
  return exp_of<W, false>(b, b.op(Micro::Max, b.number(-104.0f), low));
}
template <Way W>
uint32_t logistic(Body& b, uint32_t x) {
  const uint32_t e = exp<W>(b, negate(b, abs(b, x))), one = b.number(1);
  return div(b, select(b, compare<Less>(b, x, b.number(0)), e, one), add(b, e, one));
}
template <Way W>
uint32_t tanh(Body& b, uint32_t x) {
  const uint32_t a = abs(b, x);
  if constexpr (W == Way::Avx512) {
    using namespace at::vec::detail;
    const uint32_t held = b.op(Micro::Min, b.number(15.99f), a);
    const uint32_t above = b.op(Micro::SubInts, b.op(Micro::ShiftRight, held, 0, 0, 21), b.integer(kTanhFirst));
    const uint32_t piece = b.op(Micro::MaxInts, above, b.integer(0));
    const uint32_t t = sub(b, held, look_up(b, piece, kTanhCenters));
    return copysign(b, polynomial_of_piece(b, t, piece, kTanhCoefficients), x);
  }
  const uint32_t z = mul(b, x, x);
  const uint32_t small =
      fma(b, mul(b, x, z), polynomial(b, z, {-0.33333328f, 0.13332583f, -0.053823758f, 0.02087346f, -0.005923726f}), x);
  const uint32_t e = exp_of<W, true>(b, b.op(Micro::Min, b.number(20.0f), add(b, a, a))), one = b.number(1);
  const uint32_t large = sub(b, one, div(b, b.number(2), add(b, e, one)));
  return copysign(b, select(b, compare<Less>(b, a, b.number(0.65f)), small, large), x);
}
/// Natural logarithm for AVX-512; compilers join the difference in its rest to a product in one way or the other.
template <bool JoinsFirst>
uint32_t log(Body& b, uint32_t x) {
  constexpr uint8_t kThreeQuartersToThreeHalves = 11; // NaN of negative numbers
  const uint32_t m = b.op(Micro::Mantissa, x, 0, 0, kThreeQuartersToThreeHalves);
  const uint32_t e = sub(b, b.op(Micro::Exponent, x), b.op(Micro::Exponent, m));
  const uint32_t f = sub(b, m, b.number(1)), ff = mul(b, f, f);
  const uint32_t q = polynomial(
      b, f,
      {0.3333333706f, -0.2500016633f, 0.1999984664f, -0.1665555129f, 0.1427044141f, -0.1271483476f, 0.1173681677f,
       -0.09254290693f, 0.03881617504f});
  const uint32_t cube = mul(b, f, ff), half = b.number(0.5f);
  const uint32_t rest =
      JoinsFirst ? b.op(Micro::MulSub, cube, q, mul(b, half, ff)) : fnma(b, half, ff, mul(b, cube, q));
  const uint32_t y = fma(b, e, b.number(0x1.7f7d1cp-20f), rest);
  return fma(b, e, b.number(0x1.62e4p-1f), add(b, f, y));
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
  const uint32_t large = b.op(Micro::Or, sub(b, b.number(1), tail), b.op(Micro::And, x, b.sign_bit()));
  const uint32_t small =
      fma(b, x,
          polynomial(
              b, mul(b, x, x),
              {0.1283791664f, -0.3761263172f, 0.1128366466f, -0.02685770518f, 0.005196888912f, -0.0008096477723f,
               8.178395868e-5f}),
          x);
  return select(b, compare<GreaterEqual>(b, a, b.number(0.92f)), large, small);
}

/// P(normal variable < x): 1/2 and x times a quotient of polynomials, or by pieces.
template <Way W>
uint32_t normal_cdf(Body& b, uint32_t x) {
  if constexpr (W == Way::Avx512) {
    using namespace at::vec::detail;
    const uint32_t held = b.op(Micro::Min, b.number(31 * kNormalStep), abs(b, x)), magic = b.number(0x1.8p23f);
    const uint32_t shifted = fma(b, held, b.number(1 / kNormalStep), magic);
    const uint32_t t = fnma(b, sub(b, shifted, magic), b.number(kNormalStep), held);
    const uint32_t y = polynomial_of_piece(b, t, shifted, kNormalCoefficients);
    return select(b, compare<Greater>(b, x, b.number(0)), sub(b, b.number(1), y), y);
  }
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
template <Way W>
uint32_t gelu_by_tanh(Body& b, uint32_t x, uint32_t inner) {
  const uint32_t y = tanh<W>(b, mul(b, inner, b.number(0.79788456080286535588f)));
  return mul(b, mul(b, x, b.number(0.5f)), add(b, y, b.number(1)));
}
template <Way W, bool JoinsCube>
uint32_t gelu_with_tanh(Body& b, uint32_t x) {
  const uint32_t square = mul(b, mul(b, x, b.number(0.044715f)), x);
  return gelu_by_tanh<W>(b, x, JoinsCube ? fma(b, square, x, x) : add(b, x, mul(b, square, x)));
}
template <Way W>
uint32_t gelu_backward(Body& b, uint32_t grad, uint32_t x) {
  const uint32_t square = mul(b, mul(b, x, b.number(-0.5f)), x);
  const uint32_t pdf = mul(b, exp<W>(b, square), b.number(0.39894228040143267794f));
  return mul(b, grad, fma(b, x, pdf, normal_cdf<W>(b, x)));
}
template <Way W>
uint32_t silu_backward(Body& b, uint32_t grad, uint32_t x) {
  const uint32_t s = logistic<W>(b, x), one = b.number(1);
  return mul(b, grad, mul(b, s, fma(b, x, sub(b, one, s), one)));
}

/// The greater; NaN where one is.
template <bool Greatest>
uint32_t extremum(Body& b, uint32_t x, uint32_t y) {
  const uint32_t chosen = Greatest ? compare<Greater>(b, y, x) : compare<Less>(b, y, x);
  return select(b, b.op(Micro::Or, chosen, compare<Unordered>(b, y, y)), y, x);
}

constexpr RecipeRule kRules[] = {
    {"aten::add",
     2,
     {[](Body& b, const uint32_t* x, const Parameters& f) {
        return f[0] == 1 ? add(b, x[0], x[1]) : fma(b, x[1], b.number(f[0]), x[0]);
      },
      [](Body& b, const uint32_t* x, const Parameters& f) { return add(b, x[0], mul(b, x[1], b.number(f[0]))); }}},
    {"aten::sub",
     2,
     {[](Body& b, const uint32_t* x, const Parameters& f) {
        return f[0] == 1 ? sub(b, x[0], x[1]) : fnma(b, x[1], b.number(f[0]), x[0]);
      },
      [](Body& b, const uint32_t* x, const Parameters& f) { return sub(b, x[0], mul(b, x[1], b.number(f[0]))); }}},
    {"aten::rsub",
     2,
     {[](Body& b, const uint32_t* x, const Parameters& f) {
        return f[0] == 1 ? sub(b, x[0], x[1]) : fnma(b, x[1], b.number(f[0]), x[0]);
      },
      [](Body& b, const uint32_t* x, const Parameters& f) { return sub(b, x[0], mul(b, x[1], b.number(f[0]))); }}},
    {"aten::mul", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return mul(b, x[0], x[1]); }}},
    {"aten::div", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return div(b, x[0], x[1]); }}},
    {"aten::neg", 1, {[](Body& b, const uint32_t* x, const Parameters&) { return negate(b, x[0]); }}},
    {"aten::abs", 1, {[](Body& b, const uint32_t* x, const Parameters&) { return abs(b, x[0]); }}},
    {"aten::square", 1, {[](Body& b, const uint32_t* x, const Parameters&) { return mul(b, x[0], x[0]); }}},
    {"aten::square", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return mul(b, x[0], x[0]); }}},
    {"aten::pow",
     2,
     {[](Body& b, const uint32_t* x, const Parameters&) { return mul(b, x[0], x[0]); },
      [](Body& b, const uint32_t* x, const Parameters&) { return mul(b, mul(b, x[0], x[0]), x[0]); },
      [](Body& b, const uint32_t* x, const Parameters&) { return b.op(Micro::Sqrt, x[0]); },
      [](Body& b, const uint32_t* x, const Parameters&) { return div(b, b.number(1), x[0]); }}},
    {"aten::sqrt", 1, {[](Body& b, const uint32_t* x, const Parameters&) { return b.op(Micro::Sqrt, x[0]); }}},
    {"aten::rsqrt", 1, {[](Body& b, const uint32_t* x, const Parameters&) {
       return div(b, b.number(1), b.op(Micro::Sqrt, x[0]));
     }}},
    {"aten::reciprocal", 1, {[](Body& b, const uint32_t* x, const Parameters&) { return div(b, b.number(1), x[0]); }}},
    {"aten::relu",
     1,
     {[](Body& b, const uint32_t* x, const Parameters&) { return b.op(Micro::Max, b.number(0), x[0]); },
      [](Body& b, const uint32_t* x, const Parameters&) {
        return b.op(Micro::AndNot, compare<Less>(b, x[0], b.number(0)), x[0]);
      }}},
    {"aten::threshold_backward", 2, {[](Body& b, const uint32_t* x, const Parameters& f) {
       return b.op(Micro::AndNot, compare<LessEqual>(b, x[0], b.number(f[0])), x[1]);
     }}},
    {"aten::leaky_relu", 1, {[](Body& b, const uint32_t* x, const Parameters& f) {
       return select(b, compare<Greater>(b, x[0], b.number(0)), x[0], mul(b, x[0], b.number(f[0])));
     }}},
    {"aten::leaky_relu_backward", 2, {[](Body& b, const uint32_t* x, const Parameters& f) {
       return select(b, compare<Greater>(b, x[0], b.number(0)), x[1], mul(b, x[1], b.number(f[0])));
     }}},
    {"aten::maximum", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return extremum<true>(b, x[0], x[1]); }}},
    {"aten::minimum", 2, {[](Body& b, const uint32_t* x, const Parameters&) {
       return extremum<false>(b, x[0], x[1]);
     }}},
    {"aten::clamp_min", 2, {[](Body& b, const uint32_t* x, const Parameters&) {
       return extremum<true>(b, x[0], x[1]);
     }}},
    {"aten::clamp_max", 2, {[](Body& b, const uint32_t* x, const Parameters&) {
       return extremum<false>(b, x[0], x[1]);
     }}},
    {"aten::clamp", 3, {[](Body& b, const uint32_t* x, const Parameters&) {
       return extremum<false>(b, extremum<true>(b, x[0], x[1]), x[2]);
     }}},
    {"aten::tanh_backward",
     2,
     {[](Body& b, const uint32_t* x, const Parameters&) { return mul(b, x[0], fnma(b, x[1], x[1], b.number(1))); },
      [](Body& b, const uint32_t* x, const Parameters&) {
        return mul(b, x[0], sub(b, b.number(1), mul(b, x[1], x[1])));
      }}},
    {"aten::sigmoid_backward",
     2,
     {[](Body& b, const uint32_t* x, const Parameters&) {
        return mul(b, mul(b, x[0], sub(b, b.number(1), x[1])), x[1]);
      },
      [](Body& b, const uint32_t* x, const Parameters&) {
        return mul(b, x[0], mul(b, sub(b, b.number(1), x[1]), x[1]));
      }}},
    {"aten::addcmul",
     3,
     {[](Body& b, const uint32_t* x, const Parameters& f) {
        return f[0] == 1 ? fma(b, x[1], x[2], x[0]) : fma(b, mul(b, x[1], b.number(f[0])), x[2], x[0]);
      },
      [](Body& b, const uint32_t* x, const Parameters& f) {
        return add(b, x[0], mul(b, mul(b, x[1], b.number(f[0])), x[2]));
      }}},
    {"aten::addcdiv",
     3,
     {[](Body& b, const uint32_t* x, const Parameters& f) {
        return add(b, x[0], div(b, mul(b, x[1], b.number(f[0])), x[2]));
      },
      [](Body& b, const uint32_t* x, const Parameters& f) {
        return fma(b, div(b, x[1], x[2]), b.number(f[0]), x[0]);
      }}},
    {"aten::eq", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return compare<Equal>(b, x[0], x[1]); }}},
    {"aten::ne", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return compare<NotEqual>(b, x[0], x[1]); }}},
    {"aten::lt", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return compare<Less>(b, x[0], x[1]); }}},
    {"aten::le", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return compare<LessEqual>(b, x[0], x[1]); }}},
    {"aten::gt", 2, {[](Body& b, const uint32_t* x, const Parameters&) { return compare<Greater>(b, x[0], x[1]); }}},
    {"aten::ge", 2, {[](Body& b, const uint32_t* x, const Parameters&) {
       return compare<GreaterEqual>(b, x[0], x[1]);
     }}},
    {"aten::where", 3, {[](Body& b, const uint32_t* x, const Parameters&) { return select(b, x[0], x[1], x[2]); }}},
    {"aten::masked_fill",
     3,
     {[](Body& b, const uint32_t* x, const Parameters&) { return select(b, x[1], x[2], x[0]); },
      [](Body& b, const uint32_t* x, const Parameters&) { return select(b, x[0], x[1], x[2]); },
      [](Body& b, const uint32_t* x, const Parameters&) { return select(b, x[0], x[2], x[1]); }}},
    {"aten::logical_not", 1, {[](Body& b, const uint32_t* x, const Parameters&) {
       return compare<Equal>(b, x[0], b.number(0));
     }}},
    {"aten::logical_and", 2, {[](Body& b, const uint32_t* x, const Parameters&) {
       return b.op(Micro::And, compare<NotEqual>(b, x[0], b.number(0)), compare<NotEqual>(b, x[1], b.number(0)));
     }}},
    {"aten::logical_or", 2, {[](Body& b, const uint32_t* x, const Parameters&) {
       return b.op(Micro::Or, compare<NotEqual>(b, x[0], b.number(0)), compare<NotEqual>(b, x[1], b.number(0)));
     }}},
    {"aten::floor", 1, {[](Body& b, const uint32_t* x, const Parameters&) {
       return b.op(Micro::Round, x[0], 0, 0, 9);
     }}},
    {"aten::ceil", 1, {[](Body& b, const uint32_t* x, const Parameters&) {
       return b.op(Micro::Round, x[0], 0, 0, 10);
     }}},
    {"aten::trunc", 1, {[](Body& b, const uint32_t* x, const Parameters&) {
       return b.op(Micro::Round, x[0], 0, 0, 11);
     }}},
    {"aten::round", 1, {[](Body& b, const uint32_t* x, const Parameters&) {
       return b.op(Micro::Round, x[0], 0, 0, 8);
     }}},
};

/// A function of one argument, or of two, as a recipe.
template <uint32_t (*F)(Body&, uint32_t)>
uint32_t unary(Body& b, const uint32_t* x, const Parameters&) {
  return F(b, x[0]);
}
template <uint32_t (*F)(Body&, uint32_t, uint32_t)>
uint32_t binary(Body& b, const uint32_t* x, const Parameters&) {
  return F(b, x[0], x[1]);
}
template <Way W>
uint32_t silu(Body& b, uint32_t x) {
  return mul(b, x, logistic<W>(b, x));
}
template <Way W>
uint32_t gelu(Body& b, uint32_t x) {
  return mul(b, x, normal_cdf<W>(b, x));
}

/// Of floats alone: of doubles other polynomials are used. Those for AVX-512 come first: AVX2 has no code for them.
constexpr RecipeRule kFloatRules[] = {
    {"aten::exp", 1, {unary<exp<Way::Avx512>>, unary<exp<Way::Avx2>>}},
    {"aten::log", 1, {unary<log<true>>, unary<log<false>>}},
    {"aten::sigmoid", 1, {unary<logistic<Way::Avx512>>, unary<logistic<Way::Avx2>>}},
    {"aten::silu", 1, {unary<silu<Way::Avx512>>, unary<silu<Way::Avx2>>}},
    {"aten::tanh", 1, {unary<tanh<Way::Avx512>>, unary<tanh<Way::Avx2>>}},
    {"aten::erf", 1, {unary<erf>}},
    {"aten::gelu",
     1,
     {unary<gelu<Way::Avx512>>, unary<gelu<Way::Avx2>>, unary<gelu_with_tanh<Way::Avx512, false>>,
      unary<gelu_with_tanh<Way::Avx512, true>>, unary<gelu_with_tanh<Way::Avx2, false>>,
      unary<gelu_with_tanh<Way::Avx2, true>>}},
    {"aten::gelu_backward", 2, {binary<gelu_backward<Way::Avx512>>, binary<gelu_backward<Way::Avx2>>}},
    {"aten::silu_backward", 2, {binary<silu_backward<Way::Avx512>>, binary<silu_backward<Way::Avx2>>}},
};

} // namespace floats
} // namespace

RecipeRules arithmetic_rules() {
  return {std::begin(floats::kRules), std::end(floats::kRules)};
}

RecipeRules float_rules() {
  return {std::begin(floats::kFloatRules), std::end(floats::kFloatRules)};
}

} // namespace torch::fused::cpu
