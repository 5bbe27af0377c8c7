// Accuracy of aten/native/vec/math.h against long double libm. Compiled for the baseline instruction set here; define
// CPU_CAPABILITY and pass -march to measure another one.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/native/vec/trigonometry.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace at::vec;

namespace {

constexpr double kWrong = 1e9;

// Distance in units of the last place of T at the wanted value.
template <class T>
double ulp(T got, long double want) {
  if (std::isnan(want)) {
    return std::isnan(got) ? 0 : kWrong;
  }
  if (std::isnan(got)) {
    return kWrong;
  }
  const T rounded = static_cast<T>(want);
  if (std::isinf(got) || std::isinf(rounded)) {
    const bool near_limit = std::fabs(want) >= static_cast<long double>(std::numeric_limits<T>::max());
    return got == rounded || near_limit ? 0 : kWrong;
  }
  const T size = std::fabs(rounded);
  const long double unit = size < std::numeric_limits<T>::min()
      ? static_cast<long double>(std::numeric_limits<T>::denorm_min())
      : static_cast<long double>(std::nextafter(size, std::numeric_limits<T>::infinity())) - size;
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

template <class F, class R>
double worst_over_floats(F f, R reference) {
  constexpr int N = Vec<float>::size();
  double worst = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 40009 * N) {
    float in[N], out[N];
    for (int i = 0; i < N; ++i) {
      const auto lane = static_cast<uint32_t>(bits + static_cast<uint64_t>(i) * 40009);
      std::memcpy(&in[i], &lane, sizeof(lane));
    }
    f(Vec<float>::load(in)).store(out);
    for (int i = 0; i < N; ++i) {
      worst = std::max(worst, ulp(out[i], reference(static_cast<long double>(in[i]))));
    }
  }
  return worst;
}

template <class R>
double worst_over_tensor(at::Tensor (*f)(const at::Tensor&), R reference, float lowest = -INFINITY) {
  std::vector<float> in;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4003) {
    const auto lane = static_cast<uint32_t>(bits);
    float x;
    std::memcpy(&x, &lane, sizeof(x));
    if (!(x < lowest)) {
      in.push_back(x);
    }
  }
  const at::Tensor out = f(at::from_blob(in.data(), {static_cast<int64_t>(in.size())}, at::kFloat));
  double worst = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    worst = std::max(worst, ulp(out.const_data_ptr<float>()[i], reference(static_cast<long double>(in[i]))));
  }
  return worst;
}

template <class F, class R>
double worst_over_doubles(F f, R reference, double low, double high) {
  constexpr int N = Vec<double>::size();
  std::mt19937_64 bits(1);
  std::uniform_real_distribution<double> range(low, high);
  double worst = 0;
  for (int round = 0; round < 20000; ++round) {
    double in[N], out[N];
    for (int i = 0; i < N; ++i) {
      const uint64_t lane = bits();
      in[i] = range(bits);
      if (round % 4 == 0) {
        std::memcpy(&in[i], &lane, sizeof(lane));
      }
    }
    f(Vec<double>::load(in)).store(out);
    for (int i = 0; i < N; ++i) {
      worst = std::max(worst, ulp(out[i], reference(static_cast<long double>(in[i]))));
    }
  }
  return worst;
}

#define LANES(function) [](auto x) { return function(x); }
#define EXACT(function) [](long double x) { return function(x); }

} // namespace

