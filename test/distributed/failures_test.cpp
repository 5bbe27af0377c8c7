// What the other ranks learn when one dies, stops, leaves, is late, or calls something else.
#include "expect.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <torch/torch.h>

#include <csrc/distributed/c10d/ProcessGroupShm.h>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

using namespace c10d;
using namespace std::chrono_literals;
using test::expect;
using test::expect_error;
using test::expect_text;
using test::GroupPtr;
using test::with_rank_processes;
using Tensors = std::vector<at::Tensor>;

namespace {

// Seconds that `f` takes to throw, and the message.
std::pair<double, std::string> thrown_after(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  std::string message = "nothing was thrown";
  try {
    f();
  } catch (const c10::DistBackendError& error) {
    message = error.what_without_backtrace();
  }
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), message};
}

std::string allreduce_until_failure(const GroupPtr& group, int64_t n) {
  const auto [seconds, message] = thrown_after([&] {
    for (;;) {
      Tensors tensors{at::ones({n})};
      group->allreduce(tensors)->wait();
    }
  });
  return (seconds < 5 ? "in time: " : "late: ") + message;
}

} // namespace

TEST_CASE("Ranks are processes with one result", "[distributed][failures]") {
  const auto results = with_rank_processes(4, [](int rank, const GroupPtr& group) {
    Tensors tensors{at::full({100'000}, float(rank))};
    group->allreduce(tensors)->wait();
    Tensors shared{group->getBackend(at::kCPU)->allocateTensor(100'000, at::kFloat)};
    shared[0].fill_(rank);
    group->allreduce(shared)->wait();
    Tensors message{at::full({3}, float(rank))};
    if (rank == 0) {
      group->send(message, 3, 0)->wait();
    } else if (rank == 3) {
      group->recv(message, 0, 0)->wait();
    }
    return std::to_string(
        tensors[0].sum().item<double>() + shared[0][99'999].item<float>() + message[0][0].item<float>());
  });
  CHECK(results == std::vector<std::string>{"600006.000000", "600007.000000", "600008.000000", "600006.000000"});
}

TEST_CASE("A killed rank ends the calls of all others within seconds", "[distributed][failures]") {
  const int64_t n = GENERATE(10, 300'000);
  const auto results = with_rank_processes(3, [&](int rank, const GroupPtr& group) {
    if (rank == 1) {
      Tensors tensors{at::ones({n})};
      group->allreduce(tensors)->wait();
      ::raise(SIGKILL);
    }
    return allreduce_until_failure(group, n);
  });
  CHECK(results[1] == "signal 9");
  for (const int rank : {0, 2}) {
    CHECK_THAT(
        results[rank],
        Catch::StartsWith("in time") && Catch::Contains("rank 1 (process ") && Catch::Contains("has died") &&
            Catch::Contains("allreduce number 2"));
  }
}

TEST_CASE("A stopped rank ends the calls of all others within seconds", "[distributed][failures]") {
  const auto results = with_rank_processes(3, [&](int rank, const GroupPtr& group) {
    if (rank == 2) {
      const pid_t watcher = ::fork();
      if (watcher == 0) {
        std::this_thread::sleep_for(4500ms);
        ::kill(::getppid(), SIGCONT);
        ::_exit(0);
      }
      ::raise(SIGSTOP);
      return allreduce_until_failure(group, 10);
    }
    return allreduce_until_failure(group, 10);
  });
  for (const int rank : {0, 1}) {
    CHECK_THAT(results[rank], Catch::StartsWith("in time") && Catch::Contains("rank 2") && Catch::Contains("stopped"));
  }
  CHECK_THAT(results[2], Catch::Contains("has failed")); // it learns of it when it goes on
}

TEST_CASE("Ranks that call different collectives are told what both called", "[distributed][failures]") {
  const int kind = GENERATE(0, 1, 2, 3);
  CAPTURE(kind);
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    const auto [seconds, message] = thrown_after([&, rank = rank] {
      Tensors tensors{at::ones({rank == 1 && kind == 0 ? 3 : 2}, rank == 1 && kind == 1 ? at::kInt : at::kFloat)};
      if (rank == 1 && kind == 2) {
        group->barrier()->wait();
      } else if (rank == 1 && kind == 3) {
        AllreduceOptions options;
        options.reduceOp = ReduceOp::MAX;
        group->allreduce(tensors, options)->wait();
      } else {
        group->allreduce(tensors)->wait();
      }
    });
    expect(seconds < 5);
    expect_text(
        message,
        {"do not call the same", "allreduce number 1 of 2 Float elements",
         kind == 0       ? "of 3 Float elements"
             : kind == 1 ? "of 2 Int elements"
             : kind == 2 ? "barrier number 1"
                         : "with reduction 4"});
    // From now on each call says so.
    expect_text(thrown_after([&] { group->barrier()->wait(); }).second, {"has failed"});
    expect(group->getBackend(at::kCPU)->getError() == ErrorType::COMM_ERROR);
  });
}

TEST_CASE("A rank that leaves or aborts is named by those who wait for it", "[distributed][failures]") {
  const bool abort = GENERATE(false, true);
  test::with_rank_threads(3, [&](int rank, const GroupPtr& group) {
    if (rank == 0) {
      abort ? group->abort() : group->shutdown();
      expect_error<c10::Error>([&] { group->barrier(); });
      return;
    }
    const auto [seconds, message] = thrown_after([&] { group->barrier()->wait(); });
    expect(seconds < 5);
    expect_text(message, {abort ? "rank 0 has aborted the group" : "rank 0 has left the group"});
  });
}

TEST_CASE("A rank that is late is named after the timeout", "[distributed][failures]") {
  std::atomic<bool> named{false};
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    if (rank == 0) {
      group->setTimeout(300ms);
      const auto [seconds, message] = thrown_after([&] { group->barrier()->wait(); });
      expect(seconds < 2);
      expect_text(message, {"waited for rank 1"});
      Tensors tensors{at::ones({1})};
      expect_error<c10::DistBackendError>([&] { group->recv(tensors, 1, 0)->wait(); });
      named = true;
    } else {
      for (int i = 0; i < 1000 && !named; ++i) {
        std::this_thread::sleep_for(10ms);
      }
    }
  });
}

TEST_CASE("Messages of sizes that differ end the receive alone", "[distributed][failures]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Tensors tensors{at::ones({rank == 0 ? 3 : 4})};
    if (rank == 0) {
      group->send(tensors, 1, 0)->wait();
    } else {
      expect_error([&] { group->recv(tensors, 0, 0)->wait(); }, {"sent 12 bytes"});
    }
    group->barrier()->wait();
  });
}

TEST_CASE("Sixty-four ranks of one machine meet", "[distributed][failures][slow]") {
  const auto results = with_rank_processes(
      64,
      [](int, const GroupPtr& group) {
        Tensors tensors{at::ones({256})};
        group->allreduce(tensors)->wait();
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 10; ++i) {
          group->allreduce(tensors)->wait();
        }
        const auto each = (std::chrono::steady_clock::now() - begin) / 10;
        return std::string(each < 500ms ? "fast" : "slow");
      },
      std::chrono::seconds(120));
  CHECK(results == std::vector<std::string>(64, "fast"));
}
