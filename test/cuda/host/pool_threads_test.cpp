// The memory pools under many threads, on memory of the host: what one thread holds no other is given. Built with
// ThreadSanitizer this shows races, too.
#include <c10/cuda/impl/DeviceMemoryPool.h>
#include <c10/cuda/impl/HostMemoryPool.h>
#include <c10/util/Exception.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

using c10::cuda::impl::DeviceMemoryPool;
using c10::cuda::impl::DeviceStream;
using c10::cuda::impl::HostMemoryPool;

namespace {

/// Memory of the host; an event has passed when it is asked for the third time. The pools call most of it under their
/// locks.
template <class Driver>
class HostAsDevice : public Driver {
 public:
  void* record(DeviceStream /*stream*/) noexcept override {
    return new std::atomic<int>(0);
  }
  bool done(void* event) noexcept override {
    return static_cast<std::atomic<int>*>(event)->fetch_add(1) >= 2;
  }
  void wait(void* /*event*/) noexcept override {}
  void recycle(void* event) noexcept override {
    delete static_cast<std::atomic<int>*>(event);
  }
  void* allocate(size_t bytes) override {
    return std::malloc(bytes);
  }
};

struct Device final : HostAsDevice<c10::cuda::impl::DeviceMemoryDriver> {
  void release(void* address, size_t /*bytes*/) noexcept override {
    std::free(address);
  }
  std::pair<size_t, size_t> memory_info() override {
    return {size_t{1} << 32, size_t{1} << 33};
  }
};

struct Host final : HostAsDevice<c10::cuda::impl::HostMemoryDriver> {
  void release(void* address) noexcept override {
    std::free(address);
  }
};

constexpr int kThreads = 4, kRounds = 1500;

/// Each thread holds some blocks, full of its number, and looks whether they stay so.
template <class Pool, class Allocate>
int count_disturbed(Pool& pool, Allocate allocate) {
  std::atomic<int> disturbed{0};
  std::vector<std::thread> threads;
  for (int number = 1; number <= kThreads; ++number) {
    threads.emplace_back([&, number] {
      struct Block {
        unsigned char* address;
        size_t size;
      };
      std::minstd_rand random(static_cast<unsigned>(number));
      std::vector<Block> blocks;
      const auto release = [&](size_t place) {
        const Block block = blocks[place];
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(place));
        disturbed += block.address[0] != number || block.address[block.size - 1] != number;
        if (random() % 3 == 0) {
          pool.record_stream(block.address, {0, &random});
        }
        disturbed += !pool.release(block.address);
      };
      for (int i = 0; i < kRounds; ++i) {
        const size_t size = 1 + random() % (random() % 16 == 0 ? 3000000 : 5000);
        auto* const address = static_cast<unsigned char*>(allocate(size, number));
        address[0] = address[size - 1] = static_cast<unsigned char>(number);
        blocks.push_back({address, size});
        if (blocks.size() > 20) {
          release(random() % blocks.size());
        }
        if (random() % 200 == 0) {
          pool.empty_cache();
        }
      }
      while (!blocks.empty()) {
        release(0);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return disturbed;
}

} // namespace

TEST_CASE("threads share the pool of a device", "[cuda][allocator][threads]") {
  Device device;
  DeviceMemoryPool pool(0, device);
  int streams[kThreads + 1];
  std::atomic<bool> over{false};
  std::atomic<int> negative{0};
  std::thread reader([&] {
    while (!over) {
      negative += pool.stats().allocated_bytes[0].current < 0;
      static_cast<void>(pool.snapshot());
    }
  });
  // Some of them share a stream.
  CHECK(count_disturbed(pool, [&](size_t size, int number) { return pool.allocate(size, &streams[number / 2]); }) == 0);
  over = true;
  reader.join();
  CHECK(negative == 0);
  pool.empty_cache();
  CHECK(pool.totals() == std::pair<size_t, size_t>(0, 0));
}

TEST_CASE("threads share pinned memory", "[cuda][pinned][threads]") {
  Host host;
  HostMemoryPool pool(host);
  CHECK(count_disturbed(pool, [&](size_t size, int) { return pool.allocate(size); }) == 0);
  for (int i = 0; i < 10 * kThreads * kRounds && pool.totals().second != 0; ++i) {
    pool.empty_cache(); // the oldest event of each stream is asked
  }
  CHECK(pool.totals() == std::pair<size_t, size_t>(0, 0));
}