TEST_CASE("float functions are accurate over all floats", "[vec]") {
  CHECK(worst_over_floats(LANES(exp), EXACT(expl)) < 1.1);
  CHECK(worst_over_floats(LANES(exp2), EXACT(exp2l)) < 1.1);
  CHECK(worst_over_floats(LANES(expm1), EXACT(expm1l)) < 1.7);
  CHECK(worst_over_floats(LANES(log), EXACT(logl)) < 0.8);
  CHECK(worst_over_floats(LANES(log1p), EXACT(log1pl)) < 0.8);
  CHECK(worst_over_floats(LANES(log2), EXACT(log2l)) < 0.6);
  CHECK(worst_over_floats(LANES(log10), EXACT(log10l)) < 0.6);
  CHECK(worst_over_floats(LANES(sin), EXACT(sinl)) < 0.6);
  CHECK(worst_over_floats(LANES(cos), EXACT(cosl)) < 0.6);
  CHECK(worst_over_floats(LANES(tanh), EXACT(tanhl)) < 1.3);
  CHECK(worst_over_floats(LANES(erf), EXACT(erfl)) < 1.4);
  CHECK(worst_over_floats(LANES(erfc), EXACT(erfcl)) < 6.0);
  CHECK(worst_over_floats(LANES(tan), EXACT(tanl)) < 2.0);
  CHECK(worst_over_floats(LANES(asin), EXACT(asinl)) < 1.5);
  CHECK(worst_over_floats(LANES(acos), EXACT(acosl)) < 1.2);
  CHECK(worst_over_floats(LANES(atan), EXACT(atanl)) < 1.4);
  CHECK(worst_over_floats(LANES(sinh), EXACT(sinhl)) < 1.5);
  CHECK(worst_over_floats(LANES(cosh), EXACT(coshl)) < 1.4);
  CHECK(worst_over_floats(LANES(asinh), EXACT(asinhl)) < 1.6);
  CHECK(worst_over_floats(LANES(acosh), EXACT(acoshl)) < 1.5);
  CHECK(worst_over_floats(LANES(atanh), EXACT(atanhl)) < 2.0);
}

TEST_CASE("float functions of two numbers are accurate over all floats of one", "[vec]") {
  const float others[] = {0.0f, -0.0f, 1.0f, -0.7f, 1e-42f, -3e38f, 1e-30f, INFINITY};
  for (const float other : others) {
    const long double exact = other;
    INFO(other);
    CHECK(
        worst_over_floats(
            [&](auto x) { return atan2(x, Vec<float>(other)); }, [&](long double x) { return atan2l(x, exact); }) <
        1.5);
    CHECK(
        worst_over_floats(
            [&](auto x) { return atan2(Vec<float>(other), x); }, [&](long double x) { return atan2l(exact, x); }) <
        1.5);
    CHECK(
        worst_over_floats(
            [&](auto x) { return hypot(x, Vec<float>(other)); }, [&](long double x) { return hypotl(x, exact); }) <
        0.6);
    CHECK(
        worst_over_floats(
            [&](auto x) { return fmod(x, Vec<float>(other)); }, [&](long double x) { return fmodl(x, exact); }) == 0);
    CHECK(
        worst_over_floats(
            [&](auto x) { return fmod(Vec<float>(other), x); }, [&](long double x) { return fmodl(exact, x); }) == 0);
  }
}

TEST_CASE("float functions of tensors are accurate with this processor's instructions", "[vec]") {
  const auto logistic = [](long double x) { return 1 / (1 + expl(-x)); };
  CHECK(worst_over_tensor(at::exp, EXACT(expl)) < 1.1);
  CHECK(worst_over_tensor(at::exp2, EXACT(exp2l)) < 1.1);
  CHECK(worst_over_tensor(at::expm1, EXACT(expm1l)) < 1.7);
  CHECK(worst_over_tensor(at::tanh, EXACT(tanhl)) < 1.3);
  CHECK(worst_over_tensor(at::erfc, EXACT(erfcl)) < 6.0);
  CHECK(worst_over_tensor(at::log, EXACT(logl)) < 0.9);
  CHECK(worst_over_tensor(at::log2, EXACT(log2l)) < 1.4);
  CHECK(worst_over_tensor(at::log10, EXACT(log10l)) < 1.2);
  CHECK(worst_over_tensor(at::sin, EXACT(sinl)) < 1.0);
  CHECK(worst_over_tensor(at::cos, EXACT(cosl)) < 1.0);
  CHECK(worst_over_tensor(at::tan, EXACT(tanl)) < 2.2);
  CHECK(worst_over_tensor(at::asin, EXACT(asinl)) < 1.6);
  CHECK(worst_over_tensor(at::atan, EXACT(atanl)) < 1.5);
  CHECK(worst_over_tensor(at::atanh, EXACT(atanhl)) < 2.0);
  CHECK(worst_over_tensor(at::sigmoid, logistic) < 2.6);
  const auto silu = [&](long double x) { return x * logistic(x); };
  CHECK(worst_over_tensor(at::silu, silu, -87) < 3.6); // exp(x) is denormal below
}

