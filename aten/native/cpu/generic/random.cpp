// Samplers of the CPU generator. Each draws the numbers that PyTorch draws, in the same order.
#include <aten/CPUGeneratorImpl.h>
#include <aten/ExpandUtils.h>
#include <aten/MemoryOverlap.h>
#include <aten/OpMathType.h>
#include <aten/TensorIterator.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/OutArgument.h>
#include <aten/native/cpu/generic/random_draws.h>
#include <aten/ops/copy__ops.h>
#include <aten/ops/view_as_real_ops.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace at::native {
namespace {

/// self[i] = draw() in PyTorch's order: the order of memory, as TensorIterator walks it.
template <class T, class Draw>
void fill_serially(const Tensor& self, Draw draw) {
  auto iter = TensorIteratorConfig().set_check_mem_overlap(false).resize_outputs(false).add_output(self).build();
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          *reinterpret_cast<T*>(data[0] + i * strides[0]) = static_cast<T>(draw());
        }
      },
      {0, iter.numel()});
}

constexpr auto kRandomDtypes = at::kIntegral | at::kUnsigned | at::kFloating | at::kBooleans;

void check_floating(const char* op, const Tensor& self) {
  TORCH_CHECK(
      c10::isFloatingType(self.scalar_type()) || self.is_complex(), op, "_ expects a floating point or complex tensor, got ",
      self.scalar_type());
}

/// Bounds that a dtype holds exactly, for random_ without an upper limit.
template <class T>
uint64_t full_range() {
  if constexpr (std::is_same_v<T, bool>) {
    return 1;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(std::numeric_limits<T>::max());
  } else {
    return uint64_t{1} << kDigits<T>;
  }
}

/// Draws of 32 bits serve ranges below 2^32 in PyTorch 1.x; 2.x takes 64 bits from 2^28 on, where the bias of the
/// remainder would show.
constexpr uint64_t kWideRange = uint64_t{1} << 28;

} // namespace

// ---- integers ----------------------------------------------------------------------------

Tensor& random_cpu(Tensor& self, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  LockedGenerator draw(generator);
  dispatch("random_", self.scalar_type(), kRandomDtypes, [&]<class T> {
    fill_serially<T>(self, [&]() -> T {
      if constexpr (std::is_same_v<T, bool>) {
        return (draw->random() & 1) != 0;
      } else if constexpr (std::is_same_v<T, double>) {
        return static_cast<T>(draw->random64() % (full_range<T>() + 1));
      } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>) {
        return static_cast<T>(draw->random64() % (full_range<T>() + 1 == 0 ? ~uint64_t{0} : full_range<T>() + 1));
      } else {
        return static_cast<T>(draw->random() % (full_range<T>() + 1));
      }
    });
  });
  return self;
}

namespace {

template <class T>
void check_bound(double value, const char* name) {
  const double low = std::is_same_v<T, bool> ? 0 : std::is_integral_v<T> ? static_cast<double>(std::numeric_limits<T>::lowest()) : -std::ldexp(1.0, kDigits<T>);
  const double high = std::is_same_v<T, bool> ? 1 : std::is_integral_v<T> ? static_cast<double>(std::numeric_limits<T>::max()) : std::ldexp(1.0, kDigits<T>);
  TORCH_CHECK(value >= low && (std::is_integral_v<T> ? value <= high : true), name, " is out of bounds for ", c10::scalarTypeToTypeMeta(c10::CppTypeToScalarType<T>::value).name());
}

void check_random_range(const Tensor& self, int64_t from, int64_t last) {
  TORCH_CHECK(
      !self.is_complex(), "check_random_bounds handles only integral, floating-point and boolean types; got ",
      self.scalar_type());
  dispatch("random_", self.scalar_type(), kRandomDtypes, [&]<class T> {
    check_bound<T>(static_cast<double>(from), "from");
    check_bound<T>(static_cast<double>(last), "to - 1");
  });
}

} // namespace

Tensor& random_from_cpu(Tensor& self, int64_t from, std::optional<int64_t> to, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  uint64_t range = 0;
  if (to) {
    TORCH_CHECK(from < *to, "random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", *to);
    check_random_range(self, from, *to - 1);
    range = static_cast<uint64_t>(*to) - static_cast<uint64_t>(from);
  } else if (from == std::numeric_limits<int64_t>::lowest()) {
    range = 0; // all of int64
  } else {
    int64_t last = std::numeric_limits<int64_t>::max();
    dispatch("random_", self.scalar_type(), kRandomDtypes, [&]<class T> {
      last = static_cast<int64_t>(std::min<uint64_t>(full_range<T>(), std::numeric_limits<int64_t>::max()));
    });
    check_random_range(self, from, last);
    range = static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
  }
  LockedGenerator draw(generator);
  dispatch("random_", self.scalar_type(), kRandomDtypes, [&]<class T> {
    fill_serially<T>(self, [&]() -> T {
      if (range == 0) {
        return static_cast<T>(static_cast<int64_t>(draw->random64()));
      }
      const uint64_t bits = range >= kWideRange ? draw->random64() : draw->random();
      return static_cast<T>(static_cast<int64_t>(bits % range + static_cast<uint64_t>(from)));
    });
  });
  return self;
}

