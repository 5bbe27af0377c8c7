// Where a process wants to be told of what goes wrong in its groups.
#include <csrc/distributed/recorder/event_logger.h>

#include <c10/util/Exception.h>
#include <c10/util/Logging.h>

#include <atomic>

namespace c10d {

namespace {
std::atomic<C10dLogger*> registered{nullptr}; // never destroyed: groups may fail while the process ends
} // namespace

void C10dLogger::log(const C10dLoggingData& data) {
  std::string text = logDestination_;
  for (const auto& [name, value] : data.strings) {
    text += " " + name + "=" + value;
  }
  for (const auto& [name, value] : data.integers) {
    text += " " + name + "=" + std::to_string(value);
  }
  LOG(INFO) << text;
}

C10dLogger* C10dLogger::getLogger() {
  return registered.load();
}

void C10dLogger::registerLogger(std::unique_ptr<C10dLogger> logger) {
  C10dLogger* none = nullptr;
  if (registered.compare_exchange_strong(none, logger.get())) {
    static_cast<void>(logger.release());
  } else {
    TORCH_WARN("C10dLogger::registerLogger: a logger has been registered already, which stays");
  }
}

} // namespace c10d
