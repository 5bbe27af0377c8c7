// Memory for machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torch::fused::cpu {

/// Copies code to memory in which it may run; the address is a multiple of 64. It stays as long as the process. Gives
/// nullptr where the system refuses such memory, or when there is as much code as may be.
///
/// The memory is mapped twice, once to write to and once to run: nothing is both.
const void* place_code(const std::vector<uint8_t>& code);

} // namespace torch::fused::cpu
