// One rank's process, and what it writes.
#pragma once

#include <csrc/distributed/launch/orphan_reaper.h>
#include <csrc/distributed/store/Socket.h>

#include <sys/types.h>

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace torch::distributed::launch {

/// A process in a process group of its own, which is killed when this process dies.
class Worker {
 public:
  using Print = std::function<void(const std::string&)>;

  /// Throws if it cannot be started.
  Worker(
      int rank,
      const std::vector<std::string>& command,
      const std::vector<std::pair<std::string, std::string>>& variables,
      const OrphanReaper& reaper);
  /// Kills what is left.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int rank() const {
    return rank_;
  }
  pid_t pid() const {
    return pid_;
  }
  /// For poll: readable when it has written something, or ended.
  int output() const {
    return output_.get();
  }
  int pidfd() const {
    return pidfd_.get();
  }
  /// Prints whole lines that it has written, after its rank; at the end the rest.
  void forward_output(const Print& print);
  /// Whether it has ended; collects how.
  bool ended();
  /// 0 if all was well, else the exit code or 128 + the signal.
  int code() const;
  std::string description() const;
  const std::deque<std::string>& last_lines() const {
    return last_lines_;
  }
  /// To it and all that it has started.
  void signal(int number);

 private:
  void print_line(const Print& print, std::string line);

  int rank_;
  const OrphanReaper& reaper_;
  pid_t pid_ = -1;
  c10d::detail::Descriptor output_;
  c10d::detail::Descriptor pidfd_;
  std::string pending_;
  std::deque<std::string> last_lines_;
  bool ended_ = false;
  int status_ = 0;
};

} // namespace torch::distributed::launch
