#pragma once

#include <c10/util/SwapValues.h>
#include <c10/macros/Macros.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace c10 {

using DeleterFnPtr = void (*)(void*);

namespace detail {

C10_API void deleteNothing(void*);

/// Data, and the context whose deleter frees it: what the data pointer points into need not be what was allocated.
class UniqueVoidPtr {
 public:
  UniqueVoidPtr() = default;
  explicit UniqueVoidPtr(void* data) : data_(data) {}
  UniqueVoidPtr(void* data, void* ctx, DeleterFnPtr ctx_deleter)
      : data_(data), deleter_(ctx_deleter != nullptr ? ctx_deleter : &deleteNothing), ctx_(ctx) {}
  UniqueVoidPtr(UniqueVoidPtr&& other) noexcept
      : data_(other.data_), deleter_(other.deleter_), ctx_(other.release_context()) {}
  UniqueVoidPtr& operator=(UniqueVoidPtr&& other) noexcept {
    reset_context(other.release_context());
    data_ = other.data_;
    deleter_ = other.deleter_;
    return *this;
  }
  ~UniqueVoidPtr() {
    if (ctx_ != nullptr) {
      deleter_(ctx_);
    }
  }

  void* operator->() const {
    return data_;
  }
  void clear() {
    reset_context(nullptr);
    data_ = nullptr;
  }
  void* get() const {
    return data_;
  }
  void* get_context() const {
    return ctx_;
  }
  void* release_context() {
    return c10::detail::exchange_value<void*>(ctx_, nullptr);
  }
  C10_API std::unique_ptr<void, DeleterFnPtr> move_context();
  /// Changes the deleter if it is `expected_deleter`; tells whether it was.
  [[nodiscard]] bool compare_exchange_deleter(DeleterFnPtr expected_deleter, DeleterFnPtr new_deleter) {
    if (get_deleter() != expected_deleter) {
      return false;
    }
    deleter_ = new_deleter;
    return true;
  }
  template <typename T>
  T* cast_context(DeleterFnPtr expected_deleter) const {
    return get_deleter() == expected_deleter ? static_cast<T*>(get_context()) : nullptr;
  }
  operator bool() const {
    return data_ != nullptr || ctx_ != nullptr;
  }
  DeleterFnPtr get_deleter() const {
    return deleter_;
  }

 private:
  void reset_context(void* ctx) noexcept {
    void* old = c10::detail::exchange_value(ctx_, ctx);
    if (old != nullptr) {
      deleter_(old);
    }
  }

  // No std::unique_ptr, for the reason that OwnedPtr has (c10/util/OwnedPtr.h).
  void* data_ = nullptr;
  DeleterFnPtr deleter_ = &deleteNothing;
  void* ctx_ = nullptr;
};

inline bool operator==(const UniqueVoidPtr& ptr, std::nullptr_t) noexcept {
  return !ptr;
}
inline bool operator==(std::nullptr_t, const UniqueVoidPtr& ptr) noexcept {
  return !ptr;
}
inline bool operator!=(const UniqueVoidPtr& ptr, std::nullptr_t) noexcept {
  return ptr;
}
inline bool operator!=(std::nullptr_t, const UniqueVoidPtr& ptr) noexcept {
  return ptr;
}

} // namespace detail
} // namespace c10
