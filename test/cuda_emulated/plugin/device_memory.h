// The memory of the emulated device. With TENSOR_EMULATOR_GUARD, which is slow, the host may touch it only while something of the device runs: the sources of the emulator,
// the runtime and the libraries are compiled with -finstrument-functions, and their functions open it as they are entered.
// Elsewhere a pointer to it leads to a segmentation fault, as a real one does.
#pragma once

#include <cstddef>

namespace emulated {

/// Null where there is none.
void* take_device_memory(std::size_t size);
void give_device_memory_back(void* memory);

} // namespace emulated
