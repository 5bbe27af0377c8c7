// Samplers of real numbers. Each draws the numbers that PyTorch draws, in the same order.
#include <aten/core/OpMathType.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/cpu/generic/random_draws.h>
#include <aten/native/cpu/generic/random_fill.h>
#include <aten/ops/view_as_real_ops.h>
#include <c10/util/TypeCast.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace at::native {
namespace {

/// self[i] = draw(), one by one, in the order of memory.
template <class T, class Draw>
void fill_serially(const Tensor& self, Draw draw) {
  fill_runs<T>(self, [&](T* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      to[i] = static_cast<T>(draw());
    }
  });
}

/// self[i] = map(u) of doubles u that are uniform in [0, 1).
template <class T, class Map>
void fill_from_units(const Tensor& self, CPUGeneratorImpl& generator, Map map) {
  fill_mapped<T, double>(
      self, [&](double* u, int64_t n) { draw_uniform(generator, u, n, 0, 1); }, map);
}

/// Exponential numbers. Those that are stored as doubles are libm's to the last bit, as PyTorch's are.
template <class T>
void draw_exponential(CPUGeneratorImpl& generator, double* to, int64_t n, double lambd) {
  if constexpr (!std::is_same_v<T, double>) {
    by_isa(v2::draw_exponential, v3::draw_exponential, v4::draw_exponential)(generator, to, n, lambd);
  } else {
    draw_uniform(generator, to, n, 0, 1);
    for (int64_t i = 0; i < n; ++i) {
      to[i] = -1.0 / lambd * std::log1p(-to[i]);
    }
  }
}

void check_floating(const char* op, const char* kernel, const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      c10::isFloatingType(self.scalar_type()) || self.is_complex(), '"', kernel, "\" not implemented for '",
      self.scalar_type(), "': ", op, "_ takes floating point and complex tensors");
}

} // namespace

Tensor& uniform_cpu(Tensor& self, double from, double to, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  if (self.is_complex()) {
    Tensor parts = at::_ops::view_as_real::call(self);
    uniform_cpu(parts, from, to, std::move(generator));
    return self;
  }
  check_floating("uniform", "check_uniform_bounds", self);
  dispatch("uniform_", self.scalar_type(), at::kFloating, [&]<class T> {
    const double highest = static_cast<double>(std::numeric_limits<T>::max());
    TORCH_CHECK(from >= -highest && from <= highest, "from is out of bounds for ", self.dtype().name());
    TORCH_CHECK(to >= -highest && to <= highest, "to is out of bounds for ", self.dtype().name());
    TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
    TORCH_CHECK(
        to - from <= highest, "uniform_ expects to-from <= std::numeric_limits<", c10::CppTypeToScalarType<T>::value,
        ">::max(), but found to=", to, " and from=", from, " which result in to-from to exceed the limit");
    LockedGenerator draw(generator);
    fill_runs<T>(self, [&](T* run, int64_t n) { draw_uniform(*draw, run, n, from, to); });
  });
  return self;
}

Tensor rrelu_slopes_cpu(const Tensor& self, double lower, double upper, OptGenerator generator) {
  const Tensor input = self.contiguous();
  Tensor slopes = at::empty_contiguous(self.sizes(), self.scalar_type(), self.device());
  dispatch("rrelu_with_noise_out_cpu", self.scalar_type(), at::kFloating, [&]<class T> {
    const T* from = static_cast<const T*>(input.const_data_ptr());
    T* to = static_cast<T*>(slopes.data_ptr());
    LockedGenerator draw(generator);
    for (int64_t i = 0; i < input.numel(); ++i) {
      const bool is_drawn = static_cast<opmath_type<T>>(from[i]) <= 0;
      to[i] = static_cast<T>(is_drawn ? uniform_sample(*draw, lower, upper) : 1.0);
    }
  });
  return slopes;
}

