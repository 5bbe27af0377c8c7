// What programs find in c10d beside groups: hooks, handlers by name, traces in the store, loggers.
#include "expect.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <torch/csrc/distributed/c10d/FlightRecorder.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/NCCLCommRegistrationHook.hpp>
#include <torch/csrc/distributed/c10d/TraceUtils.h>
#include <torch/csrc/distributed/c10d/UnixSockUtils.hpp>
#include <torch/csrc/distributed/c10d/control_plane/Handlers.hpp>
#include <torch/csrc/distributed/c10d/error.h>
#include <torch/csrc/distributed/c10d/hooks/HealthCheck.hpp>
#include <torch/csrc/distributed/c10d/hooks/HealthCheckHook.hpp>
#include <torch/csrc/distributed/c10d/hooks/NanCheckHook.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/logging.h>
#include <torch/csrc/distributed/fsdp/ChunkCat.h>
#include <torch/torch.h>

#include <unistd.h>

#include <limits>

using namespace c10d;
using test::expect;
using test::expect_error;
using test::GroupPtr;
using Tensors = std::vector<at::Tensor>;

namespace {

struct AskedFor : control_plane::Request {
  std::string text;
  std::multimap<std::string, std::string> parameters;
  const std::string& body() const override {
    return text;
  }
  const std::multimap<std::string, std::string>& params() const override {
    return parameters;
  }
};

struct Answer : control_plane::Response {
  std::string content;
  std::string type;
  int status = 200;
  void setContent(std::string&& text, const std::string& content_type) override {
    content = std::move(text);
    type = content_type;
  }
  void setStatus(int code) override {
    status = code;
  }
};

Answer ask(const std::string& name, std::multimap<std::string, std::string> parameters = {}) {
  AskedFor request;
  request.parameters = std::move(parameters);
  Answer answer;
  control_plane::getHandler(name)(request, answer);
  return answer;
}

} // namespace

TEST_CASE("Handlers answer by name", "[distributed][control_plane]") {
  CHECK(ask("ping").content == "pong");
  control_plane::registerHandler("test_echo", [](const control_plane::Request& request, control_plane::Response& to) {
    to.setContent(request.getParam("word") + request.getParam("none"), "text/plain");
  });
  CHECK(ask("test_echo", {{"word", "hello"}}).content == "hello");
  const auto names = control_plane::getHandlerNames();
  CHECK(std::find(names.begin(), names.end(), "test_echo") != names.end());
  expect_error<c10::ValueError>([] { control_plane::registerHandler("ping", nullptr); }, {"ping already registered"});
  expect_error<c10::ValueError>(
      [] { control_plane::getHandler("test_none"); }, {"Failed to find handler test_none", "fr_trace_json"});
  test::report_expectations();
}

TEST_CASE("Handlers show the flight recorder", "[distributed][control_plane]") {
  test::with_rank_threads(1, [](int, const GroupPtr& group) {
    group->barrier()->wait();
    const Answer all = ask("fr_trace_json");
    expect(all.type == "application/json" && all.content.find("shm:barrier") != std::string::npos, all.content);
    const Answer none = ask("fr_trace_json", {{"includecollectives", "false"}});
    expect(none.content.find("shm:barrier") == std::string::npos, none.content);
    const Answer wrong = ask("fr_trace_json", {{"onlyactive", "perhaps"}});
    expect(wrong.status == 400 && wrong.content.find("onlyactive must be true or false") != std::string::npos);
    expect(ask("fr_dump_file").status == 503);
  });
}

