#pragma once

#include <c10/util/SharedOf.h>
#include <c10/macros/Macros.h>
#include <c10/util/Backtrace.h>
#include <c10/util/StringUtil.h>

#include <cstdint>
#include <exception>
#include <string>
#include <variant>
#include <vector>

namespace c10 {

/// The error every check of this library throws.
///
/// what() starts with the message, then the context lines, then where it was raised; the call stack follows when the
/// environment has TORCH_SHOW_CPP_STACKTRACES=1. Constructing one records return addresses only.
class C10_API Error : public std::exception {
 public:
  Error(SourceLocation source_location, std::string msg);
  /// As a failed internal check of `condition` at file:line.
  Error(
      const char* file,
      uint32_t line,
      const char* condition,
      const std::string& msg,
      const std::string& backtrace,
      const void* caller = nullptr);
  explicit Error(std::string msg);
  explicit Error(std::string msg, Backtrace backtrace, const void* caller = nullptr);

  /// Adds a line about what was going on while the error passed by.
  void add_context(std::string new_msg);

  const std::string& msg() const {
    return msg_;
  }
  const std::vector<std::string>& context() const {
    return context_;
  }
  /// The call stack, named when first read; may be null.
  const Backtrace& backtrace() const;
  /// Whoever raised it, if it told (used to filter by kind); else null.
  const void* caller() const noexcept {
    return caller_;
  }

  const char* what() const noexcept override;
  /// The message and its context alone.
  virtual const char* what_without_backtrace() const noexcept {
    return what_without_backtrace_.c_str();
  }

 private:
  void refresh_what();
  std::string compute_what(bool include_backtrace) const;

  std::string msg_;
  std::vector<std::string> context_;
  SharedOf<const Backtrace> backtrace_; // null: a null Backtrace
  std::string location_;
  mutable OptimisticLazy<std::string> what_;
  std::string what_without_backtrace_;
  const void* caller_;
};

/// An index out of range. Python: IndexError.
class C10_API IndexError : public Error {
  using Error::Error;
};
/// A bad value of a right type. Python: ValueError.
class C10_API ValueError : public Error {
  using Error::Error;
};
/// A bad type. Python: TypeError.
class C10_API TypeError : public Error {
  using Error::Error;
};
/// Not there for this backend, dtype or option. Python: NotImplementedError.
class C10_API NotImplementedError : public Error {
  using Error::Error;
};
class C10_API BufferError : public Error {
  using Error::Error;
};
class C10_API EnforceFiniteError : public Error {
  using Error::Error;
};
class C10_API OnnxfiBackendSystemError : public Error {
  using Error::Error;
};
/// A matrix factorisation that does not exist or did not converge.
class C10_API LinAlgError : public Error {
  using Error::Error;
};
/// An allocator ran out of memory.
class C10_API OutOfMemoryError : public Error {
  using Error::Error;
};
/// Bad text given to a parser.
class C10_API SyntaxError : public Error {
  using Error::Error;
};
/// Errors of process groups.
class C10_API DistError : public Error {
  using Error::Error;
};
class C10_API DistBackendError : public DistError {
  using DistError::DistError;
};
class C10_API DistStoreError : public DistError {
  using DistError::DistError;
};
class C10_API DistNetworkError : public DistError {
  using DistError::DistError;
};
class C10_API DistQueueEmptyError : public DistStoreError {
  using DistStoreError::DistStoreError;
};
/// A failed call of an accelerator's runtime, with its error code.
class C10_API AcceleratorError : public Error {
 public:
  AcceleratorError(SourceLocation location, int32_t code, const std::string& msg)
      : Error(location, msg), error_code_(code) {}
  int32_t get_error_code() const {
    return error_code_;
  }

 private:
  int32_t error_code_;
};

/// The text of an exception: without call stack for our own, what() for the others.
C10_API std::string GetExceptionString(const std::exception& e);

// ---------------------------------------------------------------------------------------------------------------------
// Warnings

/// A warning on its way to the handler.
class C10_API Warning {
 public:
  class C10_API UserWarning {};
  class C10_API DeprecationWarning {};
  using warning_variant_t = std::variant<UserWarning, DeprecationWarning>;

