#pragma once

namespace c10 {

/// A thread's own object of a type, made on first use. The macros below make one.
template <typename Type>
class ThreadLocal {
 public:
  /// Gives the object of the calling thread.
  using Accessor = Type* (*)();

  explicit ThreadLocal(Accessor accessor) : accessor_(accessor) {}
  ThreadLocal(const ThreadLocal&) = delete;
  ThreadLocal& operator=(const ThreadLocal&) = delete;

  Type& get() {
    return *accessor_();
  }
  Type& operator*() {
    return *accessor_();
  }
  Type* operator->() {
    return accessor_();
  }

 private:
  Accessor accessor_;
};

} // namespace c10

#define C10_THREAD_LOCAL_OBJECT(Type) \
  [] {                                \
    static thread_local Type object;  \
    return &object;                   \
  }

/// Defines `Name` in a source or function.
#define C10_DEFINE_TLS_static(Type, Name) static ::c10::ThreadLocal<Type> Name(C10_THREAD_LOCAL_OBJECT(Type))

/// Declares `Name` as a static member of `Class`, and defines it in a source.
#define C10_DECLARE_TLS_class_static(Class, Type, Name) static ::c10::ThreadLocal<Type> Name
#define C10_DEFINE_TLS_class_static(Class, Type, Name) \
  ::c10::ThreadLocal<Type> Class::Name(C10_THREAD_LOCAL_OBJECT(Type))
