#pragma once

#include <c10/core/SymNodeImpl.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace c10 {

/// A known int or bool in the form of a node. Operations with a symbolic operand are left to that operand, with the
/// constant wrapped by it; two constants never meet here, as SymInt and SymBool compute with the plain values.
template <typename T>
class C10_API ConstantSymNodeImpl : public SymNodeImpl {
  static_assert(std::is_same_v<T, int64_t> || std::is_same_v<T, bool>, "constants are int64_t or bool");

 public:
  explicit ConstantSymNodeImpl(T value) : value_(value) {}

  bool is_int() override {
    return std::is_same_v<T, int64_t>;
  }
  bool is_bool() override {
    return std::is_same_v<T, bool>;
  }
  bool is_float() override {
    return false;
  }
  SymNode wrap_int(int64_t value) override {
    return c10::make_intrusive<ConstantSymNodeImpl<int64_t>>(value);
  }
  SymNode wrap_bool(bool value) override {
    return c10::make_intrusive<ConstantSymNodeImpl<bool>>(value);
  }
  SymNode clone() override {
    return c10::make_intrusive<ConstantSymNodeImpl<T>>(value_);
  }
  int64_t guard_int(const char*, int64_t) override {
    return int_();
  }
  bool guard_bool(const char*, int64_t) override {
    return bool_();
  }
  int64_t int_() override {
    return static_cast<int64_t>(value_);
  }
  bool bool_() override {
    return static_cast<bool>(value_);
  }
  bool has_hint() override {
    return true;
  }
  std::string str() override {
    if constexpr (std::is_same_v<T, bool>) {
      return value_ ? "true" : "false";
    } else {
      return std::to_string(value_);
    }
  }
  std::optional<int64_t> constant_int() override {
    return is_int() ? std::optional<int64_t>(static_cast<int64_t>(value_)) : std::nullopt;
  }
  std::optional<bool> constant_bool() override {
    return is_bool() ? std::optional<bool>(static_cast<bool>(value_)) : std::nullopt;
  }
  std::optional<int64_t> maybe_as_int() override {
    return constant_int();
  }
  bool is_constant() override {
    return true;
  }
  bool is_symbolic() override {
    return false;
  }

 private:
  T value_;
};

} // namespace c10
