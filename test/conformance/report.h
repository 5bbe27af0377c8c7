// Gathers verdicts and prints the summary, the failures and the closing line.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "replay.h"

namespace conformance {

/// Cases that are expected to fail: lines `CASE_ID  # reason`, optionally `CASE_ID KIND  # reason`
/// with KIND as in the summary (forward, inplace, out, error, grad, gradgrad).
class KnownFailures {
 public:
  /// Adds those of a file. Throws std::runtime_error when it cannot be read.
  void read(const std::string& path);

  /// The reason, or nullptr for a part that must pass.
  const std::string* find(const Case& c, Part part) const;

 private:
  std::map<std::string, std::string> reasons_;
};

class Report {
 public:
  Report(KnownFailures known, bool verbose) : known_(std::move(known)), verbose_(verbose) {}

  void add(const Case& c, const Verdict& verdict);
  /// Prints everything to stdout; the last line is "N passed, M failed, K missing".
  void print() const;
  bool all_passed() const {
    return failed_ == 0;
  }

 private:
  struct Count {
    int64_t passed = 0;
    int64_t failed = 0;
    int64_t missing = 0;
  };

  void print_rows() const;
  void print_missing() const;
  void print_failures() const;

  KnownFailures known_;
  bool verbose_;
  int64_t passed_ = 0;
  int64_t failed_ = 0;
  int64_t missing_ = 0;
  std::map<std::pair<std::string, std::string>, Count> rows_; // by operator and kind
  std::map<std::string, std::pair<int64_t, std::string>> absent_; // operator -> how often, why
  std::vector<std::string> failures_;
  std::vector<std::string> known_failures_;
  std::vector<std::string> healed_;
};

} // namespace conformance
