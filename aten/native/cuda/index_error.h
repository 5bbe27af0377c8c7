// Indices that a kernel found out of range.
//
// Note [Indices out of range on a GPU]
// Indices lie in device memory: to check them before a kernel runs the host would have to wait for them. So kernels check
// them as they go. One that is out of range is neither read nor written through, and its value is left in a place that
// the host can see; the next time the host waits for the device it throws. The process and the device stay usable.
#pragma once

#include <cstdint>

namespace at::native::cuda {

/// In pinned host memory, written by kernels.
struct IndexErrorSlot {
  volatile std::int32_t raised;
  const char* volatile op; // a literal of the host's
  volatile std::int64_t index;
  volatile std::int64_t size;
};

/// The process's slot, at an address for host and device.
IndexErrorSlot* index_error_slot();

/// Throws IndexError if a kernel that is done has left one.
void check_index_errors();

/// What a kernel needs to check indices of a dimension of `size` elements; see index_check.cuh.
struct IndexCheck {
  IndexErrorSlot* slot;
  const char* op;
  std::int64_t size;
};

} // namespace at::native::cuda
