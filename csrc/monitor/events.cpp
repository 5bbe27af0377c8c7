// The registered handlers of events.
#include <csrc/monitor/events.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace torch::monitor {
namespace {

struct EventHandlers {
  std::mutex mutex;
  std::vector<std::shared_ptr<EventHandler>> list;
};

EventHandlers& event_handlers() {
  // Never destroyed: a Stat with static storage logs when the program ends.
  static auto& handlers = *new EventHandlers;
  return handlers;
}

} // namespace

void logEvent(const Event& e) {
  EventHandlers& handlers = event_handlers();
  std::vector<std::shared_ptr<EventHandler>> called;
  {
    const std::lock_guard<std::mutex> lock(handlers.mutex);
    called = handlers.list;
  }
  for (const auto& handler : called) {
    handler->handle(e);
  }
}

void registerEventHandler(std::shared_ptr<EventHandler> p) {
  TORCH_CHECK(p != nullptr, "registerEventHandler: expected an event handler, but got a null pointer");
  EventHandlers& handlers = event_handlers();
  const std::lock_guard<std::mutex> lock(handlers.mutex);
  handlers.list.push_back(std::move(p));
}

void unregisterEventHandler(const std::shared_ptr<EventHandler>& p) {
  EventHandlers& handlers = event_handlers();
  const std::lock_guard<std::mutex> lock(handlers.mutex);
  auto& list = handlers.list;
  list.erase(std::remove(list.begin(), list.end(), p), list.end());
}

} // namespace torch::monitor
