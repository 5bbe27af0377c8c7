// The samplers of csrc/compat/aten/native/DistributionTemplates.h on the CPU, for any generator: a class derived from
// c10::GeneratorImpl with random() of 32 and random64() of 64 bits. The numbers are drawn as
// csrc/compat/aten/core/DistributionsHelper.h says, in order.
#pragma once

#include <aten/core/Generator.h>
#include <aten/core/OpMathType.h>
#include <aten/core/Tensor.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/TensorIterator.h>
#include <csrc/compat/aten/Dispatch.h>
#include <csrc/compat/aten/Dispatch_v2.h>
#include <csrc/compat/aten/core/DistributionsHelper.h>
#include <csrc/compat/aten/native/cpu/Loops.h>
#include <csrc/compat/c10/util/MathConstants.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>

namespace at::native::templates::cpu {

namespace detail {

/// Fills with what `distribution` draws, in the order of the elements.
template <typename scalar_t, typename RNG, class Distribution>
void fill_serially(TensorIteratorBase& iter, RNG generator, Distribution distribution) {
  const std::lock_guard<std::mutex> lock(generator->mutex_);
  cpu_serial_kernel(
      iter, [&distribution, generator]() -> scalar_t { return static_cast<scalar_t>(distribution(generator)); });
}

} // namespace detail

// ---- random_
// ---------------------------------------------------------------------------------------------------------

template <typename RNG>
void random_from_to_kernel(TensorIteratorBase& iter, uint64_t range, int64_t base, RNG generator) {
  AT_DISPATCH_V2(
      iter.dtype(), "random_from_to_kernel_cpu", AT_WRAP([&] {
        detail::fill_serially<scalar_t>(iter, generator, uniform_int_from_to_distribution<scalar_t>(range, base));
      }),
      kBool, kHalf, kBFloat16, AT_EXPAND(AT_ALL_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES));
}

/// All of int64.
template <typename RNG>
void random_full_64_bits_range_kernel(TensorIteratorBase& iter, RNG generator) {
  AT_DISPATCH_V2(
      iter.dtype(), "random_full_64_bits_range_kernel_cpu", AT_WRAP([&] {
        detail::fill_serially<scalar_t>(iter, generator, uniform_int_full_range_distribution<scalar_t>());
      }),
      kLong, kDouble, kFloat, kBFloat16);
}

template <typename RNG>
struct RandomFromToKernel {
  void operator()(TensorIteratorBase& iter, uint64_t range, int64_t base, std::optional<Generator> gen) {
    random_from_to_kernel(iter, range, base, check_generator<RNG>(gen));
  }
  void operator()(TensorIteratorBase& iter, std::optional<Generator> gen) {
    random_full_64_bits_range_kernel(iter, check_generator<RNG>(gen));
  }
};

template <typename RNG>
void random_kernel(TensorIteratorBase& iter, RNG generator) {
  AT_DISPATCH_ALL_TYPES_AND3(kHalf, kBFloat16, kBool, iter.dtype(), "random_kernel_cpu", [&] {
    detail::fill_serially<scalar_t>(iter, generator, uniform_int_distribution<scalar_t>());
  });
}

template <typename RNG>
struct RandomKernel {
  void operator()(TensorIteratorBase& iter, std::optional<Generator> gen) {
    random_kernel(iter, check_generator<RNG>(gen));
  }
};

// ---- normal
// ----------------------------------------------------------------------------------------------------------

/// Contiguous memory of at least 16 elements: uniform numbers of 16 elements at a time become normal ones, the first
/// eight of them radii and the others angles (Box and Muller). A rest takes the last 16 elements once more.
template <typename scalar_t, typename RNG>
void normal_fill(const TensorBase& self, double mean, double std, RNG generator) {
  using Real = opmath_type<scalar_t>;
  constexpr int64_t kGroup = 16;
  scalar_t* const to = self.mutable_data_ptr<scalar_t>();
  const int64_t n = self.numel();
  const uniform_real_distribution<Real> uniform(0, 1);
  const std::lock_guard<std::mutex> lock(generator->mutex_);

  const auto store = [&](const std::array<Real, kGroup>& drawn, scalar_t* group) {
    for (int64_t i = 0; i < kGroup / 2; ++i) {
      const Real radius = std::sqrt(Real(-2) * std::log(1 - drawn[i]));
      const Real angle = static_cast<Real>(2.0 * c10::pi<double>) * drawn[i + kGroup / 2];
      group[i] = static_cast<scalar_t>(radius * std::cos(angle) * static_cast<Real>(std) + static_cast<Real>(mean));
      group[i + kGroup / 2] =
          static_cast<scalar_t>(radius * std::sin(angle) * static_cast<Real>(std) + static_cast<Real>(mean));
    }
  };
  const auto draw = [&](Real* numbers, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      numbers[i] = uniform(generator);
    }
  };
  std::array<Real, kGroup> numbers;
  int64_t done = 0;
  for (; done + kGroup <= n; done += kGroup) {
    draw(numbers.data(), kGroup);
    store(numbers, to + done);
  }
  if (done < n) {
    if constexpr (std::is_same_v<scalar_t, Real>) {
      draw(numbers.data(), n - done); // float and double draw a number for each element first
    }
    draw(numbers.data(), kGroup);
    store(numbers, to + n - kGroup);
  }
}

template <typename RNG>
void normal_kernel(const TensorBase& self, double mean, double std, RNG generator) {
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, self.scalar_type(), "normal_kernel_cpu", [&] {
    if (self.numel() >= 16 && self.is_contiguous()) {
      normal_fill<scalar_t>(self, mean, std, generator);
    } else {
      auto iter = TensorIterator::borrowing_nullary_op(self);
      detail::fill_serially<scalar_t>(iter, generator, normal_distribution<double>(mean, std));
    }
  });
}

