// Where the memory of CUDA devices is, and how it came there.
#pragma once

#include <c10/macros/Export.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace torch::cuda {

/// Records what the caching allocator does, up to `max_entries` events of each device. `enabled`: "all" events, only
/// the "state" (blocks in use), or nothing: off. `context`: the calls that led there, for "all", "alloc"ations, the
/// "state", or not at all. `stacks` is for Python's; here frames are those of C++.
TORCH_CUDA_CPP_API void _record_memory_history(
    std::optional<std::string> enabled = "all",
    std::optional<std::string> context = "all",
    const std::string& stacks = "all",
    size_t max_entries = SIZE_MAX,
    bool clearHistory = false,
    bool compileContext = false,
    bool globalRecordAllocations = false,
    const std::vector<std::string>& skip_actions = {});

/// Segments, blocks and history for PyTorch's memory viewer (pytorch.org/memory_viz), to be written to a file *.pickle
/// or
/// *.json.
TORCH_CUDA_CPP_API std::string _memory_snapshot_pickled();
TORCH_CUDA_CPP_API std::string memory_snapshot_json();

} // namespace torch::cuda
