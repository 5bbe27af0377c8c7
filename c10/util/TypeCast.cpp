#include <c10/util/TypeCast.h>

#include <c10/util/Exception.h>

#include <string_view>

namespace c10 {

void report_overflow(const char* name) {
  // The reduced floats are known by their names in at::.
  constexpr std::string_view kPrefix = "c10::";
  std::string_view text(name);
  const bool aliased = text == "c10::Half" || text == "c10::BFloat16";
  AT_ERROR("value cannot be converted to type ", aliased ? "at::" : "", aliased ? text.substr(kPrefix.size()) : text,
      " without overflow");
}

}  // namespace c10
