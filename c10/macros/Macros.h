#pragma once

#if __cplusplus < 201703L
#error \
    "libtensor needs C++17 or later: -std=c++17, or in CMake set_property(TARGET your_target PROPERTY CXX_STANDARD 17)"
#endif

#include <c10/macros/Export.h>

// Compiler, platform and host/device attributes under libtorch's names.

#if defined(__SANITIZE_ADDRESS__)
#define C10_ASAN_ENABLED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define C10_ASAN_ENABLED 1
#endif
#endif
#ifndef C10_ASAN_ENABLED
#define C10_ASAN_ENABLED 0
#endif

#if defined(__clang__)
#define __ubsan_ignore_float_divide_by_zero__ __attribute__((no_sanitize("float-divide-by-zero")))
#define __ubsan_ignore_undefined__ __attribute__((no_sanitize("undefined")))
#define __ubsan_ignore_signed_int_overflow__ __attribute__((no_sanitize("signed-integer-overflow")))
#define __ubsan_ignore_pointer_overflow__ __attribute__((no_sanitize("pointer-overflow")))
#define __ubsan_ignore_function__ __attribute__((no_sanitize("function")))
#define __ubsan_ignore_float_cast_overflow__ __attribute__((no_sanitize("float-cast-overflow")))
#else
#define __ubsan_ignore_float_divide_by_zero__
#define __ubsan_ignore_undefined__
#define __ubsan_ignore_signed_int_overflow__
#define __ubsan_ignore_pointer_overflow__
#define __ubsan_ignore_function__
#define __ubsan_ignore_float_cast_overflow__
#endif

// Copying is usually a bug for types that own something or register themselves.
#define C10_DISABLE_COPY_AND_ASSIGN(classname) \
  classname(const classname&) = delete;        \
  classname& operator=(const classname&) = delete

#define C10_CONCATENATE_IMPL(s1, s2) s1##s2
#define C10_CONCATENATE(s1, s2) C10_CONCATENATE_IMPL(s1, s2)
#define C10_MACRO_EXPAND(args) args
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)

#define C10_UID __COUNTER__
#define C10_ANONYMOUS_VARIABLE(str) C10_CONCATENATE(str, __COUNTER__)

#define C10_NODISCARD [[nodiscard]]
#define C10_UNUSED __attribute__((__unused__))
#define C10_USED __attribute__((__used__))
#define C10_RESTRICT __restrict
#define C10_NOINLINE __attribute__((noinline))
#define C10_ALWAYS_INLINE __attribute__((__always_inline__)) inline
#define C10_ALWAYS_INLINE_ATTRIBUTE __attribute__((__always_inline__))
#define C10_ATTR_VISIBILITY_HIDDEN __attribute__((__visibility__("hidden")))
#define C10_ERASE C10_ALWAYS_INLINE C10_ATTR_VISIBILITY_HIDDEN
#define C10_FALLTHROUGH [[fallthrough]]

#define C10_LIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 1))
#define C10_UNLIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 0))
// In device code the plain condition is better: the hint hinders predication.
#if defined(__CUDA_ARCH__)
#define C10_UNLIKELY_OR_CONST(e) e
#else
#define C10_UNLIKELY_OR_CONST(e) C10_UNLIKELY(e)
#endif

#define C10_HAS_CPP_ATTRIBUTE(x) __has_cpp_attribute(x)
#if defined(__clang__)
#define C10_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define C10_LIFETIMEBOUND
#endif

#if defined(__clang__)
#define C10_CLANG_DIAGNOSTIC_PUSH() _Pragma("clang diagnostic push")
#define C10_CLANG_DIAGNOSTIC_POP() _Pragma("clang diagnostic pop")
#define C10_CLANG_DIAGNOSTIC_IGNORE(flag) _Pragma(C10_STRINGIZE(clang diagnostic ignored flag))
#define C10_CLANG_HAS_WARNING(flag) __has_warning(flag)
#else
#define C10_CLANG_DIAGNOSTIC_PUSH()
#define C10_CLANG_DIAGNOSTIC_POP()
#define C10_CLANG_DIAGNOSTIC_IGNORE(flag)
#define C10_CLANG_HAS_WARNING(flag) 0
#endif

#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(warning) \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wpragmas\"") C10_DIAGNOSTIC_IGNORED_(warning)
#define C10_DIAGNOSTIC_IGNORED_(warning) _Pragma(C10_STRINGIZE(GCC diagnostic ignored warning))
#define C10_DIAGNOSTIC_POP() _Pragma("GCC diagnostic pop")

#if defined(__CUDACC__) || defined(__HIPCC__)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif
#define HOST_DEVICE C10_HOST_DEVICE

