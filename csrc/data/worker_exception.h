#pragma once

#include <c10/macros/Export.h>

#include <exception>
#include <string>

namespace torch::data {

/// An exception of a loader's worker thread, thrown again where the batch is asked for. what() quotes its message.
struct TORCH_API WorkerException : public std::exception {
  explicit WorkerException(std::exception_ptr original);
  ~WorkerException() override;

  const char* what() const noexcept override {
    return message.c_str();
  }

  /// For std::rethrow_exception.
  std::exception_ptr original_exception;
  std::string message;
};

} // namespace torch::data
