// Requests that a process answers by name, for whatever server a program brings.
#pragma once

#include <c10/macros/Export.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace c10d::control_plane {

class TORCH_API Request {
 public:
  virtual ~Request() = default;
  virtual const std::string& body() const = 0;
  virtual const std::multimap<std::string, std::string>& params() const = 0;
  /// The first value of a parameter, or nothing.
  std::string getParam(const std::string& key) const {
    const auto found = params().find(key);
    return found != params().end() ? found->second : std::string();
  }
};

class TORCH_API Response {
 public:
  virtual ~Response() = default;
  virtual void setContent(std::string&& content, const std::string& content_type) = 0;
  /// As of HTTP; 200 unless it is set.
  virtual void setStatus(int status) = 0;
};

using HandlerFunc = std::function<void(const Request&, Response&)>;

/// Throws if the name is taken. These three may be called from any thread.
///
/// There from the start: "ping"; "fr_trace_json", the flight recorder's entries, where the parameters
/// includecollectives and onlyactive are "true" or "false"; "fr_dump_file", which has them written to the file of this
/// rank; "c10d_health_check", the backends that HealthCheck knows as aborted.
TORCH_API void registerHandler(const std::string& name, HandlerFunc f);
/// Throws, with the names there are, if there is none.
TORCH_API HandlerFunc getHandler(const std::string& name);
TORCH_API std::vector<std::string> getHandlerNames();

/// Registers a handler as a static object.
class TORCH_API RegisterHandler {
 public:
  RegisterHandler(const std::string& name, HandlerFunc f) {
    registerHandler(name, std::move(f));
  }
  RegisterHandler(const RegisterHandler&) = delete;
  RegisterHandler& operator=(const RegisterHandler&) = delete;
};

} // namespace c10d::control_plane