#if defined(__CUDACC__)
// Limits of the architectures we compile for (sm_75 and up).
#define C10_WARP_SIZE 32
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define CUDA_MAX_THREADS_PER_SM_ 1024
#elif defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
#define CUDA_MAX_THREADS_PER_SM_ 1536
#else
#define CUDA_MAX_THREADS_PER_SM_ 2048
#endif
namespace c10::detail {
inline constexpr unsigned int kCudaMaxThreadsPerSM = CUDA_MAX_THREADS_PER_SM_;
} // namespace c10::detail
#undef CUDA_MAX_THREADS_PER_SM_
constexpr unsigned int CUDA_MAX_THREADS_PER_SM = c10::detail::kCudaMaxThreadsPerSM;
constexpr unsigned int CUDA_MAX_THREADS_PER_BLOCK = 1024;
constexpr unsigned int CUDA_THREADS_PER_BLOCK_FALLBACK = 256;
#define C10_MAX_THREADS_PER_BLOCK(val) (((val) <= CUDA_MAX_THREADS_PER_BLOCK) ? (val) : CUDA_THREADS_PER_BLOCK_FALLBACK)
#define C10_MIN_BLOCKS_PER_SM(threads_per_block, blocks_per_sm)        \
  ((((threads_per_block) * (blocks_per_sm) <= CUDA_MAX_THREADS_PER_SM) \
        ? (blocks_per_sm)                                              \
        : ((CUDA_MAX_THREADS_PER_SM + (threads_per_block)-1) / (threads_per_block))))
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(max_threads_per_block) \
  __launch_bounds__((C10_MAX_THREADS_PER_BLOCK((max_threads_per_block))))
#define C10_LAUNCH_BOUNDS_2(max_threads_per_block, min_blocks_per_sm) \
  __launch_bounds__(                                                  \
      (C10_MAX_THREADS_PER_BLOCK((max_threads_per_block))),           \
      (C10_MIN_BLOCKS_PER_SM((max_threads_per_block), (min_blocks_per_sm))))
#else
#define C10_WARP_SIZE 32
#define C10_LAUNCH_BOUNDS_0
#define C10_LAUNCH_BOUNDS_1(max_threads_per_block)
#define C10_LAUNCH_BOUNDS_2(max_threads_per_block, min_blocks_per_sm)
#endif

// A failed assertion inside a kernel stops the kernel and poisons the context; on the host it aborts.
#if defined(__CUDA_ARCH__)
extern "C" __device__ void __assertfail(
    const char* assertion, const char* file, unsigned int line, const char* function, unsigned long charsize);
#define CUDA_KERNEL_ASSERT_FAIL(text) \
  __assertfail(text, __FILE__, static_cast<unsigned int>(__LINE__), static_cast<const char*>(__func__), 1)
#else
extern "C" void __assert_fail(const char* assertion, const char* file, unsigned int line, const char* function) noexcept
    __attribute__((__noreturn__));
#define CUDA_KERNEL_ASSERT_FAIL(text) \
  __assert_fail(text, __FILE__, static_cast<unsigned int>(__LINE__), static_cast<const char*>(__func__))
#endif
#define CUDA_KERNEL_ASSERT(cond)    \
  if (C10_UNLIKELY(!(cond))) {      \
    CUDA_KERNEL_ASSERT_FAIL(#cond); \
  }
#define CUDA_KERNEL_ASSERT_MSG(cond, msg) CUDA_KERNEL_ASSERT((cond) && (msg))
// Says numbers first, as printf does: CUDA_KERNEL_ASSERT_PRINTF(i < n, "index %d of %d", i, n). The message is a
// literal.
#define CUDA_KERNEL_ASSERT_PRINTF(cond, ...)                       \
  if (C10_UNLIKELY(!(cond))) {                                     \
    printf(__FILE__ ":" C10_STRINGIZE(__LINE__) ": " __VA_ARGS__); \
    printf("\n");                                                  \
    CUDA_KERNEL_ASSERT_FAIL(#cond);                                \
  }
#ifdef C10_ENABLE_VERBOSE_ASSERT
#define CUDA_KERNEL_ASSERT_VERBOSE(cond, ...) CUDA_KERNEL_ASSERT_PRINTF(cond, __VA_ARGS__)
#else
#define CUDA_KERNEL_ASSERT_VERBOSE(cond, ...) CUDA_KERNEL_ASSERT(cond)
#endif
#define SYCL_KERNEL_ASSERT(cond) CUDA_KERNEL_ASSERT(cond)

#define C10_DEVICE_HOST_CONSTANT static constexpr
#if defined(__CUDA_ARCH__)
#define C10_HOST_CONSTEXPR
#else
#define C10_HOST_CONSTEXPR constexpr
#endif
#define C10_HOST_CONSTEXPR_EXCEPT_WIN_CUDA constexpr
#define C10_DEFINE_HOST_ONLY_CONSTEXPR constexpr
#define C10_HOST_CONSTEXPR_VAR constexpr
#define CONSTEXPR_EXCEPT_WIN_CUDA constexpr
#define STATIC_CONSTEXPR_STR_EXCEPT_WIN_CUDA(field, val) static constexpr const char field[] = val;
#define C10_TYPENAME_SUPPORTS_CONSTEXPR 1

namespace c10 {}
namespace c10::cuda {}
namespace c10::hip {}
namespace at {
using namespace c10;
}
namespace at::cuda {
using namespace c10::cuda;
}
