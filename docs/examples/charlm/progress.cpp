#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace charlm {

namespace {

/// Weight of a new loss in the mean that is shown; single batches jump about.
constexpr double kSmooth = 0.1;
constexpr double kTerminalSeconds = 0.1;
constexpr double kLineSeconds = 5;
constexpr int kBar = 28;

std::string minutes(double seconds) {
  char text[32];
  const auto whole = static_cast<long>(std::max(0.0, seconds) + 0.5);
  std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
  return text;
}

} // namespace

Progress::Progress(int64_t first, int64_t steps, int64_t seconds, int64_t characters_per_step)
    : first_(first),
      steps_(steps),
      seconds_(seconds),
      characters_per_step_(characters_per_step),
      terminal_(isatty(STDOUT_FILENO) == 1) {}

double Progress::fraction() const {
  const double by_steps = steps_ == 0 ? 1 : static_cast<double>(step_) / static_cast<double>(steps_);
  const double by_time = seconds_ == 0 ? 0 : elapsed() / static_cast<double>(seconds_);
  return std::min(1.0, std::max(by_steps, by_time));
}

void Progress::advance(double loss) {
  loss_ = step_ == 0 ? loss : loss_ + kSmooth * (loss - loss_);
  ++step_;
  const double now = elapsed();
  if (now - last_print_ >= (terminal_ ? kTerminalSeconds : kLineSeconds) || done()) {
    last_print_ = now;
    print();
  }
}

void Progress::print() const {
  const double share = fraction();
  const double seconds = std::max(elapsed(), 1e-9);
  const double rate = static_cast<double>(step_ * characters_per_step_) / seconds;
  const std::string left = minutes(share > 0 ? seconds * (1 - share) / share : 0);
  if (!terminal_) {
    std::printf(
        "step %ld  %3.0f%%  loss %.3f bits  %.0f tokens/s  %s left\n", static_cast<long>(first_ + step_), 100 * share,
        loss_, rate, left.c_str());
  } else {
    const int full = static_cast<int>(share * kBar);
    std::printf(
        "\r[%s%s] %3.0f%%  step %ld  loss %.3f bits  %.0f tokens/s  %s left\033[K", std::string(full, '#').c_str(),
        std::string(kBar - full, '.').c_str(), 100 * share, static_cast<long>(first_ + step_), loss_, rate,
        left.c_str());
  }
  std::fflush(stdout);
}

void Progress::finish() {
  if (terminal_ && step_ > 0) {
    std::printf("\n");
  }
  std::printf("%ld steps in %s\n", static_cast<long>(step_), minutes(elapsed()).c_str());
  std::fflush(stdout);
}

} // namespace charlm
