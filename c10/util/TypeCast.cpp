#include <c10/util/TypeCast.h>

#include <c10/util/Exception.h>

namespace c10 {

void report_overflow(const char* name) {
  AT_ERROR("value cannot be converted to type ", name, " without overflow");
}

}  // namespace c10