  Warning(warning_variant_t type, const SourceLocation& source_location, std::string msg, bool verbatim);

  warning_variant_t type() const;
  const SourceLocation& source_location() const {
    return source_location_;
  }
  const std::string& msg() const {
    return msg_;
  }
  /// Whether the message is to be shown as it is, without its place.
  bool verbatim() const {
    return verbatim_;
  }

 private:
  uint8_t kind_; // position in warning_variant_t: a member of that type would cost all who include this
  SourceLocation source_location_;
  std::string msg_;
  bool verbatim_;
};

using UserWarning = Warning::UserWarning;
using DeprecationWarning = Warning::DeprecationWarning;

/// Gives a warning to the handler of this thread.
C10_API void warn(const Warning& warning);

/// Receives warnings; the default one prints them to stderr.
class C10_API WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning);
};

namespace WarningUtils {

/// Sets the handler of this thread; null restores the default. The caller keeps it alive.
C10_API void set_warning_handler(WarningHandler* handler) noexcept(true);
C10_API WarningHandler* get_warning_handler() noexcept(true);

/// Whether TORCH_WARN_ONCE warns each time.
C10_API void set_warnAlways(bool setting) noexcept(true);
C10_API bool get_warnAlways() noexcept(true);

/// Sets a handler for the current scope.
class C10_API WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* new_handler) : previous_(get_warning_handler()) {
    set_warning_handler(new_handler);
  }
  ~WarningHandlerGuard() {
    set_warning_handler(previous_);
  }
  C10_DISABLE_COPY_AND_ASSIGN(WarningHandlerGuard);

 private:
  WarningHandler* previous_;
};

/// Sets warnAlways for the current scope.
struct C10_API WarnAlways {
  explicit WarnAlways(bool setting = true) : previous_(get_warnAlways()) {
    set_warnAlways(setting);
  }
  ~WarnAlways() {
    set_warnAlways(previous_);
  }
  C10_DISABLE_COPY_AND_ASSIGN(WarnAlways);

 private:
  bool previous_;
};

} // namespace WarningUtils

// ---------------------------------------------------------------------------------------------------------------------
// What the macros below call; see Note [Cold messages] in StringUtil.h.

namespace detail {

/// The text of a failed check: the message, or a sentence about the condition when there is none.
C10_API std::string check_message(const char* condition, MessageParts message);

/// Throws Error with that text.
[[noreturn]] C10_API __attribute__((cold)) void check_failed(
    const char* function, const char* file, uint32_t line, const char* condition, MessageParts message);

/// Throws the error of a broken invariant.
[[noreturn]] C10_API __attribute__((cold)) void internal_assert_failed(
    const char* function, const char* file, uint32_t line, const char* condition, MessageParts message);

template <class ErrorType>
[[noreturn]] C10_NOINLINE __attribute__((cold)) void check_failed_with(
    const char* function, const char* file, uint32_t line, const char* condition, MessageParts message) {
  throw ErrorType(SourceLocation{function, file, line}, check_message(condition, message));
}

extern template C10_API void check_failed_with<IndexError>(
    const char*, const char*, uint32_t, const char*, MessageParts);
extern template C10_API void check_failed_with<ValueError>(
    const char*, const char*, uint32_t, const char*, MessageParts);
extern template C10_API void check_failed_with<TypeError>(
    const char*, const char*, uint32_t, const char*, MessageParts);
extern template C10_API void check_failed_with<NotImplementedError>(
    const char*, const char*, uint32_t, const char*, MessageParts);
extern template C10_API void check_failed_with<LinAlgError>(
    const char*, const char*, uint32_t, const char*, MessageParts);

[[noreturn]] C10_API void torchCheckFail(const char* func, const char* file, uint32_t line, const std::string& msg);
[[noreturn]] C10_API void torchCheckFail(const char* func, const char* file, uint32_t line, const char* msg);
[[noreturn]] C10_API void torchInternalAssertFail(
    const char* func, const char* file, uint32_t line, const char* cond_msg, const std::string& user_msg);
[[noreturn]] C10_API void torchInternalAssertFail(
    const char* func, const char* file, uint32_t line, const char* cond_msg, const char* user_msg);

C10_API __attribute__((cold)) void warn_at(
    Warning::warning_variant_t type, const char* function, const char* file, uint32_t line, MessageParts message);

/// Throws "Check failed: a op b (1 vs. 2). ".
[[noreturn]] C10_API __attribute__((cold)) void compare_failed(
    const char* function, const char* file, uint32_t line, const char* expression, MessagePart left, MessagePart right);

} // namespace detail
} // namespace c10

