#pragma once

#include <atomic>

namespace c10::impl {

/// Number of live MemoryReportingInfoBase objects: allocators look here before they ask for the thread's own.
extern std::atomic<int> memory_reporters;

/// The CPU allocator begins to count anew.
void forget_reported_sizes();

} // namespace c10::impl
