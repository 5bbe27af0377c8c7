#include "mock_device.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

using namespace test;
using c10::cuda::impl::DeviceMemoryPool;
using Catch::Matchers::Contains;

namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr size_t kGiB = 1024 * kMiB;

void* const kStream = nullptr;
void* const kOther = reinterpret_cast<void*>(0x1000);
const DeviceStream kOtherStream{0, kOther};

struct Fixture {
  explicit Fixture(size_t capacity = kGiB) : device(capacity), pool(0, device) {}

  int64_t now(const c10::CachingAllocator::StatArray c10::CachingDeviceAllocator::DeviceStats::*stat) const {
    return (pool.stats().*stat)[0].current;
  }

  MockDevice device;
  DeviceMemoryPool pool;
};

ptrdiff_t distance(void* from, void* to) {
  return static_cast<char*>(to) - static_cast<char*>(from);
}

using Stats = c10::CachingDeviceAllocator::DeviceStats;

} // namespace

TEST_CASE("requests are rounded to 512 bytes and cut from segments by size", "[cuda][allocator]") {
  Fixture f;
  const struct {
    size_t bytes;
    size_t block;
    size_t segment;
  } cases[] = {
      {1, 512, 2 * kMiB},
      {512, 512, 2 * kMiB},
      {513, 1024, 2 * kMiB},
      {kMiB, kMiB, 2 * kMiB},
      {kMiB + 1, kMiB + 512, 20 * kMiB},
      {10 * kMiB - 512, 10 * kMiB - 512, 20 * kMiB},
      {10 * kMiB, 10 * kMiB, 10 * kMiB},
      {10 * kMiB + 1, 10 * kMiB + 512, 12 * kMiB},
      {11 * kMiB, 12 * kMiB, 12 * kMiB}, // the rest is too small for a block of its own
  };
  for (const auto& c : cases) {
    INFO(c.bytes << " bytes");
    void* p = f.pool.allocate(c.bytes, kStream);
    CHECK(f.now(&Stats::allocated_bytes) == static_cast<int64_t>(c.block));
    CHECK(f.now(&Stats::requested_bytes) == static_cast<int64_t>(c.bytes));
    CHECK(f.pool.segment_of(p) == std::pair(p, c.segment));
    CHECK(f.pool.release(p));
    f.pool.empty_cache();
    CHECK(f.device.memory.used() == 0);
  }
}

TEST_CASE("a released block is given out again on its stream only", "[cuda][allocator]") {
  Fixture f;
  void* a = f.pool.allocate(1000, kStream);
  f.pool.release(a);
  void* b = f.pool.allocate(1000, kOther);
  CHECK(b != a);
  CHECK(f.device.memory.allocations() == 2);
  CHECK(f.pool.allocate(1000, kStream) == a);
  CHECK(f.device.memory.allocations() == 2);
}

TEST_CASE("the smallest block that fits is taken, what is too much cut off, neighbours joined", "[cuda][allocator]") {
  Fixture f;
  // Holes of 4, 2 and 8 KiB between blocks in use.
  std::vector<void*> blocks;
  for (const size_t kib : {4, 1, 2, 1, 8, 1}) {
    blocks.push_back(f.pool.allocate(kib * kKiB, kStream));
  }
  CHECK(f.now(&Stats::inactive_split) == 1);
  for (const int hole : {0, 2, 4}) {
    f.pool.release(blocks[hole]);
  }
  CHECK(f.now(&Stats::inactive_split) == 4);
  CHECK(f.pool.allocate(3 * kKiB, kStream) == blocks[0]);
  CHECK(f.pool.allocate(1536, kStream) == blocks[2]);
  CHECK(f.pool.allocate(1536, kStream) == blocks[4]);
  CHECK(f.pool.allocate(6656, kStream) != blocks[4]);

  Fixture g;
  void* first = g.pool.allocate(kKiB, kStream);
  void* second = g.pool.allocate(kKiB, kStream);
  void* third = g.pool.allocate(kKiB, kStream);
  CHECK(distance(first, second) == 1024);
  g.pool.release(first);
  g.pool.release(third); // joins the end of the segment
  g.pool.release(second); // joins both sides
  CHECK(g.pool.largest_free_block() == 2 * kMiB);
  CHECK(g.now(&Stats::inactive_split) == 0);
  CHECK(g.now(&Stats::segment) == 1);
  CHECK(g.pool.allocate(kMiB, kStream) == first);
}

