// Members of a JSON object with their names in messages.
#pragma once

#include <csrc/program/json.h>
#include <c10/util/Exception.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace torch::llm {

/// Reads members of an object. A member that is missing or null gives the fallback; one of another kind, or outside the
/// range, throws with its name.
class Fields {
 public:
  Fields(const program::Json& object, std::string where) : object_(object), where_(std::move(where)) {
    TORCH_CHECK(object.is_object(), where_, ": expected an object");
  }

  const std::string& where() const {
    return where_;
  }
  const program::Json* find(std::string_view name) const {
    return object_.find(name);
  }
  bool has(std::string_view name) const {
    return find(name) != nullptr;
  }

  /// A size that must be there, in [1, 2^31).
  int64_t size(std::string_view name) const;
  int64_t size(std::string_view name, int64_t fallback) const;
  bool flag(std::string_view name, bool fallback) const;
  /// A finite number.
  double number(std::string_view name, double fallback) const;
  std::string text(std::string_view name, const std::string& fallback) const;

 private:
  const program::Json& object_;
  std::string where_;
};

} // namespace torch::llm
