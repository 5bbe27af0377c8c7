// How far the pointwise functions are from the true value, in units in the last place (ulp) of float: over all 2^32
// floats for functions of one number, over a grid for those of two. Prints a row of a table for each.
//
//   ulp [--every N] [NAME...]      N: look at every N-th float only; NAME: these functions alone
//
// The true value comes from double precision: glibc's vector functions (libmvec, at most 4 ulp of double, a part in
// 10^8 of one of float), or formulas of them. An ulp is the distance of the floats at the true value, for small ones
// that of the denormals. Infinity counts as 2^128, so results that overflow too early or too late show. A NaN on one
// side alone is counted apart.
#include <aten/native/pointwise/bessel.h>
#include <aten/native/pointwise/special.h>
#include <torch/torch.h>

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

typedef __m256d Four;

extern "C" {
Four _ZGVdN4v_acos(Four);
Four _ZGVdN4v_acosh(Four);
Four _ZGVdN4v_asin(Four);
Four _ZGVdN4v_asinh(Four);
Four _ZGVdN4v_atan(Four);
Four _ZGVdN4v_atanh(Four);
Four _ZGVdN4v_cos(Four);
Four _ZGVdN4v_cosh(Four);
Four _ZGVdN4v_erf(Four);
Four _ZGVdN4v_erfc(Four);
Four _ZGVdN4v_exp(Four);
Four _ZGVdN4v_exp2(Four);
Four _ZGVdN4v_expm1(Four);
Four _ZGVdN4v_log(Four);
Four _ZGVdN4v_log10(Four);
Four _ZGVdN4v_log1p(Four);
Four _ZGVdN4v_log2(Four);
Four _ZGVdN4v_sin(Four);
Four _ZGVdN4v_sinh(Four);
Four _ZGVdN4v_tan(Four);
Four _ZGVdN4v_tanh(Four);
Four _ZGVdN4vv_atan2(Four, Four);
Four _ZGVdN4vv_hypot(Four, Four);
Four _ZGVdN4vv_pow(Four, Four);
}

namespace {

using at::Tensor;

constexpr int64_t kBlock = 1 << 16;

Four all(double x) {
  return _mm256_set1_pd(x);
}
Four exp(Four x) {
  return _ZGVdN4v_exp(x);
}
Four sigmoid(Four x) {
  return all(1) / (all(1) + exp(-x));
}
// log(1 + exp(x)) without overflow.
Four softplus(Four x) {
  const Four zero = all(0), size = _mm256_andnot_pd(all(-0.0), x);
  // max takes its second operand where one is NaN.
  return _mm256_max_pd(zero, x) + _ZGVdN4v_log1p(exp(-size));
}
Four where_positive(Four x, Four yes, Four no) {
  return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(x, all(0), _CMP_GT_OQ));
}

/// A function of one double for each lane.
template <class F>
Four each(Four x) {
  double lanes[4];
  _mm256_storeu_pd(lanes, x);
  for (double& lane : lanes) {
    lane = F{}(lane);
  }
  return _mm256_loadu_pd(lanes);
}
template <double (*f)(double)>
struct OfLibm {
  double operator()(double x) const {
    return f(x);
  }
};

struct Function {
  const char* name;
  std::function<Tensor(const Tensor&)> ours;
  Four (*truth)(Four);
};

