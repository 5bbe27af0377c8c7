// How a StreamId names a CUDA stream. Free of CUDA, so that it can be tested anywhere.
#pragma once

#include <c10/core/Stream.h>

#include <cstdint>

namespace c10::cuda::impl {

inline constexpr int kStreamsPerPool = 32;
inline constexpr int kStreamPriorities = 4;

/// Zero is the default stream. Odd ids are pool streams: the bits above the lowest hold index and priority. Other even
/// ids are handles of streams made elsewhere, which are pointers and so even.
struct PoolStream {
  /// 0 to 3, for the CUDA priorities 0 to -3.
  int priority = 0;
  /// Within the pool of the priority.
  int index = 0;
};

inline constexpr StreamId kDefaultStreamId = 0;

constexpr bool is_pool_stream(StreamId id) {
  return (id & 1) != 0;
}

constexpr StreamId pool_stream_id(PoolStream stream) {
  return static_cast<StreamId>(stream.index * kStreamPriorities + stream.priority) << 1 | 1;
}

constexpr bool is_valid_pool_stream(StreamId id) {
  return is_pool_stream(id) && id > 0 && (id >> 1) < kStreamsPerPool * kStreamPriorities;
}

constexpr PoolStream pool_stream(StreamId id) {
  const auto number = static_cast<int>(id >> 1);
  return {number % kStreamPriorities, number / kStreamPriorities};
}

/// The handles 0 and 1 (cudaStreamLegacy) both mean the default stream.
inline StreamId external_stream_id(const void* handle) {
  const auto bits = reinterpret_cast<intptr_t>(handle);
  return bits == 1 ? kDefaultStreamId : static_cast<StreamId>(bits);
}

inline void* external_stream(StreamId id) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(id));
}

} // namespace c10::cuda::impl
