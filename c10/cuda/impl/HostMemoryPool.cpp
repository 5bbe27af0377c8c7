#include <c10/cuda/impl/HostMemoryPool.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace c10::cuda::impl {

size_t HostMemoryPool::size_class(size_t bytes) {
  constexpr size_t kMinSize = 512;
  if (bytes <= kMinSize) {
    return kMinSize;
  }
  const size_t step = std::bit_floor(bytes - 1) / 8;
  // No class that large: the driver will say that there is no such memory.
  return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

void* HostMemoryPool::allocate(size_t bytes) {
  const size_t size = size_class(bytes);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    poll_events();
    const auto found = free_.find(size);
    if (found != free_.end() && !found->second.empty()) {
      const char* address = found->second.back();
      blocks_[address].size = size;
      found->second.pop_back();
      bytes_in_use_ += size;
      return const_cast<char*>(address);
    }
  }
  // Pinning is slow: other threads go on meanwhile.
  auto* address = static_cast<char*>(driver_.allocate(size));
  const std::lock_guard<std::mutex> lock(mutex_);
  blocks_[address].size = size;
  bytes_in_use_ += size;
  bytes_held_ += size;
  return address;
}

HostMemoryPool::Blocks::iterator HostMemoryPool::find(const void* pointer) {
  const auto* address = static_cast<const char*>(pointer);
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) {
    return blocks_.end();
  }
  --block;
  return address < block->first + block->second.size ? block : blocks_.end();
}

bool HostMemoryPool::release(void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = find(address);
  if (found == blocks_.end() || found->first != address || found->second.released) {
    return false;
  }
  found->second.released = true;
  settle(found);
  return true;
}

bool HostMemoryPool::record_stream(const void* pointer, DeviceStream stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = find(pointer);
  if (found == blocks_.end()) {
    return false;
  }
  if (const CaptureId_t capture = driver_.capture_of(stream); capture != 0) {
    found->second.captures.push_back(capture);
    return true;
  }
  std::vector<DeviceStream>& streams = found->second.streams;
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) {
    streams.push_back(stream);
  }
  return true;
}

void HostMemoryPool::release_capture(CaptureId_t id, std::optional<DeviceStream> last_replay) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const auto current = block++;
    if (std::erase(current->second.captures, id) == 0) {
      continue;
    }
    if (last_replay) {
      current->second.streams.push_back(*last_replay);
    }
    if (current->second.released) {
      settle(current);
    }
  }
}

bool HostMemoryPool::owns(const void* pointer) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return const_cast<HostMemoryPool*>(this)->find(pointer) != blocks_.end();
}

void HostMemoryPool::empty_cache() {
  const std::lock_guard<std::mutex> lock(mutex_);
  poll_events();
  for (const auto& [size, addresses] : free_) {
    for (const char* address : addresses) {
      driver_.release(const_cast<char*>(address));
      bytes_held_ -= size;
    }
  }
  free_.clear();
}

std::pair<size_t, size_t> HostMemoryPool::totals() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {bytes_in_use_, bytes_held_};
}

void HostMemoryPool::settle(Blocks::iterator found) {
  auto& [address, block] = *found;
  const auto captures = [&](DeviceStream stream) { return driver_.capture_of(stream) != 0; };
  if (std::any_of(block.streams.begin(), block.streams.end(), captures)) {
    postponed_.push_back(address);
    return;
  }
  for (const DeviceStream stream : block.streams) {
    if (void* event = driver_.record(stream)) {
      events_[stream].emplace_back(event, address);
      ++block.events;
    }
  }
  block.streams.clear();
  if (block.events == 0 && block.captures.empty()) {
    bytes_in_use_ -= block.size;
    free_[block.size].push_back(address);
    blocks_.erase(found);
  }
}

void HostMemoryPool::poll_events() {
  for (const char* address : std::exchange(postponed_, {})) {
    if (const auto block = blocks_.find(address); block != blocks_.end() && block->second.released) {
      settle(block);
    }
  }
  for (auto stream = events_.begin(); stream != events_.end();) {
    auto& queue = stream->second;
    while (!queue.empty() && driver_.done(queue.front().first)) {
      const auto [event, address] = queue.front();
      queue.pop_front();
      driver_.recycle(event);
      const auto block = blocks_.find(address);
      --block->second.events;
      if (block->second.streams.empty()) {
        settle(block);
      }
    }
    stream = queue.empty() ? events_.erase(stream) : std::next(stream);
  }
}

} // namespace c10::cuda::impl