const Function kFunctions[] = {
    {"exp", [](const Tensor& x) { return at::exp(x); }, _ZGVdN4v_exp},
    {"exp2", [](const Tensor& x) { return at::exp2(x); }, _ZGVdN4v_exp2},
    {"expm1", [](const Tensor& x) { return at::expm1(x); }, _ZGVdN4v_expm1},
    {"log", [](const Tensor& x) { return at::log(x); }, _ZGVdN4v_log},
    {"log2", [](const Tensor& x) { return at::log2(x); }, _ZGVdN4v_log2},
    {"log10", [](const Tensor& x) { return at::log10(x); }, _ZGVdN4v_log10},
    {"log1p", [](const Tensor& x) { return at::log1p(x); }, _ZGVdN4v_log1p},
    {"sin", [](const Tensor& x) { return at::sin(x); }, _ZGVdN4v_sin},
    {"cos", [](const Tensor& x) { return at::cos(x); }, _ZGVdN4v_cos},
    {"tanh", [](const Tensor& x) { return at::tanh(x); }, _ZGVdN4v_tanh},
    {"erf", [](const Tensor& x) { return at::erf(x); }, _ZGVdN4v_erf},
    {"erfc", [](const Tensor& x) { return at::erfc(x); }, _ZGVdN4v_erfc},
    {"sigmoid", [](const Tensor& x) { return at::sigmoid(x); }, sigmoid},
    {"log_sigmoid", [](const Tensor& x) { return at::log_sigmoid(x); }, [](Four x) { return -softplus(-x); }},
    {"softplus", [](const Tensor& x) { return at::softplus(x); }, softplus},
    {"silu", [](const Tensor& x) { return at::silu(x); }, [](Four x) { return x * sigmoid(x); }},
    {"mish", [](const Tensor& x) { return at::mish(x); }, [](Four x) { return x * _ZGVdN4v_tanh(softplus(x)); }},
    {"elu", [](const Tensor& x) { return at::elu(x); }, [](Four x) { return where_positive(x, x, _ZGVdN4v_expm1(x)); }},
    {"gelu", [](const Tensor& x) { return at::gelu(x); },
     [](Four x) { return all(0.5) * x * _ZGVdN4v_erfc(x * all(-M_SQRT1_2)); }},
    {"gelu, tanh", [](const Tensor& x) { return at::gelu(x, "tanh"); },
     [](Four x) { return x * sigmoid(all(2 * M_SQRT2 * M_2_SQRTPI / 2) * (x + all(0.044715) * x * x * x)); }},
    {"sqrt", [](const Tensor& x) { return at::sqrt(x); }, [](Four x) { return _mm256_sqrt_pd(x); }},
    {"rsqrt", [](const Tensor& x) { return at::rsqrt(x); }, [](Four x) { return all(1) / _mm256_sqrt_pd(x); }},
    {"reciprocal", [](const Tensor& x) { return at::reciprocal(x); }, [](Four x) { return all(1) / x; }},
    {"tan", [](const Tensor& x) { return at::tan(x); }, _ZGVdN4v_tan},
    {"asin", [](const Tensor& x) { return at::asin(x); }, _ZGVdN4v_asin},
    {"acos", [](const Tensor& x) { return at::acos(x); }, _ZGVdN4v_acos},
    {"atan", [](const Tensor& x) { return at::atan(x); }, _ZGVdN4v_atan},
    {"sinh", [](const Tensor& x) { return at::sinh(x); }, _ZGVdN4v_sinh},
    {"cosh", [](const Tensor& x) { return at::cosh(x); }, _ZGVdN4v_cosh},
    {"asinh", [](const Tensor& x) { return at::asinh(x); }, _ZGVdN4v_asinh},
    {"acosh", [](const Tensor& x) { return at::acosh(x); }, _ZGVdN4v_acosh},
    {"atanh", [](const Tensor& x) { return at::atanh(x); }, _ZGVdN4v_atanh},
    {"lgamma", [](const Tensor& x) { return at::lgamma(x); }, each<OfLibm<::lgamma>>},
    {"bessel_j0", [](const Tensor& x) { return at::special_bessel_j0(x); }, each<OfLibm<::j0>>},
    {"bessel_j1", [](const Tensor& x) { return at::special_bessel_j1(x); }, each<OfLibm<::j1>>},
    {"bessel_y0", [](const Tensor& x) { return at::special_bessel_y0(x); }, each<OfLibm<::y0>>},
    {"bessel_y1", [](const Tensor& x) { return at::special_bessel_y1(x); }, each<OfLibm<::y1>>},
    // Of these glibc has none: the library's own of doubles.
    {"digamma", [](const Tensor& x) { return at::digamma(x); }, each<at::native::Digamma>},
    {"modified_bessel_i0", [](const Tensor& x) { return at::special_modified_bessel_i0(x); },
     each<at::native::BesselI0>},
    {"modified_bessel_i1", [](const Tensor& x) { return at::special_modified_bessel_i1(x); },
     each<at::native::BesselI1>},
    {"modified_bessel_k0", [](const Tensor& x) { return at::special_modified_bessel_k0(x); },
     each<at::native::BesselK0>},
    {"modified_bessel_k1", [](const Tensor& x) { return at::special_modified_bessel_k1(x); },
     each<at::native::BesselK1>},
};

