// Settings of the caching allocators of devices.
#pragma once

#include <c10/macros/Export.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace c10::CachingAllocator {

/// What PYTORCH_ALLOC_CONF (or, if that is not set, PYTORCH_CUDA_ALLOC_CONF) sets: "key:value,key:value".
struct C10_API AllocatorSettings {
  static constexpr size_t kRoundingIntervals = 16; // [1 MiB, 2 MiB) and so on; the last has no end

  /// backend: "native".
  std::string backend = "native";
  /// expandable_segments: memory of a stream lies in one range of addresses that grows.
  bool expandable_segments = true;
  /// max_split_size_mb: larger blocks of segments that do not grow are not cut.
  size_t max_split_size = SIZE_MAX;
  /// max_non_split_rounding_mb: how much larger than a request such a block may be.
  size_t max_non_split_rounding_size = size_t{20} << 20;
  /// large_segment_size_mb: segments for requests from 1 MiB to 10 MiB.
  size_t large_segment_size = size_t{20} << 20;
  /// garbage_collection_threshold: beyond this part of the allowed memory, unused blocks are given back, oldest first.
  double garbage_collection_threshold = 0;
  /// per_process_memory_fraction: the part of the device's memory that may be reserved.
  double memory_fraction = 1;
  /// roundup_power2_divisions: sizes are rounded up to one of so many steps from a power of two to the next; 0 or 1: to
  /// 512 bytes. One number for all, or [256:1,512:2,>:8] by size in MiB.
  std::array<size_t, kRoundingIntervals> roundup_power2_divisions{};

  size_t divisions_for(size_t bytes) const;
};

/// Throws a ValueError that names the key and what it may be.
C10_API AllocatorSettings parse_allocator_settings(const std::string& text);

/// The settings in use.
class C10_API AcceleratorAllocatorConfig {
 public:
  static AllocatorSettings settings();
  static std::string last_allocator_settings();

  static size_t large_segment_size() {
    return settings().large_segment_size;
  }
  static size_t max_split_size() {
    return settings().max_split_size;
  }
  static size_t max_non_split_rounding_size() {
    return settings().max_non_split_rounding_size;
  }
  static size_t roundup_power2_divisions(size_t size) {
    return settings().divisions_for(size);
  }
  static std::vector<size_t> roundup_power2_divisions();
  static double garbage_collection_threshold() {
    return settings().garbage_collection_threshold;
  }
  static bool use_expandable_segments() {
    return settings().expandable_segments;
  }
};

/// Replaces the settings; blocks that exist keep theirs. The backend can only be named before it is used.
C10_API void setAllocatorSettings(const std::string& env);
C10_API std::string getAllocatorSettings();
/// Called with new settings from now on.
C10_API void on_allocator_settings(std::function<void(const AllocatorSettings&)> listener);

} // namespace c10::CachingAllocator