TEST_CASE("HealthCheck knows backends that have given up", "[distributed][hooks]") {
  const auto results = test::with_rank_processes(2, [](int rank, const GroupPtr& group) {
    std::string seen = ask("c10d_health_check").content + " ";
    HealthCheckHook::attach(group);
    int calls = 0;
    group->registerAbortHook(1, [&] { ++calls; });
    group->registerAbortHook(2, [&] { calls += 10; });
    group->unregisterAbortHook(2);
    for (int i = 0; i < 2; ++i) {
      Tensors one{at::ones({3 + rank})};
      try {
        group->allreduce(one)->wait();
      } catch (const c10::DistBackendError&) {
      }
    }
    return seen + std::to_string(calls) + " " + ask("c10d_health_check").content;
  });
  const std::string expected =
      "{\"healthy\":true,\"unhealthy_backends\":[]} 1 {\"healthy\":false,\"unhealthy_backends\":[\"shm\"]}";
  CHECK(results == std::vector<std::string>(2, expected));
  expect_error<c10::ValueError>([] { HealthCheckHook::attach({}); }, {"the group is null"});
  test::report_expectations();
}

TEST_CASE("NanCheckHook refuses what a rank gives away", "[distributed][hooks]") {
  test::with_rank_threads(2, [](int rank, const GroupPtr& group) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto hook = NanCheckHook::attach(group);
    Tensors good{at::ones({4})};
    group->allreduce(good)->wait();
    Tensors received{at::full({4}, rank == 0 ? 1.0f : nan)}; // only the root's are given away
    group->broadcast(received)->wait();
    expect(received[0].equal(at::ones({4})));
    Tensors bad{at::full({4}, nan)};
    expect_error<c10::Error>([&] { group->allreduce(bad); }, {"NaN"});
    Tensors integers{at::ones({2}, at::kLong)};
    group->allreduce(integers)->wait();
    hook->remove();
    group->allreduce(bad)->wait();
    expect(bad[0].isnan().all().item<bool>());
  });
}

TEST_CASE("Traces in the store tell who is behind", "[distributed][trace]") {
  c10::intrusive_ptr<Store> store = c10::make_intrusive<HashStore>();
  CHECK(getTraceStartKey("pg", 3) == "pg_3_trace_start");
  CHECK(getTraceEndKey("pg", 3) == "pg_3_trace_end");
  REQUIRE(traceUpdate(store, getTraceStartKey("pg", 0), 7, "allreduce"));
  uint64_t number = 0;
  std::string name;
  REQUIRE(parseTraceValue(store, getTraceStartKey("pg", 0), number, name));
  CHECK(number == 7);
  CHECK(name == "allreduce");
  CHECK_THAT(
      retrieveDesyncReport(store, "pg", 0, 3),
      Catch::Contains("Timeout at collective: allreduce, #7") && Catch::Contains("ranks [1, 2] have begun no"));
  traceUpdate(store, getTraceStartKey("pg", 1), 6, "barrier");
  traceUpdate(store, getTraceEndKey("pg", 1), 6, "barrier");
  traceUpdate(store, getTraceStartKey("pg", 2), 6, "broadcast");
  CHECK_THAT(
      retrieveDesyncReport(store, "pg", 0, 3),
      Catch::Contains("[2] have begun collective #6") && Catch::Contains("[1] have ended collective #6") &&
          Catch::Contains("#7 allreduce: begun by [0]") && Catch::Contains("#6 barrier: ended by [1]"));
  expect_error<c10::Error>([&] { retrieveDesyncReport(store, "other", 0, 1); }, {"rank 0 of group other"});
  test::report_expectations();
  store->set("short", std::vector<uint8_t>{1, 2});
  CHECK_FALSE(parseTraceValue(store, "short", number, name));
}

TEST_CASE("The small helpers of traces", "[distributed][trace]") {
  CHECK(ranksToString({2, 0, 5}) == "2, 0, 5");
  CHECK(ranksFromTrace({{1, "a"}, {4, "b"}}) == "1, 4");
  CHECK(ranks_str({1, 2}) == "[1, 2]");
  CHECK(analyzeLaggingRanks({}).empty());
  CHECK(ProcessGroupStatus().lastStartedSeq == -1);
  auto dict = new_dict();
  dict.insert("key", int64_t(1));
  auto list = new_list();
  list.push_back(dict);
  CHECK(pickle_str(list).substr(0, 2) == "\x80\x02");
  CHECK_THAT(get_python_cpp_trace(), Catch::Contains("#0"));
}

