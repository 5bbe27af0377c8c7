#pragma once

#include <c10/macros/Macros.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Building messages out of values.
//
// Note [Cold messages]
// Checks are everywhere, so a call site must stay small. Each argument becomes a MessagePart, a pointer and the
// function that prints what it points at; the list goes to one function in StringUtil.cpp. Nothing is formatted, and no
// stream class is even complete in this header: `out << value` is looked up where the template is instantiated.

namespace c10 {

namespace detail {

C10_API void print_value(std::ostream& out, bool value);
C10_API void print_value(std::ostream& out, char value);
C10_API void print_value(std::ostream& out, long long value);
C10_API void print_value(std::ostream& out, unsigned long long value);
C10_API void print_value(std::ostream& out, double value);
C10_API void print_value(std::ostream& out, long double value);
C10_API void print_value(std::ostream& out, const char* value);
C10_API void print_value(std::ostream& out, const void* value);
C10_API void print_value(std::ostream& out, std::string_view value);
/// In UTF-8.
C10_API void print_value(std::ostream& out, std::wstring_view value);

template <class T, class = void>
struct HasPrint : std::false_type {};
template <class T>
struct HasPrint<T, std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>> : std::true_type {
};

template <class T>
inline constexpr bool is_byte_char_v =
    std::is_same_v<T, char> || std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>;

template <class T>
void print_any(std::ostream& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    print_value(out, value);
  } else if constexpr (is_byte_char_v<T>) {
    print_value(out, static_cast<char>(value));
  } else if constexpr (std::is_same_v<T, wchar_t>) {
    print_value(out, std::wstring_view(&value, 1));
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    print_value(out, static_cast<long long>(value));
  } else if constexpr (std::is_integral_v<T>) {
    print_value(out, static_cast<unsigned long long>(value));
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    print_value(out, static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, long double>) {
    print_value(out, value);
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
    print_value(out, std::string_view(value));
  } else if constexpr (std::is_convertible_v<const T&, std::wstring_view>) {
    print_value(out, std::wstring_view(value));
  } else if constexpr (std::is_pointer_v<T> && is_byte_char_v<std::remove_cv_t<std::remove_pointer_t<T>>>) {
    print_value(out, reinterpret_cast<const char*>(value));
  } else if constexpr (std::is_enum_v<T> && !HasPrint<T>::value) {
    print_value(out, static_cast<long long>(value));
  } else if constexpr (std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>> && !HasPrint<T>::value) {
    print_value(out, static_cast<const void*>(value));
  } else {
    out << value;
  }
}

// Numbers travel by value: taking the address of a loop counter would keep it out of registers in the good case too.
template <class T>
inline constexpr bool travels_by_value_v =
    (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>)&&sizeof(T) <= sizeof(uint64_t);

template <class T>
void print_part(std::ostream& out, uint64_t payload) {
  if constexpr (travels_by_value_v<T>) {
    T value;
    __builtin_memcpy(&value, &payload, sizeof(T));
    print_any(out, value);
  } else {
    print_any(out, *reinterpret_cast<const T*>(payload));
  }
}

/// One argument of a message; see Note [Cold messages]. Lives only as long as the full expression it appears in.
struct MessagePart {
  uint64_t payload = 0;
  void (*print)(std::ostream&, uint64_t);

  template <class T>
  C10_ALWAYS_INLINE_ATTRIBUTE MessagePart(const T& value) : print(&print_part<T>) {
    if constexpr (travels_by_value_v<T>) {
      __builtin_memcpy(&payload, &value, sizeof(T));
    } else {
      payload = reinterpret_cast<uint64_t>(std::addressof(value));
    }
  }
  C10_ALWAYS_INLINE_ATTRIBUTE MessagePart(const char* text)
      : payload(reinterpret_cast<uint64_t>(text)), print(&print_part<const char*>) {}
};

using MessageParts = std::initializer_list<MessagePart>;

/// Prints all parts one after the other into one string.
C10_API std::string concatenate(MessageParts parts);

/// Kept so that a macro with no message can still name an argument.
struct CompileTimeEmptyString {
  operator const std::string&() const {
    static const std::string empty;
    return empty;
  }
  operator const char*() const {
    return "";
  }
};

} // namespace detail

/// The file name of a path.
C10_API std::string StripBasename(const std::string& full_path);
C10_API std::string ExcludeFileExtension(const std::string& full_path);

/// Concatenates the printed forms of all arguments.
template <class... Args>
std::string str(const Args&... args) {
  return detail::concatenate({detail::MessagePart(args)...});
}
inline std::string str(const std::string& text) {
  return text;
}
inline std::string str(const char* text) {
  return text;
}
inline std::string str() {
  return {};
}

/// Joins the printed elements of a container with a delimiter.
template <class Container>
std::string Join(const std::string& delimiter, const Container& elements) {
  std::string joined;
  bool first = true;
  for (const auto& element : elements) {
    if (!first) {
      joined += delimiter;
    }
    first = false;
    joined += str(element);
  }
  return joined;
}

/// Replaces every occurrence of `from` in `s`; returns how many there were. `from` must not be empty.
C10_API size_t ReplaceAll(std::string& s, std::string_view from, std::string_view to);

/// Whether a byte is printable ASCII.
inline bool isPrint(char s) {
  return s > 0x1f && s < 0x7f;
}

/// Writes `text` with quotes and non-printable bytes escaped, in double quotes.
C10_API void printQuotedString(std::ostream& out, std::string_view text);

/// The place in the source a message comes from.
struct C10_API SourceLocation {
  const char* function;
  const char* file;
  unsigned int line;
};

C10_API std::ostream& operator<<(std::ostream& out, const SourceLocation& location);

} // namespace c10
