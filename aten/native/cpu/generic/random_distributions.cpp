// Samplers of the gamma, binomial and Dirichlet distributions, and the derivative of a gamma sample for its parameter.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/generic/random_draws.h>
#include <aten/native/pointwise/incomplete_gamma.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace at::native {

namespace {

double uniform(CPUGeneratorImpl& generator) {
  return uniform_sample(generator, 0.0, 1.0);
}

/// Marsaglia and Tsang 2000; below 1 by a sample for alpha + 1 and a power of a uniform.
double gamma_sample(CPUGeneratorImpl& generator, double alpha) {
  double scale = 1;
  if (alpha < 1) {
    if (alpha == 0) {
      return 0;
    }
    scale = std::pow(1 - uniform(generator), 1 / alpha);
    alpha += 1;
  }
  // PyTorch takes the third in single precision; its samples are reproduced only so.
  const double d = alpha - 1.0f / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    double x, y;
    do {
      x = normal_sample(generator, 0.0, 1.0);
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - uniform(generator), square = x * x;
    if (u < 1 - 0.0331 * square * square || std::log(u) < 0.5 * square + d * (1 - v + std::log(v))) {
      return scale * d * v;
    }
  }
}

/// Few expected successes: the lengths of runs of failures are geometric.
double binomial_by_runs(CPUGeneratorImpl& generator, double count, double prob) {
  const double log_failure = std::log1p(-prob);
  double trials = 0, successes = 0;
  while (true) {
    trials += std::ceil(std::log(uniform(generator)) / log_failure);
    if (trials > count) {
      return successes;
    }
    successes += 1;
  }
}

/// log(k!) less Stirling's approximation.
double stirling_rest(double k) {
  constexpr double kTable[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                               0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                               0.00925546218271273, 0.00833056343336287};
  if (k < 10) {
    return kTable[static_cast<int>(k)];
  }
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/// Transformed rejection (Hoermann 1993), for prob up to 1/2 and ten expected successes or more.
double binomial_by_rejection(CPUGeneratorImpl& generator, double count, double prob) {
  const double deviation = std::sqrt(count * prob * (1 - prob));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * prob, c = count * prob + 0.5;
  const double v_r = 0.92 - 4.2 / b, odds = prob / (1 - prob);
  const double alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((count + 1) * prob);
  while (true) {
    const double u = uniform(generator) - 0.5;
    double v = uniform(generator);
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) {
      return k;
    }
    if (k < 0 || k > count) {
      continue;
    }
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (m + 0.5) * std::log((m + 1) / (odds * (count - m + 1))) +
        (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
        (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_rest(m) + stirling_rest(count - m) -
        stirling_rest(k) - stirling_rest(count - k);
    if (v <= bound) {
      return k;
    }
  }
}

double binomial_sample(CPUGeneratorImpl& generator, double count, double prob) {
  if (std::isnan(count) || std::isnan(prob)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (count <= 0 || prob <= 0) {
    return 0;
  }
  if (prob >= 1) {
    return count;
  }
  const double rarer = std::min(prob, 1 - prob);
  const double drawn = count * rarer >= 10 ? binomial_by_rejection(generator, count, rarer)
                                           : binomial_by_runs(generator, count, rarer);
  return prob <= 0.5 ? drawn : count - drawn;
}

/// How a gamma sample x moves with alpha when its quantile stays: -(dP/dalpha) / (dP/dx).
double gamma_sample_slope(double alpha, double x) {
  if (!(alpha > 0) || !(x > 0)) {
    return x == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  }
  // P or Q, whichever is the smaller, by a difference of their logarithms; the error is of the order of step^2.
  const double step = 1e-4 * std::max(alpha, 1e-3) / std::max(1.0, std::sqrt(alpha));
  const bool upper = x > alpha;
  const auto log_tail = [&](double a) {
    return std::log(upper ? pointwise::incomplete_gamma<true>(a, x) : pointwise::incomplete_gamma<false>(a, x));
  };
  const double tail = upper ? pointwise::incomplete_gamma<true>(alpha, x) : pointwise::incomplete_gamma<false>(alpha, x);
  const double slope = tail * (log_tail(alpha + step) - log_tail(alpha - step)) / (2 * step);
  const double density = pointwise::gamma_density(alpha, x) * alpha / x;
  return (upper ? slope : -slope) / density;
}

template <class T>
T at_least_tiny(double value) {
  return static_cast<T>(std::max(static_cast<double>(std::numeric_limits<T>::min()), value));
}

} // namespace

Tensor standard_gamma_cpu(const Tensor& self, std::optional<Generator> generator) {
  const Tensor alphas = self.contiguous();
  Tensor result = empty_contiguous(self.sizes(), self.scalar_type(), kCPU);
  dispatch("gamma", self.scalar_type(), at::kFloating, [&]<class T> {
    const T* alpha = alphas.const_data_ptr<T>();
    T* to = result.mutable_data_ptr<T>();
    LockedGenerator draw(generator);
    for (int64_t i = 0; i < alphas.numel(); ++i) {
      to[i] = at_least_tiny<T>(gamma_sample(*draw, static_cast<double>(alpha[i])));
    }
  });
  return result;
}

Tensor standard_gamma_grad_cpu(const Tensor& self, const Tensor& output) {
  TORCH_CHECK(
      self.sizes() == output.sizes() && self.scalar_type() == output.scalar_type(),
      "_standard_gamma_grad: self and output must have the same sizes and dtype, got ", self.sizes(), " ",
      self.scalar_type(), " and ", output.sizes(), " ", output.scalar_type());
  const Tensor alphas = self.contiguous(), samples = output.contiguous();
  Tensor result = empty_contiguous(self.sizes(), self.scalar_type(), kCPU);
  dispatch("_standard_gamma_grad_cpu", self.scalar_type(), at::kFloating, [&]<class T> {
    const T* alpha = alphas.const_data_ptr<T>();
    const T* x = samples.const_data_ptr<T>();
    T* to = result.mutable_data_ptr<T>();
    for (int64_t i = 0; i < alphas.numel(); ++i) {
      to[i] = static_cast<T>(gamma_sample_slope(static_cast<double>(alpha[i]), static_cast<double>(x[i])));
    }
  });
  return result;
}

Tensor binomial_cpu(const Tensor& count, const Tensor& prob, std::optional<Generator> generator) {
  TORCH_CHECK(
      count.sizes() == prob.sizes() && count.scalar_type() == prob.scalar_type(),
      "binomial: count and prob must have the same sizes and dtype, got ", count.sizes(), " ", count.scalar_type(), " and ",
      prob.sizes(), " ", prob.scalar_type());
  const Tensor counts = count.contiguous(), probs = prob.contiguous();
  Tensor result = empty_contiguous(count.sizes(), count.scalar_type(), kCPU);
  dispatch("binomial_cpu", count.scalar_type(), at::kFloating, [&]<class T> {
    const T* n = counts.const_data_ptr<T>();
    const T* p = probs.const_data_ptr<T>();
    T* to = result.mutable_data_ptr<T>();
    LockedGenerator draw(generator);
    for (int64_t i = 0; i < counts.numel(); ++i) {
      to[i] = static_cast<T>(binomial_sample(*draw, static_cast<double>(n[i]), static_cast<double>(p[i])));
    }
  });
  return result;
}

Tensor sample_dirichlet_cpu(const Tensor& self, std::optional<Generator> generator) {
  TORCH_CHECK(self.dim() > 0, "_sample_dirichlet: self needs at least one dimension");
  const Tensor alphas = self.contiguous();
  Tensor result = empty_contiguous(self.sizes(), self.scalar_type(), kCPU);
  const int64_t width = self.size(-1);
  dispatch("dirichlet", self.scalar_type(), at::kFloating, [&]<class T> {
    const T* alpha = alphas.const_data_ptr<T>();
    T* to = result.mutable_data_ptr<T>();
    LockedGenerator draw(generator);
    std::vector<double> row(width);
    for (int64_t first = 0; first < alphas.numel(); first += width) {
      for (int64_t i = 0; i < width; ++i) {
        const double drawn = gamma_sample(*draw, static_cast<double>(alpha[first + i]));
        row[i] = std::max(std::numeric_limits<double>::min(), drawn);
      }
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (int64_t i = 0; i < width; ++i) {
        to[first + i] = at_least_tiny<T>(row[i] / sum);
      }
    }
  });
  return result;
}

} // namespace at::native
