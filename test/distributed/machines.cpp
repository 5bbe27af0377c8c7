// Machines for tests.
#include "machines.h"

#include <c10/util/Exception.h>
#include <csrc/distributed/backends/backend_registry.h>
#include <csrc/distributed/store/TCPStore.h>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace test {

namespace {

constexpr int kPort = 29417; // nobody else is in the namespace

void connect_machines(int rank, int other, c10d::Store& meeting) {
  if (rank < other) {
    run_command(
        "ip link add " + link_to(other) + " type veth peer name " + link_to(rank) + " netns " +
        meeting.get_to_str("pid/" + std::to_string(other)));
    meeting.set(c10::str("linked/", rank, "/", other), std::string("yes"));
  } else {
    meeting.wait({c10::str("linked/", other, "/", rank)});
  }
  run_command("ip link set " + link_to(other) + " up");
  run_command("ip route add " + address_of(other) + "/32 dev " + link_to(other) + " src " + address_of(rank));
}

void enter_machine(int rank, int size, c10d::Store& meeting) {
  TORCH_CHECK(::unshare(CLONE_NEWNET) == 0, "unshare failed");
  run_command("ip link set lo up");
  run_command("ip addr add " + address_of(rank) + "/32 dev lo");
  meeting.set("pid/" + std::to_string(rank), std::to_string(::getpid()));
  std::vector<std::string> up;
  for (int other = 0; other < size; ++other) {
    if (other != rank) {
      connect_machines(rank, other, meeting);
    }
    up.push_back("up/" + std::to_string(other));
  }
  meeting.set(up[static_cast<size_t>(rank)], std::string("yes"));
  meeting.wait(up);
}

} // namespace

std::string address_of(int rank) {
  return "10.77.0." + std::to_string(rank + 1);
}

std::string link_to(int rank) {
  return "to" + std::to_string(rank);
}

void run_command(const std::string& command) {
  TORCH_CHECK(std::system(command.c_str()) == 0, "'", command, "' failed");
}

std::string reason_without_machines() {
  if (::geteuid() != 0) {
    return "only root makes network namespaces";
  }
  if (std::system("unshare -n ip link add veth_probe type veth peer name veth_probed >/dev/null 2>&1") != 0) {
    return "this kernel or container has no network namespaces with veth links, or there is no ip";
  }
  try {
    c10d::detail::plugin_backend("gloo");
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

std::string on_machine(
    int rank,
    int size,
    c10d::Store& meeting,
    const std::function<std::string(const c10::intrusive_ptr<c10d::Store>&)>& body) {
  enter_machine(rank, size, meeting);
  int ends[2];
  TORCH_CHECK(::pipe(ends) == 0, "pipe failed");
  TORCH_CHECK(::unshare(CLONE_NEWPID) == 0, "unshare failed"); // process numbers of its own, from the child on
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::string text;
    try {
      c10d::TCPStoreOptions options;
      options.port = kPort;
      options.isServer = rank == 0;
      options.numWorkers = static_cast<size_t>(size);
      text = body(c10::make_intrusive<c10d::TCPStore>(address_of(0), options));
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

c10::intrusive_ptr<c10d::ProcessGroupGloo> network_group(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(address_of(rank)));
  options->group_name = "g";
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
}

} // namespace test
