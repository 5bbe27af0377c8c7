// Many runs in which a rank is killed or stopped at a random point: everybody else ends within seconds, with its name.
#include "fault_seeds.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <torch/torch.h>

#include <csrc/distributed/c10d/Backend.h>

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <random>
#include <thread>

using namespace std::chrono_literals;
using test::GroupPtr;
using Tensors = std::vector<at::Tensor>;

namespace {

size_t open_descriptors() {
  size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) {
    ++count;
  }
  ::closedir(folder);
  return count;
}

// A rank works until it fails; the victim is struck in between by a thread of its own.
std::string work(int rank, const GroupPtr& group, uint32_t seed, int victim, int number) {
  std::mt19937 random(seed);
  const auto delay = std::chrono::microseconds(random() % 20'000);
  std::thread blow;
  if (rank == victim) {
    blow = std::thread([=] {
      std::this_thread::sleep_for(delay);
      ::kill(::getpid(), number);
    });
    blow.detach();
  }
  std::chrono::steady_clock::time_point last;
  try {
    for (;;) {
      last = std::chrono::steady_clock::now();
      const int64_t n =
          int64_t(1) << (random() % 20); // the same on all ranks; the largest are read from the others' memory
      switch (random() % 5) {
        case 0: {
          Tensors x{at::ones({n})};
          group->allreduce(x)->wait();
          break;
        }
        case 1: {
          at::Tensor in = at::ones({n});
          at::Tensor out = at::empty({n * group->getSize()});
          group->all_gather_single(out, in)->wait();
          break;
        }
        case 2: {
          Tensors x{group->getBackend(at::kCPU)->allocateTensor(n, at::kFloat)};
          x[0].fill_(1);
          group->allreduce(x)->wait();
          break;
        }
        case 3: {
          Tensors x{at::ones({n})};
          group->broadcast(x)->wait();
          break;
        }
        default:
          group->barrier()->wait();
      }
    }
  } catch (const c10::DistBackendError& error) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - last).count();
    const std::string named = "rank " + std::to_string(victim) + " ";
    const bool told = std::string(error.what_without_backtrace()).find(named) != std::string::npos;
    return told && seconds < 5 ? "well" : c10::str(seconds, " s: ", error.what_without_backtrace());
  }
}

void run_faults(uint32_t usual_runs, int number, std::chrono::seconds deadline) {
  const auto [first, runs] = test::fault_seeds(usual_runs);
  REQUIRE(runs > 0);
  const size_t before = open_descriptors();
  for (uint32_t run = first; run < first + runs; ++run) {
    const int size = static_cast<int>(2 + run % 3);
    const int victim = static_cast<int>(run % static_cast<uint32_t>(size));
    const auto results = test::with_rank_processes(
        size, [&](int rank, const GroupPtr& group) { return work(rank, group, run, victim, number); }, deadline);
    for (int rank = 0; rank < size; ++rank) {
      if (rank != victim) {
        INFO("run " << run << ", rank " << rank << " of " << size << ", victim " << victim);
        REQUIRE(results[rank] == "well");
      }
    }
  }
  CHECK(open_descriptors() == before);
}

} // namespace

TEST_CASE("Ranks that are killed at random points end the others in seconds", "[distributed][faults][slow]") {
  run_faults(300, SIGKILL, 20s);
}

TEST_CASE("Ranks that are stopped at random points end the others in seconds", "[distributed][faults][slow]") {
  run_faults(20, SIGSTOP, 6s);
}
