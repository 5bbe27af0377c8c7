#include "test/fuzz/attempt.h"

#include <cxxabi.h>

#include <cstdlib>

namespace fuzz {

std::string demangled(const std::type_info& type) {
  int status = 0;
  char* name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string text = name != nullptr ? name : type.name();
  std::free(name);
  return text;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n')).substr(0, 300);
}

Attempt attempt(const c10::OperatorHandle& op, Stack args) {
  Attempt end = attempt([&] { op.callBoxed(args); });
  if (end.succeeded) {
    end.results = std::move(args);
  }
  return end;
}

} // namespace fuzz
