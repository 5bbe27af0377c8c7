#pragma once

#include <csrc/data/detail/queue.h>

#include <optional>
#include <utility>

namespace torch::data::detail {

/// Brings jobs to workers and results back, and counts the jobs without a result. One thread gives jobs and takes
/// results; any number of workers do the opposite.
template <typename Job, typename Result>
class DataShuttle {
 public:
  /// For the main thread: a new job.
  void push_job(Job job) {
    jobs_.push(std::move(job));
    ++in_flight_;
  }
  /// For workers: the result of a job they took. Each job must get one.
  void push_result(Result result) {
    results_.push(std::move(result));
  }
  /// For workers: waits for a job.
  Job pop_job() {
    return jobs_.pop();
  }

  /// For the main thread: waits for a result; nothing if no job is without one. Throws after `timeout`.
  std::optional<Result> pop_result(const Timeout& timeout = std::nullopt) {
    if (in_flight_ == 0) {
      return std::nullopt;
    }
    std::optional<Result> result = results_.pop(timeout);
    --in_flight_;
    return result;
  }

  /// For the main thread: drops jobs that no worker has taken yet and waits for the others, whose results are dropped.
  void drain() {
    in_flight_ -= jobs_.clear();
    while (in_flight_ > 0) {
      pop_result();
    }
  }

  /// For the main thread: jobs without a result.
  size_t in_flight_jobs() const noexcept {
    return in_flight_;
  }

 private:
  Queue<Job> jobs_;
  size_t in_flight_ = 0;
  Queue<Result> results_;
};

} // namespace torch::data::detail