struct FunctionOfTwo {
  const char* name;
  std::function<Tensor(const Tensor&, const Tensor&)> ours;
  Four (*truth)(Four, Four);
};

const FunctionOfTwo kFunctionsOfTwo[] = {
    {"pow", [](const Tensor& x, const Tensor& y) { return at::pow(x, y); }, _ZGVdN4vv_pow},
    {"atan2", [](const Tensor& x, const Tensor& y) { return at::atan2(x, y); }, _ZGVdN4vv_atan2},
    {"hypot", [](const Tensor& x, const Tensor& y) { return at::hypot(x, y); }, _ZGVdN4vv_hypot},
    {"div", [](const Tensor& x, const Tensor& y) { return at::div(x, y); }, [](Four x, Four y) { return x / y; }},
};

/// What was found so far.
struct Errors {
  double largest = 0, sum = 0;
  float at[2] = {0, 0};
  int64_t count = 0, odd = 0; // results that are numbers; that are NaN on one side alone

  void print(const char* name, bool two) const {
    char place[64];
    std::snprintf(place, sizeof place, two ? "%.9g, %.9g" : "%.9g", at[0], at[1]);
    std::printf(
        "| %s | %.3f | %s | %.4f | %lld |\n", name, largest, place, sum / static_cast<double>(count),
        static_cast<long long>(odd));
    std::fflush(stdout);
  }
};

/// Distances of `got` from `truth` in ulp; NaN where both are, infinity where one is.
void measure(const float* got, const double* truth, double* ulps) {
  const Four sign = all(-0.0), top = all(0x1p128);
  const __m256i exponent = _mm256_set1_epi64x(0x7ff0000000000000),
                lowest = _mm256_set1_epi64x(int64_t{1023 - 126} << 52), places = _mm256_set1_epi64x(int64_t{23} << 52);
  // min and max return their second operand where one is NaN.
  const auto bounded = [&](Four x) { return _mm256_max_pd(-top, _mm256_min_pd(top, x)); };
  for (int64_t i = 0; i < kBlock; i += 4) {
    const Four want = bounded(_mm256_loadu_pd(truth + i)), have = bounded(_mm256_cvtps_pd(_mm_loadu_ps(got + i)));
    __m256i power = _mm256_and_si256(_mm256_castpd_si256(want), exponent);
    power = _mm256_blendv_epi8(power, lowest, _mm256_cmpgt_epi64(lowest, power));
    const Four ulp = _mm256_castsi256_pd(_mm256_sub_epi64(power, places));
    const Four odd = _mm256_xor_pd(_mm256_cmp_pd(want, want, _CMP_UNORD_Q), _mm256_cmp_pd(have, have, _CMP_UNORD_Q));
    const Four error = _mm256_andnot_pd(sign, have - want) / ulp;
    _mm256_storeu_pd(ulps + i, _mm256_blendv_pd(error, all(INFINITY), odd));
  }
}

