#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/OwnedPtr.h>
#include <c10/util/api_usage.h>
#include <c10/util/print_containers.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

// Log lines on stderr in glog's manner, checks that log, and the hooks that count uses of the API.

namespace c10 {

enum LogSeverity : int8_t { GLOG_INFO = 0, GLOG_WARNING = 1, GLOG_ERROR = 2, GLOG_FATAL = 3 };

/// One line of the log, written when it is destroyed; a FATAL one throws c10::Error then.
class C10_API MessageLogger {
 public:
  MessageLogger(const char* file, int line, int severity, bool exit_on_fatal = true);
  ~MessageLogger() noexcept(false);
  C10_DISABLE_COPY_AND_ASSIGN(MessageLogger);

  std::ostream& stream();
  template <class T>
  MessageLogger& operator<<(const T& value) {
    const detail::MessagePart part(value);
    append(part);
    return *this;
  }
  /// std::endl, std::hex and their like.
  MessageLogger& operator<<(std::ostream& (*manipulator)(std::ostream&));
  MessageLogger& operator<<(std::ios_base& (*manipulator)(std::ios_base&));

 private:
  void append(const detail::MessagePart& part);

  struct State;
  OwnedPtr<State> state_;
};

namespace detail {
/// Swallows a logger, so that a disabled log statement has type void.
struct LoggerVoidify {
  void operator&(const MessageLogger&) {}
};
C10_API bool log_enabled(int severity);
} // namespace detail

/// Reads again the lowest severity that is written, from the environment variable TORCH_CPP_LOG_LEVEL (INFO, WARNING,
/// ERROR, FATAL or their numbers); WARNING without it.
C10_API void UpdateLoggingLevelsFromFlags();
C10_API void ShowLogInfoToStderr();
C10_API void initLogging();
C10_API bool InitCaffeLogging(int* argc, char** argv);
C10_API void SetGlobalRank(int64_t rank);
/// Log lines are written by c10 itself, in glog's manner.
constexpr bool IsUsingGoogleLogging() {
  return false;
}

C10_API void SetAPIUsageLogger(std::function<void(const std::string&)> logger);

// Programs write `string` after `using namespace torch`.
using std::string;

/// What CAFFE_ENFORCE throws.
using EnforceNotMet = Error;
/// Throws c10::Error as a failed internal check does.
[[noreturn]] C10_API void ThrowEnforceNotMet(
    const char* file, int line, const char* condition, const std::string& msg, const void* caller = nullptr);
/// The same with c10::EnforceFiniteError, for values that are infinite or no numbers.
[[noreturn]] C10_API void ThrowEnforceFiniteNotMet(
    const char* file, int line, const char* condition, const std::string& msg, const void* caller = nullptr);

namespace enforce_detail {

/// "1 vs 2", and what is said beside it.
template <class Left, class Right, class... Args>
std::string enforceFailMsgImpl(const Left& left, const Right& right, const Args&... args) {
  if constexpr (sizeof...(Args) == 0) {
    return ::c10::str(left, " vs ", right);
  } else {
    return ::c10::str(left, " vs ", right, ". ", args...);
  }
}

/// Throws unless `holds` is true of both values; `message` makes text of them.
template <class Predicate, class Left, class Right, class Message>
void enforceThatImpl(
    Predicate holds,
    const Left& left,
    const Right& right,
    const char* file,
    int line,
    const char* condition,
    const void* caller,
    Message message) {
  if (C10_UNLIKELY(!holds(left, right))) {
    ::c10::ThrowEnforceNotMet(file, line, condition, message(left, right), caller);
  }
}

} // namespace enforce_detail

} // namespace c10

/// When it is set, a failed CAFFE_ENFORCE is written to the log and ends the process, which leaves a core file.
C10_API extern bool FLAGS_caffe2_use_fatal_for_enforce;

#define C10_LOG_SEVERITY_INFO ::c10::GLOG_INFO
#define C10_LOG_SEVERITY_WARNING ::c10::GLOG_WARNING
#define C10_LOG_SEVERITY_ERROR ::c10::GLOG_ERROR
#define C10_LOG_SEVERITY_FATAL ::c10::GLOG_FATAL