TEST_CASE("small and large requests live in segments of their own", "[cuda][allocator]") {
  Fixture f;
  void* small = f.pool.allocate(100, kStream);
  void* large = f.pool.allocate(5 * kMiB, kStream);
  const Stats stats = f.pool.stats();
  CHECK(stats.segment[0].current == 2);
  CHECK(stats.segment[1].current == 1);
  CHECK(stats.segment[2].current == 1);
  CHECK(stats.reserved_bytes[1].current == static_cast<int64_t>(2 * kMiB));
  CHECK(stats.reserved_bytes[2].current == static_cast<int64_t>(20 * kMiB));
  CHECK(stats.num_device_alloc == 2);
  f.pool.release(large);
  f.pool.release(small);
  f.pool.allocate(100, kStream); // not from the large segment
  CHECK(f.pool.stats().num_device_alloc == 2);
}

TEST_CASE("a block used on another stream waits for it", "[cuda][allocator]") {
  Fixture f;
  void* a = f.pool.allocate(1000, kStream);
  f.device.streams.give_work(kOtherStream);
  CHECK(f.pool.record_stream(a, kOtherStream));
  CHECK(f.pool.record_stream(a, kOtherStream));
  CHECK(f.pool.record_stream(a, {0, kStream})); // its own: nothing to wait for
  f.pool.release(a);
  CHECK(f.device.streams.open_events() == 1);
  CHECK(f.now(&Stats::allocation) == 0);
  CHECK(f.now(&Stats::active) == 1);
  CHECK(f.pool.allocate(1000, kStream) != a);
  f.device.streams.finish(kOtherStream);
  CHECK(f.pool.allocate(1000, kStream) == a);
  CHECK(f.device.streams.open_events() == 0);

  SECTION("the default stream of another device is another stream") {
    void* b = f.pool.allocate(1000, kStream);
    const DeviceStream elsewhere{1, nullptr};
    f.device.streams.give_work(elsewhere);
    f.pool.record_stream(b, elsewhere);
    f.pool.release(b);
    CHECK(f.now(&Stats::active) == 3);
  }
  SECTION("the cache is emptied after waiting") {
    f.pool.record_stream(a, kOtherStream);
    f.device.streams.give_work(kOtherStream);
    f.pool.release(a);
    for (const auto& segment : f.pool.snapshot()) {
      CHECK(segment.active_size > segment.allocated_size);
    }
    f.pool.empty_cache();
    CHECK(f.device.streams.open_events() == 0);
    CHECK(f.now(&Stats::active) == 1);
  }
}

TEST_CASE("foreign pointers are refused", "[cuda][allocator]") {
  Fixture f;
  auto* a = static_cast<char*>(f.pool.allocate(1000, kStream));
  CHECK_FALSE(f.pool.release(a + 512));
  CHECK_FALSE(f.pool.record_stream(a + 1, kOtherStream));
  CHECK_FALSE(f.pool.segment_of(a + 1));
  CHECK(f.pool.release(a));
  CHECK_FALSE(f.pool.release(a));
}

