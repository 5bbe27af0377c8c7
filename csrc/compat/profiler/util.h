// SOFT_ASSERT: a check of the profiler's own state, which warns where a program shall not fail for being observed.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <cstdint>
#include <optional>
#include <string>

namespace torch::profiler::impl {

/// Whether a failed SOFT_ASSERT throws: as setSoftAssertRaises said, otherwise in builds without NDEBUG only.
TORCH_API bool softAssertRaises();
/// std::nullopt goes back to what the build says.
TORCH_API void setSoftAssertRaises(std::optional<bool> value);
/// Logs a failed SOFT_ASSERT as an error.
TORCH_API void logSoftAssert(
    const char* func, const char* file, uint32_t line, const char* cond, const std::string& args);

} // namespace torch::profiler::impl

/// Whether `cond` holds. If not it logs that, and throws c10::Error (softAssertRaises) or warns once.
#define SOFT_ASSERT(cond, ...)                                                                            \
  [&, soft_assert_function = __func__]() -> bool {                                                        \
    if (C10_LIKELY(cond)) {                                                                               \
      return true;                                                                                        \
    }                                                                                                     \
    ::torch::profiler::impl::logSoftAssert(                                                               \
        soft_assert_function, __FILE__, static_cast<uint32_t>(__LINE__), #cond, ::c10::str(__VA_ARGS__)); \
    if (::torch::profiler::impl::softAssertRaises()) {                                                    \
      TORCH_INTERNAL_ASSERT(cond, __VA_ARGS__);                                                           \
    }                                                                                                     \
    TORCH_WARN_ONCE(__VA_ARGS__);                                                                         \
    return false;                                                                                         \
  }()
