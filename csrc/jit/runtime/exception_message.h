// The message of an exception, without the stack of C++ functions.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <ostream>

namespace torch::jit {

/// Prints what an error says. The exception must outlive it.
struct ExceptionMessage {
  explicit ExceptionMessage(const std::exception& error) : error_(error) {}

 private:
  friend std::ostream& operator<<(std::ostream& out, const ExceptionMessage& message) {
    if (const auto* error = dynamic_cast<const c10::Error*>(&message.error_)) {
      return out << error->what_without_backtrace();
    }
    return out << message.error_.what();
  }

  const std::exception& error_;
};

} // namespace torch::jit
