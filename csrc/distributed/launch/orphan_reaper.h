// Ends what the ranks have started when the agent is killed.
#pragma once

#include <csrc/distributed/store/Socket.h>

#include <sys/types.h>

#include <cstddef>

namespace torch::distributed::launch {

/// A small process that outlives the agent for a moment: it kills the process groups that are left. The signal that
/// the kernel sends at a parent's death reaches the ranks alone, and not the programs that a script started as a rank.
class OrphanReaper {
 public:
  /// For at most `groups` process groups at a time. Throws if it cannot be started.
  explicit OrphanReaper(size_t groups);
  ~OrphanReaper();
  OrphanReaper(const OrphanReaper&) = delete;
  OrphanReaper& operator=(const OrphanReaper&) = delete;

  /// The group is killed unless it is forgotten before. May be called between fork and exec.
  void watch(pid_t group) const;
  void forget(pid_t group) const;

 private:
  void tell(pid_t message) const;

  pid_t pid_ = -1;
  c10d::detail::Descriptor to_reaper_;
};

} // namespace torch::distributed::launch