#define C10_LOG_IF_(severity, condition) \
  !(condition) ? static_cast<void>(0)    \
               : ::c10::detail::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, severity)

#ifndef LOG
#define LOG(n) C10_LOG_IF_(C10_LOG_SEVERITY_##n, ::c10::detail::log_enabled(C10_LOG_SEVERITY_##n))
#define LOG_IF(n, condition) \
  C10_LOG_IF_(C10_LOG_SEVERITY_##n, (condition) && ::c10::detail::log_enabled(C10_LOG_SEVERITY_##n))
#define VLOG(n) C10_LOG_IF_(::c10::GLOG_INFO, ::c10::detail::log_enabled(-(n)))
#define VLOG_IF(n, condition) C10_LOG_IF_(::c10::GLOG_INFO, (condition) && ::c10::detail::log_enabled(-(n)))
#define VLOG_IS_ON(verboselevel) (::c10::detail::log_enabled(-(verboselevel)))
#define LOG_FIRST_N(severity, num)                                   \
  LOG_IF(severity, ([] {                                             \
           static int c10_log_count = 0;                             \
           return c10_log_count < (num) && ++c10_log_count <= (num); \
         }()))
#define LOG_EVERY_N(severity, num)              \
  LOG_IF(severity, ([] {                        \
           static int c10_log_count = 0;        \
           return c10_log_count++ % (num) == 0; \
         }()))
#endif // LOG

// Test frameworks have a CHECK of their own; theirs stays.
#ifndef CHECK
#define CHECK(condition) \
  C10_LOG_IF_(::c10::GLOG_FATAL, C10_UNLIKELY_OR_CONST(!(condition))) << "Check failed: " #condition " "
#define CHECK_OP(val1, val2, op)                                           \
  C10_LOG_IF_(::c10::GLOG_FATAL, C10_UNLIKELY_OR_CONST(!((val1)op(val2)))) \
      << "Check failed: " #val1 " " #op " " #val2 " (" << (val1) << " vs. " << (val2) << ") "
#define CHECK_EQ(val1, val2) CHECK_OP(val1, val2, ==)
#define CHECK_NE(val1, val2) CHECK_OP(val1, val2, !=)
#define CHECK_LE(val1, val2) CHECK_OP(val1, val2, <=)
#define CHECK_LT(val1, val2) CHECK_OP(val1, val2, <)
#define CHECK_GE(val1, val2) CHECK_OP(val1, val2, >=)
#define CHECK_GT(val1, val2) CHECK_OP(val1, val2, >)
#define CHECK_NOTNULL(val) TORCH_CHECK_NOTNULL(val)
#ifdef NDEBUG
#define DLOG(n) \
  while (false) LOG(n)
#define DCHECK(condition) \
  while (false) CHECK(condition)
#define DCHECK_OP_(val1, val2, op) \
  while (false) CHECK_OP(val1, val2, op)
#else
#define DLOG(n) LOG(n)
#define DCHECK(condition) CHECK(condition)
#define DCHECK_OP_(val1, val2, op) CHECK_OP(val1, val2, op)
#endif
#define DCHECK_EQ(val1, val2) DCHECK_OP_(val1, val2, ==)
#define DCHECK_NE(val1, val2) DCHECK_OP_(val1, val2, !=)
#define DCHECK_LE(val1, val2) DCHECK_OP_(val1, val2, <=)
#define DCHECK_LT(val1, val2) DCHECK_OP_(val1, val2, <)
#define DCHECK_GE(val1, val2) DCHECK_OP_(val1, val2, >=)
#define DCHECK_GT(val1, val2) DCHECK_OP_(val1, val2, >)
#endif // CHECK

#define C10_LOG_EVERY_N(severity, num) LOG_EVERY_N(severity, num)
#define C10_LOG_FIRST_N(severity, num) LOG_FIRST_N(severity, num)

#define CAFFE_ENFORCE(condition, ...)                                                     \
  do {                                                                                    \
    if (C10_UNLIKELY(!(condition))) {                                                     \
      ::c10::ThrowEnforceNotMet(__FILE__, __LINE__, #condition, ::c10::str(__VA_ARGS__)); \
    }                                                                                     \
  } while (false)
#define CAFFE_ENFORCE_FINITE(condition, ...)                                                    \
  do {                                                                                          \
    if (C10_UNLIKELY(!(condition))) {                                                           \
      ::c10::ThrowEnforceFiniteNotMet(__FILE__, __LINE__, #condition, ::c10::str(__VA_ARGS__)); \
    }                                                                                           \
  } while (false)
/// The same in a method: the error knows the object.
#define CAFFE_ENFORCE_WITH_CALLER(condition, ...)                                               \
  do {                                                                                          \
    if (C10_UNLIKELY(!(condition))) {                                                           \
      ::c10::ThrowEnforceNotMet(__FILE__, __LINE__, #condition, ::c10::str(__VA_ARGS__), this); \
    }                                                                                           \
  } while (false)
#define CAFFE_THROW(...) ::c10::ThrowEnforceNotMet(__FILE__, __LINE__, "", ::c10::str(__VA_ARGS__))

// Comparisons evaluate each side once and report both values.
#define C10_ENFORCE_PAIR_(predicate, x, y, condition, caller, ...)                                                    \
  ::c10::enforce_detail::enforceThatImpl(                                                                             \
      predicate, (x), (y), __FILE__, __LINE__, condition, caller, [&](const auto& checked_x, const auto& checked_y) { \
        return ::c10::enforce_detail::enforceFailMsgImpl(checked_x, checked_y, ##__VA_ARGS__);                        \
      })
/// `predicate` must be true of both values; `op` is what the message calls it.
#define CAFFE_ENFORCE_THAT(predicate, op, x, y, ...) \
  C10_ENFORCE_PAIR_(predicate, x, y, #x " " #op " " #y, nullptr, ##__VA_ARGS__)
#define CAFFE_ENFORCE_BINARY_OP(predicate, op, x, y, ...) \
  C10_ENFORCE_PAIR_(predicate, x, y, #x " " #op " " #y, nullptr, ##__VA_ARGS__)
#define CAFFE_ENFORCE_BINARY_OP_WITH_CALLER(predicate, op, x, y, ...) \
  C10_ENFORCE_PAIR_(predicate, x, y, #x " " #op " " #y, this, ##__VA_ARGS__)
#define CAFFE_ENFORCE_EQ(x, y, ...) CAFFE_ENFORCE_BINARY_OP(std::equal_to<void>(), ==, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_NE(x, y, ...) CAFFE_ENFORCE_BINARY_OP(std::not_equal_to<void>(), !=, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_LE(x, y, ...) CAFFE_ENFORCE_BINARY_OP(std::less_equal<void>(), <=, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_LT(x, y, ...) CAFFE_ENFORCE_BINARY_OP(std::less<void>(), <, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_GE(x, y, ...) CAFFE_ENFORCE_BINARY_OP(std::greater_equal<void>(), >=, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_GT(x, y, ...) CAFFE_ENFORCE_BINARY_OP(std::greater<void>(), >, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_EQ_WITH_CALLER(x, y, ...) \
  CAFFE_ENFORCE_BINARY_OP_WITH_CALLER(std::equal_to<void>(), ==, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_NE_WITH_CALLER(x, y, ...) \
  CAFFE_ENFORCE_BINARY_OP_WITH_CALLER(std::not_equal_to<void>(), !=, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_LE_WITH_CALLER(x, y, ...) \
  CAFFE_ENFORCE_BINARY_OP_WITH_CALLER(std::less_equal<void>(), <=, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_LT_WITH_CALLER(x, y, ...) \
  CAFFE_ENFORCE_BINARY_OP_WITH_CALLER(std::less<void>(), <, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_GE_WITH_CALLER(x, y, ...) \
  CAFFE_ENFORCE_BINARY_OP_WITH_CALLER(std::greater_equal<void>(), >=, x, y, ##__VA_ARGS__)
#define CAFFE_ENFORCE_GT_WITH_CALLER(x, y, ...) \
  CAFFE_ENFORCE_BINARY_OP_WITH_CALLER(std::greater<void>(), >, x, y, ##__VA_ARGS__)
