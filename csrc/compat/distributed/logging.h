// Messages with fmt's placeholders, by level. Needs fmt's headers.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/Logging.h>
#include <csrc/distributed/c10d/debug.h>

#include <fmt/format.h>

#include <string>

namespace c10d::detail {

enum class LogLevel { Trace, Debug, Info, Warning, Error };

/// Errors and warnings always; the rest by TORCH_DISTRIBUTED_DEBUG: Info from INFO on, Debug and Trace from DETAIL on.
inline bool isLogLevelEnabled(LogLevel level) noexcept {
  const DebugLevel needed = level >= LogLevel::Warning ? DebugLevel::Off
      : level == LogLevel::Info                        ? DebugLevel::Info
                                                       : DebugLevel::Detail;
  return debug_level() >= needed;
}

template <typename... T>
std::string formatLogMessage(fmt::string_view format, T&&... arguments) {
  return fmt::vformat(format, fmt::make_format_args(arguments...));
}

} // namespace c10d::detail

#define C10D_LOG_AT_(level, severity, prefix, ...)                    \
  if (c10d::detail::isLogLevelEnabled(c10d::detail::LogLevel::level)) \
  LOG(severity) << prefix << c10d::detail::formatLogMessage(__VA_ARGS__)
#define C10D_ERROR(...) C10D_LOG_AT_(Error, ERROR, "[c10d] ", __VA_ARGS__)
#define C10D_WARNING(...) C10D_LOG_AT_(Warning, WARNING, "[c10d] ", __VA_ARGS__)
#define C10D_INFO(...) C10D_LOG_AT_(Info, INFO, "[c10d] ", __VA_ARGS__)
#define C10D_DEBUG(...) C10D_LOG_AT_(Debug, INFO, "[c10d - debug] ", __VA_ARGS__)
#define C10D_TRACE(...) C10D_LOG_AT_(Trace, INFO, "[c10d - trace] ", __VA_ARGS__)
