#include "errors.h"

#include <c10/util/Exception.h>

#include <regex>

#include "test/support/refusals.h"

namespace conformance {

namespace {

std::string python_name(const std::exception& e) {
  if (dynamic_cast<const c10::IndexError*>(&e) != nullptr) {
    return "IndexError";
  }
  if (dynamic_cast<const c10::ValueError*>(&e) != nullptr) {
    return "ValueError";
  }
  if (dynamic_cast<const c10::TypeError*>(&e) != nullptr) {
    return "TypeError";
  }
  if (dynamic_cast<const c10::NotImplementedError*>(&e) != nullptr) {
    return "NotImplementedError";
  }
  if (dynamic_cast<const c10::LinAlgError*>(&e) != nullptr) {
    return "_LinAlgError";
  }
  if (dynamic_cast<const c10::OutOfMemoryError*>(&e) != nullptr) {
    return "OutOfMemoryError";
  }
  if (test::is_refusal(e)) {
    return "RuntimeError";
  }
  return "a std::exception outside c10::Error";
}

std::string first_line(const std::exception& e) {
  const std::string text = test::refusal_text(e);
  return text.substr(0, text.find('\n'));
}

bool is_a(const std::string& got, const std::string& wanted) {
  if (got == wanted) {
    return true;
  }
  return wanted == "RuntimeError" &&
      (got == "NotImplementedError" || got == "_LinAlgError" || got == "OutOfMemoryError");
}

bool matches(const std::string& text, const std::string& pattern) {
  try {
    return std::regex_search(text, std::regex(pattern));
  } catch (const std::regex_error&) { // Python syntax that ECMAScript lacks
    return text.find(pattern) != std::string::npos;
  }
}

/// The text as Python shows it, which calls types of tensors by older names: "torch.FloatTensor" for "CPUFloatType".
std::string as_in_python(std::string text) {
  static const std::regex type("CPU(Byte|Char|Double|Float|Half|Int|Long|Short)Type");
  return std::regex_replace(text, type, "torch.$1Tensor");
}

} // namespace

std::string describe_exception(const std::exception& e) {
  return python_name(e) + ": " + first_line(e);
}

std::string compare_exception(
    const std::exception& e,
    const std::string& type,
    const std::string& message,
    const std::string& regex,
    bool any_text) {
  if (!is_a(python_name(e), type)) {
    return "raised " + describe_exception(e) + "; want " + type + ": " + message;
  }
  const std::string text = first_line(e);
  const auto begins = [&message](const std::string& got) { return got.compare(0, message.size(), message) == 0; };
  if (any_text || begins(text) || begins(as_in_python(text))) {
    return {};
  }
  if (!regex.empty() && matches(text, regex)) {
    return {};
  }
  return "raised " + describe_exception(e) + "; want text " + message;
}

} // namespace conformance
