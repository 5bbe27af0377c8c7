#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Export.h>

#include <atomic>

namespace c10::impl {

/// What c10::get_default_dtype() gives, for callers for whom a call would be too much.
extern C10_HIDDEN std::atomic<ScalarType> default_dtype;

} // namespace c10::impl
