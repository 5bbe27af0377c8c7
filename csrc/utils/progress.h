// A progress bar for loaders and loops.
#pragma once

#include <c10/macros/Export.h>
#include <csrc/arg.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace torch {

/// What a bar shows and where.
struct TORCH_API ProgressOptions {
  using Stream = std::FILE*;

  /// Text before the bar.
  TORCH_ARG(std::string, label);
  /// What is counted.
  TORCH_ARG(std::string, unit) = "steps";
  /// What the rate counts, and how many of it one step has: ("images", 64) shows images per second.
  TORCH_ARG(std::string, rate_unit);
  TORCH_ARG(double, rate_per_step) = 1;
  /// Steps done by earlier runs: shown in the count, left out of the rate.
  TORCH_ARG(int64_t, first) = 0;
  /// The work also ends after this many seconds; 0 is no limit.
  TORCH_ARG(double, seconds) = 0;
  /// Seconds between two lines when the output is no terminal. There a bar would only fill a log.
  TORCH_ARG(double, line_seconds) = 5;
  TORCH_ARG(Stream, stream) = stderr;
  /// Whether `stream` is a terminal; found out by default.
  TORCH_ARG(std::optional<bool>, terminal);
};

/// Counts steps and shows how far they are, how fast they go and how long they will take.
///
///     torch::Progress bar(1000);
///     for (int step = 0; step < 1000; ++step) {
///       bar.set("lr", lr).mean("loss", train());
///       bar.advance();
///     }
///
/// On a terminal it draws a bar ten times a second at most; elsewhere it prints a line now and then and one at the end.
/// For one thread.
class TORCH_API Progress {
 public:
  /// `total` is the number of steps of this run, negative if it is not known.
  explicit Progress(int64_t total, ProgressOptions options = ProgressOptions());
  /// Ends the line.
  ~Progress();
  Progress(Progress&&) noexcept;
  Progress& operator=(Progress&&) noexcept;

  /// Shows `name` with a value, until another is set. Fields come in the order in which they were first set.
  Progress& set(const std::string& name, double value);
  Progress& set(const std::string& name, std::string text);
  /// The same with a mean in which older values fade, for values that jump about.
  Progress& mean(const std::string& name, double value);

  /// Counts steps and shows them if it is time to.
  void advance(int64_t steps = 1);
  /// Shows the end. Further calls do nothing.
  void finish();

  int64_t count() const noexcept;
  double elapsed_seconds() const;
  /// From 0 to 1, by steps or by time, whichever ends sooner; 0 when neither is limited.
  double fraction() const;
  /// Whether all steps are done or the time is over.
  bool done() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "3:07", or "2:03:07" from an hour on.
TORCH_API std::string format_duration(double seconds);

/// A range whose loop is shown by a bar; see with_progress.
template <typename Range>
class ProgressRange {
 public:
  ProgressRange(Range& range, Progress bar) : range_(range), bar_(std::move(bar)) {}

  Progress& bar() {
    return bar_;
  }

  template <typename Inner>
  class Iterator {
   public:
    Iterator(Inner inner, Progress& bar) : inner_(std::move(inner)), bar_(&bar) {}
    decltype(auto) operator*() {
      return *inner_;
    }
    Iterator& operator++() {
      bar_->advance();
      ++inner_;
      return *this;
    }
    template <typename Other>
    bool operator!=(const Other& end) const {
      const bool more = inner_ != end.inner_;
      if (!more) {
        bar_->finish();
      }
      return more;
    }
    Inner inner_;

   private:
    Progress* bar_;
  };

  auto begin() {
    return Iterator<decltype(std::declval<Range&>().begin())>(range_.begin(), bar_);
  }
  auto end() {
    return Iterator<decltype(std::declval<Range&>().end())>(range_.end(), bar_);
  }

 private:
  Range& range_;
  Progress bar_;
};

/// Shows the way through a loader or any other range of `total` items:
///
///     auto batches = torch::with_progress(*loader, size / batch_size);
///     for (auto& batch : batches) {
///       batches.bar().mean("loss", train(batch));
///     }
template <typename Range>
ProgressRange<Range> with_progress(Range& range, int64_t total, ProgressOptions options = ProgressOptions()) {
  return ProgressRange<Range>(range, Progress(total, std::move(options)));
}

} // namespace torch
