// The picture of a caching allocator as PyTorch's memory viewer (pytorch.org/memory_viz) reads it. Free of CUDA.
#pragma once

#include <c10/core/AllocatorConfig.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <string>
#include <vector>

namespace torch::cuda::detail {

struct SnapshotContent {
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> segments;
  std::vector<std::vector<c10::CachingDeviceAllocator::TraceEntry>> device_traces;
  c10::CachingAllocator::AllocatorSettings settings;
  std::string settings_text;
};

/// For files named *.json.
std::string snapshot_as_json(const SnapshotContent& snapshot);
/// For files named *.pickle.
std::string snapshot_as_pickle(const SnapshotContent& snapshot);

/// The calls that led to an allocation, to be given to an allocator as its context recorder.
std::shared_ptr<c10::GatheredContext> gather_stack();

} // namespace torch::cuda::detail
