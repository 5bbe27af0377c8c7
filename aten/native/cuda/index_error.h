// Indices that a kernel found out of range.
//
// Note [Indices out of range on a GPU]
// Indices lie in device memory: to check them before a kernel runs the host would have to wait for them. So kernels
// check them as they go. One that is out of range is neither read nor written through, and its value is left in a word
// that the host can see; the next time the host waits for the device it throws. The process and the device stay usable.
#pragma once

#include <cstdint>

namespace at::native::cuda {

/// In pinned host memory, written by kernels.
struct IndexErrorSlot {
  volatile std::int32_t raised;
  const char* volatile op; // literals of the host's
  const char* volatile argument;
  volatile std::int64_t index, position, size, dim;
};

/// The process's slot, at an address for host and device.
IndexErrorSlot* index_error_slot();

/// What a kernel needs to check the indices in `argument` of an operator; see index_check.cuh.
struct IndexCheck {
  IndexErrorSlot* slot;
  const char *op, *argument;
  std::int64_t size; // of the dimension
  std::int64_t dim = -1; // its number, where it is known
};

} // namespace at::native::cuda
