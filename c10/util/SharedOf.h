// A shared pointer for private members of public headers.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace c10 {

/// Shares an object, as std::shared_ptr does. Each class that a std::shared_ptr is instantiated for costs every program
/// that includes the header 0.4 MB and 3 ms to compile; this costs nothing until it is used. `T` need not be complete.
template <class T>
class SharedOf final {
 public:
  SharedOf() noexcept = default;
  /* implicit */ SharedOf(std::nullptr_t) noexcept {}
  template <class From>
  /* implicit */ SharedOf(std::shared_ptr<From> object) noexcept
      : object_(std::const_pointer_cast<std::remove_const_t<From>>(std::move(object))) {}

  T* get() const noexcept {
    return static_cast<T*>(object_.get());
  }
  T& operator*() const noexcept {
    return *get();
  }
  T* operator->() const noexcept {
    return get();
  }
  explicit operator bool() const noexcept {
    return object_.get() != nullptr;
  }
  bool operator==(std::nullptr_t) const noexcept {
    return object_.get() == nullptr;
  }
  bool operator!=(std::nullptr_t) const noexcept {
    return object_.get() != nullptr;
  }

  /// The same object held by the standard's pointer.
  template <class To = T>
  std::shared_ptr<To> shared() const noexcept {
    return std::shared_ptr<To>(object_, static_cast<To*>(get()));
  }
  /// For a std::weak_ptr<void>.
  const std::shared_ptr<void>& untyped() const noexcept {
    return object_;
  }

 private:
  std::shared_ptr<void> object_;
};

} // namespace c10
