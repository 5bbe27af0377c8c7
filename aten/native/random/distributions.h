// Samples of distributions from uniform and normal numbers, for the host and for kernels.
//
// `Draws` has uniform(), in [0, 1) or (0, 1], and normal(). R is the type that is computed in. Which numbers are drawn
// when is PyTorch's, so that the same stream gives the same samples.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <limits>

namespace at::native {

/// Of scale 1. Marsaglia and Tsang 2000; below 1 by a sample for alpha + 1 and a power of a uniform.
template <class R, class Draws>
HOST_DEVICE R gamma_sample(Draws& draws, R alpha) {
  R scale = 1;
  if (alpha < 1) {
    if (alpha == 0) {
      return 0;
    }
    scale = std::pow(1 - static_cast<R>(draws.uniform()), 1 / alpha);
    alpha += 1;
  }
  // PyTorch takes the third in single precision; its samples are reproduced only so.
  const R d = alpha - 1.0f / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    R x, y;
    do {
      x = static_cast<R>(draws.normal());
      y = 1 + c * x;
    } while (y <= 0);
    const R v = y * y * y, u = 1 - static_cast<R>(draws.uniform()), square = x * x;
    if (u < 1 - R(0.0331) * square * square || std::log(u) < R(0.5) * square + d * (1 - v + std::log(v))) {
      return scale * d * v;
    }
  }
}

/// Few expected successes: the lengths of runs of failures are geometric.
template <class R, class Draws>
HOST_DEVICE R binomial_by_runs(Draws& draws, R count, R prob) {
  const R log_failure = std::log1p(-prob);
  R trials = 0, successes = 0;
  while (true) {
    trials += std::ceil(std::log(static_cast<R>(draws.uniform())) / log_failure);
    if (trials > count) {
      return successes;
    }
    successes += 1;
  }
}

/// log(k!) less Stirling's approximation.
template <class R>
HOST_DEVICE R stirling_rest(R k) {
  constexpr double kTable[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                               0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                               0.00925546218271273, 0.00833056343336287};
  if (k < 10) {
    return static_cast<R>(kTable[static_cast<int>(k)]);
  }
  const R square = (k + 1) * (k + 1);
  return (R(1.0 / 12) - (R(1.0 / 360) - R(1.0 / 1260) / square) / square) / (k + 1);
}

/// Transformed rejection (Hoermann 1993), for prob up to 1/2 and ten expected successes or more.
template <class R, class Draws>
HOST_DEVICE R binomial_by_rejection(Draws& draws, R count, R prob) {
  const R deviation = std::sqrt(count * prob * (1 - prob));
  const R b = R(1.15) + R(2.53) * deviation, a = R(-0.0873) + R(0.0248) * b + R(0.01) * prob, c = count * prob + R(0.5);
  const R v_r = R(0.92) - R(4.2) / b, odds = prob / (1 - prob);
  const R alpha = (R(2.83) + R(5.1) / b) * deviation, m = std::floor((count + 1) * prob);
  while (true) {
    const R u = static_cast<R>(draws.uniform()) - R(0.5);
    R v = static_cast<R>(draws.uniform());
    const R us = R(0.5) - std::fabs(u);
    const R k = std::floor((2 * a / us + b) * u + c);
    if (us >= R(0.07) && v <= v_r) {
      return k;
    }
    if (k < 0 || k > count) {
      continue;
    }
    v = std::log(v * alpha / (a / (us * us) + b));
    const R bound = (m + R(0.5)) * std::log((m + 1) / (odds * (count - m + 1))) +
        (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
        (k + R(0.5)) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_rest(m) + stirling_rest(count - m) -
        stirling_rest(k) - stirling_rest(count - k);
    if (v <= bound) {
      return k;
    }
  }
}

/// Successes in `count` trials.
template <class R, class Draws>
HOST_DEVICE R binomial_sample(Draws& draws, R count, R prob) {
  if (count != count || prob != prob) {
    return std::numeric_limits<R>::quiet_NaN();
  }
  if (count <= 0 || prob <= 0) {
    return 0;
  }
  if (prob >= 1) {
    return count;
  }
  const R rarer = prob <= R(0.5) ? prob : 1 - prob;
  const R drawn =
      count * rarer >= 10 ? binomial_by_rejection(draws, count, rarer) : binomial_by_runs(draws, count, rarer);
  return prob <= R(0.5) ? drawn : count - drawn;
}

} // namespace at::native
