// Requests that a process answers by name.
#include <csrc/distributed/control_plane/Handlers.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/hooks/HealthCheck.h>
#include <csrc/distributed/recorder/FlightRecorder.h>

#include <mutex>

namespace c10d::control_plane {

namespace {

bool flag(const Request& request, const std::string& name, bool usual) {
  const std::string value = request.getParam(name);
  TORCH_CHECK_VALUE(
      value.empty() || value == "true" || value == "false", "the parameter ", name, " must be true or false, but got ",
      value);
  return value.empty() ? usual : value == "true";
}

void answer_ping(const Request&, Response& response) {
  response.setContent("pong", "text/plain");
}

void answer_trace(const Request& request, Response& response) {
  try {
    const bool collectives = flag(request, "includecollectives", true);
    response.setContent(dump_fr_trace_json(collectives, flag(request, "onlyactive", false)), "application/json");
  } catch (const c10::ValueError& error) {
    response.setStatus(400);
    response.setContent(error.what_without_backtrace(), "text/plain");
  }
}

void answer_dump(const Request&, Response& response) {
  if (!try_dump_fr_trace_file(true, true, false)) {
    response.setStatus(503);
    response.setContent("there is no file: set TORCH_FR_DUMP_TEMP_FILE, or register a DebugInfoWriter", "text/plain");
    return;
  }
  response.setContent("ok", "text/plain");
}

void answer_health(const Request&, Response& response) {
  std::string names;
  for (const auto& backend : HealthCheck::get()->unhealthyBackends()) {
    names += (names.empty() ? "\"" : ",\"") + backend + "\"";
  }
  response.setContent(
      c10::str("{\"healthy\":", names.empty() ? "true" : "false", ",\"unhealthy_backends\":[", names, "]}"),
      "application/json");
}

struct Registry {
  std::mutex mutex;
  std::map<std::string, HandlerFunc> handlers{
      {"ping", answer_ping},
      {"fr_trace_json", answer_trace},
      {"fr_dump_file", answer_dump},
      {"c10d_health_check", answer_health}};

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : handlers) {
      all.push_back(entry.first);
    }
    return all;
  }
};

// Made at first use: handlers register themselves before main.
Registry& registry() {
  static Registry& all = *new Registry();
  return all;
}

} // namespace

void registerHandler(const std::string& name, HandlerFunc f) {
  const std::lock_guard lock(registry().mutex);
  const bool added = registry().handlers.emplace(name, std::move(f)).second;
  TORCH_CHECK_VALUE(added, "Handler ", name, " already registered");
}

HandlerFunc getHandler(const std::string& name) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().handlers.find(name);
  TORCH_CHECK_VALUE(
      found != registry().handlers.end(), "Failed to find handler ", name, "; there are ",
      c10::Join(", ", registry().names()));
  return found->second;
}

std::vector<std::string> getHandlerNames() {
  const std::lock_guard lock(registry().mutex);
  return registry().names();
}

} // namespace c10d::control_plane
