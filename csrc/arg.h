// TORCH_ARG: one named argument of an options class.
#pragma once

#include <utility>

/// `TORCH_ARG(double, eps) = 1e-5;` in a struct declares a private member `eps_` with that default, a setter `eps(value)`
/// that returns the object, so that settings chain, and a getter `eps()`. What follows it in the struct is private.
#define TORCH_ARG(T, name)                                    \
 public:                                                      \
  auto name(T new_##name) -> decltype(*this) {                \
    this->name##_ = std::move(new_##name);                    \
    return *this;                                             \
  }                                                           \
  const T& name() const noexcept { return this->name##_; }    \
  T& name() noexcept { return this->name##_; }                \
                                                              \
 private:                                                     \
  T name##_
