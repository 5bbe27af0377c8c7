// The checksum of ZIP entries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torch::serialize {

/// CRC-32 (reflected polynomial 0xEDB88320, ISO 3309) of `size` bytes, continued from `crc`; 0 starts a new one.
uint32_t crc32(const void* data, size_t size, uint32_t crc = 0);

} // namespace torch::serialize
