#pragma once

#include <c10/macros/Macros.h>

#include <optional>
#include <string>

namespace c10::utils {

/// An environment variable that is a switch: 1/true/on/yes and 0/false/off/no. Nothing if unset, or, with a note to
/// stderr, if it is something else.
C10_API std::optional<bool> check_env(const char* name);

/// An environment variable, if set.
C10_API std::optional<std::string> get_env(const char* name) noexcept;
C10_API bool has_env(const char* name) noexcept;
C10_API void set_env(const char* name, const char* value, bool overwrite = true);

} // namespace c10::utils
