#include <catch2/catch.hpp>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

using namespace c10;

namespace {

// Nothing is cached under the address sanitizer, nor where the environment says so.
bool caches() {
  const char* bytes = std::getenv("LIBTENSOR_CPU_CACHE_BYTES");
  return C10_ASAN_ENABLED == 0 && (bytes == nullptr || std::strcmp(bytes, "0") != 0);
}
const bool kCaches = caches();

int64_t in_use() {
  return cpu_allocator_stats().bytes_in_use;
}

DataPtr allocate(size_t bytes) {
  return GetDefaultCPUAllocator()->allocate(bytes);
}

struct CacheLimit {
  explicit CacheLimit(size_t bytes) : before(cpu_allocator_cache_limit()) {
    cpu_allocator_set_cache_limit(bytes);
  }
  ~CacheLimit() {
    cpu_allocator_set_cache_limit(before);
  }
  size_t before;
};

} // namespace

TEST_CASE("blocks of every size are aligned, large enough and apart", "[c10][allocator]") {
  std::mt19937 random(1);
  std::vector<std::pair<DataPtr, size_t>> live;
  for (int round = 0; round < 3000; ++round) {
    const size_t bits = random() % 21;
    const size_t bytes = (size_t{1} << bits) + random() % (size_t{1} << bits);
    DataPtr p = allocate(bytes);
    REQUIRE(reinterpret_cast<uintptr_t>(p.get()) % 64 == 0);
    std::memset(p.get(), static_cast<int>(live.size() % 251), bytes);
    live.emplace_back(std::move(p), bytes);
    if (live.size() > 40) {
      const size_t victim = random() % live.size();
      std::swap(live[victim], live.back());
      live.pop_back();
    }
  }
  // What was written into a block is still what is at both its ends and no other block was cut into.
  for (size_t i = 0; i < live.size(); ++i) {
    std::memset(live[i].first.get(), static_cast<int>(i), live[i].second);
  }
  for (size_t i = 0; i < live.size(); ++i) {
    const auto* data = static_cast<const unsigned char*>(live[i].first.get());
    REQUIRE(data[0] == i);
    REQUIRE(data[live[i].second - 1] == i);
  }
}

TEST_CASE("sizes at the borders of the classes fit", "[c10][allocator]") {
  for (size_t bits = 6; bits <= 22; ++bits) {
    for (size_t eighth = 8; eighth < 16; ++eighth) {
      for (const int delta : {-1, 0, 1}) {
        const size_t bytes = ((eighth << bits) >> 3) + static_cast<size_t>(delta);
        const int64_t before = in_use();
        DataPtr p = allocate(bytes);
        std::memset(p.get(), 1, bytes);
        const int64_t taken = in_use() - before;
        REQUIRE(taken >= static_cast<int64_t>(bytes));
        // Not more than a quarter is wasted, or one grain.
        REQUIRE(taken <= static_cast<int64_t>(bytes + bytes / 4 + 64));
      }
    }
  }
}

TEST_CASE("statistics follow allocations and releases", "[c10][allocator]") {
  const CPUAllocatorStats before = cpu_allocator_stats();
  cpu_allocator_reset_peak();
  {
    DataPtr small = allocate(1000);
    DataPtr large = allocate(size_t{3} << 20);
    const CPUAllocatorStats now = cpu_allocator_stats();
    CHECK(now.bytes_in_use - before.bytes_in_use >= 1000 + (3 << 20));
    CHECK(now.allocations - before.allocations == 2);
    CHECK(now.releases == before.releases);
    CHECK(now.peak_bytes_in_use >= now.bytes_in_use);
  }
  const CPUAllocatorStats after = cpu_allocator_stats();
  CHECK(after.bytes_in_use == before.bytes_in_use);
  CHECK(after.releases - before.releases == 2);
  CHECK(after.peak_bytes_in_use >= before.bytes_in_use + (3 << 20));
  if (kCaches) {
    CHECK(after.bytes_cached >= (3 << 20));
  }
  cpu_allocator_reset_peak();
  CHECK(cpu_allocator_stats().peak_bytes_in_use < after.peak_bytes_in_use);
}

TEST_CASE("no bytes need no memory", "[c10][allocator]") {
  DataPtr p = allocate(0);
  CHECK(p.get() == nullptr);
  CHECK(p.device() == Device(DeviceType::CPU));
}

TEST_CASE("freed blocks are used again", "[c10][allocator]") {
  if (!kCaches) {
    return;
  }
  for (const size_t bytes : {size_t{1}, size_t{64}, size_t{5000}, size_t{70000}, size_t{9} << 20}) {
    void* first = allocate(bytes).get();
    const uint64_t system = cpu_allocator_stats().system_allocations;
    for (int i = 0; i < 10; ++i) {
      CHECK(allocate(bytes).get() == first);
    }
    CHECK(cpu_allocator_stats().system_allocations == system);
  }
}

