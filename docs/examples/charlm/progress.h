#pragma once

#include <chrono>
#include <cstdint>

namespace charlm {

/// How far a run of training is: by its steps, or by its time when that runs out sooner.
class Progress {
 public:
  /// `seconds` 0 is no limit. `first` is the number of steps done by earlier runs.
  Progress(int64_t first, int64_t steps, int64_t seconds, int64_t characters_per_step);

  /// From 0 to 1.
  double fraction() const;
  bool done() const { return step_ >= steps_ || out_of_time(); }
  /// Counts a step. Draws the bar on a terminal, prints a line now and then elsewhere. `loss` is in bits.
  void advance(double loss);
  /// Ends the bar's line and says how the time went.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool out_of_time() const { return seconds_ > 0 && elapsed() >= static_cast<double>(seconds_); }
  void print() const;

  const int64_t first_, steps_, seconds_, characters_per_step_;
  const Clock::time_point start_ = Clock::now();
  const bool terminal_;
  int64_t step_ = 0;
  double loss_ = 0;
  double last_print_ = -1e9;
};

} // namespace charlm
