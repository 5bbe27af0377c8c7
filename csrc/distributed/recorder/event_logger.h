// Where a process wants to be told of what goes wrong in its groups, as c10d names it.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace c10d {

/// Facts by name.
struct C10dLoggingData {
  std::map<std::string, std::string> strings;
  std::map<std::string, int64_t> integers;
};

/// To derive from: told of the first failure of each group, with the strings "pg_name", "pg_desc", "backend" and
/// "event"
/// ("failure") and the integers "rank" and "size". It may be called from any thread.
class TORCH_API C10dLogger {
 public:
  C10dLogger(const C10dLogger&) = default;
  C10dLogger& operator=(const C10dLogger&) = default;
  virtual ~C10dLogger() = default;
  /// Writes a line to the log, unless it is overridden.
  virtual void log(const C10dLoggingData& data);
  /// The registered one, or null.
  static C10dLogger* getLogger();
  /// At most once; a second call warns, and changes nothing.
  static void registerLogger(std::unique_ptr<C10dLogger> logger);

 protected:
  explicit C10dLogger(std::string logDestination) : logDestination_(std::move(logDestination)) {}

  std::string logDestination_;
};

} // namespace c10d
