// Exceptions that refuse a call.
#pragma once

#include <exception>
#include <string>

namespace test {

/// Whether that is what operators throw: a c10::Error, or the std::runtime_error of Scalar::to for a number beyond its
/// type.
bool is_refusal(const std::exception& error);
/// Its text, without the backtrace of a c10::Error.
std::string refusal_text(const std::exception& error);

} // namespace test