Tensor& random_to_cpu(Tensor& self, int64_t to, OptGenerator generator) {
  return random_from_cpu(self, 0, to, std::move(generator));
}

Tensor& randperm_out_cpu(int64_t n, OptGenerator generator, Tensor& out) {
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  TORCH_CHECK(!generator || !generator->defined() || generator->device().is_cpu(), "Expected a 'cpu' generator device but found '", generator->device(), "'");
  dispatch("randperm", out.scalar_type(), at::kIntegral | at::kFloating, [&]<class T> {
    const bool fits = std::is_integral_v<T> ? n - 1 <= static_cast<int64_t>(std::min<uint64_t>(full_range<T>(), INT64_MAX))
                                             : n <= static_cast<int64_t>(full_range<T>()) + 1;
    TORCH_CHECK(fits || n == 0, "n is too large for result tensor type: '", out.toString(), "'");
    resize_output(out, {n});
    Tensor dense = out.is_contiguous() ? out : empty_contiguous({n}, out.scalar_type(), kCPU);
    T* r = dense.mutable_data_ptr<T>();
    for (int64_t i = 0; i < n; ++i) {
      r[i] = static_cast<T>(static_cast<int64_t>(i));
    }
    LockedGenerator draw(generator);
    for (int64_t i = 0; i < n - 1; ++i) {
      const auto left = static_cast<uint64_t>(n - i);
      const uint64_t z = (left >= (uint64_t{1} << 32) ? draw->random64() : draw->random()) % left;
      std::swap(r[i], r[i + static_cast<int64_t>(z)]);
    }
    if (!dense.is_same(out)) {
      at::_ops::copy_::call(out, dense, false);
    }
  });
  return out;
}

// ---- reals -------------------------------------------------------------------------------

Tensor& uniform_cpu(Tensor& self, double from, double to, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  if (self.is_complex()) {
    Tensor parts = at::_ops::view_as_real::call(self);
    uniform_cpu(parts, from, to, std::move(generator));
    return self;
  }
  check_floating("uniform", self);
  TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  dispatch("uniform_", self.scalar_type(), at::kFloating, [&]<class T> {
    const double highest = static_cast<double>(std::numeric_limits<T>::max());
    TORCH_CHECK(
        to - from <= highest, "uniform_ expects to-from <= std::numeric_limits<", c10::CppTypeToScalarType<T>::value,
        ">::max(), but found to=", to, " and from=", from, " which result in to-from to exceed the limit");
    LockedGenerator draw(generator);
    fill_serially<T>(self, [&]() -> T {
      const T x = static_cast<T>(uniform_sample<opmath_type<T>>(*draw, from, to));
      // A 16-bit type may round up to the excluded bound.
      return !std::is_same_v<T, opmath_type<T>> && static_cast<double>(x) >= to && from < to ? static_cast<T>(from) : x;
    });
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
      to[i] = static_cast<T>(is_drawn ? uniform_sample<double>(*draw, lower, upper) : 1.0);
    }
  });
  return slopes;
}

Tensor rrelu_slopes_meta(const Tensor& self, double, double, OptGenerator) {
  return at::empty_contiguous(self.sizes(), self.scalar_type(), self.device());
}

namespace {

/// Sixteen uniforms become sixteen normals: the first eight are angles' radii, the last eight angles.
template <class Acc>
void box_muller_16(Acc* data, Acc mean, Acc std) {
  for (int j = 0; j < 8; ++j) {
    const Acc u1 = Acc(1) - data[j];
    const Acc u2 = data[j + 8];
    const Acc radius = std::sqrt(Acc(-2) * std::log(u1));
    const Acc theta = Acc(2) * std::numbers::pi_v<Acc> * u2;
    data[j] = radius * std::cos(theta) * std + mean;
    data[j + 8] = radius * std::sin(theta) * std + mean;
  }
}

template <class T>
void normal_fill(T* data, int64_t size, double mean, double std, CPUGeneratorImpl& generator) {
  using Acc = opmath_type<T>;
  Acc block[16];
  const auto fill = [&](T* to) {
    for (Acc& x : block) {
      x = uniform_sample<Acc>(generator, 0, 1);
    }
    box_muller_16<Acc>(block, static_cast<Acc>(mean), static_cast<Acc>(std));
    for (int i = 0; i < 16; ++i) {
      to[i] = static_cast<T>(block[i]);
    }
  };
  for (int64_t i = 0; i + 15 < size; i += 16) {
    fill(data + i);
  }
  if (const int64_t rest = size % 16; rest != 0) {
    // The last sixteen are drawn anew. Float and double have drawn for the rest before that, the 16-bit types have not.
    for (int64_t i = 0; std::is_same_v<T, Acc> && i < rest; ++i) {
      uniform_sample<Acc>(generator, 0, 1);
    }
    fill(data + size - 16);
  }
}

} // namespace