void add(Errors& errors, const std::vector<double>& ulps, int64_t n, const float* x, const float* y) {
  for (int64_t i = 0; i < n; ++i) {
    const double error = ulps[i];
    if (!(error < INFINITY)) {
      errors.odd += error == INFINITY;
      continue;
    }
    errors.sum += error;
    ++errors.count;
    if (error > errors.largest) {
      errors.largest = error;
      errors.at[0] = x[i];
      errors.at[1] = y == nullptr ? 0 : y[i];
    }
  }
}

void test(const Function& f, int64_t every) {
  const Tensor x = at::empty({kBlock});
  float* values = x.data_ptr<float>();
  std::vector<double> truth(kBlock), ulps(kBlock);
  Errors errors;
  const int64_t total = ((int64_t{1} << 32) + every - 1) / every;
  for (int64_t done = 0; done < total; done += kBlock) {
    for (int64_t i = 0; i < kBlock; ++i) {
      const auto bits = static_cast<uint32_t>((done + i) * every);
      std::memcpy(values + i, &bits, sizeof bits);
    }
    const Tensor got = f.ours(x);
    for (int64_t i = 0; i < kBlock; i += 4) {
      _mm256_storeu_pd(&truth[i], f.truth(_mm256_cvtps_pd(_mm_loadu_ps(values + i))));
    }
    measure(got.data_ptr<float>(), truth.data(), ulps.data());
    add(errors, ulps, std::min(kBlock, total - done), values, nullptr);
  }
  errors.print(f.name, false);
}

/// Floats spread over all bit patterns, so that each power of two has as many.
std::vector<float> spread(int64_t n) {
  std::vector<float> result(n);
  for (int64_t i = 0; i < n; ++i) {
    const auto bits = static_cast<uint32_t>(
        (static_cast<unsigned __int128>(i) << 32) / n +
        static_cast<uint64_t>(i) * 0x9e3779b1u % ((uint64_t{1} << 32) / n));
    std::memcpy(&result[i], &bits, sizeof bits);
  }
  return result;
}

/// A grid of as many pairs as functions of one number have floats.
void test(const FunctionOfTwo& f, int64_t every) {
  const std::vector<float> left = spread(std::max<int64_t>(1, (int64_t{1} << 32) / kBlock / every)),
                           right = spread(kBlock);
  const Tensor x = at::empty({kBlock}), y = at::empty({kBlock});
  std::copy(right.begin(), right.end(), y.data_ptr<float>());
  std::vector<double> truth(kBlock), ulps(kBlock);
  Errors errors;
  const float* values = x.data_ptr<float>();
  for (const float value : left) {
    x.fill_(value);
    const Tensor got = f.ours(x, y);
    for (int64_t i = 0; i < kBlock; i += 4) {
      _mm256_storeu_pd(
          &truth[i], f.truth(_mm256_cvtps_pd(_mm_loadu_ps(values + i)), _mm256_cvtps_pd(_mm_loadu_ps(&right[i]))));
    }
    measure(got.data_ptr<float>(), truth.data(), ulps.data());
    add(errors, ulps, kBlock, values, right.data());
  }
  errors.print(f.name, true);
}

} // namespace

int main(int argc, char** argv) {
  int64_t every = 1;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--every" && i + 1 < argc) {
      every = std::atoll(argv[++i]);
    } else {
      names.emplace_back(argv[i]);
    }
  }
  if (every < 1 || !__builtin_cpu_supports("avx2")) {
    std::fprintf(stderr, "usage: ulp [--every N] [NAME...], on a processor with AVX2\n");
    return 2;
  }
  at::set_num_threads(1);
  const auto wanted = [&](const char* name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  std::printf("| function | largest error, ulp | at | mean | NaN on one side |\n|---|---|---|---|---|\n");
  for (const Function& f : kFunctions) {
    if (wanted(f.name)) {
      test(f, every);
    }
  }
  for (const FunctionOfTwo& f : kFunctionsOfTwo) {
    if (wanted(f.name)) {
      test(f, every);
    }
  }
}
