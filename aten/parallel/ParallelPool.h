// The threads behind parallel loops. Only aten/parallel/Parallel.cpp uses it.
#pragma once

#include <cstdint>

namespace at::internal {

/// The most chunks that the pool counts.
inline constexpr int kMostChunks = (1 << 16) - 1;

/// A loop over [begin, end) in `chunks` equal parts; the last ones may be empty.
struct ParallelLoop {
  int chunks;
  std::int64_t begin, end;
  void (*body)(void* context, int chunk, std::int64_t begin, std::int64_t end);
  void* context;

  void run(int chunk) const;
};

/// Runs the chunks, 1 to kMostChunks, on this thread and on up to `chunks` - 1 others: fewer where the system gives no
/// more threads, and on this alone while another thread's loop has those. Returns when all have run. `limit`: threads
/// that may be inside loops at a time. The first exception of a body is thrown here.
void run_on_pool(const ParallelLoop& loop, int limit);

} // namespace at::internal
