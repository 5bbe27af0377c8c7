#include "test/support/refusals.h"

#include <c10/util/Exception.h>

#include <string_view>

namespace test {

bool is_refusal(const std::exception& error) {
  return dynamic_cast<const c10::Error*>(&error) != nullptr ||
      std::string_view(error.what()).substr(0, 34) == "value cannot be converted to type ";
}

std::string refusal_text(const std::exception& error) {
  const auto* const ours = dynamic_cast<const c10::Error*>(&error);
  return ours != nullptr ? ours->what_without_backtrace() : error.what();
}

} // namespace test