namespace {
struct CountingLogger : C10dLogger {
  explicit CountingLogger(C10dLoggingData& last) : C10dLogger("test"), last_(last) {}
  void log(const C10dLoggingData& data) override {
    last_ = data;
  }
  C10dLoggingData& last_;
};
} // namespace

TEST_CASE("A C10dLogger hears of a group's first failure", "[distributed][logger]") {
  const auto results = test::with_rank_processes(2, [](int rank, const GroupPtr& group) {
    C10dLoggingData last;
    C10dLogger::registerLogger(std::make_unique<CountingLogger>(last));
    Tensors one{at::ones({3 + rank})};
    try {
      group->allreduce(one)->wait();
    } catch (const c10::DistBackendError&) {
    }
    return last.strings["backend"] + " " + last.strings["event"] + " " + std::to_string(last.integers["rank"]);
  });
  CHECK(results == std::vector<std::string>{"shm failure 0", "shm failure 1"});
}

TEST_CASE("Hooks for communicators hear of both ends", "[distributed][hooks]") {
  std::vector<std::string> heard;
  int value = 0;
  const auto note = [&](const char* what) {
    return [&heard, what](const std::string& group, void*, c10::Device device) {
      heard.push_back(what + group + " " + device.str());
    };
  };
  publishNCCLComm("none", &value, c10::Device(c10::kCUDA, 0));
  setNCCLCommRegistrationHooks({note("made "), note("ended ")});
  publishNCCLComm("g", &value, c10::Device(c10::kCUDA, 1));
  retireNCCLComm("g", &value, c10::Device(c10::kCUDA, 1));
  setNCCLCommRegistrationHooks({});
  retireNCCLComm("g", &value, c10::Device(c10::kCUDA, 1));
  CHECK(heard == std::vector<std::string>{"made g cuda:1", "ended g cuda:1"});
}

TEST_CASE("chunk_cat_mixed_dtype converts to the result's dtype", "[distributed][fsdp]") {
  const at::Tensor a = at::arange(6, at::kFloat).view({3, 2});
  const at::Tensor b = at::arange(4, at::kHalf).view({2, 2});
  at::Tensor out = at::empty({0}, at::kBFloat16);
  torch::distributed::fsdp::chunk_cat_mixed_dtype({a, b}, 0, 2, out);
  CHECK(out.equal(at::tensor({0, 1, 2, 3, 0, 1, 4, 5, 0, 0, 2, 3}, at::kBFloat16).view({2, 6})));
  expect_error<c10::Error>(
      [&] { torch::distributed::fsdp::chunk_cat_mixed_dtype({}, 0, 2, out); }, {"non-empty input tensor list"});
  test::report_expectations();
}

TEST_CASE("Sockets, errors and levels under c10d's names", "[distributed][helpers]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::vector<struct pollfd> waiting;
  tcputil::addPollfd(waiting, ends[0], POLLIN);
  CHECK(tcputil::poll(waiting.data(), 1, 0) == 0);
  REQUIRE(::write(ends[1], "x", 1) == 1);
  CHECK(tcputil::poll(waiting.data(), 1, 1000) == 1);
  CHECK(tcputil::getPollfd(ends[0], POLLOUT).events == POLLOUT);
  ::close(ends[0]);
  ::close(ends[1]);
  errno = ENOENT;
  CHECK(fmt::format("{}", detail::lastError()) == "(errno: 2 - No such file or directory)");
  CHECK(detail::formatLogMessage("{} of {}", 1, "two") == "1 of two");
  setDebugLevel(DebugLevel::Info);
  CHECK(detail::isLogLevelEnabled(detail::LogLevel::Info));
  CHECK_FALSE(detail::isLogLevelEnabled(detail::LogLevel::Debug));
  setDebugLevel(DebugLevel::Off);
  CHECK(detail::isLogLevelEnabled(detail::LogLevel::Warning));
  CHECK_FALSE(detail::isLogLevelEnabled(detail::LogLevel::Info));
  C10D_DEBUG("not written: {}", 1);
}
