// ProcessGroupGloo: shared memory within a host, the system's Gloo between hosts.
#include "backend_cases.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/distributed.h>
#include <torch/torch.h>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

using namespace c10d;
using namespace std::chrono_literals;
using StorePtr = c10::intrusive_ptr<Store>;
using Tensors = std::vector<at::Tensor>;

namespace {

c10::intrusive_ptr<ProcessGroupGloo> gloo_group(
    const StorePtr& store, int rank, int size, std::chrono::milliseconds timeout = 20s) {
  auto options = ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  options->group_name = "g";
  return c10::make_intrusive<ProcessGroupGloo>(store, rank, size, options);
}

// Whether ranks of one host go through Gloo from now on, in this process; else the test says why not.
bool take_gloo() {
  try {
    detail::plugin_backend("gloo");
  } catch (const c10::Error& error) {
    WARN("skipped: " << error.what_without_backtrace());
    return false;
  }
  return true;
}

std::string message_of(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    f();
  } catch (const c10::DistBackendError& error) {
    return (std::chrono::steady_clock::now() - begin < 6s ? "in time: " : "late: ") +
        std::string(error.what_without_backtrace());
  }
  return "nothing was thrown";
}

} // namespace

TEST_CASE("ProcessGroupGloo runs all collectives in shared memory", "[distributed][gloo]") {
  const auto results = test::with_store_processes(3, [](int rank, const StorePtr& store) {
    const auto backend = gloo_group(store, rank, 3);
    return backend->getBackendName() + " " + test::faults_of_collectives(*backend) + test::faults_of_messages(*backend);
  });
  CHECK(results == std::vector<std::string>(3, "gloo "));
}

TEST_CASE("ProcessGroupGloo runs all collectives over Gloo", "[distributed][gloo]") {
  if (!take_gloo()) {
    return;
  }
  const int size = GENERATE(1, 2, 4);
  const auto results = test::with_store_processes(size, [&](int rank, const StorePtr& store) {
    ::setenv("TENSOR_GLOO", "tcp", 1);
    const auto backend = gloo_group(store, rank, size);
    return test::faults_of_collectives(*backend) + test::faults_of_messages(*backend);
  });
  CHECK(results == std::vector<std::string>(size, ""));
}

TEST_CASE("Sums over Gloo are the same bits as those in shared memory", "[distributed][gloo]") {
  if (!take_gloo()) {
    return;
  }
  const auto results = test::with_store_processes(3, [](int rank, const StorePtr& store) {
    torch::manual_seed(rank);
    Tensors here{torch::randn({10'007})};
    Tensors there{here[0].clone()};
    gloo_group(c10::make_intrusive<PrefixStore>("shm", store), rank, 3)->allreduce(here)->wait();
    ::setenv("TENSOR_GLOO", "tcp", 1);
    gloo_group(c10::make_intrusive<PrefixStore>("tcp", store), rank, 3)->allreduce(there)->wait();
    return std::string(at::equal(here[0], there[0]) ? "same" : "different");
  });
  CHECK(results == std::vector<std::string>(3, "same"));
}

TEST_CASE("Over Gloo a late rank is named, and what it does", "[distributed][gloo]") {
  if (!take_gloo()) {
    return;
  }
  const auto results = test::with_store_processes(3, [](int rank, const StorePtr& store) {
    ::setenv("TENSOR_GLOO", "tcp", 1);
    const auto backend = gloo_group(store, rank, 3, 1s);
    Tensors one{at::ones({10})};
    backend->allreduce(one)->wait();
    if (rank == 1) {
      std::this_thread::sleep_for(4s);
      return std::string("late");
    }
    return message_of([&] { backend->allreduce(one)->wait(); });
  });
  for (const int rank : {0, 2}) {
    CHECK_THAT(
        results[rank],
        Catch::StartsWith("in time: rank " + std::to_string(rank) + " in allreduce number 2 of 10 Float elements") &&
            Catch::Contains("rank 1 has ended allreduce number 1 of 10 Float elements in group g, and is in no other"));
  }
}

TEST_CASE("Over Gloo a killed or stopped rank ends the calls of all others", "[distributed][gloo]") {
  if (!take_gloo()) {
    return;
  }
  const bool stop = GENERATE(false, true);
  const auto results = test::with_store_processes(
      3,
      [&](int rank, const StorePtr& store) {
        ::setenv("TENSOR_GLOO", "tcp", 1);
        const auto backend = gloo_group(store, rank, 3);
        Tensors one{at::ones({20'000})};
        backend->allreduce(one)->wait();
        if (rank == 1) {
          ::raise(stop ? SIGSTOP : SIGKILL);
        }
        return message_of([&] {
          for (;;) {
            backend->allreduce(one)->wait();
          }
        });
      },
      12s);
  CHECK_THAT(results[1], Catch::Contains(stop ? "(late)signal 9" : "signal 9"));
  for (const int rank : {0, 2}) {
    CHECK_THAT(results[rank], Catch::StartsWith("in time: ") && Catch::Contains("rank 1 (process "));
    CHECK_THAT(
        results[rank], Catch::Contains(stop ? "has been stopped" : "has died") || Catch::Contains("does not answer"));
  }
}

TEST_CASE("Sparse tensors are summed, whatever indices the ranks have", "[distributed][gloo]") {
  const auto results = test::with_store_processes(2, [](int rank, const StorePtr& store) {
    const auto backend = gloo_group(store, rank, 2);
    const auto indices = at::tensor({int64_t(0), int64_t(rank + 1)}).view({1, 2});
    Tensors one{at::sparse_coo_tensor(indices, at::ones({2, 2}), {4, 2})};
    backend->allreduce(one)->wait();
    const auto expected = at::tensor({2., 1., 1., 0.}).view({4, 1}).expand({4, 2}).to(at::kFloat);
    return std::string(at::equal(one[0].to_dense(), expected) ? "right" : "wrong");
  });
  CHECK(results == std::vector<std::string>(2, "right"));
}

TEST_CASE("A backend that a program has registered serves init_process_group", "[distributed][gloo]") {
  namespace dist = torch::distributed;
  static int made = 0;
  register_backend("mine", [](const DistributedBackendOptions& options) -> c10::intrusive_ptr<Backend> {
    ++made;
    return c10::make_intrusive<FakeProcessGroup>(options.group_rank, options.group_size);
  });
  CHECK_THROWS_WITH(
      register_backend("mine", [](const auto&) { return c10::intrusive_ptr<Backend>(); }),
      Catch::Contains("there is a backend 'mine' already"));
  dist::Session session(dist::InitOptions().backend("mine"));
  CHECK(made == 1);
  CHECK_THROWS_WITH(
      create_backend("nothing", DistributedBackendOptions{}),
      Catch::Contains("unknown backend 'nothing'; there are shm, gloo"));
}
