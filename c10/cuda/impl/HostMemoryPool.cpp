#include <c10/cuda/impl/HostMemoryPool.h>

#include <algorithm>
#include <bit>
#include <iterator>

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
  if (found == blocks_.end() || found->first != address || found->second.events != 0) {
    return false;
  }
  Block& block = found->second;
  for (const DeviceStream stream : block.streams) {
    if (void* event = driver_.record(stream)) {
      events_[stream].emplace_back(event, found->first);
      ++block.events;
    }
  }
  block.streams.clear();
  if (block.events == 0) {
    make_free(found->first, block);
  }
  return true;
}

bool HostMemoryPool::record_stream(const void* pointer, DeviceStream stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = find(pointer);
  if (found == blocks_.end()) {
    return false;
  }
  std::vector<DeviceStream>& streams = found->second.streams;
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) {
    streams.push_back(stream);
  }
  return true;
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

/// `block` is the entry of `address`, which goes.
void HostMemoryPool::make_free(const char* address, const Block& block) {
  bytes_in_use_ -= block.size;
  free_[block.size].push_back(address);
  blocks_.erase(address);
}

void HostMemoryPool::poll_events() {
  for (auto stream = events_.begin(); stream != events_.end();) {
    auto& queue = stream->second;
    while (!queue.empty() && driver_.done(queue.front().first)) {
      const auto [event, address] = queue.front();
      queue.pop_front();
      driver_.recycle(event);
      Block& block = blocks_.at(address);
      if (--block.events == 0) {
        make_free(address, block);
      }
    }
    stream = queue.empty() ? events_.erase(stream) : std::next(stream);
  }
}

} // namespace c10::cuda::impl
