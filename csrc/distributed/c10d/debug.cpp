// The debug level of this process.
#include <csrc/distributed/c10d/debug.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <string>

namespace c10d {

namespace {

DebugLevel level_from_environment() {
  const char* raw = std::getenv("TORCH_DISTRIBUTED_DEBUG");
  std::string value = raw == nullptr ? "" : raw;
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::toupper(c); });
  if (value.empty() || value == "OFF") {
    return DebugLevel::Off;
  }
  if (value == "INFO") {
    return DebugLevel::Info;
  }
  TORCH_CHECK_VALUE(
      value == "DETAIL", "The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL, but got ", value);
  return DebugLevel::Detail;
}

std::atomic<int> chosen_level{-1};

} // namespace

void setDebugLevel(DebugLevel level) {
  chosen_level = static_cast<int>(level);
}

void setDebugLevelFromEnvironment() {
  setDebugLevel(level_from_environment());
}

DebugLevel debug_level() noexcept {
  if (chosen_level < 0) {
    try {
      setDebugLevelFromEnvironment();
    } catch (const std::exception& error) {
      TORCH_WARN(error.what());
      setDebugLevel(DebugLevel::Off);
    }
  }
  return static_cast<DebugLevel>(chosen_level.load());
}

} // namespace c10d
