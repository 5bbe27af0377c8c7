#include <c10/util/TypeCast.h>

#include <c10/util/StringUtil.h>

#include <stdexcept>

namespace c10 {

void report_overflow(const char* name) {
  // The kind of exception that programs know from libtorch: this one is not a c10::Error.
  throw std::runtime_error(c10::str("value cannot be converted to type ", name, " without overflow"));
}

} // namespace c10
