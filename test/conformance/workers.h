// Runs tasks in forked workers, so that a crash or a hang costs one task and not the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace conformance {

struct WorkerOptions {
  int jobs = 1;
  double task_seconds = 30; // a task that takes longer is killed
  bool quiet = true; // drop what the library writes to stderr (warnings)
  bool one_task_each = false; // a worker of its own for every task
};

/// What a worker tells about a part of its task. The numbers mean what the two sides agree on.
struct Message {
  uint32_t part;
  uint32_t status;
  std::string text;
};

struct Work {
  size_t tasks;
  /// In a worker: does a task and sends what comes of it. False: the worker is not fit for another one.
  std::function<bool(size_t task, const std::function<void(const Message&)>& send)> run;
  /// In the calling process: takes what was sent, in no fixed order of tasks.
  std::function<void(size_t task, const Message&)> report;
  /// In the calling process: a worker has died, and this is what it had told of its task.
  std::function<void(size_t task, const std::vector<uint32_t>& reported_parts, const std::string& why)> died;
};

/// Does all tasks. The calling process must not have used the library: its threads would not survive the fork. After
/// SIGTERM it kills the workers and returns false: what they have done so far is reported.
bool run_in_workers(const Work& work, const WorkerOptions& options);

} // namespace conformance
