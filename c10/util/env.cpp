#include <c10/util/env.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <shared_mutex>

#include <strings.h>

namespace c10::utils {

namespace {

// The C library's environment may not be read while it is written.
std::shared_mutex& env_mutex() {
  static auto& mutex = *new std::shared_mutex;
  return mutex;
}

} // namespace

std::optional<std::string> get_env(const char* name) noexcept {
  const std::shared_lock lock(env_mutex());
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool has_env(const char* name) noexcept {
  return get_env(name).has_value();
}

void set_env(const char* name, const char* value, bool overwrite) {
  const std::unique_lock lock(env_mutex());
  ::setenv(name, value, overwrite ? 1 : 0);
}

std::optional<bool> check_env(const char* name) {
  const std::optional<std::string> value = get_env(name);
  if (!value) {
    return std::nullopt;
  }
  for (const char* yes : {"1", "true", "on", "yes"}) {
    if (strcasecmp(value->c_str(), yes) == 0) {
      return true;
    }
  }
  for (const char* no : {"", "0", "false", "off", "no"}) {
    if (strcasecmp(value->c_str(), no) == 0) {
      return false;
    }
  }
  // A bad switch must not stop a program that works without it.
  std::cerr << "Ignoring environment variable " << name << "=" << *value << ": 0 or 1 expected\n";
  return std::nullopt;
}

} // namespace c10::utils
