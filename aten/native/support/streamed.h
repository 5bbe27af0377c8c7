// Writing results that are larger than caches.
//
// Note [Streamed results]
// To store into a cache line a processor first reads it, so that a result costs its bytes twice. Of a result that no
// cache can hold until it is read again, whole lines are stored past the caches instead (non-temporal stores), for
// their bytes once. Such stores are weakly ordered: a thread that streams ends with a fence before it says that its
// part is done.
#pragma once

#include <c10/macros/Macros.h>

#include <algorithm>
#include <cstdint>

namespace at::native {

/// Results of so many bytes or more are streamed: several times the second-level cache, and more than a fair share of
/// the third.
inline constexpr std::int64_t kStreamedBytes = std::int64_t{32} << 20;

/// While it lives, a thread stores past the caches; its end is the fence.
class TORCH_API ResultStream {
 public:
  explicit ResultStream(bool used = true) : used_(used) {}
  ResultStream(const ResultStream&) = delete;
  ResultStream& operator=(const ResultStream&) = delete;
  ~ResultStream();

  /// As memcpy, for blocks that follow each other.
  static void write(void* to, const void* from, std::int64_t bytes);

  /// Prefetches what will be read after these bytes: memory gives it while they are computed and stored, which
  /// processors that see lines stored past the caches do not ask for early enough by themselves (measured).
  static void prefetch_ahead(const void* from, std::int64_t bytes) {
    const char* ahead = static_cast<const char*>(from) + kAhead;
    for (std::int64_t at = 0; at < bytes; at += kLine) {
      __builtin_prefetch(ahead + at);
    }
  }

  /// Streams n elements of `size` bytes that compute(buffer, first, count) gives block by block. `largest` is the size
  /// of an element of the widest operand: longer blocks than half a kilobyte of it leave the processor nothing to read
  /// meanwhile.
  template <class F>
  static void write_computed(void* to, std::int64_t n, std::int64_t size, std::int64_t largest, const F& compute) {
    constexpr std::int64_t kBytes = 512;
    alignas(64) char buffer[kBytes];
    const std::int64_t block = kBytes / std::max(size, largest);
    for (std::int64_t first = 0; first < n; first += block) {
      const std::int64_t count = std::min(block, n - first);
      compute(buffer, first, count);
      write(static_cast<char*>(to) + first * size, buffer, count * size);
    }
  }

 private:
  static constexpr std::int64_t kLine = 64, kAhead = 1024;

  bool used_;
};

} // namespace at::native