TEST_CASE(
    "out of memory: cached segments are given back first, then the error has the numbers", "[cuda][allocator][oom]") {
  Fixture f(64 * kMiB);
  void* kept = f.pool.allocate(20 * kMiB, kStream);
  void* cached = f.pool.allocate(30 * kMiB, kStream);
  f.pool.release(cached);
  void* large = f.pool.allocate(40 * kMiB, kOther);
  CHECK(f.pool.stats().num_alloc_retries == 1);
  CHECK(f.pool.stats().num_device_free == 1);
  CHECK(f.device.memory.used() == 60 * kMiB);

  std::vector<size_t> observed;
  f.pool.attach_observer([&](int64_t device, size_t allocated, size_t total, size_t free) {
    observed = {static_cast<size_t>(device), allocated, total, free};
    CHECK(f.pool.totals().first == allocated); // not under the lock
  });
  CHECK_THROWS_AS(f.pool.allocate(10 * kMiB, kStream), c10::OutOfMemoryError);
  CHECK(observed == std::vector<size_t>{0, 60 * kMiB, 64 * kMiB, 4 * kMiB});
  CHECK(f.pool.stats().num_ooms == 1);
  CHECK_THROWS_WITH(
      f.pool.allocate(10 * kMiB, kStream),
      Contains(
          "CUDA out of memory. Tried to allocate 10.00 MiB. GPU 0 has a total capacity of 64.00 MiB of which 4.00 MiB "
          "is free. Of the allocated memory 60.00 MiB is allocated by tensors, and 0 bytes is reserved by the "
          "allocator but unallocated."));
  for (const size_t huge : {~size_t{0}, ~size_t{0} / 2, size_t{1} << 60, 65 * kMiB}) {
    CHECK_THROWS_AS(f.pool.allocate(huge, kStream), c10::OutOfMemoryError);
  }

  SECTION("what is left can be had") {
    CHECK(f.pool.allocate(3 * kMiB, kStream) != nullptr); // less than the usual segment of 20 MiB
    CHECK(f.device.memory.used() == 64 * kMiB);
  }
  SECTION("and the pool goes on") {
    f.pool.release(kept);
    f.pool.release(large);
    CHECK(f.pool.allocate(60 * kMiB, kStream) != nullptr);
  }
}

TEST_CASE("waiting for another stream comes before running out of memory", "[cuda][allocator][oom]") {
  Fixture f(32 * kMiB);
  void* a = f.pool.allocate(30 * kMiB, kStream);
  f.device.streams.give_work(kOtherStream);
  f.pool.record_stream(a, kOtherStream);
  f.pool.release(a);
  CHECK(f.pool.allocate(30 * kMiB, kStream) == a);
  CHECK(f.device.memory.allocations() == 1);
}

TEST_CASE("a part of the device's memory may be set as the limit", "[cuda][allocator][oom]") {
  Fixture f(100 * kMiB);
  f.pool.set_memory_fraction(0.5);
  CHECK(f.pool.memory_fraction() == 0.5);
  void* a = f.pool.allocate(30 * kMiB, kStream);
  CHECK_THROWS_WITH(
      f.pool.allocate(30 * kMiB, kStream), Contains("of which 70.00 MiB is free") && Contains("50.00 MiB allowed"));
  f.pool.release(a);
  CHECK(f.pool.allocate(50 * kMiB, kStream) != nullptr);
  f.pool.set_memory_fraction(1.0);
  CHECK(f.pool.allocate(50 * kMiB, kStream) != nullptr);
  CHECK_THROWS_WITH(f.pool.set_memory_fraction(1.5), Contains("invalid fraction:1.5"));
}

TEST_CASE("peaks and sums of the statistics can be reset", "[cuda][allocator]") {
  Fixture f;
  void* a = f.pool.allocate(1000, kStream);
  void* b = f.pool.allocate(3000, kStream);
  f.pool.release(b);
  Stats stats = f.pool.stats();
  CHECK(stats.allocated_bytes[0].peak == 1024 + 3072);
  CHECK(stats.allocated_bytes[0].allocated == 1024 + 3072);
  CHECK(stats.allocated_bytes[0].freed == 3072);
  f.pool.reset_peak_stats();
  f.pool.reset_accumulated_stats();
  stats = f.pool.stats();
  CHECK(stats.allocated_bytes[0].peak == 1024);
  CHECK(stats.allocated_bytes[0].allocated == 0);
  CHECK(stats.num_device_alloc == 0);
  f.pool.release(a);
}

TEST_CASE("a failing driver leaves the pool as it was", "[cuda][allocator]") {
  struct Failing final : WithMockStreams<c10::cuda::impl::DeviceMemoryDriver> {
    void* allocate(size_t) override {
      throw std::runtime_error("the device is lost");
    }
    void release(void*, size_t) noexcept override {}
    std::pair<size_t, size_t> memory_info() override {
      return {0, 0};
    }
  };
  Failing driver;
  DeviceMemoryPool pool(0, driver);
  CHECK_THROWS_WITH(pool.allocate(1, kStream), "the device is lost");
  CHECK(pool.totals() == std::pair<size_t, size_t>(0, 0));
  CHECK(pool.snapshot().empty());
}

