#include "api_error.h"

namespace {

Json text_or_null(const std::string& value) {
  return value.empty() ? Json() : text(value);
}

// Messages quote what clients send, which may be no UTF-8.
std::string ascii(std::string message) {
  for (char& byte : message) {
    byte = static_cast<unsigned char>(byte) < 0x80 ? byte : '?';
  }
  return message;
}

} // namespace

std::string ApiError::to_json() const {
  const char* const type = status_ == 429 ? "rate_limit_error"
      : status_ >= 500                    ? "server_error"
                                          : "invalid_request_error";
  return Json(Json::Object{
                  {"error",
                   Json(Json::Object{
                       {"message", text(ascii(what()))},
                       {"type", text(type)},
                       {"param", text_or_null(param_)},
                       {"code", text_or_null(code_)}})}})
      .to_string();
}

ApiError bad_value(const std::string& param, const std::string& message) {
  return ApiError(400, "invalid_value", "'" + param + "' " + message, param);
}
