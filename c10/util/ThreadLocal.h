#pragma once

#include <utility>

namespace c10 {

/// A thread's own object of a type, made on first use; Accessor is the type the macros below make.
template <typename Accessor>
class ThreadLocal {
 public:
  ThreadLocal() = default;
  explicit ThreadLocal(Accessor accessor) : accessor_(std::move(accessor)) {}

  auto& get() { return *accessor_(); }
  auto* operator->() { return accessor_(); }
  auto& operator*() { return *accessor_(); }

 private:
  Accessor accessor_;
};

}  // namespace c10

// Declare in a source or function; the objects are thread_local.
#define C10_DEFINE_TLS_static(Type, Name) \
  static ::c10::ThreadLocal Name([] {     \
    static thread_local Type object;      \
    return &object;                       \
  })
