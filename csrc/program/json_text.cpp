// JSON as text.
#include <csrc/program/json.h>

#include <fmt/format.h>

#include <cmath>

namespace torch::program {

namespace {

void append_quoted(std::string& out, const std::string& text) {
  out += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_double(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    const std::string text = fmt::format("{}", value);
    out += text;
    // Else it would be read as an integer.
    out += text.find_first_of(".e") == std::string::npos ? ".0" : "";
  }
}

void append_json(std::string& out, const Json& json) {
  if (json.is_null()) {
    out += "null";
  } else if (json.is_bool()) {
    out += json.as_bool() ? "true" : "false";
  } else if (json.is_int()) {
    out += std::to_string(json.as_int());
  } else if (json.is_double()) {
    append_double(out, json.as_double());
  } else if (json.is_string()) {
    append_quoted(out, json.as_string());
  } else if (json.is_array()) {
    out += '[';
    for (const Json& item : json.items()) {
      out += out.back() == '[' ? "" : ", ";
      append_json(out, item);
    }
    out += ']';
  } else {
    out += '{';
    for (const auto& [name, value] : json.members()) {
      out += out.back() == '{' ? "" : ", ";
      append_quoted(out, name);
      out += ": ";
      append_json(out, value);
    }
    out += '}';
  }
}

} // namespace

std::string Json::to_string() const {
  std::string out;
  append_json(out, *this);
  return out;
}

} // namespace torch::program
