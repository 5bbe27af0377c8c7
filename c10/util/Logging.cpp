#include <c10/util/Logging.h>

#include <c10/util/env.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <mutex>
#include <sstream>

bool FLAGS_caffe2_use_fatal_for_enforce = false;

namespace c10 {

namespace {

int level_from_environment() {
  const auto value = utils::get_env("TORCH_CPP_LOG_LEVEL");
  if (!value) {
    return GLOG_WARNING;
  }
  constexpr const char* kNames[] = {"INFO", "WARNING", "ERROR", "FATAL"};
  for (int level = 0; level < 4; ++level) {
    if (*value == kNames[level] || *value == std::to_string(level)) {
      return level;
    }
  }
  std::cerr << "TORCH_CPP_LOG_LEVEL=" << *value << " is not one of INFO, WARNING, ERROR, FATAL, 0, 1, 2, 3; ignored\n";
  return GLOG_WARNING;
}

std::atomic<int>& level() {
  static std::atomic<int> value{level_from_environment()};
  return value;
}

std::atomic<int64_t> global_rank{-1};

struct UsageLogger {
  std::mutex mutex;
  std::function<void(const std::string&)> function;
};

UsageLogger& usage_logger() {
  static auto& logger = *new UsageLogger;
  return logger;
}

std::string time_stamp() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%m%d %H:%M:%S", &parts);
  const auto microseconds =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1000000;
  const std::string digits = std::to_string(microseconds);
  return std::string(text) + '.' + std::string(6 - digits.size(), '0') + digits;
}

} // namespace

struct MessageLogger::State {
  std::ostringstream text;
  const char* file;
  int line;
  int severity;
};

MessageLogger::MessageLogger(const char* file, int line, int severity, bool)
    : state_(new State{std::ostringstream(), file, line, severity}) {}

MessageLogger::~MessageLogger() noexcept(false) {
  const std::string message = state_->text.str();
  if (state_->severity == GLOG_FATAL) {
    // An error says where it comes from by itself.
    throw Error(SourceLocation{"LOG(FATAL)", state_->file, static_cast<unsigned>(state_->line)}, message);
  }
  std::ostringstream line;
  line << '[' << "IWEF"[state_->severity] << time_stamp() << ' ' << StripBasename(state_->file) << ':' << state_->line
       << "] ";
  if (global_rank.load() >= 0) {
    line << "[rank" << global_rank.load() << "] ";
  }
  line << message << '\n';
  std::cerr << line.str() << std::flush;
}

std::ostream& MessageLogger::stream() {
  return state_->text;
}

MessageLogger& MessageLogger::operator<<(std::ostream& (*manipulator)(std::ostream&)) {
  stream() << manipulator;
  return *this;
}

MessageLogger& MessageLogger::operator<<(std::ios_base& (*manipulator)(std::ios_base&)) {
  stream() << manipulator;
  return *this;
}

void MessageLogger::append(const detail::MessagePart& part) {
  part.print(state_->text, part.payload);
}

namespace detail {

bool log_enabled(int severity) {
  return severity >= level().load(std::memory_order_relaxed);
}

bool LogAPIUsageFakeReturn(const std::string& event) {
  LogAPIUsage(event);
  return true;
}

} // namespace detail

void UpdateLoggingLevelsFromFlags() {
  level().store(level_from_environment());
}

void ShowLogInfoToStderr() {
  level().store(GLOG_INFO);
}

void initLogging() {
  UpdateLoggingLevelsFromFlags();
}

bool InitCaffeLogging(int*, char**) {
  UpdateLoggingLevelsFromFlags();
  return true;
}

void SetGlobalRank(int64_t rank) {
  global_rank.store(rank);
}

void LogAPIUsage(const std::string& event) {
  UsageLogger& logger = usage_logger();
  std::function<void(const std::string&)> function;
  {
    const std::lock_guard<std::mutex> lock(logger.mutex);
    function = logger.function;
  }
  if (function) {
    function(event);
  }
}

void SetAPIUsageLogger(std::function<void(const std::string&)> logger) {
  TORCH_CHECK(logger, "SetAPIUsageLogger: the logger must be callable");
  UsageLogger& current = usage_logger();
  const std::lock_guard<std::mutex> lock(current.mutex);
  current.function = std::move(logger);
}

void ThrowEnforceNotMet(const char* file, int line, const char* condition, const std::string& msg, const void* caller) {
  Error error(file, static_cast<uint32_t>(line), condition, msg, get_backtrace(/*frames_to_skip=*/1), caller);
  if (FLAGS_caffe2_use_fatal_for_enforce) {
    std::cerr << error.what() << std::endl;
    std::abort();
  }
  throw error;
}

void ThrowEnforceFiniteNotMet(
    const char* file, int line, const char* condition, const std::string& msg, const void* caller) {
  throw EnforceFiniteError(
      file, static_cast<uint32_t>(line), condition, msg, get_backtrace(/*frames_to_skip=*/1), caller);
}

} // namespace c10
