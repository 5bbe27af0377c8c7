#pragma once

#include <c10/macros/Macros.h>

#include <string>

namespace c10 {

/// Names the calling thread, as debuggers and top show it; cut off after 15 bytes.
C10_API void setThreadName(std::string name);
C10_API std::string getThreadName();

} // namespace c10
