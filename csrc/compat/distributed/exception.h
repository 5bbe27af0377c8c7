// Errors of sockets and stores under c10d's names.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/Exception.h>

// Throws an error of namespace c10d, or does so unless `cond`.
#define C10D_THROW_ERROR(err_type, ...) \
  throw ::c10d::err_type({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, c10::str(__VA_ARGS__))
#define C10D_CHECK_WITH(error_t, cond, ...)   \
  if (!(cond)) {                              \
    C10D_THROW_ERROR(error_t, ##__VA_ARGS__); \
  }

namespace c10d {

using c10::DistNetworkError;
using c10::DistStoreError;

class TORCH_API SocketError : public DistNetworkError {
  using DistNetworkError::DistNetworkError;
};

class TORCH_API TimeoutError : public DistNetworkError {
  using DistNetworkError::DistNetworkError;
};

} // namespace c10d
