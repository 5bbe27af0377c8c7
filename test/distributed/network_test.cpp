// Ranks on several machines, for which network namespaces stand: only root may make them.
#include "backend_cases.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <ATen/ATen.h>
#include <csrc/distributed/backends/ProcessGroupGloo.h>
#include <csrc/distributed/backends/backend_registry.h>
#include <csrc/distributed/c10d/ProcessGroupShm.h>
#include <csrc/distributed/store/PrefixStore.h>
#include <csrc/distributed/store/TCPStore.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

using namespace c10d;
using namespace std::chrono_literals;
using StorePtr = c10::intrusive_ptr<Store>;

namespace {

constexpr int kPort = 29417; // nobody else is in the namespace

std::string address(int rank) {
  return "10.77.0." + std::to_string(rank + 1);
}

void run(const std::string& command) {
  TORCH_CHECK(std::system(command.c_str()) == 0, "'", command, "' failed");
}

// Why there are no machines here, or nothing.
std::string reason_to_skip() {
  if (::geteuid() != 0) {
    return "only root makes network namespaces";
  }
  if (std::system("unshare -n ip link add veth_probe type veth peer name veth_probed >/dev/null 2>&1") != 0) {
    return "this kernel or container has no network namespaces with veth links, or there is no ip";
  }
  try {
    detail::plugin_backend("gloo");
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

// Rank 0 and rank 1 each get a network of their own, and a link between them.
void enter_machine(int rank, Store& meeting) {
  TORCH_CHECK(::unshare(CLONE_NEWNET) == 0, "unshare failed");
  run("ip link set lo up");
  meeting.set("pid/" + std::to_string(rank), std::to_string(::getpid()));
  if (rank == 0) {
    run("ip link add link0 type veth peer name link1 netns " + meeting.get_to_str("pid/1"));
    meeting.set("linked", std::string("yes"));
  }
  meeting.wait({"linked"});
  const std::string link = "link" + std::to_string(rank);
  run("ip addr add " + address(rank) + "/24 dev " + link);
  run("ip link set " + link + " up");
  meeting.set("up/" + std::to_string(rank), std::string("yes"));
  meeting.wait({"up/0", "up/1"});
}

// What `body` returns in a process that is the first of its machine, with a store that rank 0 serves.
std::string on_machine(int rank, Store& meeting, const std::function<std::string(const StorePtr&)>& body) {
  enter_machine(rank, meeting);
  int ends[2];
  TORCH_CHECK(::pipe(ends) == 0, "pipe failed");
  TORCH_CHECK(::unshare(CLONE_NEWPID) == 0, "unshare failed"); // process numbers of its own, from the child on
  const pid_t child = ::fork();
  if (child == 0) {
    std::string text;
    try {
      TCPStoreOptions options;
      options.port = kPort;
      options.isServer = rank == 0;
      options.numWorkers = 2;
      text = body(c10::make_intrusive<TCPStore>(address(0), options));
    } catch (const std::exception& error) {
      text = std::string("error: ") + error.what();
    }
    [[maybe_unused]] const auto written = ::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char bytes[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], bytes, sizeof bytes)) > 0;) {
    text.append(bytes, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

c10::intrusive_ptr<ProcessGroupGloo> group_on(const StorePtr& store, int rank) {
  auto options = ProcessGroupGloo::Options::create(60s);
  options->devices.push_back(ProcessGroupGloo::createDeviceForHostname(address(rank)));
  options->group_name = "g";
  return c10::make_intrusive<ProcessGroupGloo>(store, rank, 2, options);
}

} // namespace

TEST_CASE("Ranks on two machines run all collectives over the network", "[distributed][network]") {
  if (const auto reason = reason_to_skip(); !reason.empty()) {
    WARN("skipped: " << reason);
    return;
  }
  const auto results = test::with_store_processes(2, [](int rank, const StorePtr& meeting) {
    return on_machine(rank, *meeting, [rank](const StorePtr& store) {
      const auto group = group_on(c10::make_intrusive<PrefixStore>("g", store), rank);
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

TEST_CASE("A cut link ends the calls of the ranks on both sides", "[distributed][network][failures][slow]") {
  if (const auto reason = reason_to_skip(); !reason.empty()) {
    WARN("skipped: " << reason);
    return;
  }
  const auto results = test::with_store_processes(2, [](int rank, const StorePtr& meeting) {
    return on_machine(rank, *meeting, [rank](const StorePtr& store) {
      const auto group = group_on(store, rank);
      std::vector<at::Tensor> one{at::ones({10})};
      group->allreduce(one)->wait();
      if (rank == 1) {
        run("ip link set link1 down");
      }
      const auto begin = std::chrono::steady_clock::now();
      try {
        group->allreduce(one)->wait();
      } catch (const c10::DistBackendError& error) {
        const auto took = std::chrono::steady_clock::now() - begin;
        return (took < 8s ? "in time: " : "late: ") + std::string(error.what_without_backtrace());
      }
      return std::string("nothing was thrown");
    });
  });
  CHECK_THAT(results[0], Catch::StartsWith("in time: rank 0 in allreduce number 2") && Catch::Contains("rank 1"));
  CHECK_THAT(results[1], Catch::StartsWith("in time: rank 1 in allreduce number 2"));
}
