// How much process groups check and log: TORCH_DISTRIBUTED_DEBUG.
#pragma once

#include <c10/macros/Export.h>

namespace c10d {

enum class DebugLevel { Off = 0, Info = 1, Detail = 2 };

TORCH_API void setDebugLevel(DebugLevel level);
/// From the environment variable TORCH_DISTRIBUTED_DEBUG: OFF, INFO or DETAIL.
TORCH_API void setDebugLevelFromEnvironment();
TORCH_API DebugLevel debug_level() noexcept;

} // namespace c10d
