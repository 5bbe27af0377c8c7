// Python's global interpreter lock, as far as code without Python needs to know of it: a hook tells whether the thread
// holds it, and code that may wait long refuses to while it does.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

namespace c10::impl {

/// What an embedding of Python provides.
struct C10_API PythonGILHooks {
  virtual ~PythonGILHooks() = default;
  /// Whether the calling thread holds the lock.
  virtual bool check_python_gil() const = 0;
};

/// Sets the hooks, which stay the caller's, or takes them away (nullptr). Throws c10::Error if there are hooks already,
/// unless the environment variable TORCH_DISABLE_DEADLOCK_DETECTION is set: then all calls do nothing.
C10_API void SetPythonGILHooks(PythonGILHooks* factory);

/// Whether the calling thread holds Python's lock; false without hooks.
C10_API bool check_python_gil();

/// Sets hooks while it lives.
struct C10_API PythonGILHooksRegisterer {
  explicit PythonGILHooksRegisterer(PythonGILHooks* factory) {
    SetPythonGILHooks(factory);
  }
  ~PythonGILHooksRegisterer() {
    SetPythonGILHooks(nullptr);
  }
  C10_DISABLE_COPY_AND_ASSIGN(PythonGILHooksRegisterer);
};

} // namespace c10::impl

/// Throws if the thread holds Python's lock; for places that may wait for other threads.
#define TORCH_ASSERT_NO_GIL_WITHOUT_PYTHON_DEP()                                                                      \
  TORCH_INTERNAL_ASSERT(                                                                                              \
      !::c10::impl::check_python_gil(),                                                                               \
      "Holding GIL before a blocking operation!  The thread that waits must release Python's lock first, or threads " \
      "that need it never finish.")
