// Whether a process lives, and runs.
#pragma once

#include <cstdint>

namespace c10d::detail {

struct ProcessState {
  bool alive = false;
  bool stopped = false; // by a signal or a debugger
  uint64_t started = 0; // tells processes of one number apart
};

/// From /proc.
ProcessState process_state(int pid);

} // namespace c10d::detail
