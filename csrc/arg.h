// TORCH_ARG: a field of an options class with its getter and setter.
#pragma once

#include <utility>

/// Declares a field `name_` of type T, a setter `name(value)` that returns the object, so that calls chain, and a getter
/// `name()`. What stands behind the macro is the field's initial value: `TORCH_ARG(bool, bias) = true;`.
#define TORCH_ARG(T, name)                                    \
 public:                                                      \
  inline auto name(const T& new_##name)->decltype(*this) {    \
    this->name##_ = new_##name;                               \
    return *this;                                             \
  }                                                           \
  inline auto name(T&& new_##name)->decltype(*this) {         \
    this->name##_ = std::move(new_##name);                    \
    return *this;                                             \
  }                                                           \
  inline const T& name() const noexcept { return name##_; }   \
  inline T& name() noexcept { return name##_; }               \
                                                              \
 private:                                                     \
  T name##_
