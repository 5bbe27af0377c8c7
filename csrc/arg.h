// TORCH_ARG: one named argument of an options class.
#pragma once

#include <c10/util/Indirect.h>

#include <utility>

/// `TORCH_ARG(double, eps) = 1e-5;` in a struct declares a private member `eps_` with that default, a setter
/// `eps(value)` that returns the object, so that settings chain, and a getter `eps()`. What follows it in the struct is
/// private.
#define TORCH_ARG(T, name)                        \
 public:                                          \
  auto name(T new_##name)->decltype(*this) {      \
    this->name##_ = static_cast<T&&>(new_##name); \
    return *this;                                 \
  }                                               \
  const T& name() const noexcept {                \
    return this->name##_;                         \
  }                                               \
  T& name() noexcept {                            \
    return this->name##_;                         \
  }                                               \
                                                  \
 private:                                         \
  T name##_

/// The same for a type that a program shall not compile unless it uses the argument, see c10::Indirect. Without a
/// default: it is `T()` unless the constructor initializes `name_`.
#define TORCH_INDIRECT_ARG(T, name)                 \
 public:                                            \
  auto name(const T& new_##name)->decltype(*this) { \
    this->name##_.set(new_##name);                  \
    return *this;                                   \
  }                                                 \
  const T& name() const noexcept {                  \
    return this->name##_.get();                     \
  }                                                 \
  T& name() {                                       \
    return this->name##_.get();                     \
  }                                                 \
                                                    \
 private:                                           \
  c10::Indirect<T> name##_
