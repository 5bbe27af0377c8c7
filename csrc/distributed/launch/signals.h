// SIGINT and SIGTERM for the agent.
#pragma once

#include <csrc/distributed/store/Socket.h>

#include <signal.h>

namespace torch::distributed::launch {

/// Thrown where the agent waits for other machines and a signal asks it to end.
struct Interruption {
  int number;
};

/// While it lives, SIGINT and SIGTERM are something to read.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// For poll.
  int fd() const {
    return fd_.get();
  }
  /// The signal that has come, or 0.
  int take() const;
  /// Throws Interruption if one has come.
  void check() const;

 private:
  sigset_t before_;
  c10d::detail::Descriptor fd_;
};

} // namespace torch::distributed::launch