Tensor rrelu_slopes_meta(const Tensor& self, double, double, OptGenerator) {
  return at::empty_contiguous(self.sizes(), self.scalar_type(), self.device());
}

Tensor& normal_cpu(Tensor& self, double mean, double std, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  if (self.is_complex()) {
    // Real and imaginary parts share the variance.
    Tensor parts = at::_ops::view_as_real::call(self);
    normal_cpu(parts, mean, std / std::numbers::sqrt2, std::move(generator));
    return self;
  }
  if (self.numel() == 0) {
    return self; // of any dtype
  }
  check_floating("normal", "normal_kernel_cpu", self);
  LockedGenerator draw(generator);
  dispatch("normal_", self.scalar_type(), at::kFloating, [&]<class T> {
    if (self.numel() >= 16 && self.is_contiguous()) {
      by_isa(v2::draw_normal<T>, v3::draw_normal<T>, v4::draw_normal<T>)(
          *draw, self.mutable_data_ptr<T>(), self.numel(), mean, std);
    } else {
      fill_serially<T>(self, [&] { return normal_sample(*draw, mean, std); });
    }
  });
  return self;
}

Tensor& log_normal_cpu(Tensor& self, double mean, double std, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(std > 0.0, "log_normal_ expects std > 0.0, but found std=", std);
  LockedGenerator draw(generator);
  dispatch("log_normal_", self.scalar_type(), at::kFloating, [&]<class T> {
    fill_serially<T>(self, [&] { return std::exp(normal_sample(*draw, mean, std)); });
  });
  return self;
}

Tensor& exponential_cpu(Tensor& self, double lambd, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(lambd >= 0.0, "exponential_ expects lambda >= 0.0, but found lambda=", lambd);
  LockedGenerator draw(generator);
  dispatch("exponential_", self.scalar_type(), at::kFloating, [&]<class T> {
    fill_mapped<T, double>(
        self, [&](double* drawn, int64_t n) { draw_exponential<T>(*draw, drawn, n, lambd); },
        [](double x) { return static_cast<T>(x); });
  });
  return self;
}

Tensor& cauchy_cpu(Tensor& self, double median, double sigma, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  LockedGenerator draw(generator);
  dispatch("cauchy_", self.scalar_type(), at::kFloating, [&]<class T> {
    fill_from_units<T>(
        self, *draw, [=](double u) { return static_cast<T>(median + sigma * std::tan(std::numbers::pi * (u - 0.5))); });
  });
  return self;
}

Tensor& geometric_cpu(Tensor& self, double p, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  LockedGenerator draw(generator);
  dispatch("geometric_", self.scalar_type(), at::kIntegral | at::kFloating, [&]<class T> {
    auto* geometric = by_isa(v2::draw_geometric, v3::draw_geometric, v4::draw_geometric);
    fill_mapped<T, double>(
        self, [&](double* drawn, int64_t n) { geometric(*draw, drawn, n, p); },
        [](double x) { return static_cast<T>(x); });
  });
  return self;
}

Tensor& bernoulli_float_cpu(Tensor& self, double p, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  LockedGenerator draw(generator);
  dispatch("bernoulli_", self.scalar_type(), at::kAll | at::kComplexHalves, [&]<class T> {
    auto* coins = by_isa(v2::draw_coins, v3::draw_coins, v4::draw_coins);
    fill_mapped<T, uint8_t>(
        self, [&](uint8_t* drawn, int64_t n) { coins(*draw, drawn, n, p); },
        [](uint8_t x) { return c10::convert<T>(x); });
  });
  return self;
}

