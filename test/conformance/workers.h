// Runs cases in forked workers, so that a crash or a hang costs one case and not the run.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <vector>

#include "replay.h"

namespace conformance {

struct WorkerOptions {
  int jobs = 1;
  double case_seconds = 30; // a case that takes longer is killed
  bool quiet = true; // drop what the library writes to stderr (warnings)
};

/// Calls `report(case index, verdict)` in the calling process for each part of each case, in no fixed order.
/// The calling process must not have used the library: its threads would not survive the fork. After SIGTERM it kills
/// the workers and returns false: what they have replayed so far is reported.
bool replay_in_workers(
    const std::vector<const Case*>& cases,
    c10::Device device,
    const WorkerOptions& options,
    const std::function<void(size_t, const Verdict&)>& report);

} // namespace conformance
