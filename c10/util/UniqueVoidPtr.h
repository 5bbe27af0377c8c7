#pragma once

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
  UniqueVoidPtr() : data_(nullptr), ctx_(nullptr, &deleteNothing) {}
  explicit UniqueVoidPtr(void* data) : data_(data), ctx_(nullptr, &deleteNothing) {}
  UniqueVoidPtr(void* data, void* ctx, DeleterFnPtr ctx_deleter)
      : data_(data), ctx_(ctx, ctx_deleter != nullptr ? ctx_deleter : &deleteNothing) {}

  void* operator->() const { return data_; }
  void clear() {
    ctx_ = nullptr;
    data_ = nullptr;
  }
  void* get() const { return data_; }
  void* get_context() const { return ctx_.get(); }
  void* release_context() { return ctx_.release(); }
  std::unique_ptr<void, DeleterFnPtr>&& move_context() { return std::move(ctx_); }
  /// Changes the deleter if it is `expected_deleter`; tells whether it was.
  [[nodiscard]] bool compare_exchange_deleter(DeleterFnPtr expected_deleter, DeleterFnPtr new_deleter) {
    if (get_deleter() != expected_deleter) {
      return false;
    }
    ctx_ = std::unique_ptr<void, DeleterFnPtr>(ctx_.release(), new_deleter);
    return true;
  }
  template <typename T>
  T* cast_context(DeleterFnPtr expected_deleter) const {
    return get_deleter() == expected_deleter ? static_cast<T*>(get_context()) : nullptr;
  }
  operator bool() const { return data_ != nullptr || ctx_ != nullptr; }
  DeleterFnPtr get_deleter() const { return ctx_.get_deleter(); }

 private:
  void* data_;
  std::unique_ptr<void, DeleterFnPtr> ctx_;
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

}  // namespace detail
}  // namespace c10
