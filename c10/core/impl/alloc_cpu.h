#pragma once

#include <c10/macros/Export.h>

#include <cstddef>

namespace c10 {

/// 64-byte aligned memory from the default CPU allocator; null for zero bytes. Throws OutOfMemoryError.
C10_API void* alloc_cpu(size_t nbytes);
/// Frees what alloc_cpu gave.
C10_API void free_cpu(void* data);

} // namespace c10
