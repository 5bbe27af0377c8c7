// Distributions that draw from a generator as PyTorch's CPU kernels do, one number at a time.
//
//   auto* generator = at::get_generator_or_default<at::CPUGeneratorImpl>(gen, at::detail::getDefaultCPUGenerator());
//   std::lock_guard<std::mutex> lock(generator->mutex_);
//   at::uniform_real_distribution<double> uniform(0, 1);
//   double x = uniform(generator);
//
// A generator is anything with random() of 32 and random64() of 64 bits. The caller holds its lock.
#pragma once

#include <aten/core/OpMathType.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>
#include <c10/util/Half.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace at {

/// What numbers of dtype T are drawn in.
template <class T>
struct DistAccumType {
  static_assert(
      std::is_floating_point_v<T> || std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>,
      "distributions of real numbers take Half, BFloat16, float or double");
  using type = opmath_type<T>;
};
template <class T>
using dist_acctype = typename DistAccumType<T>::type;

namespace distributions {

/// Bits of the significand.
template <class T>
inline constexpr int kSignificand = std::numeric_limits<T>::digits;
template <>
inline constexpr int kSignificand<c10::Half> = 11;
template <>
inline constexpr int kSignificand<c10::BFloat16> = 8;

} // namespace distributions

/// Integers of [base, base + range), by the remainder: of 64 random bits for large ranges, else of 32.
template <class T>
struct uniform_int_from_to_distribution {
  uniform_int_from_to_distribution(uint64_t range, int64_t base) : range_(range), base_(base) {
    TORCH_CHECK(range != 0, "uniform_int_from_to_distribution: range is 0; it must hold a number");
  }
  template <class Generator>
  T operator()(Generator* generator) const {
    constexpr uint64_t kLargeRange = uint64_t{1} << 28;
    const uint64_t bits = range_ >= kLargeRange ? generator->random64() : generator->random();
    return static_cast<T>(static_cast<int64_t>(bits % range_ + static_cast<uint64_t>(base_)));
  }

 private:
  uint64_t range_;
  int64_t base_;
};

/// All integers of 64 bits.
template <class T>
struct uniform_int_full_range_distribution {
  template <class Generator>
  T operator()(Generator* generator) const {
    return static_cast<T>(static_cast<int64_t>(generator->random64()));
  }
};

/// Integers from 0 to the largest of T; for floating T to 2^(bits of the significand).
template <class T>
struct uniform_int_distribution {
  template <class Generator>
  T operator()(Generator* generator) const {
    if constexpr (std::is_same_v<T, bool>) {
      return (generator->random() & 1) != 0;
    } else if constexpr (std::is_same_v<T, int64_t>) {
      return static_cast<T>(generator->random64() % (static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1));
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(generator->random() % (static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1));
    } else {
      constexpr uint64_t kRange = (uint64_t{1} << distributions::kSignificand<T>)+1;
      const uint64_t bits = std::is_same_v<T, double> ? generator->random64() : generator->random();
      return static_cast<T>(bits % kRange);
    }
  }
};

/// Numbers of [from, to), of as many random bits as T has digits.
template <class T>
struct uniform_real_distribution {
  uniform_real_distribution(T from, T to) : from_(from), to_(to) {
    TORCH_CHECK(from <= to, "uniform_real_distribution: from = ", from, " must not be above to = ", to);
    TORCH_CHECK(
        to - from <= std::numeric_limits<T>::max(), "uniform_real_distribution: to - from must be finite, got [", from,
        ", ", to, ")");
  }
  template <class Generator>
  dist_acctype<T> operator()(Generator* generator) const {
    using Bits = std::conditional_t<std::is_same_v<T, double>, uint64_t, uint32_t>;
    using Real = dist_acctype<T>;
    constexpr uint64_t kSteps = uint64_t{1} << distributions::kSignificand<T>;
    Bits bits;
    if constexpr (std::is_same_v<T, double>) {
      bits = generator->random64();
    } else {
      bits = generator->random();
    }
    const Real x = static_cast<Real>(bits & static_cast<Bits>(kSteps - 1)) * (Real(1) / static_cast<Real>(kSteps));
    return x * (to_ - from_) + from_;
  }

 private:
  T from_;
  T to_;
};

namespace distributions {

/// Whether a generator keeps a normal number of type Real for its next call; those that do not draw two for each.
template <class Generator, class Real, class = void>
struct keeps_normal : std::false_type {};
template <class Generator>
struct keeps_normal<Generator, double, std::void_t<decltype(&Generator::next_double_normal_sample)>> : std::true_type {
};
template <class Generator>
struct keeps_normal<Generator, float, std::void_t<decltype(&Generator::next_float_normal_sample)>> : std::true_type {};

template <class Real, class Generator>
std::optional<Real> kept_normal(Generator& generator) {
  if constexpr (std::is_same_v<Real, double>) {
    return generator.next_double_normal_sample();
  } else {
    return generator.next_float_normal_sample();
  }
}

template <class Real, class Generator>
void keep_normal(Generator& generator, std::optional<Real> value) {
  if constexpr (std::is_same_v<Real, double>) {
    generator.set_next_double_normal_sample(value);
  } else {
    generator.set_next_float_normal_sample(value);
  }
}

} // namespace distributions

