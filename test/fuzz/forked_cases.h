// Runs numbered cases in a forked process; behind a case that ends it another one goes on.
#pragma once

#include <c10/util/Exception.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "test/fuzz/arguments.h"

namespace fuzz {

/// The options that say which cases are run.
struct CaseOptions {
  uint64_t seed = 1, cases = 20000, only_case = 0;
  bool one = false;

  /// Whether the option of the moment is --seed, --case or --cases: then it is taken.
  bool take(CommandLine& line);
};

/// What a worker tells of its cases, in memory that it shares with the process that watches it.
struct CaseProgress {
  std::atomic<uint64_t> next{0};
  std::atomic<int> phase{0};
  std::atomic<double> begin{0}; // of the case, in seconds
  uint64_t outcomes[4] = {};
  char text[400] = "";

  void set_text(const std::string& what);
};

struct ForkedCases {
  uint64_t count = 0;
  double seconds = 1e9; // for all of them
  /// How long a case may take from its begin on, in its phase.
  std::function<double(int phase)> seconds_for_one;
  /// Called once in each worker.
  std::function<void()> prepare;
  /// Runs one; gives what was found, or nothing.
  std::function<std::string(uint64_t index, CaseProgress& progress)> run;
  /// Called where a case ended its process, or took too long (`late`). Whether that is a finding.
  std::function<bool(CaseProgress& progress, const std::string& how, bool late)> report;
};

struct CaseTotals {
  uint64_t outcomes[4] = {};
  uint64_t findings = 0;
};

/// Throws std::runtime_error if there is no memory to share.
CaseTotals run_forked(const ForkedCases& cases);

/// Drawn settings are full of what the library warns of.
struct SilentWarnings final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

} // namespace fuzz
