// Exceptions as Python would name them, against the recorded ones.
#pragma once

#include <exception>
#include <string>

namespace conformance {

/// "IndexError: first line of the message"
std::string describe_exception(const std::exception& e);

/// Empty when `e` is of the wanted type (or, as in Python, of a class derived from it) and its first line begins with
/// `message` or matches `regex` (when there is one); else the difference. `any_text` lets every text pass.
std::string compare_exception(
    const std::exception& e,
    const std::string& type,
    const std::string& message,
    const std::string& regex,
    bool any_text);

} // namespace conformance
