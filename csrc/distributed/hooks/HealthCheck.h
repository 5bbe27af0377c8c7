// Which backends of this process have been given up.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace c10d {

class ProcessGroup;

/// The names of backends that were aborted; any thread may ask.
class TORCH_API HealthCheck {
 public:
  /// That of the process.
  static HealthCheck* get();
  void setUnhealthy(std::string backend);
  /// In alphabetical order.
  std::vector<std::string> unhealthyBackends() const;

 private:
  HealthCheck() = default;

  mutable std::mutex mutex_;
  std::set<std::string> unhealthy_backends_;
};

/// Tells HealthCheck when a group gives up.
class TORCH_API HealthCheckHook {
 public:
  /// Does nothing for a group whose backend does not support abort hooks.
  static void attach(const c10::intrusive_ptr<ProcessGroup>& pg);
};

} // namespace c10d
