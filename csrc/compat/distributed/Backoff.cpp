// How long to wait before the next attempt.
#include <csrc/compat/distributed/Backoff.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace c10d {

ExponentialBackoffWithJitter::ExponentialBackoffWithJitter() : gen_(std::random_device()()) {}

std::chrono::milliseconds ExponentialBackoffWithJitter::nextBackoff() {
  TORCH_CHECK_VALUE(initialInterval.count() > 0, "initial interval must be greater than 0");
  TORCH_CHECK_VALUE(
      randomizationFactor >= 0 && randomizationFactor < 1, "randomization factor must be in range [0,1), but got ",
      randomizationFactor);
  TORCH_CHECK_VALUE(multiplier >= 1.0, "multiplier must be greater or equal to 1, but got ", multiplier);
  TORCH_CHECK_VALUE(
      initialInterval <= maxInterval, "max interval must be greater or equal to initial interval, but got ",
      maxInterval.count(), " ms and ", initialInterval.count(), " ms");
  if (currentInterval_.count() == 0) {
    currentInterval_ = initialInterval;
  }
  const auto now = static_cast<double>(currentInterval_.count());
  const double span = now * randomizationFactor;
  std::uniform_int_distribution<int64_t> around(static_cast<int64_t>(now - span), static_cast<int64_t>(now + span));
  const std::chrono::milliseconds wait(around(gen_));
  const double grown = std::min(now * multiplier, static_cast<double>(maxInterval.count()));
  currentInterval_ = std::chrono::milliseconds(static_cast<int64_t>(grown));
  return std::min(wait, maxInterval);
}

void ExponentialBackoffWithJitter::reset() {
  currentInterval_ = std::chrono::milliseconds(0);
}

FixedBackoff::FixedBackoff(std::chrono::milliseconds interval) : interval_(interval) {}

std::chrono::milliseconds FixedBackoff::nextBackoff() {
  return interval_;
}

void FixedBackoff::reset() {}

} // namespace c10d
