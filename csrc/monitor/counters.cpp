// Statistics of values over windows of time, logged as events.
#include <csrc/monitor/counters.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>

namespace torch::monitor {
namespace {

constexpr std::array<const char*, NUM_AGGREGATIONS> kAggregationNames = {"none", "value", "mean", "count",
                                                                         "sum",  "max",   "min"};

std::bitset<NUM_AGGREGATIONS> set_of(const std::vector<Aggregation>& aggregations) {
  std::bitset<NUM_AGGREGATIONS> set;
  for (const Aggregation agg : aggregations) {
    set.set(static_cast<size_t>(agg));
  }
  return set;
}

// Handlers run when the Stat is no longer locked, so that they may use it.
void log_if(const std::optional<Event>& event) {
  if (event) {
    logEvent(*event);
  }
}

} // namespace

const char* aggregationName(Aggregation agg) {
  const auto index = static_cast<size_t>(agg);
  TORCH_CHECK(
      index < kAggregationNames.size(), "aggregationName: unknown aggregation ", index, "; expected 0 to ",
      kAggregationNames.size() - 1);
  return kAggregationNames[index];
}

template <typename T>
Stat<T>::Stat(
    std::string name, std::vector<Aggregation> aggregations, std::chrono::milliseconds windowSize, int64_t maxSamples)
    : name_(std::move(name)), aggregations_(set_of(aggregations)), window_size_(windowSize), max_samples_(maxSamples) {
  TORCH_CHECK(
      windowSize.count() > 0, "Stat ", name_, ": the window must be longer than 0 ms, but got ", windowSize.count(),
      " ms");
}

template <typename T>
Stat<T>::~Stat() {
  log_if(close_window());
}

template <typename T>
void Stat<T>::add(T v) {
  std::optional<Event> ended;
  std::optional<Event> filled;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t id = currentWindowId();
    if (id != window_id_) {
      ended = close_window();
      window_id_ = id;
      full_ = false;
    }
    if (!full_) {
      accumulate(v);
      full_ = open_.count >= max_samples_;
      if (full_) {
        filled = close_window();
      }
    }
  }
  log_if(ended);
  log_if(filled);
}

template <typename T>
int64_t Stat<T>::count() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return open_.count;
}

template <typename T>
std::unordered_map<Aggregation, T, AggregationHash> Stat<T>::get() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return closed_summary();
}

template <typename T>
uint64_t Stat<T>::currentWindowId() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now) / window_size_) + 1;
}

template <typename T>
void Stat<T>::accumulate(T v) {
  open_.value = v;
  if (has(Aggregation::MEAN) || has(Aggregation::SUM)) { // an unused sum shall not overflow
    open_.sum += v;
  }
  open_.min = open_.count == 0 ? v : std::min(open_.min, v);
  open_.max = open_.count == 0 ? v : std::max(open_.max, v);
  ++open_.count;
}

// The event of the window that was open, if it has values; a new one is open then.
template <typename T>
std::optional<Event> Stat<T>::close_window() {
  closed_ = std::exchange(open_, Window());
  if (closed_.count == 0) {
    return std::nullopt;
  }
  Event event{"torch.monitor.Stat", std::chrono::system_clock::now(), {}};
  for (const auto& [agg, value] : closed_summary()) {
    event.data.emplace(name_ + '.' + aggregationName(agg), value);
  }
  return event;
}

template <typename T>
std::unordered_map<Aggregation, T, AggregationHash> Stat<T>::closed_summary() const {
  const T count = static_cast<T>(closed_.count);
  const std::pair<Aggregation, T> all[] = {
      {Aggregation::VALUE, closed_.value}, {Aggregation::MEAN, closed_.count == 0 ? T(0) : closed_.sum / count},
      {Aggregation::COUNT, count},         {Aggregation::SUM, closed_.sum},
      {Aggregation::MAX, closed_.max},     {Aggregation::MIN, closed_.min},
  };
  std::unordered_map<Aggregation, T, AggregationHash> summary;
  for (const auto& [agg, value] : all) {
    if (has(agg)) {
      summary.emplace(agg, value);
    }
  }
  return summary;
}

template class Stat<double>;
template class Stat<int64_t>;

} // namespace torch::monitor
