// The agent of tensor-launch.
#include <csrc/distributed/launch/agent.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/launch/membership.h>
#include <csrc/distributed/launch/orphan_reaper.h>
#include <csrc/distributed/launch/signals.h>
#include <csrc/distributed/launch/worker.h>
#include <csrc/distributed/store/PrefixStore.h>
#include <csrc/distributed/store/TCPStore.h>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace torch::distributed::launch {

namespace {

using Clock = std::chrono::steady_clock;
using Workers = std::vector<std::unique_ptr<Worker>>;
using Print = std::function<void(const std::string&)>;

struct Outcome {
  int code = 0;
  bool interrupted = false;
  std::string report;
};

// Machine 0 serves it. The others try again until it does, and may be interrupted meanwhile.
c10::intrusive_ptr<c10d::TCPStore> job_store(const LaunchOptions& options, const Signals& signals) {
  const std::string host = options.master_addr.empty() ? "127.0.0.1" : options.master_addr;
  c10d::TCPStoreOptions store;
  store.port = static_cast<uint16_t>(options.master_port);
  store.isServer = options.node_rank == 0;
  store.waitWorkers = false;
  store.timeout = std::min(options.lost_after, options.rendezvous_timeout);
  if (store.isServer) {
    return c10::make_intrusive<c10d::TCPStore>(host, store);
  }
  const auto deadline = Clock::now() + options.rendezvous_timeout;
  for (store.timeout = std::chrono::seconds(1);;) {
    try {
      auto connected = c10::make_intrusive<c10d::TCPStore>(host, store);
      connected->setTimeout(options.lost_after);
      return connected;
    } catch (const c10::DistNetworkError&) {
      signals.check();
      if (Clock::now() >= deadline) {
        throw;
      }
    }
  }
}

std::vector<std::pair<std::string, std::string>> variables_of(
    const LaunchOptions& options, const c10d::TCPStore& store, const Place& place, int local_rank, int round) {
  const int size = options.nproc_per_node * place.nodes;
  const int rank = place.node * options.nproc_per_node + local_rank;
  std::vector<std::pair<std::string, std::string>> variables = {
      {"RANK", std::to_string(rank)},
      {"LOCAL_RANK", std::to_string(local_rank)},
      {"WORLD_SIZE", std::to_string(size)},
      {"LOCAL_WORLD_SIZE", std::to_string(options.nproc_per_node)},
      {"GROUP_RANK", std::to_string(place.node)},
      {"GROUP_WORLD_SIZE", std::to_string(place.nodes)},
      {"ROLE_NAME", "default"},
      {"ROLE_RANK", std::to_string(rank)},
      {"ROLE_WORLD_SIZE", std::to_string(size)},
      {"MASTER_ADDR", store.getHost()},
      {"MASTER_PORT", std::to_string(store.getPort())},
      {"TORCHELASTIC_USE_AGENT_STORE", "True"},
      {"TORCHELASTIC_RESTART_COUNT", std::to_string(round)},
      {"TORCHELASTIC_MAX_RESTARTS", std::to_string(options.max_restarts)},
      {"TORCHELASTIC_RUN_ID", options.run_id.empty() ? "none" : options.run_id},
  };
  if (options.nproc_per_node > 1 && std::getenv("OMP_NUM_THREADS") == nullptr) {
    variables.emplace_back("OMP_NUM_THREADS", "1"); // the ranks share the cores
  }
  return variables;
}

std::string report_of(const Worker& worker, int round) {
  std::string text = c10::str(
      "tensor-launch: first failure: rank ", worker.rank(), " (process ", worker.pid(), ", round ", round, ") ",
      worker.description(), "\n");
  if (!worker.last_lines().empty()) {
    text += "  its last lines:\n";
    for (const auto& line : worker.last_lines()) {
      text += "    " + line + "\n";
    }
  }
  return text;
}

// Ends what still runs: politely, then by force.
void end_all(Workers& workers, std::chrono::milliseconds grace, const Print& print) {
  const auto deadline = Clock::now() + grace;
  bool asked = false;
  for (;;) {
    bool running = false;
    for (auto& worker : workers) {
      running |= !worker->ended();
      worker->forward_output(print);
    }
    if (!running) {
      return;
    }
    // Others are about to say that they miss the first: they get a part of the time for it.
    if (!asked && Clock::now() >= deadline - grace * 3 / 4) {
      asked = true;
      for (auto& worker : workers) {
        worker->signal(SIGTERM);
        worker->signal(SIGCONT);
      }
    }
    if (Clock::now() >= deadline) {
      for (auto& worker : workers) {
        worker->signal(SIGKILL);
      }
    }
    ::usleep(10'000);
  }
}

// One round: all ranks from their start to their end.
Outcome run_round(
    const LaunchOptions& options,
    c10d::TCPStore& store,
    Membership& members,
    const Place& place,
    const Signals& signals,
    const OrphanReaper& reaper,
    int round,
    const Print& print) {
  Workers workers;
  for (int local = 0; local < options.nproc_per_node; ++local) {
    const int rank = place.node * options.nproc_per_node + local;
    workers.push_back(
        std::make_unique<Worker>(rank, options.command, variables_of(options, store, place, local, round), reaper));
  }
  for (;;) {
    std::vector<pollfd> polls{{signals.fd(), POLLIN, 0}};
    for (const auto& worker : workers) {
      polls.push_back({worker->output(), POLLIN, 0});
      polls.push_back({worker->ended() ? -1 : worker->pidfd(), POLLIN, 0});
    }
    ::poll(polls.data(), polls.size(), 200);
    if (const int number = signals.take()) {
      for (auto& worker : workers) {
        worker->signal(number);
      }
      members.leave(number);
      end_all(workers, options.grace, print);
      return {128 + number, true, c10::str("tensor-launch: ended by signal ", number, "\n")};
    }
    bool running = false;
    for (auto& worker : workers) {
      const bool ended = worker->ended();
      worker->forward_output(print);
      running |= !ended;
      if (ended && worker->code() != 0) {
        const Outcome outcome{worker->code(), false, report_of(*worker, round)};
        members.end_round(outcome.report);
        end_all(workers, options.grace, print);
        return outcome;
      }
    }
    std::string report;
    if (!running && members.all_done(report)) {
      return {};
    }
    if (report.empty()) {
      report = members.look_around();
    }
    if (!report.empty()) {
      end_all(workers, options.grace, print);
      return {1, false, report};
    }
  }
}

} // namespace

namespace {

int run_rounds(const LaunchOptions& options, const Signals& signals, const OrphanReaper& reaper, const Print& print) {
  const auto store = job_store(options, signals);
  Membership members(*store, options, signals);
  int restarts = 0;
  for (int round = 0;; ++round) {
    const Place place = members.join(round);
    const Outcome outcome = run_round(options, *store, members, place, signals, reaper, round, print);
    if (!outcome.report.empty()) {
      print(outcome.report);
    }
    if (outcome.code == 0 || outcome.interrupted || Membership::is_end(outcome.report)) {
      return outcome.code;
    }
    if (Membership::is_change(outcome.report)) {
      continue;
    }
    if (restarts >= options.max_restarts) {
      return outcome.code;
    }
    print(c10::str("tensor-launch: restart ", ++restarts, " of ", options.max_restarts, "\n"));
  }
}

} // namespace

int run(const LaunchOptions& options, const Print& print) {
  const OrphanReaper reaper(static_cast<size_t>(options.nproc_per_node));
  const Signals signals;
  try {
    return run_rounds(options, signals, reaper, print);
  } catch (const Interruption& interruption) {
    print(c10::str("tensor-launch: ended by signal ", interruption.number, "\n"));
    return 128 + interruption.number;
  }
}

} // namespace torch::distributed::launch
