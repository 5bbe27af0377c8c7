#pragma once

#include <string>
#include <system_error>

namespace c10::utils {

/// The text of an errno. Any thread may ask.
inline std::string str_error(int errnum) {
  return std::generic_category().message(errnum);
}

} // namespace c10::utils
