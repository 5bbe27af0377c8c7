#include "mock_device.h"

#include <map>
#include <random>
#include <stdexcept>
#include <vector>

using namespace test;
using c10::cuda::impl::HostMemoryPool;

namespace {

class MockHost final : public WithMockStreams<c10::cuda::impl::HostMemoryDriver> {
 public:
  void* allocate(size_t bytes) override {
    void* address = memory.allocate(bytes);
    if (address == nullptr) {
      throw std::runtime_error("no memory");
    }
    return address;
  }
  void release(void* address) noexcept override {
    memory.release(address);
  }

  c10::CaptureId_t capture_of(DeviceStream stream) noexcept override {
    return stream == capturing ? capture : 0;
  }

  AddressSpace memory{size_t{1} << 32};
  DeviceStream capturing{-1, nullptr};
  c10::CaptureId_t capture = 0;
};

const DeviceStream kStream{0, nullptr};

} // namespace

TEST_CASE("pinned memory: size classes waste an eighth at most", "[cuda][pinned]") {
  size_t before = 0;
  for (size_t bytes = 1; bytes < 200000; bytes += 7) {
    const size_t size = HostMemoryPool::size_class(bytes);
    REQUIRE(size >= bytes);
    REQUIRE((bytes <= 512 || size - bytes <= bytes / 8));
    REQUIRE(size >= before);
    REQUIRE(HostMemoryPool::size_class(size) == size);
    before = size;
  }
  CHECK(HostMemoryPool::size_class(size_t{1} << 30) == size_t{1} << 30);
  CHECK(HostMemoryPool::size_class(~size_t{0}) == ~size_t{0});
}

TEST_CASE("pinned memory is used again after its copies are done", "[cuda][pinned]") {
  MockHost host;
  HostMemoryPool pool(host);
  void* a = pool.allocate(1000);
  const auto inside = [&](ptrdiff_t offset) { return static_cast<void*>(static_cast<char*>(a) + offset); };
  CHECK(pool.owns(inside(999)));
  CHECK_FALSE(pool.owns(inside(1024)));
  CHECK_FALSE(pool.owns(inside(-1)));

  host.streams.give_work(kStream);
  CHECK(pool.record_stream(inside(100), kStream));
  CHECK(pool.record_stream(a, kStream));
  CHECK_FALSE(pool.record_stream(inside(-1), kStream));
  CHECK_FALSE(pool.release(inside(1)));
  CHECK(pool.release(a));
  CHECK_FALSE(pool.release(a)); // still waiting, and released already
  CHECK(host.streams.open_events() == 1);

  void* b = pool.allocate(1000);
  CHECK(b != a);
  pool.empty_cache(); // a waits for its copy
  CHECK(host.memory.used() == 2048);
  host.streams.finish(kStream);
  CHECK(pool.allocate(1020) == a);
  CHECK(host.streams.open_events() == 0);
  CHECK(pool.release(b));
  CHECK(pool.totals() == std::pair<size_t, size_t>(1024, 2048));
  pool.empty_cache();
  CHECK(pool.totals() == std::pair<size_t, size_t>(1024, 1024));
  CHECK(host.memory.used() == 1024);
  CHECK(pool.release(a));
}

TEST_CASE("pinned memory that a graph copies from is the graph's", "[cuda][pinned]") {
  MockHost host;
  HostMemoryPool pool(host);
  void* const captured = pool.allocate(1000);
  void* const before = pool.allocate(1000);
  host.streams.give_work(kStream);
  pool.record_stream(before, kStream);
  host.capturing = kStream;
  host.capture = 7;
  pool.record_stream(captured, kStream);
  CHECK(pool.release(captured));
  CHECK(pool.release(before)); // an event is of no use now
  CHECK_FALSE(pool.release(before));
  CHECK(host.streams.open_events() == 0);
  CHECK(pool.allocate(1000) != captured);
  host.capture = 0;
  CHECK(pool.allocate(1000) != before); // records the event
  CHECK(host.streams.open_events() == 1);
  host.streams.finish(kStream);
  CHECK(pool.allocate(1000) == before);

  host.streams.give_work(kStream); // a replay
  pool.release_capture(8, std::nullopt); // another graph
  CHECK(host.streams.open_events() == 0);
  pool.release_capture(7, kStream);
  CHECK(host.streams.open_events() == 1);
  CHECK(pool.allocate(1000) != captured);
  host.streams.finish(kStream);
  CHECK(pool.allocate(1000) == captured);

  host.capture = 9;
  pool.record_stream(captured, kStream);
  host.capture = 0;
  pool.release_capture(9, std::nullopt); // never replayed
  CHECK(pool.release(captured));
  CHECK(pool.allocate(1000) == captured);
}

TEST_CASE("random use of pinned memory: no block is given out twice or too early", "[cuda][pinned][model]") {
  std::mt19937 random(3);
  MockHost host;
  HostMemoryPool pool(host);
  std::map<uintptr_t, size_t> live;
  std::vector<std::pair<uintptr_t, std::pair<DeviceStream, int64_t>>> busy;
  for (int i = 0; i < 5000; ++i) {
    const DeviceStream stream{static_cast<c10::DeviceIndex>(random() % 2), nullptr};
    switch (random() % 5) {
      case 0:
      case 1: {
        const size_t bytes = 1 + random() % 5000;
        const auto address = reinterpret_cast<uintptr_t>(pool.allocate(bytes));
        for (const auto& [start, size] : live) {
          REQUIRE((address + bytes <= start || start + size <= address));
        }
        for (const auto& [start, work] : busy) {
          REQUIRE((start != address || host.streams.reached(work.first, work.second)));
        }
        live[address] = bytes;
        break;
      }
      case 2:
      case 3: {
        if (live.empty()) {
          break;
        }
        const auto chosen = std::next(live.begin(), static_cast<long>(random() % live.size()));
        if (random() % 2 == 0) {
          host.streams.give_work(stream);
          REQUIRE(pool.record_stream(reinterpret_cast<void*>(chosen->first + chosen->second - 1), stream));
          busy.push_back({chosen->first, {stream, host.streams.given(stream)}});
        }
        REQUIRE(pool.release(reinterpret_cast<void*>(chosen->first)));
        live.erase(chosen);
        break;
      }
      default:
        random() % 20 == 0 ? pool.empty_cache() : host.streams.do_work(stream);
    }
  }
  for (const auto& [address, size] : live) {
    REQUIRE(pool.release(reinterpret_cast<void*>(address)));
  }
  host.streams.finish({0, nullptr});
  host.streams.finish({1, nullptr});
  pool.empty_cache();
  CHECK(host.memory.used() == 0);
  CHECK(host.streams.open_events() == 0);
}
