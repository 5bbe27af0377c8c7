// Statistics of values over windows of time, logged as events.
#pragma once

#include <csrc/monitor/events.h>

#include <bitset>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::monitor {

/// How the values of a window become one number. Without values each is 0.
enum class Aggregation {
  NONE = 0,
  VALUE = 1, ///< the last value
  MEAN = 2, ///< the sum over the count; of integers, rounded towards 0
  COUNT = 3,
  SUM = 4,
  MAX = 5,
  MIN = 6,
};

constexpr int NUM_AGGREGATIONS = 7;

struct AggregationHash {
  size_t operator()(Aggregation agg) const {
    return static_cast<size_t>(agg);
  }
};

/// "mean" for Aggregation::MEAN: how events name it. An error for what is none of the enumerators.
TORCH_API const char* aggregationName(Aggregation agg);

/// Summarizes the values added to it over windows of `windowSize`, and logs each window that has values as an event
/// "torch.monitor.Stat" with data "NAME.AGGREGATION". A window is logged by the first value of a later one, or by the
/// destructor, or once it has `maxSamples` values: further ones are ignored until the window ends. May be used by
/// several threads at a time. `T` is double or int64_t.
template <typename T>
class TORCH_API Stat {
 public:
  /// Throws c10::Error unless `windowSize` is positive.
  Stat(
      std::string name,
      std::vector<Aggregation> aggregations,
      std::chrono::milliseconds windowSize,
      int64_t maxSamples = std::numeric_limits<int64_t>::max());
  Stat(
      std::string name,
      std::initializer_list<Aggregation> aggregations,
      std::chrono::milliseconds windowSize,
      int64_t maxSamples = std::numeric_limits<int64_t>::max())
      : Stat(std::move(name), std::vector<Aggregation>(aggregations), windowSize, maxSamples) {}
  Stat(const Stat&) = delete;
  Stat& operator=(const Stat&) = delete;
  virtual ~Stat();

  void add(T v);
  const std::string& name() const noexcept {
    return name_;
  }
  /// How many values the open window has.
  int64_t count() noexcept;
  /// What the last closed window gave.
  std::unordered_map<Aggregation, T, AggregationHash> get() noexcept;

 protected:
  /// The number of the present window; not 0.
  virtual uint64_t currentWindowId() const;

 private:
  struct Window {
    T value = 0;
    T sum = 0;
    T min = 0;
    T max = 0;
    int64_t count = 0;
  };

  bool has(Aggregation agg) const {
    return aggregations_.test(static_cast<size_t>(agg));
  }
  void accumulate(T v);
  std::optional<Event> close_window();
  std::unordered_map<Aggregation, T, AggregationHash> closed_summary() const;

  const std::string name_;
  const std::bitset<NUM_AGGREGATIONS> aggregations_;
  const std::chrono::milliseconds window_size_;
  const int64_t max_samples_;

  std::mutex mutex_; // of what follows
  Window open_;
  Window closed_;
  uint64_t window_id_ = 0;
  bool full_ = false; // the window has had max_samples_ values
};

extern template class Stat<double>;
extern template class Stat<int64_t>;

} // namespace torch::monitor
