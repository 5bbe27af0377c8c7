// The memory of the emulated devices, and pinned memory of the host. With TENSOR_EMULATOR_GUARD, which is slow, the
// host may touch that of devices only while something of a device runs: the sources of the emulator, the runtime and
// the libraries are compiled with -finstrument-functions, and their functions open it as they are entered. Elsewhere a
// pointer to it leads to a segmentation fault, as a real one does. So does memory of both that was given back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace emulated {

/// Of each device.
inline constexpr std::size_t kDeviceBytes = std::size_t{8} << 30;

/// Full of 0xee; null where there is none, or the device has no room.
void* take_memory(std::size_t size, cudaMemoryType type, int device);
void give_memory_back(void* memory);
/// Of the device, pinned, or what the runtime does not know.
cudaMemoryType type_of_memory(const void* pointer, int* device);
std::size_t device_bytes_taken(int device);

/// Addresses without memory; take_pages() puts memory of the device behind some. Null or false where there is no room.
void* reserve_addresses(std::size_t size);
void release_addresses(void* addresses, std::size_t size);
bool take_pages(void* address, std::size_t size, int device);
void give_pages_back(void* address, std::size_t size);

} // namespace emulated
