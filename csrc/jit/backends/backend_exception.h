// Errors of backends that tell at which node of the graph they arose.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

/// An error with numbers of nodes, the innermost first, as generate_debug_handles gave them to the preprocess function.
class TORCH_API BackendRuntimeException : public Error {
 public:
  BackendRuntimeException(SourceLocation loc, std::string msg, int64_t debug_handle)
      : Error(loc, std::move(msg)), debug_handles_{debug_handle} {}
  /// Of the call that the error came through.
  void pushDebugHandle(int64_t debug_handle) {
    debug_handles_.push_back(debug_handle);
  }
  const std::vector<int64_t>& getDebugHandles() const {
    return debug_handles_;
  }

 private:
  std::vector<int64_t> debug_handles_;
};

} // namespace c10

#define TORCH_DELEGATED_BACKEND_THROW(cond, msg, debug_handle)                                                      \
  if (!(cond)) {                                                                                                    \
    throw ::c10::BackendRuntimeException({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, msg, debug_handle); \
  }

#define TORCH_DELEGATED_BACKEND_RETHROW(e, debug_handle) \
  do {                                                   \
    e.pushDebugHandle(debug_handle);                     \
    throw;                                               \
  } while (false)

#define DEBUG_HANDLE_UNKNOWN -1