TEST_CASE("double functions are accurate", "[vec]") {
  CHECK(worst_over_doubles(LANES(exp), EXACT(expl), -746, 710) < 1.2);
  CHECK(worst_over_doubles(LANES(expm1), EXACT(expm1l), -2, 2) < 2.5);
  CHECK(worst_over_doubles(LANES(expm1), EXACT(expm1l), -40, 710) < 2.5);
  CHECK(worst_over_doubles(LANES(log), EXACT(logl), 0, 4) < 1.0);
  CHECK(worst_over_doubles(LANES(log1p), EXACT(log1pl), -1, 4) < 1.0);
  CHECK(worst_over_doubles(LANES(sin), EXACT(sinl), -100, 100) < 1.0);
  CHECK(worst_over_doubles(LANES(cos), EXACT(cosl), -2e6, 2e6) < 1.0);
  CHECK(worst_over_doubles(LANES(tanh), EXACT(tanhl), -3, 3) < 3.0);
  CHECK(worst_over_doubles(LANES(log2), EXACT(log2l), 0, 4) < 1.0);
  CHECK(worst_over_doubles(LANES(log10), EXACT(log10l), 0, 4) < 1.0);
  CHECK(worst_over_doubles(LANES(tan), EXACT(tanl), -100, 100) < 2.2);
  CHECK(worst_over_doubles(LANES(asin), EXACT(asinl), -1, 1) < 2.2);
  CHECK(worst_over_doubles(LANES(acos), EXACT(acosl), -1, 1) < 1.5);
  CHECK(worst_over_doubles(LANES(atan), EXACT(atanl), -4, 4) < 1.5);
}

TEST_CASE("pow follows libm at its special cases", "[vec]") {
  const float special[] = {0.0f, -0.0f, 1.0f,  -1.0f,  0.5f,     -0.5f,     2.0f,
                           3.0f, -3.0f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN};
  constexpr int N = Vec<float>::size();
  for (const float x : special) {
    for (const float y : special) {
      float out[N];
      pow(Vec<float>(x), Vec<float>(y)).store(out);
      const float want = std::pow(x, y);
      INFO(x << " ^ " << y << " = " << out[0] << ", libm " << want);
      CHECK(
          ((std::isnan(want) && std::isnan(out[0])) || (want == out[0] && std::signbit(want) == std::signbit(out[0]))));
    }
  }
}

TEST_CASE("odd functions keep the sign of zero", "[vec]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const at::Tensor zeros = at::zeros({37}, dtype).neg();
    for (at::Tensor (*const f)(const at::Tensor&) :
         {at::sin, at::tan, at::asin, at::atan, at::sinh, at::tanh, at::asinh}) {
      CHECK(at::signbit(f(zeros)).all().item<bool>());
    }
  }
}

TEST_CASE("rounding goes to even and keeps special values", "[vec]") {
  const float in[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 1e20f, INFINITY, 0.49999997f};
  for (const float x : in) {
    CHECK(rint(Vec<float>(x))[0] == std::nearbyint(x));
    CHECK(floor(Vec<float>(x))[0] == std::floor(x));
    CHECK(ceil(Vec<float>(x))[0] == std::ceil(x));
    CHECK(trunc(Vec<float>(x))[0] == std::trunc(x));
  }
}

TEST_CASE("masked loads and stores touch only their lanes", "[vec]") {
  constexpr int N = Vec<float>::size();
  for (int n = 0; n <= N; ++n) {
    float from[N], to[N];
    for (int i = 0; i < N; ++i) {
      from[i] = static_cast<float>(i + 1);
      to[i] = -1.0f;
    }
    const auto v = Vec<float>::load(from, n);
    v.store(to, n);
    for (int i = 0; i < N; ++i) {
      CHECK(v[i] == (i < n ? from[i] : 0.0f));
      CHECK(to[i] == (i < n ? from[i] : -1.0f));
    }
  }
}

