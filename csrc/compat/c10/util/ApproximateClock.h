// Time stamps in nanoseconds: of the calendar, and cheap ones that are turned into such afterwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace c10 {

using time_t = int64_t;
using steady_clock_t = std::chrono::steady_clock;

namespace detail {
template <class Clock>
time_t nanoseconds_of() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}
} // namespace detail

/// Since 1970.
inline time_t getTimeSinceEpoch() {
  return detail::nanoseconds_of<std::chrono::system_clock>();
}
/// Since 1970, or since some point in time by a clock that is never set back.
inline time_t getTime(bool allow_monotonic = false) {
  return allow_monotonic ? detail::nanoseconds_of<steady_clock_t>() : getTimeSinceEpoch();
}

using approx_time_t = int64_t;
/// By a clock that is never set back; ApproximateClockToUnixTimeConverter tells the time since 1970.
inline approx_time_t getApproximateTime() {
  return getTime(/*allow_monotonic=*/true);
}

/// Make one before the time stamps are taken, and the function afterwards.
class ApproximateClockToUnixTimeConverter final {
 public:
  struct UnixAndApproximateTimePair {
    time_t t_;
    approx_time_t approx_t_;
  };
  static UnixAndApproximateTimePair measurePair() {
    return {getTimeSinceEpoch(), getApproximateTime()};
  }

  std::function<time_t(approx_time_t)> makeConverter() const {
    return [start = start_](approx_time_t t) { return start.t_ + (t - start.approx_t_); };
  }

 private:
  UnixAndApproximateTimePair start_ = measurePair();
};

} // namespace c10
