// Events that a program logs about itself, and the handlers that receive them.
#pragma once

#include <c10/macros/Export.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>

namespace torch::monitor {

/// A value in an event's data.
using data_value_t = std::variant<std::string, double, int64_t, bool>;

/// Something that happened: `name` tells the kind ("torch.monitor.Stat"), `data` what there is to know about it.
struct TORCH_API Event {
  std::string name;
  std::chrono::system_clock::time_point timestamp;
  std::unordered_map<std::string, data_value_t> data;
};

inline bool operator==(const Event& a, const Event& b) {
  return a.name == b.name && a.timestamp == b.timestamp && a.data == b.data;
}

/// Receives each logged event, from the thread that logs it: several threads may call it at a time, and a handler that
/// waits makes the program wait.
class TORCH_API EventHandler {
 public:
  virtual ~EventHandler() = default;
  virtual void handle(const Event& e) = 0;
};

/// Calls each handler that is registered at this moment, in their order. Handlers may themselves log, register and
/// unregister. What a handler throws reaches the caller, and the handlers after it are not called.
TORCH_API void logEvent(const Event& e);

/// Registers a handler; one that is registered twice is called twice.
TORCH_API void registerEventHandler(std::shared_ptr<EventHandler> p);

/// Unregisters a handler each time that it was registered; does nothing for one that was not. Another thread that is
/// logging may still call it once.
TORCH_API void unregisterEventHandler(const std::shared_ptr<EventHandler>& p);

} // namespace torch::monitor
