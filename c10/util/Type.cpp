#include <c10/util/Type.h>

#include <cxxabi.h>
#include <cstdlib>
#include <memory>

namespace c10 {

std::string demangle(const char* name) {
  int status = -1;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? readable.get() : name;
}

} // namespace c10
