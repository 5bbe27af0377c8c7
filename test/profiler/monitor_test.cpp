// Events of torch::monitor, and statistics that log them.
#include <torch/csrc/monitor/counters.h>
#include <torch/csrc/monitor/events.h>

#include "test/support/matchers.h"

#include <catch2/catch.hpp>

#include <thread>

namespace torch::monitor {
namespace {

using test::Says;

constexpr std::chrono::hours kLong(24);

struct RecordingHandler : EventHandler {
  std::vector<Event> events;
  void handle(const Event& e) override {
    events.push_back(e);
  }
};

struct RegisteredHandler {
  std::shared_ptr<RecordingHandler> handler = std::make_shared<RecordingHandler>();
  RegisteredHandler() {
    registerEventHandler(handler);
  }
  ~RegisteredHandler() {
    unregisterEventHandler(handler);
  }
  std::vector<Event>& events() {
    return handler->events;
  }
};

struct StatOfWindows : Stat<int64_t> {
  using Stat::Stat;
  uint64_t window = 1;
  uint64_t currentWindowId() const override {
    return window;
  }
};

using Summary = std::unordered_map<Aggregation, int64_t, AggregationHash>;
using Data = std::unordered_map<std::string, data_value_t>;

TEST_CASE("events reach the handlers that are registered", "[profiler][monitor]") {
  const Event event{
      "made", std::chrono::system_clock::now(), {{"name", std::string("x")}, {"size", int64_t{3}}, {"ok", true}}};
  logEvent(event);
  RecordingHandler* seen = nullptr;
  {
    RegisteredHandler registered;
    seen = registered.handler.get();
    logEvent(event);
    REQUIRE(seen->events.size() == 1);
    CHECK(seen->events[0] == event);
    unregisterEventHandler(registered.handler);
    logEvent(event);
    CHECK(seen->events.size() == 1);
  }
  CHECK_THROWS_MATCHES(registerEventHandler(nullptr), c10::Error, Says("null pointer"));
}

TEST_CASE("a handler may unregister itself and log", "[profiler][monitor]") {
  struct Once : EventHandler, std::enable_shared_from_this<Once> {
    int calls = 0;
    void handle(const Event& e) override {
      ++calls;
      unregisterEventHandler(shared_from_this());
      logEvent(e);
    }
  };
  const auto once = std::make_shared<Once>();
  registerEventHandler(once);
  logEvent(Event{"twice", {}, {}});
  logEvent(Event{"twice", {}, {}});
  CHECK(once->calls == 1);
}

TEST_CASE("a Stat gives what was asked for of the last closed window", "[profiler][monitor]") {
  using A = Aggregation;
  Stat<int64_t> stat("s", {A::VALUE, A::MEAN, A::COUNT, A::SUM, A::MAX, A::MIN}, kLong, 4);
  CHECK(stat.name() == "s");
  CHECK(stat.get() == Summary{{A::VALUE, 0}, {A::MEAN, 0}, {A::COUNT, 0}, {A::SUM, 0}, {A::MAX, 0}, {A::MIN, 0}});
  for (const int64_t v : {-5, 9, -6, 0}) {
    stat.add(v);
  }
  CHECK(stat.get() == Summary{{A::VALUE, 0}, {A::MEAN, 0}, {A::COUNT, 4}, {A::SUM, -2}, {A::MAX, 9}, {A::MIN, -6}});
  Stat<double> mean("m", {A::MEAN}, kLong, 2);
  mean.add(5);
  CHECK(mean.count() == 1);
  mean.add(6);
  CHECK(mean.count() == 0);
  CHECK(mean.get() == std::unordered_map<A, double, AggregationHash>{{A::MEAN, 5.5}});
}

TEST_CASE("a Stat ignores values beyond maxSamples until the next window", "[profiler][monitor]") {
  RegisteredHandler registered;
  StatOfWindows stat("s", {Aggregation::SUM}, kLong, 2);
  for (int64_t v = 1; v <= 4; ++v) {
    stat.add(v);
  }
  CHECK(stat.count() == 0);
  REQUIRE(registered.events().size() == 1);
  CHECK(registered.events()[0].data == Data{{"s.sum", int64_t{3}}});
  stat.window = 2;
  stat.add(5);
  CHECK(stat.count() == 1);
  CHECK(registered.events().size() == 1);
}

TEST_CASE("a Stat logs a window when a later one begins or when it is destroyed", "[profiler][monitor]") {
  RegisteredHandler registered;
  {
    StatOfWindows stat("s", {Aggregation::COUNT, Aggregation::MEAN}, kLong);
    stat.add(1);
    stat.add(4);
    CHECK(registered.events().empty());
    stat.window = 7;
    stat.add(3);
    REQUIRE(registered.events().size() == 1);
    CHECK(registered.events()[0].name == "torch.monitor.Stat");
    CHECK(registered.events()[0].timestamp != std::chrono::system_clock::time_point());
    CHECK(registered.events()[0].data == Data{{"s.count", int64_t{2}}, {"s.mean", int64_t{2}}});
  }
  REQUIRE(registered.events().size() == 2);
  CHECK(registered.events()[1].data == Data{{"s.count", int64_t{1}}, {"s.mean", int64_t{3}}});
}

TEST_CASE("a handler may use the Stat whose event it handles", "[profiler][monitor]") {
  struct ReadsStat : EventHandler {
    Stat<int64_t>* stat = nullptr;
    int64_t sum = 0;
    void handle(const Event&) override {
      sum = stat->get().at(Aggregation::SUM);
    }
  };
  const auto reader = std::make_shared<ReadsStat>();
  registerEventHandler(reader);
  Stat<int64_t> stat("s", {Aggregation::SUM}, kLong, 1);
  reader->stat = &stat;
  stat.add(8);
  unregisterEventHandler(reader);
  CHECK(reader->sum == 8);
}

TEST_CASE("threads may add to one Stat", "[profiler][monitor][threads]") {
  Stat<int64_t> stat("s", {Aggregation::SUM}, kLong);
  const auto add_many = [&] {
    for (int i = 0; i < 1000; ++i) {
      stat.add(1);
    }
  };
  std::thread other(add_many);
  add_many();
  other.join();
  CHECK(stat.count() == 2000);
}

TEST_CASE("names of aggregations, and windows that are refused", "[profiler][monitor]") {
  CHECK(std::string(aggregationName(Aggregation::NONE)) == "none");
  CHECK(std::string(aggregationName(Aggregation::VALUE)) == "value");
  CHECK(std::string(aggregationName(Aggregation::MIN)) == "min");
  CHECK(std::string(aggregationName(Aggregation::MAX)) == "max");
  CHECK_THROWS_MATCHES(aggregationName(static_cast<Aggregation>(7)), c10::Error, Says("unknown aggregation 7"));
  CHECK_THROWS_MATCHES(
      Stat<double>("s", {Aggregation::SUM}, std::chrono::milliseconds(0)), c10::Error, Says("longer than 0 ms"));
}

} // namespace
} // namespace torch::monitor
