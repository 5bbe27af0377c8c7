#include <csrc/utils/progress.h>

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace torch {

namespace {

using Clock = std::chrono::steady_clock;

/// Weight of a new value in a mean.
constexpr double kNewWeight = 0.1;
constexpr double kDrawSeconds = 0.1;
constexpr size_t kWidestBar = 28;
constexpr size_t kNarrowestBar = 8;

/// Four digits that say something.
std::string short_number(double value) {
  return fmt::format("{:.4g}", value);
}

std::string short_rate(double rate) {
  if (rate >= 1e6) {
    return fmt::format("{:.1f}M", rate / 1e6);
  }
  return rate >= 100 ? fmt::format("{:.0f}", rate) : fmt::format("{:.3g}", rate);
}

size_t terminal_width(std::FILE* stream) {
  winsize size{};
  return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Where UTF-8 text is not to be cut.
bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

std::string cut(std::string text, size_t width) {
  if (text.size() > width) {
    while (width > 0 && is_continuation(text[width])) {
      --width;
    }
    text.resize(width);
  }
  return text;
}

} // namespace

std::string format_duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::clamp(std::isfinite(seconds) ? seconds : 0.0, 0.0, 1e15) + 0.5);
  const int64_t hours = whole / 3600;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, whole / 60 % 60, whole % 60)
                   : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

struct Progress::State {
  struct Field {
    std::string name;
    std::string text;
    std::optional<double> mean;
  };

  State(int64_t total, ProgressOptions options)
      : total(total),
        options(std::move(options)),
        terminal(this->options.terminal().value_or(isatty(fileno(this->options.stream())) == 1)) {}

  double elapsed() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  double fraction(double seconds) const {
    const double by_steps = total < 0 ? 0 : total == 0 ? 1 : static_cast<double>(count) / static_cast<double>(total);
    const double by_time = options.seconds() > 0 ? seconds / options.seconds() : 0;
    return std::min(1.0, std::max(by_steps, by_time));
  }

  bool limited() const {
    return total >= 0 || options.seconds() > 0;
  }

  Field& field(const std::string& name) {
    for (Field& field : fields) {
      if (field.name == name) {
        return field;
      }
    }
    return fields.emplace_back(Field{name, "", std::nullopt});
  }

  /// Everything behind the bar.
  std::string description(double seconds) const {
    const std::string& unit = options.unit();
    const std::string& rate_unit = options.rate_unit().empty() ? unit : options.rate_unit();
    std::string text = fmt::format("{} {}", options.first() + count, unit);
    for (const Field& field : fields) {
      text += "  " + field.name + " " + field.text;
    }
    const double rate = static_cast<double>(count) * options.rate_per_step() / std::max(seconds, 1e-9);
    text += fmt::format("  {} {}/s", short_rate(rate), rate_unit);
    const double share = fraction(seconds);
    if (finished) {
      text += "  in " + format_duration(seconds);
    } else if (share > 0) {
      text += "  " + format_duration(seconds * (1 - share) / share) + " left";
    }
    return text;
  }

  void draw(double seconds) const {
    const double share = fraction(seconds);
    const std::string label = options.label().empty() ? "" : options.label() + "  ";
    const std::string percent = limited() ? fmt::format("{:3.0f}%  ", std::floor(100 * share)) : "";
    const std::string text = description(seconds);
    if (!terminal) {
      fmt::print(options.stream(), "{}{}{}\n", label, percent, text);
    } else {
      const size_t width = terminal_width(options.stream()) - 1;
      const size_t used = label.size() + percent.size() + text.size() + 3;
      const size_t bar = limited() ? std::min(kWidestBar, used < width ? width - used : 0) : 0;
      std::string line = label;
      if (bar >= kNarrowestBar) {
        const auto full = static_cast<size_t>(share * static_cast<double>(bar));
        line += "[" + std::string(full, '#') + std::string(bar - full, '.') + "] ";
      }
      // One write a line: other output of the program does not come in between.
      fmt::print(options.stream(), "\r{}\033[K", cut(line + percent + text, width));
    }
    std::fflush(options.stream());
  }

  int64_t total;
  ProgressOptions options;
  bool terminal;
  Clock::time_point start = Clock::now();
  int64_t count = 0;
  std::vector<Field> fields;
  double last_draw = -1e300;
  bool finished = false;
};

Progress::Progress(int64_t total, ProgressOptions options)
    : state_(std::make_unique<State>(total, std::move(options))) {}

Progress::~Progress() {
  if (state_ && state_->count > 0) {
    finish();
  }
}

Progress::Progress(Progress&&) noexcept = default;
Progress& Progress::operator=(Progress&&) noexcept = default;

Progress& Progress::set(const std::string& name, double value) {
  return set(name, short_number(value));
}

Progress& Progress::set(const std::string& name, std::string text) {
  State::Field& field = state_->field(name);
  field.text = std::move(text);
  field.mean.reset();
  return *this;
}

Progress& Progress::mean(const std::string& name, double value) {
  State::Field& field = state_->field(name);
  field.mean = field.mean ? *field.mean + kNewWeight * (value - *field.mean) : value;
  field.text = short_number(*field.mean);
  return *this;
}

void Progress::advance(int64_t steps) {
  State& s = *state_;
  s.count += steps;
  const double now = s.elapsed();
  // The first line of a log comes at once: it shows that something happens.
  if (!s.finished && now - s.last_draw >= (s.terminal ? kDrawSeconds : s.options.line_seconds())) {
    s.last_draw = now;
    s.draw(now);
  }
}

void Progress::finish() {
  State& s = *state_;
  if (s.finished) {
    return;
  }
  s.finished = true;
  s.draw(s.elapsed());
  if (s.terminal) {
    std::fputc('\n', s.options.stream());
    std::fflush(s.options.stream());
  }
}

int64_t Progress::count() const noexcept {
  return state_->count;
}

double Progress::elapsed_seconds() const {
  return state_->elapsed();
}

double Progress::fraction() const {
  return state_->fraction(state_->elapsed());
}

bool Progress::done() const {
  const State& s = *state_;
  return (s.total >= 0 && s.count >= s.total) || (s.options.seconds() > 0 && s.elapsed() >= s.options.seconds());
}

} // namespace torch
