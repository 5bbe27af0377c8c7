// What autocast casts to on this thread, by device type.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>
#include <c10/macros/Export.h>

#include <array>

namespace at::autocast {

/// A dtype for each DeviceType; Undefined where autocast does not exist.
using Dtypes = std::array<c10::ScalarType, c10::COMPILE_TIME_MAX_DEVICE_TYPES>;

/// All of this thread's at once, to be carried to another thread.
TORCH_API const Dtypes& get_thread_dtypes();
TORCH_API void set_thread_dtypes(const Dtypes& dtypes);

} // namespace at::autocast
