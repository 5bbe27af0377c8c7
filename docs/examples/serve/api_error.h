// What a client is told when a request fails, in OpenAI's form.
#pragma once

#include <csrc/program/json.h>

#include <stdexcept>
#include <string>

using torch::program::Json;

/// A text as JSON: a literal would become a boolean.
inline Json text(std::string value) {
  return Json(std::move(value));
}

/// Thrown where a request cannot be served.
class ApiError : public std::runtime_error {
 public:
  ApiError(int status, std::string code, const std::string& message, std::string param = "")
      : std::runtime_error(message), status_(status), code_(std::move(code)), param_(std::move(param)) {}

  /// Of HTTP.
  int status() const {
    return status_;
  }
  /// {"error": {"message", "type", "param", "code"}}
  std::string to_json() const;

 private:
  int status_;
  std::string code_, param_; // empty: null
};

/// A member of the request that has a value it must not have.
ApiError bad_value(const std::string& param, const std::string& message);