Tensor& normal_cpu(Tensor& self, double mean, double std, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  if (self.is_complex()) {
    // Real and imaginary parts share the variance.
    Tensor parts = at::_ops::view_as_real::call(self);
    normal_cpu(parts, mean, std / std::numbers::sqrt2, std::move(generator));
    return self;
  }
  check_floating("normal", self);
  LockedGenerator draw(generator);
  dispatch("normal_", self.scalar_type(), at::kFloating, [&]<class T> {
    if (self.numel() >= 16 && self.is_contiguous()) {
      normal_fill<T>(self.mutable_data_ptr<T>(), self.numel(), mean, std, *draw);
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
  TORCH_CHECK(lambd > 0.0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  LockedGenerator draw(generator);
  dispatch("exponential_", self.scalar_type(), at::kFloating, [&]<class T> {
    fill_serially<T>(self, [&] {
      const double u = uniform_sample<double>(*draw, 0.0, 1.0);
      return -1.0 / lambd * std::log1p(-u);
    });
  });
  return self;
}

Tensor& cauchy_cpu(Tensor& self, double median, double sigma, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(sigma > 0.0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  LockedGenerator draw(generator);
  dispatch("cauchy_", self.scalar_type(), at::kFloating, [&]<class T> {
    fill_serially<T>(self, [&] {
      const double u = uniform_sample<double>(*draw, 0.0, 1.0);
      return median + sigma * std::tan(std::numbers::pi * (u - 0.5));
    });
  });
  return self;
}

Tensor& geometric_cpu(Tensor& self, double p, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  LockedGenerator draw(generator);
  dispatch("geometric_", self.scalar_type(), at::kIntegral | at::kFloating, [&]<class T> {
    fill_serially<T>(self, [&] {
      const double u = uniform_sample<double>(*draw, 0.0, 1.0);
      return std::ceil(std::log(u) / std::log1p(-p));
    });
  });
  return self;
}

Tensor& bernoulli_float_cpu(Tensor& self, double p, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  LockedGenerator draw(generator);
  dispatch("bernoulli_", self.scalar_type(), at::kAll, [&]<class T> {
    fill_serially<T>(self, [&] { return static_cast<T>(uniform_sample<double>(*draw, 0.0, 1.0) < p ? 1 : 0); });
  });
  return self;
}

Tensor& bernoulli_tensor_cpu(Tensor& self, const Tensor& p, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(
      c10::isFloatingType(p.scalar_type()), "bernoulli_: expected a floating point tensor of probabilities, got ", p.scalar_type());
  TORCH_CHECK(
      at::is_expandable_to(p.sizes(), self.sizes()), "output with shape ", self.sizes(), " doesn't match the broadcast shape ",
      IntArrayRef(at::infer_size(self.sizes(), p.sizes())), " (in bernoulli_)");
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
              TORCH_CHECK(chance >= 0 && chance <= 1, "Expected p_in >= 0 && p_in <= 1 to be true, but got p_in=", chance);
            }
          },
          {0, iter.numel()});
      LockedGenerator draw(generator);
      iter.serial_for_each(
          [&](char** data, const int64_t* strides, int64_t n) {
            for (int64_t i = 0; i < n; ++i) {
              const auto chance = static_cast<opmath_type<P>>(*reinterpret_cast<const P*>(data[1] + i * strides[1]));
              *reinterpret_cast<T*>(data[0] + i * strides[0]) =
                  static_cast<T>(uniform_sample<opmath_type<P>>(*draw, 0.0, 1.0) < chance ? 1 : 0);
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
      TORCH_CHECK(static_cast<double>(rate[i]) >= 0, "invalid Poisson rate, expected rate to be non-negative, got ", static_cast<double>(rate[i]));
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
          const double u = uniform_sample<double>(*draw, 0.0, 1.0) - 0.5;
          const double v = uniform_sample<double>(*draw, 0.0, 1.0);
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
          product *= uniform_sample<double>(*draw, 0.0, 1.0);
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
      c10::isFloatingType(self.scalar_type()), "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  TORCH_CHECK(self.dim() > 0 && self.dim() <= 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(n_sample > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(
      replacement || n_sample <= self.size(-1), "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
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
          TORCH_CHECK(!(x < 0), "invalid multinomial distribution (encountering probability entry < 0)");
          TORCH_CHECK(std::isfinite(x), "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
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
      for (Acc& key : keys) {
        const double u = uniform_sample<double>(*draw, 0.0, 1.0);
        key = static_cast<Acc>(static_cast<T>(-std::log1p(-u)));
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
        const double u = uniform_sample<double>(*draw, 0.0, 1.0);
        const auto found = std::lower_bound(
            cumulative.begin(), cumulative.end(), u, [](Acc c, double x) { return static_cast<double>(c) < x; });
        to[row * num_samples + k] = found - cumulative.begin();
      }
    }
  });
  return self.dim() == 1 ? result.squeeze(0) : result;
}

} // namespace at::native