template <typename RNG>
struct NormalKernel {
  void operator()(Tensor& self, double mean, double std, std::optional<Generator> gen) {
    normal_kernel(self, mean, std, check_generator<RNG>(gen));
  }
};

// ---- other distributions of real numbers
// -----------------------------------------------------------------------------

template <typename RNG>
void uniform_kernel(TensorIteratorBase& iter, double from, double to, RNG generator) {
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "uniform_kernel_cpu", [&] {
    using Real = opmath_type<scalar_t>;
    const uniform_real_distribution<Real> uniform(static_cast<Real>(from), static_cast<Real>(to));
    detail::fill_serially<scalar_t>(iter, generator, [&](RNG draws) {
      const auto value = static_cast<scalar_t>(uniform(draws));
      return value == static_cast<scalar_t>(to) ? static_cast<scalar_t>(from) : value; // it may have been rounded up
    });
  });
}

template <typename RNG>
struct UniformKernel {
  void operator()(TensorIteratorBase& iter, double from, double to, std::optional<Generator> gen) {
    uniform_kernel(iter, from, to, check_generator<RNG>(gen));
  }
};

template <typename RNG>
void cauchy_kernel(TensorIteratorBase& iter, double median, double sigma, RNG generator) {
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "cauchy_cpu", [&] {
    detail::fill_serially<scalar_t>(iter, generator, cauchy_distribution<double>(median, sigma));
  });
}

template <typename RNG>
struct CauchyKernel {
  void operator()(TensorIteratorBase& iter, double median, double sigma, std::optional<Generator> gen) {
    cauchy_kernel(iter, median, sigma, check_generator<RNG>(gen));
  }
};

template <typename RNG>
void log_normal_kernel(TensorIteratorBase& iter, double mean, double std, RNG generator) {
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "log_normal_cpu", [&] {
    detail::fill_serially<scalar_t>(iter, generator, lognormal_distribution<double>(mean, std));
  });
}

template <typename RNG>
struct LogNormalKernel {
  void operator()(TensorIteratorBase& iter, double mean, double std, std::optional<Generator> gen) {
    log_normal_kernel(iter, mean, std, check_generator<RNG>(gen));
  }
};

template <typename RNG>
void geometric_kernel(TensorIteratorBase& iter, double p, RNG generator) {
  AT_DISPATCH_ALL_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "geometric_cpu", [&] {
    detail::fill_serially<scalar_t>(iter, generator, geometric_distribution<double>(p));
  });
}

template <typename RNG>
struct GeometricKernel {
  void operator()(TensorIteratorBase& iter, double p, std::optional<Generator> gen) {
    geometric_kernel(iter, p, check_generator<RNG>(gen));
  }
};

template <typename RNG>
void exponential_kernel(TensorIteratorBase& iter, double lambda, RNG generator) {
  TORCH_CHECK(
      isFloatingType(iter.dtype()),
      "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
      "specified ",
      iter.dtype());
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "exponential_cpu", [&] {
    detail::fill_serially<scalar_t>(iter, generator, exponential_distribution<double>(lambda));
  });
}

template <typename RNG>
struct ExponentialKernel {
  void operator()(TensorIteratorBase& iter, double lambda, std::optional<Generator> gen) {
    exponential_kernel(iter, lambda, check_generator<RNG>(gen));
  }
};

// ---- bernoulli
// -------------------------------------------------------------------------------------------------------

/// `p_` is expanded to the size of `self`.
template <typename RNG>
void bernoulli_kernel(const TensorBase& self, const TensorBase& p_, RNG generator) {
  const Tensor target(self);
  const Tensor narrow = Tensor(p_).to(kCPU);
  const Tensor p = *expand_inplace(target, narrow);
  AT_DISPATCH_ALL_TYPES_AND3(kBool, kBFloat16, kHalf, self.scalar_type(), "bernoulli_tensor_cpu_self_", [&] {
    using self_t = scalar_t;
    AT_DISPATCH_FLOATING_TYPES_AND2(kBFloat16, kHalf, p.scalar_type(), "bernoulli_tensor_cpu_p_", [&] {
      using Real = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;
      auto iter = TensorIteratorConfig().add_output(self).add_const_input(p).check_all_same_dtype(false).build();
      const std::lock_guard<std::mutex> lock(generator->mutex_);
      cpu_serial_kernel(iter, [&](const scalar_t probability) -> self_t {
        return static_cast<self_t>(bernoulli_distribution<Real>(static_cast<Real>(probability))(generator));
      });
    });
  });
}

template <typename RNG>
void bernoulli_kernel(const TensorBase& self, double p, RNG generator) {
  AT_DISPATCH_ALL_TYPES_AND3(kBool, kBFloat16, kHalf, self.scalar_type(), "bernoulli_scalar_cpu_", [&] {
    auto iter = TensorIterator::borrowing_nullary_op(self);
    detail::fill_serially<scalar_t>(iter, generator, bernoulli_distribution<double>(p));
  });
}

template <typename RNG>
struct BernoulliKernel {
  void operator()(const TensorBase& self, double p, std::optional<Generator> gen) {
    bernoulli_kernel(self, p, check_generator<RNG>(gen));
  }
  void operator()(const TensorBase& self, const TensorBase& p_, std::optional<Generator> gen) {
    bernoulli_kernel(self, p_, check_generator<RNG>(gen));
  }
};

} // namespace at::native::templates::cpu
