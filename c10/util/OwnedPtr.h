// An owning pointer for members of public headers.
#pragma once

#include <c10/util/SwapValues.h>
#include <cstddef>
#include <memory>
#include <utility>

namespace c10 {

/// Owns an object, as std::unique_ptr does. Each class that a std::unique_ptr is instantiated for costs every program
/// that includes the header some 10 ms to compile (a std::tuple and its checks); this costs nothing. `T` must be
/// complete where one is destroyed, assigned or reset.
template <class T>
class OwnedPtr final {
 public:
  OwnedPtr() noexcept = default;
  /* implicit */ OwnedPtr(std::nullptr_t) noexcept {}
  explicit OwnedPtr(T* object) noexcept : object_(object) {}
  template <class From>
  /* implicit */ OwnedPtr(std::unique_ptr<From>&& other) noexcept : object_(other.release()) {}
  OwnedPtr(OwnedPtr&& other) noexcept : object_(other.release()) {}
  OwnedPtr& operator=(OwnedPtr&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~OwnedPtr() {
    delete object_;
  }

  T* get() const noexcept {
    return object_;
  }
  T& operator*() const noexcept {
    return *object_;
  }
  T* operator->() const noexcept {
    return object_;
  }
  explicit operator bool() const noexcept {
    return object_ != nullptr;
  }
  bool operator==(std::nullptr_t) const noexcept {
    return object_ == nullptr;
  }
  bool operator!=(std::nullptr_t) const noexcept {
    return object_ != nullptr;
  }

  /// Gives the object away.
  T* release() noexcept {
    return detail::exchange_value<T*>(object_, nullptr);
  }
  /// Takes an object over; deletes the one it had.
  void reset(T* object = nullptr) noexcept {
    delete detail::exchange_value(object_, object);
  }

 private:
  T* object_ = nullptr;
};

/// `std::unique_ptr<T>` as the result of a function of a template: paid for only where the template is instantiated for
/// some `Argument`, while the plain name would be where the template is read.
template <class T, class Argument>
struct UniquePtrIn {
  using type = std::unique_ptr<T>;
};

} // namespace c10