Tensor& bernoulli_tensor_cpu(Tensor& self, const Tensor& p, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(
      c10::isFloatingType(p.scalar_type()), "bernoulli_: expected a floating point tensor of probabilities, got ",
      p.scalar_type());
  const Tensor chances = p.expand(self.sizes());
  dispatch("bernoulli_", self.scalar_type(), at::kAll, [&]<class T> {
    dispatch("bernoulli_", p.scalar_type(), at::kFloating, [&]<class P> {
      auto iter = TensorIteratorConfig()
                      .set_check_mem_overlap(false)
                      .check_all_same_dtype(false)
                      .resize_outputs(false)
                      .add_output(self)
                      .add_const_input(chances)
                      .build();
      iter.serial_for_each(
          [&](char** data, const int64_t* strides, int64_t n) {
            for (int64_t i = 0; i < n; ++i) {
              const auto chance = static_cast<double>(*reinterpret_cast<const P*>(data[1] + i * strides[1]));
              TORCH_CHECK(
                  chance >= 0 && chance <= 1, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  ",
                  "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.) ",
                  "bernoulli_ got p_in=", chance);
            }
          },
          {0, iter.numel()});
      LockedGenerator draw(generator);
      iter.serial_for_each(
          [&](char** data, const int64_t* strides, int64_t n) {
            opmath_type<P> u[kRun];
            for (int64_t first = 0; first < n; first += kRun) {
              const int64_t count = std::min(kRun, n - first);
              draw_uniform(*draw, u, count, 0, 1);
              for (int64_t i = 0; i < count; ++i) {
                const P chance = *reinterpret_cast<const P*>(data[1] + (first + i) * strides[1]);
                *reinterpret_cast<T*>(data[0] + (first + i) * strides[0]) =
                    static_cast<T>(u[i] < static_cast<opmath_type<P>>(chance) ? 1 : 0);
              }
            }
          },
          {0, iter.numel()});
    });
  });
  return self;
}

Tensor poisson_cpu(const Tensor& self, OptGenerator generator) {
  const Tensor dense = self.contiguous();
  Tensor result = empty_contiguous(self.sizes(), self.scalar_type(), kCPU);
  dispatch("poisson", self.scalar_type(), at::kFloating, [&]<class T> {
    const T* rate = dense.const_data_ptr<T>();
    T* to = result.mutable_data_ptr<T>();
    for (int64_t i = 0; i < dense.numel(); ++i) {
      TORCH_CHECK(
          static_cast<double>(rate[i]) >= 0, "invalid Poisson rate, expected rate to be non-negative, got ",
          static_cast<double>(rate[i]));
    }
    LockedGenerator draw(generator);
    for (int64_t i = 0; i < dense.numel(); ++i) {
      // Small rates by multiplication of uniforms (Knuth), large ones by transformed rejection (Hoermann 1993).
      const auto lambda = static_cast<double>(rate[i]);
      int64_t count = 0;
      if (lambda >= 10) {
        const double slam = std::sqrt(lambda);
        const double loglam = std::log(lambda);
        const double b = 0.931 + 2.53 * slam;
        const double a = -0.059 + 0.02483 * b;
        const double invalpha = 1.1239 + 1.1328 / (b - 3.4);
        const double vr = 0.9277 - 3.6224 / (b - 2);
        while (true) {
          const double u = uniform_sample(*draw, 0.0, 1.0) - 0.5;
          const double v = uniform_sample(*draw, 0.0, 1.0);
          const double us = 0.5 - std::fabs(u);
          count = static_cast<int64_t>(std::floor((2 * a / us + b) * u + lambda + 0.43));
          if (us >= 0.07 && v <= vr) {
            break;
          }
          if (count < 0 || (us < 0.013 && v > us)) {
            continue;
          }
          if (std::log(v) + std::log(invalpha) - std::log(a / (us * us) + b) <=
              -lambda + static_cast<double>(count) * loglam - std::lgamma(static_cast<double>(count) + 1)) {
            break;
          }
        }
      } else if (lambda > 0) {
        const double limit = std::exp(-lambda);
        double product = 1;
        while (true) {
          product *= uniform_sample(*draw, 0.0, 1.0);
          if (product <= limit) {
            break;
          }
          ++count;
        }
      }
      to[i] = static_cast<T>(static_cast<double>(count));
    }
  });
  return result;
}

