#pragma once

#include <c10/macros/Macros.h>

#include <string>

namespace c10 {

/// Reports that a part of the API was used: nothing happens unless SetAPIUsageLogger (c10/util/Logging.h) has set a
/// logger.
C10_API void LogAPIUsage(const std::string& event);

namespace detail {
C10_API bool LogAPIUsageFakeReturn(const std::string& event);
} // namespace detail

} // namespace c10

/// Reports the first pass through this line.
#define C10_LOG_API_USAGE_ONCE(...) \
  [[maybe_unused]] static bool C10_ANONYMOUS_VARIABLE(logFlag) = ::c10::detail::LogAPIUsageFakeReturn(__VA_ARGS__)
