#pragma once

#include <cstddef>
#include <cstdint>

namespace torch::utils {

/// The cyclic redundancy check of Castagnoli (RFC 3720).
uint32_t crc32c(const void* data, size_t size);

} // namespace torch::utils
