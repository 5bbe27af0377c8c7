// The caching allocator of pinned host memory, free of CUDA.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/cuda/impl/StreamEvents.h>

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace c10::cuda::impl {

// Note [Pinned memory]
// A device copies from and to pinned memory by itself, so a block may not be used again before the copies are done:
// they are recorded on it, and when it is released an event is recorded on each of their streams. Pinning takes the
// driver long; blocks are kept for later requests of the same size class (eight to a doubling) until empty_cache. A
// copy that is captured into a graph uses the block at each replay: the block stays until the graph is gone. An event
// on a stream that captures says nothing of other work, so that of a block released meanwhile is recorded when the
// capture is over.

class HostMemoryDriver : public StreamEvents {
 public:
  /// Throws if there is no memory.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* address) noexcept = 0;
  /// The capture that the stream takes part in; 0: none.
  virtual CaptureId_t capture_of(DeviceStream /*stream*/) noexcept {
    return 0;
  }
};

class HostMemoryPool {
 public:
  explicit HostMemoryPool(HostMemoryDriver& driver) : driver_(driver) {}
  HostMemoryPool(const HostMemoryPool&) = delete;
  HostMemoryPool& operator=(const HostMemoryPool&) = delete;

  void* allocate(size_t bytes);
  /// False if the pool did not give `address`.
  bool release(void* address);
  /// The stream uses the block that `pointer` lies in. False if it lies in none.
  bool record_stream(const void* pointer, DeviceStream stream);
  /// The graph of a capture is gone; where it was replayed, the last replay was on that stream.
  void release_capture(CaptureId_t id, std::optional<DeviceStream> last_replay);
  bool owns(const void* pointer) const;
  /// Gives unused blocks back to the system.
  void empty_cache();

  /// Bytes (in use or waiting for streams, held in all).
  std::pair<size_t, size_t> totals() const;
  /// The size of the block for a request.
  static size_t size_class(size_t bytes);

 private:
  struct Block {
    size_t size = 0;
    int events = 0;
    bool released = false;
    std::vector<DeviceStream> streams; // without events yet
    std::vector<CaptureId_t> captures;
  };
  using Blocks = std::map<const char*, Block>;

  Blocks::iterator find(const void* pointer);
  /// A block that is released: records its events if that is possible now, and makes it free if nothing needs it.
  void settle(Blocks::iterator block);
  void poll_events();

  HostMemoryDriver& driver_;
  mutable std::mutex mutex_;
  Blocks blocks_; // in use or waiting, by address
  std::map<size_t, std::vector<const char*>> free_; // by size
  std::map<DeviceStream, std::deque<std::pair<void*, const char*>>> events_;
  std::vector<const char*> postponed_; // released while a stream of theirs captured
  size_t bytes_in_use_ = 0;
  size_t bytes_held_ = 0;
};

} // namespace c10::cuda::impl
