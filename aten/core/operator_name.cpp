#include <aten/core/operator_name.h>

namespace c10 {

std::optional<std::string_view> OperatorName::getNamespace() const {
  const size_t pos = name.find("::");
  if (pos == std::string::npos) {
    return std::nullopt;
  }
  return std::string_view(name.data(), pos);
}

bool OperatorName::setNamespaceIfNotSet(const char* ns) {
  if (getNamespace()) {
    return false;
  }
  name = std::string(ns) + "::" + name;
  return true;
}

} // namespace c10
