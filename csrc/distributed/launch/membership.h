// Which machines take part in a round.
#pragma once

#include <csrc/distributed/launch/agent.h>
#include <csrc/distributed/launch/heartbeat.h>
#include <csrc/distributed/launch/signals.h>
#include <csrc/distributed/store/TCPStore.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace torch::distributed::launch {

/// This machine's place among those of a round.
struct Place {
  int node = 0;
  int nodes = 1;
};

/// Agents meet at the store of node 0. With a fixed number of machines places are what the options say. With a range,
/// who comes in time takes part; who comes late makes the others begin a new round; who does not answer any more ends
/// it. Of a fixed number none can be missed: the job ends. A signal ends all waits with Interruption.
class Membership {
 public:
  Membership(c10d::TCPStore& store, const LaunchOptions& options, const Signals& signals)
      : store_(store), options_(options), signals_(signals) {}

  /// Waits until there are enough. `round` may become a later one, where others have gone on without this machine.
  Place join(int& round);
  /// Why the round has to end, or nothing.
  std::string look_around();
  /// Ends the round on all machines, with a reason that comes to all of them; the first one stays.
  void end_round(const std::string& reason);
  /// This machine's agent ends by a signal: the others go on without it, or end.
  void leave(int signal);
  /// This machine's ranks have ended well: whether all others' have, too. Waits until it is known; if the round has
  /// ended otherwise, `reason` says why.
  bool all_done(std::string& reason);
  /// Whether the reason is that machines come or go, and nobody's failure.
  static bool is_change(const std::string& reason);
  /// Whether the reason is one for which no other round can follow.
  static bool is_end(const std::string& reason);

 private:
  bool elastic() const {
    return options_.min_nodes < options_.nnodes;
  }
  std::string key(const std::string& name) const;
  int close_round();
  void pause();
  /// Waits for a key that machine 0 sets, and gives its value.
  std::string awaited(const std::string& name);
  std::string departure(int node, bool ends, const std::string& how) const;
  std::string silent_node();
  void say_farewell();
  std::string reason_to_end();
  std::string store_lost(const std::exception& error) const;

  c10d::TCPStore& store_;
  const LaunchOptions& options_;
  const Signals& signals_;
  int round_ = 0;
  Place place_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::chrono::steady_clock::time_point next_look_;
  std::vector<std::string> beats_;
  std::vector<std::chrono::steady_clock::time_point> seen_;
};

} // namespace torch::distributed::launch
