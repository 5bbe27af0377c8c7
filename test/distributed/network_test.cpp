// Collectives between machines, for which network namespaces stand, and what becomes of them when a link is cut or
// slow.
#include "backend_cases.h"
#include "fault_seeds.h"
#include "machines.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <ATen/ATen.h>
#include <csrc/distributed/c10d/ProcessGroupShm.h>
#include <csrc/distributed/store/PrefixStore.h>

#include <random>
#include <thread>

using namespace c10d;
using namespace std::chrono_literals;
using StorePtr = c10::intrusive_ptr<Store>;
using Clock = std::chrono::steady_clock;
using Tensors = std::vector<at::Tensor>;

namespace {

bool no_machines() {
  const auto reason = test::reason_without_machines();
  if (!reason.empty()) {
    WARN("skipped: " << reason);
  }
  return !reason.empty();
}

enum class Fault { kLinkDown, kSendsLost };

// On the victim's machine: nothing comes through its links any more, or nothing that it sends.
void cut_links(int victim, int size, Fault fault) {
  for (int other = 0; other < size; ++other) {
    if (other != victim) {
      test::run_command(
          fault == Fault::kLinkDown ? "ip link set " + test::link_to(other) + " down"
                                    : "ip neigh replace " + test::address_of(other) + " lladdr 02:00:00:00:00:01 dev " +
                  test::link_to(other) + " nud permanent"); // which nobody has
    }
  }
}

void slow_links(int victim, int size, const std::string& rate) {
  for (int other = 0; other < size; ++other) {
    if (other != victim) {
      test::run_command(
          "tc qdisc add dev " + test::link_to(other) + " root tbf rate " + rate + " burst 16kb latency 400ms");
    }
  }
}

// One collective, the same on all ranks.
void call_collective(ProcessGroupGloo& group, std::mt19937& random, int largest) {
  const int64_t n = int64_t(1) << (random() % static_cast<uint32_t>(largest));
  Tensors x{at::ones({n})};
  switch (random() % 4) {
    case 0:
      group.allreduce(x)->wait();
      break;
    case 1: {
      at::Tensor all = at::empty({n * group.getSize()});
      group.all_gather_single(all, x[0])->wait();
      break;
    }
    case 2:
      group.broadcast(x)->wait();
      break;
    default:
      group.barrier()->wait();
  }
}

struct Failure {
  double seconds = 0; // from the call to the error
  std::string text = "nothing was thrown";
};

Failure call_until_failure(ProcessGroupGloo& group, std::mt19937& random, int largest, int calls = 1'000'000) {
  Clock::time_point begin;
  try {
    for (int i = 0; i < calls; ++i) {
      begin = Clock::now();
      call_collective(group, random, largest);
    }
  } catch (const c10::DistBackendError& error) {
    return {std::chrono::duration<double>(Clock::now() - begin).count(), error.what_without_backtrace()};
  }
  return {};
}

// Rank 0 serves the store here, and stays until the others have failed, as that of a launcher does.
void await_others(const StorePtr& store, int rank, int size, int victim) {
  std::vector<std::string> keys;
  for (int other = 0; other < size; ++other) {
    if (other != victim) {
      keys.push_back("over/" + std::to_string(other));
    }
  }
  store->set("over/" + std::to_string(rank), std::string("yes"));
  if (rank == 0) {
    store->wait(keys, 5s);
  }
}

// A rank works until the links of the victim's machine are cut at a random point.
std::string work_until_cut(int rank, int size, const StorePtr& store, uint32_t seed) {
  const int victim = static_cast<int>(seed % static_cast<uint32_t>(size));
  const auto group = test::network_group(store, rank, size, 60s);
  std::mt19937 random(seed);
  const auto delay = std::chrono::microseconds(random() % 100'000);
  const Fault fault = random() % 2 == 0 ? Fault::kLinkDown : Fault::kSendsLost;
  group->barrier()->wait();
  std::thread cut;
  if (rank == victim) {
    cut = std::thread([=] {
      std::this_thread::sleep_for(delay);
      cut_links(victim, size, fault);
    });
  }
  const auto [seconds, text] = call_until_failure(*group, random, 18);
  if (cut.joinable()) {
    cut.join();
  }
  if (victim != 0 && rank != victim) {
    await_others(store, rank, size, victim);
  }
  // Without its store, which rank 0's machine has, nobody can say who else is there.
  const std::string named = victim == 0 ? "the store has not answered" : c10::str("rank ", victim, " ");
  const bool told = text.find(c10::str("rank ", rank, " in ")) == 0 && text.find(" number ") != std::string::npos &&
      (rank == victim || text.find(named) != std::string::npos);
  return told && seconds < 5 ? "well" : c10::str("after ", seconds, " s: ", text);
}

} // namespace

TEST_CASE("Ranks on two machines run all collectives over the network", "[distributed][network]") {
  if (no_machines()) {
    return;
  }
  const auto results = test::with_store_processes(2, [](int rank, const StorePtr& meeting) {
    return test::on_machine(rank, 2, *meeting, [rank](const StorePtr& store) {
      const auto group = test::network_group(c10::make_intrusive<PrefixStore>("g", store), rank, 2, 60s);
      const std::string faults = test::faults_of_collectives(*group) + test::faults_of_messages(*group);
      try {
        ProcessGroupShm(c10::make_intrusive<PrefixStore>("shm", store), rank, 2);
      } catch (const c10::DistBackendError& error) {
        const std::string text = error.what_without_backtrace();
        return faults + (text.find("they are not on one host") != std::string::npos ? "" : text);
      }
      return faults + "shared memory between machines";
    });
  });
  CHECK(results == std::vector<std::string>(2, ""));
}

TEST_CASE("Links that are cut at random points end the calls of all ranks", "[distributed][network][faults][slow]") {
  if (no_machines()) {
    return;
  }
  const auto [first, runs] = test::fault_seeds(6);
  REQUIRE(runs > 0);
  for (uint32_t run = first; run < first + runs; ++run) {
    const int size = static_cast<int>(2 + run / 2 % 2);
    const auto results = test::with_store_processes(size, [&](int rank, const StorePtr& meeting) {
      return test::on_machine(
          rank, size, *meeting, [&](const StorePtr& store) { return work_until_cut(rank, size, store, run); });
    });
    INFO("run " << run);
    CHECK(results == std::vector<std::string>(static_cast<size_t>(size), "well"));
  }
}

TEST_CASE("A link that becomes slow delays the calls and does not end them", "[distributed][network][faults][slow]") {
  if (no_machines()) {
    return;
  }
  const uint32_t seed = test::fault_seeds(1).first;
  const auto results = test::with_store_processes(3, [&](int rank, const StorePtr& meeting) {
    return test::on_machine(rank, 3, *meeting, [&](const StorePtr& store) -> std::string {
      const auto group = test::network_group(store, rank, 3, 60s);
      std::mt19937 random(seed);
      const auto before = call_until_failure(*group, random, 16, static_cast<int>(random() % 50));
      if (rank == 1) {
        slow_links(rank, 3, "8mbit");
      }
      const auto after = call_until_failure(*group, random, 16, 40);
      Tensors x{at::ones({1 << 17})}; // half a second a copy
      const auto begin = Clock::now();
      group->allreduce(x)->wait();
      const bool delayed = Clock::now() - begin > 200ms;
      return before.text + ", " + after.text + (delayed ? ", delayed" : ", not delayed") +
          (at::equal(x[0], at::full({1 << 17}, 3.0f)) ? "" : ", wrong");
    });
  });
  CHECK(results == std::vector<std::string>(3, "nothing was thrown, nothing was thrown, delayed"));
}

TEST_CASE("A link too slow for the timeout ends the calls of all ranks", "[distributed][network][faults][slow]") {
  if (no_machines()) {
    return;
  }
  const auto results = test::with_store_processes(2, [](int rank, const StorePtr& meeting) {
    return test::on_machine(rank, 2, *meeting, [&](const StorePtr& store) -> std::string {
      const auto group = test::network_group(store, rank, 2, 2s);
      group->barrier()->wait();
      if (rank == 1) {
        slow_links(rank, 2, "200kbit");
      }
      Tensors x{at::ones({1 << 18})}; // 42 s
      const auto begin = Clock::now();
      try {
        group->allreduce(x)->wait();
      } catch (const c10::DistBackendError& error) {
        return (Clock::now() - begin < 5s ? "in time: " : "late: ") + std::string(error.what_without_backtrace());
      }
      return "nothing was thrown";
    });
  });
  for (const int rank : {0, 1}) {
    CHECK_THAT(results[rank], Catch::StartsWith(c10::str("in time: rank ", rank, " in allreduce number 2")));
  }
}
