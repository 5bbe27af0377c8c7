// A member of a public header whose type is not compiled before it is used.
#pragma once

#include <c10/util/SwapValues.h>
#include <type_traits>
#include <utility>

namespace c10 {

/// A `T` outside of the object, as C++26's std::indirect: copies copy the value. Until something is written it is `T()`
/// and takes no memory. One that was moved from holds some value.
///
/// A std::optional, std::vector or std::tuple that is instantiated for one class more costs every program that includes
/// the header 3 to 10 ms to compile. As `Indirect<T>` it costs that only where it is used. Inline functions of a class
/// that is no template use it: then the header has `extern template class Indirect<T>;` and one source instantiates it.
template <class T>
class Indirect final {
 public:
  Indirect() noexcept = default;
  template <class V, std::enable_if_t<!std::is_same_v<std::decay_t<V>, Indirect>, int> = 0>
  explicit Indirect(V&& value) : value_(new T(std::forward<V>(value))) {}
  template <class V, std::enable_if_t<!std::is_same_v<std::decay_t<V>, Indirect>, int> = 0>
  Indirect& operator=(V&& value) {
    get() = std::forward<V>(value);
    return *this;
  }
  Indirect(const Indirect& other);
  Indirect(Indirect&& other) noexcept : value_(detail::exchange_value<T*>(other.value_, nullptr)) {}
  Indirect& operator=(const Indirect& other);
  Indirect& operator=(Indirect&& other) noexcept {
    detail::swap_values(value_, other.value_);
    return *this;
  }
  ~Indirect();

  // Named functions, since to look up an operator the compiler looks into `T`.
  const T& get() const noexcept;
  T& get();
  void set(const T& value);

  const T& operator*() const noexcept {
    return get();
  }
  T& operator*() {
    return get();
  }
  const T* operator->() const {
    return &get();
  }
  T* operator->() {
    return &get();
  }

 private:
  T* value_ = nullptr;
};

template <class T>
Indirect<T>::Indirect(const Indirect& other) : value_(other.value_ ? new T(*other.value_) : nullptr) {}

template <class T>
Indirect<T>& Indirect<T>::operator=(const Indirect& other) {
  return *this = Indirect(other);
}

template <class T>
Indirect<T>::~Indirect() {
  delete value_;
}

template <class T>
const T& Indirect<T>::get() const noexcept {
  static const T unwritten{};
  const T* const value = __atomic_load_n(&value_, __ATOMIC_ACQUIRE);
  return value ? *value : unwritten;
}

// Threads that only read may come here at once, as when they share a module whose forward reads its options. (Not by
// std::atomic, which would be compiled for each `T`.)
template <class T>
T& Indirect<T>::get() {
  T* value = __atomic_load_n(&value_, __ATOMIC_ACQUIRE);
  if (value) {
    return *value;
  }
  T* const made = new T();
  if (__atomic_compare_exchange_n(&value_, &value, made, /*weak=*/false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return *made;
  }
  delete made;
  return *value;
}

template <class T>
void Indirect<T>::set(const T& value) {
  get() = value;
}

} // namespace c10