// ---- multinomial -----------------------------------------------------------------------------

namespace {

void check_probabilities(const Tensor& self, int64_t n_sample, bool replacement) {
  TORCH_CHECK(
      c10::isFloatingType(self.scalar_type()),
      "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  TORCH_CHECK(self.dim() > 0 && self.dim() <= 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(n_sample > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(
      replacement || n_sample <= self.size(-1),
      "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  TORCH_CHECK(self.size(-1) <= (int64_t{1} << 24), "number of categories cannot exceed 2^24");
}

} // namespace

Tensor multinomial_cpu(const Tensor& self, int64_t num_samples, bool replacement, OptGenerator generator) {
  check_probabilities(self, num_samples, replacement);
  const Tensor dist = (self.dim() == 1 ? self.unsqueeze(0) : self).contiguous();
  const int64_t rows = dist.size(0);
  const int64_t categories = dist.size(1);
  Tensor result = empty_contiguous({rows, num_samples}, kLong, kCPU);
  int64_t* to = result.mutable_data_ptr<int64_t>();
  dispatch("multinomial", dist.scalar_type(), at::kFloating, [&]<class T> {
    using Acc = opmath_type<T>;
    const T* p = dist.const_data_ptr<T>();
    for (int64_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < categories; ++i) {
        const auto x = static_cast<double>(p[row * categories + i]);
        if (replacement && num_samples > 1) {
          TORCH_CHECK(x >= 0, "invalid multinomial distribution (encountering probability entry < 0)");
          TORCH_CHECK(
              std::isfinite(x), "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
        } else {
          TORCH_CHECK(x >= 0 && std::isfinite(x), "probability tensor contains either `inf`, `nan` or element < 0");
        }
        sum += x;
      }
      TORCH_CHECK(sum > 0, "invalid multinomial distribution (sum of probabilities <= 0)");
    }
    LockedGenerator draw(generator);
    if (!replacement || num_samples == 1) {
      // The n largest of p / q with exponential q: sampling without replacement in one pass (Efraimidis and Spirakis).
      std::vector<Acc> keys(rows * categories);
      for (int64_t first = 0; first < rows * categories; first += kRun) {
        double run[kRun];
        const int64_t count = std::min(kRun, rows * categories - first);
        draw_exponential<T>(*draw, run, count, 1);
        std::transform(
            run, run + count, keys.begin() + first, [](double x) { return static_cast<Acc>(static_cast<T>(x)); });
      }
      std::vector<int64_t> order(categories);
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t i = 0; i < categories; ++i) {
          Acc& key = keys[row * categories + i];
          key = static_cast<Acc>(static_cast<T>(static_cast<Acc>(p[row * categories + i]) / key));
          order[i] = i;
        }
        const Acc* key = keys.data() + row * categories;
        std::partial_sort(order.begin(), order.begin() + num_samples, order.end(), [key](int64_t a, int64_t b) {
          return key[a] > key[b] || (key[a] == key[b] && a < b);
        });
        std::copy_n(order.begin(), num_samples, to + row * num_samples);
      }
      return;
    }
    std::vector<Acc> cumulative(categories);
    for (int64_t row = 0; row < rows; ++row) {
      Acc sum = 0;
      for (int64_t i = 0; i < categories; ++i) {
        sum += static_cast<Acc>(p[row * categories + i]);
        cumulative[i] = sum;
      }
      for (Acc& c : cumulative) {
        c /= sum;
      }
      cumulative.back() = 1;
      for (int64_t k = 0; k < num_samples; ++k) {
        const double u = uniform_sample(*draw, 0.0, 1.0);
        const auto found = std::lower_bound(
            cumulative.begin(), cumulative.end(), u, [](Acc c, double x) { return static_cast<double>(c) < x; });
        to[row * num_samples + k] = found - cumulative.begin();
      }
    }
  });
  return self.dim() == 1 ? result.squeeze(0) : result;
}

} // namespace at::native
