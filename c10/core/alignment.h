#pragma once

#include <cstddef>

namespace c10 {

/// Alignment of CPU data in bytes.
constexpr size_t gAlignment = 64;
/// Size of a memory page that can be relied on.
constexpr size_t gPagesize = 4096;

} // namespace c10