TEST_CASE("half and bfloat16 convert as their types do", "[vec]") {
  constexpr int N = VecFloat::size();
  std::mt19937 bits(3);
  for (int round = 0; round < 5000; ++round) {
    float x[N];
    for (float& value : x) {
      const uint32_t lane = round == 0 ? 0x7fc00000u : bits();
      std::memcpy(&value, &lane, sizeof(lane));
    }
    c10::Half half[N];
    c10::BFloat16 brain[N];
    store_float(VecFloat::load(x), half);
    store_float(VecFloat::load(x), brain);
    for (int i = 0; i < N; ++i) {
      const float want_half = static_cast<float>(c10::Half(x[i])), want_brain = static_cast<float>(c10::BFloat16(x[i]));
      CHECK(
          (static_cast<float>(half[i]) == want_half ||
           (std::isnan(want_half) && std::isnan(static_cast<float>(half[i])))));
      CHECK(
          (static_cast<float>(brain[i]) == want_brain ||
           (std::isnan(want_brain) && std::isnan(static_cast<float>(brain[i])))));
    }
    float back[N];
    load_float(half).store(back);
    for (int i = 0; i < N; ++i) {
      CHECK((back[i] == static_cast<float>(half[i]) || std::isnan(back[i])));
    }
  }
}

TEST_CASE("pairs of bfloat16 convert as they do in order", "[vec]") {
  constexpr int N = VecFloat::size();
  std::mt19937 bits(4);
  for (int round = 0; round < 5000; ++round) {
    float x[2 * N];
    for (float& value : x) {
      const uint32_t lane = round == 0 ? 0x7f800001u : bits();
      std::memcpy(&value, &lane, sizeof(lane));
    }
    c10::BFloat16 brain[2 * N], again[2 * N];
    store_float(VecFloat::load(x), brain);
    store_float(VecFloat::load(x + N), brain + N);
    const FloatPairs pairs = load_pairs(brain);
    for (int i = 0; i < N; ++i) {
      const float even = static_cast<float>(brain[2 * i]), odd = static_cast<float>(brain[2 * i + 1]);
      CHECK((pairs.even[i] == even || (std::isnan(even) && std::isnan(pairs.even[i]))));
      CHECK((pairs.odd[i] == odd || (std::isnan(odd) && std::isnan(pairs.odd[i]))));
    }
    FloatPairs split;
    for (int i = 0; i < N; ++i) {
      split.even.set(i, x[2 * i]);
      split.odd.set(i, x[2 * i + 1]);
    }
    store_pairs(split, again);
    CHECK(std::memcmp(again, brain, sizeof(brain)) == 0);
  }
}

TEST_CASE("lanes reduce to one value", "[vec]") {
  const auto v = Vec<int32_t>::iota();
  constexpr int N = Vec<int32_t>::size();
  CHECK(reduce_add(v) == N * (N - 1) / 2);
  CHECK(reduce_max(v) == N - 1);
  CHECK(reduce_min(v) == 0);
  CHECK(any(v == Vec<int32_t>(N - 1)));
  CHECK_FALSE(any(v == Vec<int32_t>(N)));
}

TEST_CASE("a circular function of an element does not depend on those beside it", "[vec]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    at::Tensor x = at::randn({5000}, dtype) * 30;
    const at::Tensor alone = x.clone();
    x.slice(0, 3, 5000, 37).fill_(3e30);
    x[5] = NAN;
    x[77] = -0.0;
    for (at::Tensor (*const f)(const at::Tensor&) : {at::sin, at::cos, at::tan}) {
      const at::Tensor y = f(x), shifted = f(x.slice(0, 1, 5000)), want = f(alone);
      CHECK(y.slice(0, 1, 5000).allclose(shifted, 0, 0, /*equal_nan=*/true));
      const at::Tensor same = x.eq(alone);
      CHECK(y.masked_select(same).equal(want.masked_select(same)));
    }
    CHECK(std::signbit(at::sin(x)[77].item<double>()));
    CHECK(std::signbit(at::tan(x)[77].item<double>()));
  }
  const at::Tensor up = at::ones({9}), left = at::zeros({9}).neg();
  CHECK(at::atan2(up, left).equal(at::atan2(up, at::zeros({9}))));
}
