// Cyclic redundancy checks of 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torch::utils {

/// The check of ZIP entries (reflected polynomial 0xEDB88320, ISO 3309) of `size` bytes, continued from `crc`; 0 starts
/// a new one.
uint32_t crc32(const void* data, size_t size, uint32_t crc = 0);

/// The check of Castagnoli (reflected polynomial 0x82F63B78, RFC 3720), which TensorBoard's files use.
uint32_t crc32c(const void* data, size_t size);

} // namespace torch::utils
