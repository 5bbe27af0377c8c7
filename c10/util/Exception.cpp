#include <c10/util/Exception.h>

#include <c10/util/env.h>

#include <atomic>
#include <iostream>

namespace c10 {

namespace {

bool show_stack_traces() {
  static const bool wanted = utils::check_env("TORCH_SHOW_CPP_STACKTRACES").value_or(false);
  return wanted;
}

constexpr size_t kErrorFrames = 48;

} // namespace

Error::Error(SourceLocation source_location, std::string msg)
    : msg_(std::move(msg)),
      backtrace_(std::make_shared<const Backtrace>(get_lazy_backtrace(/*frames_to_skip=*/1, kErrorFrames))),
      location_(str("Exception raised from ", source_location, " (most recent call first):")),
      caller_(nullptr) {
  refresh_what();
}

Error::Error(
    const char* file,
    uint32_t line,
    const char* condition,
    const std::string& msg,
    const std::string& backtrace,
    const void* caller)
    : Error(
          str("[enforce fail at ", StripBasename(file), ":", line, "] ", condition, ". ", msg),
          std::make_shared<PrecomputedLazyValue<std::string>>(backtrace),
          caller) {}

Error::Error(std::string msg, Backtrace backtrace, const void* caller) : msg_(std::move(msg)), caller_(caller) {
  if (backtrace != nullptr) {
    backtrace_ = std::make_shared<const Backtrace>(std::move(backtrace));
  }
  refresh_what();
}

Error::Error(std::string msg) : msg_(std::move(msg)), caller_(nullptr) {
  refresh_what();
}

const Backtrace& Error::backtrace() const {
  static const Backtrace none;
  return backtrace_ ? *backtrace_ : none;
}

void Error::add_context(std::string new_msg) {
  context_.push_back(std::move(new_msg));
  refresh_what();
}

void Error::refresh_what() {
  what_.reset();
  what_without_backtrace_ = compute_what(/*include_backtrace=*/false);
}

std::string Error::compute_what(bool include_backtrace) const {
  std::string text = msg_;
  if (context_.size() == 1) {
    // A single line of context reads best beside the message.
    text += " (" + context_[0] + ")";
  } else {
    for (const std::string& line : context_) {
      text += "\n  " + line;
    }
  }
  if (include_backtrace) {
    if (!location_.empty()) {
      text += "\n" + location_;
    }
    if (backtrace_ != nullptr && (location_.empty() || show_stack_traces())) {
      text += "\n" + (*backtrace_)->get();
    }
  }
  return text;
}

const char* Error::what() const noexcept {
  try {
    return what_.ensure([this] { return compute_what(/*include_backtrace=*/true); }).c_str();
  } catch (...) {
    // Out of memory while describing an error: the short form is already there.
    return what_without_backtrace_.c_str();
  }
}

std::string GetExceptionString(const std::exception& e) {
  if (const auto* own = dynamic_cast<const Error*>(&e)) {
    return own->what_without_backtrace();
  }
  return e.what();
}

Warning::Warning(warning_variant_t type, const SourceLocation& source_location, std::string msg, bool verbatim)
    : kind_(static_cast<uint8_t>(type.index())),
      source_location_(source_location),
      msg_(std::move(msg)),
      verbatim_(verbatim) {}

Warning::warning_variant_t Warning::type() const {
  return kind_ == 0 ? warning_variant_t(UserWarning()) : warning_variant_t(DeprecationWarning());
}

void WarningHandler::process(const Warning& warning) {
  const SourceLocation& where = warning.source_location();
  std::cerr << "[W " << StripBasename(where.file) << ':' << where.line << "] Warning: " << warning.msg()
            << " (function " << where.function << ")\n";
}

namespace WarningUtils {

namespace {

WarningHandler& default_handler() {
  // Never destroyed: static destructors may warn.
  static auto& handler = *new WarningHandler;
  return handler;
}

thread_local WarningHandler* thread_handler = nullptr;
std::atomic<bool> warn_always{false};

} // namespace

void set_warning_handler(WarningHandler* handler) noexcept(true) {
  thread_handler = handler;
}

WarningHandler* get_warning_handler() noexcept(true) {
  return thread_handler != nullptr ? thread_handler : &default_handler();
}

void set_warnAlways(bool setting) noexcept(true) {
  warn_always.store(setting, std::memory_order_relaxed);
}

bool get_warnAlways() noexcept(true) {
  return warn_always.load(std::memory_order_relaxed);
}

} // namespace WarningUtils

void warn(const Warning& warning) {
  WarningUtils::get_warning_handler()->process(warning);
}

namespace detail {

std::string check_message(const char* condition, MessageParts message) {
  if (message.size() != 0) {
    return concatenate(message);
  }
  return str("Expected ", condition, " to be true, but got false.");
}

void check_failed(const char* function, const char* file, uint32_t line, const char* condition, MessageParts message) {
  throw Error(SourceLocation{function, file, line}, check_message(condition, message));
}

void internal_assert_failed(
    const char* function, const char* file, uint32_t line, const char* condition, MessageParts message) {
  throw Error(
      SourceLocation{function, file, line},
      str(condition, " INTERNAL ASSERT FAILED at \"", file, "\":", line, ", please report a bug. ",
          concatenate(message)));
}

template C10_API void check_failed_with<IndexError>(const char*, const char*, uint32_t, const char*, MessageParts);
template C10_API void check_failed_with<ValueError>(const char*, const char*, uint32_t, const char*, MessageParts);
template C10_API void check_failed_with<TypeError>(const char*, const char*, uint32_t, const char*, MessageParts);
template C10_API void check_failed_with<NotImplementedError>(
    const char*, const char*, uint32_t, const char*, MessageParts);
template C10_API void check_failed_with<LinAlgError>(const char*, const char*, uint32_t, const char*, MessageParts);

void torchCheckFail(const char* func, const char* file, uint32_t line, const std::string& msg) {
  throw Error(SourceLocation{func, file, line}, msg);
}

void torchCheckFail(const char* func, const char* file, uint32_t line, const char* msg) {
  throw Error(SourceLocation{func, file, line}, msg);
}

void torchInternalAssertFail(
    const char* func, const char* file, uint32_t line, const char* cond_msg, const std::string& user_msg) {
  throw Error(SourceLocation{func, file, line}, str(cond_msg, user_msg));
}

void torchInternalAssertFail(
    const char* func, const char* file, uint32_t line, const char* cond_msg, const char* user_msg) {
  throw Error(SourceLocation{func, file, line}, str(cond_msg, user_msg));
}

void warn_at(
    Warning::warning_variant_t type, const char* function, const char* file, uint32_t line, MessageParts message) {
  warn(Warning(type, SourceLocation{function, file, line}, concatenate(message), /*verbatim=*/false));
}

void compare_failed(
    const char* function,
    const char* file,
    uint32_t line,
    const char* expression,
    MessagePart left,
    MessagePart right) {
  throw Error(
      SourceLocation{function, file, line},
      concatenate({"Check failed: ", expression, " (", left, " vs. ", right, "). "}));
}

} // namespace detail
} // namespace c10