TEST_CASE("the cache of large blocks stays within its bound and drops the oldest", "[c10][allocator]") {
  if (!kCaches) {
    return;
  }
  cpu_allocator_release_cached();
  CacheLimit limit(size_t{8} << 20);
  const int64_t small_cached = cpu_allocator_stats().bytes_cached;
  const auto large_cached = [&] { return cpu_allocator_stats().bytes_cached - small_cached; };
  {
    std::vector<DataPtr> blocks;
    for (int i = 0; i < 8; ++i) {
      blocks.push_back(allocate(size_t{2} << 20));
    }
  }
  CHECK(large_cached() == (8 << 20));
  { DataPtr too_large = allocate(size_t{16} << 20); }
  CHECK(large_cached() == (8 << 20));
  // A fresh size pushes out the oldest.
  { DataPtr other = allocate(size_t{4} << 20); }
  CHECK(large_cached() == (8 << 20));
  const uint64_t system = cpu_allocator_stats().system_allocations;
  { DataPtr other = allocate(size_t{4} << 20); }
  CHECK(cpu_allocator_stats().system_allocations == system);
  cpu_allocator_set_cache_limit(size_t{3} << 20);
  CHECK(large_cached() <= (3 << 20));
  cpu_allocator_set_cache_limit(0);
  { DataPtr p = allocate(size_t{2} << 20); }
  CHECK(large_cached() == 0);
}

TEST_CASE("cached memory goes back on request", "[c10][allocator]") {
  {
    std::vector<DataPtr> blocks;
    for (int i = 0; i < 100; ++i) {
      blocks.push_back(allocate(100));
      blocks.push_back(allocate(100000));
    }
  }
  const CPUAllocatorStats before = cpu_allocator_stats();
  const size_t released = cpu_allocator_release_cached();
  const CPUAllocatorStats after = cpu_allocator_stats();
  CHECK(static_cast<int64_t>(released) == before.bytes_cached - after.bytes_cached);
  CHECK(after.bytes_in_use == before.bytes_in_use);
  if (kCaches) {
    CHECK(released > 1000000);
  }
}

TEST_CASE("what cannot be had is an error with the numbers", "[c10][allocator]") {
  const CPUAllocatorStats before = cpu_allocator_stats();
  for (const size_t bytes :
       {size_t{1} << 46, size_t{1} << 50, size_t{1} << 63, std::numeric_limits<size_t>::max() - 10,
        std::numeric_limits<size_t>::max()}) {
    CHECK_THROWS_WITH(
        allocate(bytes),
        Catch::Contains(
            "DefaultCPUAllocator: not enough memory: you tried to allocate " + std::to_string(bytes) + " bytes."));
    CHECK_THROWS_AS(allocate(bytes), OutOfMemoryError);
  }
  CHECK(cpu_allocator_stats().bytes_in_use == before.bytes_in_use);
}

TEST_CASE("blocks may be freed on any thread, also after the thread that made them", "[c10][allocator]") {
  const int64_t before = in_use();
  std::vector<DataPtr> handed;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937 random(i);
      for (int round = 0; round < 3000; ++round) {
        const size_t bytes = size_t{1} << (random() % 18);
        DataPtr p = allocate(bytes);
        std::memset(p.get(), 7, bytes);
        DataPtr dropped;
        std::lock_guard lock(mutex);
        handed.push_back(std::move(p));
        if (handed.size() > 100) {
          std::swap(handed[random() % handed.size()], handed.back());
          dropped = std::move(handed.back());
          handed.pop_back();
        }
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(in_use() > before);
  handed.clear();
  CHECK(in_use() == before);
}

TEST_CASE("sizes are printed with units", "[c10][allocator]") {
  CHECK(CachingAllocator::format_size(100) == "100 bytes");
  CHECK(CachingAllocator::format_size(1536) == "1.50 KiB");
  CHECK(CachingAllocator::format_size(size_t{3} << 20) == "3.00 MiB");
  CHECK(CachingAllocator::format_size(size_t{5} << 40) == "5120.00 GiB");
}

TEST_CASE("an allocator of higher priority stays", "[c10][allocator]") {
  struct Nothing final : Allocator {
    DataPtr allocate(size_t) override {
      return {};
    }
  };
  static Nothing low;
  static Nothing high;
  SetAllocator(DeviceType::IPU, &low);
  CHECK(GetAllocator(DeviceType::IPU) == &low);
  SetAllocator(DeviceType::IPU, &high, 2);
  SetAllocator(DeviceType::IPU, &low, 1);
  CHECK(GetAllocator(DeviceType::IPU) == &high);
  CHECK_THROWS(high.raw_deallocate(nullptr));
}

namespace {

struct Reports final : MemoryReportingInfoBase {
  struct Report {
    void* data;
    int64_t bytes;
    size_t total;
  };
  void reportMemoryUsage(void* data, int64_t bytes, size_t total, size_t reserved, Device device) override {
    all.push_back({data, bytes, total});
    CHECK(reserved == 0);
    CHECK(device.is_cpu());
  }
  bool memoryProfilingEnabled() const override {
    return true;
  }
  std::vector<Report> all;
};

} // namespace

TEST_CASE("reports tell the sizes that were asked for", "[c10][allocator]") {
  DataPtr before = allocate(100);
  const auto reports = std::make_shared<Reports>();
  const DebugInfoGuard guard(DebugInfoKind::PROFILER_STATE, reports);
  DataPtr first = allocate(42), second = allocate(1038);
  void* const address = first.get();
  first.clear();
  second.clear();
  REQUIRE(reports->all.size() == 4);
  CHECK(reports->all[0].data == address);
  CHECK(reports->all[0].bytes == 42);
  CHECK(reports->all[0].total == 42);
  CHECK(reports->all[1].bytes == 1038);
  CHECK(reports->all[1].total == 1080);
  CHECK(reports->all[2].data == address);
  CHECK(reports->all[2].bytes == -42);
  CHECK(reports->all[2].total == 1038);
  CHECK(reports->all[3].bytes == -1038);
  CHECK(reports->all[3].total == 0);
  before.clear();
  REQUIRE(reports->all.size() == 5);
  CHECK(reports->all[4].bytes <= -100);
  CHECK(reports->all[4].total == 0);
}
