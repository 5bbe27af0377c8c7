#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Lazy.h>

#include <cstddef>
#include <memory>
#include <string>

namespace c10 {

using Backtrace = std::shared_ptr<const LazyValue<std::string>>;

/// The calls that lead here, one frame a line, innermost first.
C10_API std::string get_backtrace(
    size_t frames_to_skip = 0, size_t maximum_number_of_frames = 64, bool skip_python_frames = true);

/// Records the return addresses now and names them when first read.
C10_API Backtrace
get_lazy_backtrace(size_t frames_to_skip = 0, size_t maximum_number_of_frames = 64, bool skip_python_frames = true);

} // namespace c10