/// Box and Muller's method: two uniform numbers make two normal ones, of which the second waits in the generator.
template <class T>
struct normal_distribution {
  normal_distribution(T mean, T stdv) : mean_(mean), stdv_(stdv) {
    TORCH_CHECK(stdv >= 0, "stdv_in must be positive: ", stdv);
  }
  template <class Generator>
  dist_acctype<T> operator()(Generator* generator) const {
    using Real = dist_acctype<T>;
    constexpr bool kKeeps = distributions::keeps_normal<Generator, Real>::value;
    if constexpr (kKeeps) {
      if (const std::optional<Real> waiting = distributions::kept_normal<Real>(*generator)) {
        distributions::keep_normal<Real>(*generator, std::nullopt);
        return *waiting * stdv_ + mean_;
      }
    }
    // Functions of doubles in between, as PyTorch's header calls them.
    constexpr Real kTwoPi = static_cast<Real>(6.283185307179586476925);
    const uniform_real_distribution<T> uniform(static_cast<T>(0), static_cast<T>(1));
    const Real u1 = uniform(generator);
    const Real u2 = uniform(generator);
    const Real radius = static_cast<Real>(std::sqrt(-2.0 * std::log1p(static_cast<double>(-u2))));
    const double theta = kTwoPi * u1;
    if constexpr (kKeeps) {
      distributions::keep_normal<Real>(*generator, static_cast<Real>(radius * std::sin(theta)));
    }
    return static_cast<Real>(radius * std::cos(theta)) * stdv_ + mean_;
  }

 private:
  T mean_;
  T stdv_;
};

/// exp of normal numbers.
template <class T>
struct lognormal_distribution {
  lognormal_distribution(T mean, T stdv) : normal_(mean, stdv) {
    TORCH_CHECK(stdv > 0, "lognormal_distribution: stdv must be positive, got ", stdv);
  }
  template <class Generator>
  T operator()(Generator* generator) const {
    return static_cast<T>(std::exp(normal_(generator)));
  }

 private:
  normal_distribution<T> normal_;
};

/// 1 with probability p, else 0.
template <class T>
struct bernoulli_distribution {
  explicit bernoulli_distribution(T p) : p_(p) {
    TORCH_CHECK(p >= T(0) && p <= T(1), "bernoulli_distribution: p must be in [0, 1], got ", p);
  }
  template <class Generator>
  T operator()(Generator* generator) const {
    return static_cast<T>(uniform_real_distribution<T>(T(0), T(1))(generator) < p_);
  }

 private:
  T p_;
};

/// Trials until the first success, each with probability p.
template <class T>
struct geometric_distribution {
  explicit geometric_distribution(T p) : p_(p) {
    TORCH_CHECK(p > T(0) && p < T(1), "geometric_distribution: p must be in (0, 1), got ", p);
  }
  template <class Generator>
  T operator()(Generator* generator) const {
    const dist_acctype<T> u = uniform_real_distribution<T>(T(0), T(1))(generator);
    return static_cast<T>(std::ceil(std::log(u) / std::log1p(-static_cast<dist_acctype<T>>(p_))));
  }

 private:
  T p_;
};

/// Density lambda * exp(-lambda x).
template <class T>
struct exponential_distribution {
  explicit exponential_distribution(T lambda) : lambda_(lambda) {}
  template <class Generator>
  T operator()(Generator* generator) const {
    using Real = dist_acctype<T>;
    const Real u = uniform_real_distribution<T>(T(0), T(1))(generator);
    return static_cast<T>(Real(-1) / static_cast<Real>(lambda_) * std::log1p(-u));
  }

 private:
  T lambda_;
};

/// median + sigma * tan(pi (u - 1/2)); but for doubles u keeps a little away from 0 and 1.
template <class T>
struct cauchy_distribution {
  cauchy_distribution(T median, T sigma) : median_(median), sigma_(sigma) {}
  template <class Generator>
  T operator()(Generator* generator) const {
    using Real = dist_acctype<T>;
    constexpr Real kPi = static_cast<Real>(3.141592653589793238463);
    Real u = uniform_real_distribution<T>(T(0), T(1))(generator);
    if constexpr (!std::is_same_v<Real, double>) {
      constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();
      u = u > 1 - kEpsilon ? 1 - kEpsilon : u < kEpsilon ? kEpsilon : u;
    }
    return static_cast<T>(static_cast<Real>(median_) + static_cast<Real>(sigma_) * std::tan(kPi * (u - Real(0.5))));
  }

 private:
  T median_;
  T sigma_;
};

} // namespace at