TEST_CASE("a private pool keeps its memory for itself while it is held", "[cuda][allocator][private]") {
  Fixture f(64 * kMiB);
  const c10::MempoolId_t id{0, 7};
  void* common = f.pool.allocate(1000, kStream);
  f.pool.release(common);

  f.pool.begin_allocate_to_pool(id, [](void* stream) { return stream == kOther; });
  CHECK(f.pool.allocate(1000, kStream) == common); // the filter does not admit this stream
  void* a = f.pool.allocate(1000, kOther);
  void* b = f.pool.allocate(5 * kMiB, kOther);
  f.pool.release(a);
  CHECK(f.pool.allocate(1000, kOther) == a);
  CHECK_THROWS_WITH(f.pool.begin_allocate_to_pool(id, [](void*) { return true; }), Contains("already recording"));
  f.pool.end_allocate_to_pool(id);
  CHECK_THROWS_WITH(f.pool.end_allocate_to_pool(id), Contains("not currently recording"));
  CHECK(f.pool.pool_holders(id) == 1);
  CHECK(f.pool.snapshot(id).size() == 2);
  CHECK(f.pool.stats().reserved_bytes_by_private_pools.at(id)[0].current == static_cast<int64_t>(22 * kMiB));

  // Blocks of the capture are released, but the graph will use them again.
  f.pool.release(a);
  f.pool.release(b);
  f.pool.empty_cache();
  CHECK(f.device.memory.used() == (2 + 22) * kMiB);
  CHECK(f.pool.allocate(1000, kOther) != a);
  CHECK_THROWS_AS(f.pool.allocate(45 * kMiB, kStream), c10::OutOfMemoryError);

  SECTION("a second capture shares it") {
    f.pool.begin_allocate_to_pool(id, [](void*) { return true; });
    CHECK(f.pool.allocate(1000, kOther) == a);
    f.pool.end_allocate_to_pool(id);
    CHECK(f.pool.pool_holders(id) == 2);
    f.pool.release_pool(id);
    f.pool.release_pool(id);
    f.pool.empty_cache();
    CHECK(f.pool.snapshot(id).size() == 1); // a is in use
    CHECK(f.pool.release(a));
    f.pool.empty_cache();
    CHECK(f.pool.snapshot(id).empty());
  }
  SECTION("released, it gives its memory to whoever needs it") {
    f.pool.release_pool(id);
    CHECK(f.pool.allocate(45 * kMiB, kStream) != nullptr);
    CHECK(f.pool.pool_holders(id) == 0);
    CHECK(f.pool.stats().reserved_bytes_by_private_pools.empty());
    CHECK_THROWS_WITH(f.pool.release_pool(id), Contains("there is no private pool (0, 7)"));
  }
}

TEST_CASE("during a capture no event is asked for", "[cuda][allocator][private]") {
  Fixture f(64 * kMiB);
  void* before = f.pool.allocate(1000, kStream);
  f.device.streams.give_work(kOtherStream);
  f.pool.record_stream(before, kOtherStream);
  f.pool.release(before);
  CHECK(f.device.streams.open_events() == 1);

  f.pool.begin_allocate_to_pool({1, 0}, [](void*) { return true; });
  f.device.streams.finish(kOtherStream);
  void* a = f.pool.allocate(1000, kStream);
  CHECK(f.device.streams.open_events() == 1); // has passed, but may not be asked
  f.pool.record_stream(a, kOtherStream);
  f.pool.release(a);
  CHECK(f.device.streams.open_events() == 1);
  CHECK(f.pool.allocate(1000, kStream) != a); // the other stream may still use it
  CHECK_THROWS_AS(f.pool.allocate(100 * kMiB, kStream), c10::OutOfMemoryError);
  CHECK(f.pool.stats().num_sync_all_streams == 0);
  f.pool.empty_cache();
  CHECK(f.pool.stats().num_sync_all_streams == 0);
  f.pool.end_allocate_to_pool({1, 0});

  CHECK(f.pool.allocate(1000, kStream) == before);
  CHECK(f.device.streams.open_events() == 0); // that of `a` was recorded after all work, and has passed
  CHECK(f.now(&Stats::active) == 2);
}
