// Runs cases in forked processes, so that a crash or a hang is a finding like any other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "test/fuzz/cases.h"
#include "test/fuzz/check.h"

namespace fuzz {

struct Limits {
  uint64_t first_case = 0;
  uint64_t calls = 100000; // of the chosen operators
  double seconds = 0; // 0: no limit
  double case_seconds = 20;
  int jobs = 1;
  c10::Device device{c10::DeviceType::CPU}; // another one is compared with the CPU
};

struct Tally {
  uint64_t succeeded = 0;
  uint64_t refused = 0;
};

/// Runs cases from `limits.first_case` on that call one of `chosen` (positions in cases.operators()). `report` is
/// called in this process with each finding. Returns the tally of each operator.
std::vector<Tally> run_in_workers(
    const Cases& cases,
    const std::vector<bool>& chosen,
    const Limits& limits,
    const std::function<void(uint64_t, const Finding&)>& report);

} // namespace fuzz
