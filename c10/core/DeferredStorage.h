// Storages whose values are computed when something asks for them.
#pragma once

#include <c10/macros/Export.h>

namespace c10 {

struct Storage;
struct StorageImpl;

/// Computes the values of a storage whose memory may not be accessed yet; false where it knows nothing of it.
using ComputeStorage = bool (*)(const StorageImpl& storage);

/// What is asked when such a storage is written to or read through a pointer. One for the process.
C10_API void set_compute_storage(ComputeStorage compute);

/// Has the values computed where they are not; for code that reads a tensor by const_data_ptr(), which cannot wait.
C10_API void compute_storage(const Storage& storage);

} // namespace c10