// ---------------------------------------------------------------------------------------------------------------------
// Checks. TORCH_CHECK is for what a user may get wrong, TORCH_INTERNAL_ASSERT for what only we can get wrong.
// All further arguments are printed one after the other to make the message. Their list has its type's name: of a bare
// list in a template nvcc makes no valid C++ for the host's compiler.

#define C10_THROW_ERROR(err_type, msg) throw ::c10::err_type({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, msg)

#define TORCH_RETHROW(e, ...)               \
  do {                                      \
    e.add_context(::c10::str(__VA_ARGS__)); \
    throw;                                  \
  } while (false)

#define TORCH_CHECK(cond, ...)                                                                                 \
  if (C10_UNLIKELY_OR_CONST(!(cond))) {                                                                        \
    ::c10::detail::check_failed(                                                                               \
        __func__, __FILE__, static_cast<uint32_t>(__LINE__), #cond, ::c10::detail::MessageParts{__VA_ARGS__}); \
  }

#define TORCH_CHECK_WITH(error_t, cond, ...) TORCH_CHECK_WITH_MSG(error_t, cond, "", __VA_ARGS__)
#define TORCH_CHECK_WITH_MSG(error_t, cond, type, ...)                                                         \
  if (C10_UNLIKELY_OR_CONST(!(cond))) {                                                                        \
    ::c10::detail::check_failed_with<::c10::error_t>(                                                          \
        __func__, __FILE__, static_cast<uint32_t>(__LINE__), #cond, ::c10::detail::MessageParts{__VA_ARGS__}); \
  }

#define TORCH_CHECK_INDEX(cond, ...) TORCH_CHECK_WITH_MSG(IndexError, cond, "INDEX", __VA_ARGS__)
#define TORCH_CHECK_VALUE(cond, ...) TORCH_CHECK_WITH_MSG(ValueError, cond, "VALUE", __VA_ARGS__)
#define TORCH_CHECK_TYPE(cond, ...) TORCH_CHECK_WITH_MSG(TypeError, cond, "TYPE", __VA_ARGS__)
#define TORCH_CHECK_LINALG(cond, ...) TORCH_CHECK_WITH_MSG(LinAlgError, cond, "LINALG", __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(cond, ...) \
  TORCH_CHECK_WITH_MSG(NotImplementedError, cond, "NOT IMPLEMENTED", __VA_ARGS__)
#define TORCH_CHECK_BUFFER(cond, ...) TORCH_CHECK_WITH_MSG(BufferError, cond, "BUFFER", __VA_ARGS__)
#define TORCH_CHECK_ARG(cond, argN, ...) TORCH_CHECK(cond, "invalid argument " #argN ": ", __VA_ARGS__)

#define TORCH_INTERNAL_ASSERT(cond, ...)                                                                       \
  if (C10_UNLIKELY_OR_CONST(!(cond))) {                                                                        \
    ::c10::detail::internal_assert_failed(                                                                     \
        __func__, __FILE__, static_cast<uint32_t>(__LINE__), #cond, ::c10::detail::MessageParts{__VA_ARGS__}); \
  }

#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif

#define C10_CHECK_COMPARE_(left, right, op)                                                                      \
  do {                                                                                                           \
    const auto& c10_left_ = (left);                                                                              \
    const auto& c10_right_ = (right);                                                                            \
    if (C10_UNLIKELY(!(c10_left_ op c10_right_))) {                                                              \
      ::c10::detail::compare_failed(                                                                             \
          __func__, __FILE__, static_cast<uint32_t>(__LINE__), #left " " #op " " #right, c10_left_, c10_right_); \
    }                                                                                                            \
  } while (false)

#define TORCH_CHECK_EQ(val1, val2) C10_CHECK_COMPARE_(val1, val2, ==)
#define TORCH_CHECK_NE(val1, val2) C10_CHECK_COMPARE_(val1, val2, !=)
#define TORCH_CHECK_LE(val1, val2) C10_CHECK_COMPARE_(val1, val2, <=)
#define TORCH_CHECK_LT(val1, val2) C10_CHECK_COMPARE_(val1, val2, <)
#define TORCH_CHECK_GE(val1, val2) C10_CHECK_COMPARE_(val1, val2, >=)
#define TORCH_CHECK_GT(val1, val2) C10_CHECK_COMPARE_(val1, val2, >)
#define TORCH_CHECK_NOTNULL(val)                                                     \
  ([](auto&& c10_value_) -> decltype(auto) {                                         \
    TORCH_CHECK(c10_value_ != nullptr, "Check failed: '" #val "' must not be null"); \
    return std::forward<decltype(c10_value_)>(c10_value_);                           \
  }(val))

#ifdef NDEBUG
#define TORCH_DCHECK_COMPARE_(val1, val2, op) \
  while (false) C10_CHECK_COMPARE_(val1, val2, op)
#else
#define TORCH_DCHECK_COMPARE_(val1, val2, op) C10_CHECK_COMPARE_(val1, val2, op)
#endif
#define TORCH_DCHECK_EQ(val1, val2) TORCH_DCHECK_COMPARE_(val1, val2, ==)
#define TORCH_DCHECK_NE(val1, val2) TORCH_DCHECK_COMPARE_(val1, val2, !=)
#define TORCH_DCHECK_LE(val1, val2) TORCH_DCHECK_COMPARE_(val1, val2, <=)
#define TORCH_DCHECK_LT(val1, val2) TORCH_DCHECK_COMPARE_(val1, val2, <)
#define TORCH_DCHECK_GE(val1, val2) TORCH_DCHECK_COMPARE_(val1, val2, >=)
#define TORCH_DCHECK_GT(val1, val2) TORCH_DCHECK_COMPARE_(val1, val2, >)

#define TORCH_WARN_WITH(warning_t, ...) \
  ::c10::detail::warn_at(               \
      warning_t(), __func__, __FILE__, static_cast<uint32_t>(__LINE__), ::c10::detail::MessageParts{__VA_ARGS__})
#define TORCH_WARN(...) TORCH_WARN_WITH(::c10::UserWarning, __VA_ARGS__)
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN_WITH(::c10::DeprecationWarning, __VA_ARGS__)

#define TORCH_WARN_ONCE_WITH_(warning_t, ...)                \
  do {                                                       \
    if (::c10::WarningUtils::get_warnAlways()) {             \
      TORCH_WARN_WITH(warning_t, __VA_ARGS__);               \
    } else {                                                 \
      [[maybe_unused]] static const bool c10_warned_ = [&] { \
        TORCH_WARN_WITH(warning_t, __VA_ARGS__);             \
        return true;                                         \
      }();                                                   \
    }                                                        \
  } while (false)
#define TORCH_WARN_ONCE(...) TORCH_WARN_ONCE_WITH_(::c10::UserWarning, __VA_ARGS__)
#define TORCH_WARN_DEPRECATION_ONCE(...) TORCH_WARN_ONCE_WITH_(::c10::DeprecationWarning, __VA_ARGS__)

// Older names.
#define AT_ERROR(...)          \
  ::c10::detail::check_failed( \
      __func__, __FILE__, static_cast<uint32_t>(__LINE__), "", ::c10::detail::MessageParts{__VA_ARGS__})
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(cond, ...) TORCH_INTERNAL_ASSERT(cond, __VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define AT_INDEX_ERROR(...)                            \
  ::c10::detail::check_failed_with<::c10::IndexError>( \
      __func__, __FILE__, static_cast<uint32_t>(__LINE__), "", ::c10::detail::MessageParts{__VA_ARGS__})
