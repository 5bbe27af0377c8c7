// The agent of tensor-launch: starts a program once for each rank, watches, ends and restarts.
#pragma once

#include <c10/macros/Export.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace torch::distributed::launch {

/// What tensor-launch is told.
struct LaunchOptions {
  std::vector<std::string> command;
  int nproc_per_node = 1;
  /// Machines: at most nnodes, at least min_nodes. Where these differ, the job goes on with those that are there.
  int nnodes = 1;
  int min_nodes = 1;
  int node_rank = 0;
  /// Where node 0 serves the store. Of one node: this host, and any free port.
  std::string master_addr;
  int master_port = 0;
  int max_restarts = 0;
  std::string run_id;
  /// How long a round waits for more machines once there are min_nodes, and a machine for the others.
  std::chrono::milliseconds last_call = std::chrono::seconds(5);
  std::chrono::milliseconds rendezvous_timeout = std::chrono::minutes(10);
  /// How long a machine's agent may be silent before it counts as lost. Its ranks tell one another sooner.
  std::chrono::milliseconds lost_after = std::chrono::seconds(30);
  /// How long processes may take to end after the first has failed, before they are killed.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
};

/// From the arguments behind the program's name. Throws c10::ValueError that says what there is.
TORCH_API LaunchOptions parse_arguments(const std::vector<std::string>& arguments);
/// What --help prints.
TORCH_API std::string usage();

/// Runs the job to its end. `print` gets what ranks write, each line after its rank, and at the end the first failure:
/// rank, exit code or signal, and its last lines. Returns 0, or the exit code of that rank (128 + the signal).
/// SIGINT and SIGTERM end the job, also while it waits for other machines, which learn of it. No process of a rank is
/// left when this returns, and none when this process is killed, with all that ranks have started in their process
/// groups.
TORCH_API int run(const LaunchOptions& options, const std::function<void(const std::string& text)>& print);

} // namespace torch::distributed::launch
