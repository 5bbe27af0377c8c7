// Single draws from a CPU generator, each taking from its stream what PyTorch takes.
#pragma once

#include <aten/core/CPUGeneratorImpl.h>
#include <aten/core/Generator.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numbers>
#include <optional>

namespace at::native {

using OptGenerator = std::optional<Generator>;

/// The generator of a call, locked for its length.
class LockedGenerator {
 public:
  explicit LockedGenerator(const OptGenerator& generator)
      : impl_(get_generator_or_default<CPUGeneratorImpl>(generator, at::detail::getDefaultCPUGenerator())),
        lock_(impl_->mutex_) {}
  CPUGeneratorImpl* operator->() const {
    return impl_;
  }
  CPUGeneratorImpl& operator*() const {
    return *impl_;
  }

 private:
  CPUGeneratorImpl* impl_;
  std::lock_guard<std::mutex> lock_;
};

template <class T>
inline constexpr int kDigits = std::numeric_limits<T>::digits;
template <>
inline constexpr int kDigits<c10::Half> = 11;
template <>
inline constexpr int kDigits<c10::BFloat16> = 8;

/// Uniform in [from, to), of as many of 64 random bits as double has digits.
inline double uniform_sample(CPUGeneratorImpl& generator, double from, double to) {
  constexpr uint64_t mask = (uint64_t{1} << kDigits<double>)-1;
  const double x = static_cast<double>(generator.random64() & mask) * 0x1p-53;
  return x * (to - from) + from;
}

/// One normal sample by Box and Muller in double; the second of each pair waits in the generator. PyTorch's scaling is
/// fused.
inline double normal_sample(CPUGeneratorImpl& generator, double mean, double std) {
  if (const auto waiting = generator.next_double_normal_sample()) {
    generator.set_next_double_normal_sample(std::nullopt);
    return std::fma(*waiting, std, mean);
  }
  const double u1 = uniform_sample(generator, 0.0, 1.0);
  const double u2 = uniform_sample(generator, 0.0, 1.0);
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double theta = 2.0 * std::numbers::pi * u1;
  generator.set_next_double_normal_sample(radius * std::sin(theta));
  return std::fma(radius * std::cos(theta), std, mean);
}

} // namespace at::native
