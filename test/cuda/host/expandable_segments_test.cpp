// Segments that grow, and the settings of the device allocator.
#include "mock_device.h"

#include <c10/core/AllocatorConfig.h>

#include <string>
#include <vector>

using namespace test;
using c10::CachingAllocator::AllocatorSettings;
using c10::CachingAllocator::parse_allocator_settings;
using c10::cuda::impl::DeviceMemoryPool;
using Catch::Matchers::Contains;

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGiB = 1024 * kMiB;

void* const kStream = nullptr;

struct Fixture {
  explicit Fixture(size_t capacity, const std::string& settings = "", size_t address_room = 64 * kGiB)
      : device(capacity, address_room), pool(0, device, parse_allocator_settings(settings)) {}

  int64_t segments() const {
    return pool.stats().segment[0].current;
  }

  MockDevice device;
  DeviceMemoryPool pool;
};

char* behind(void* address, size_t bytes) {
  return static_cast<char*>(address) + bytes;
}

} // namespace

TEST_CASE("an expandable segment grows page by page", "[cuda][allocator][expandable]") {
  Fixture f(kGiB);
  void* a = f.pool.allocate(1000, kStream);
  CHECK(f.device.memory.used() == 2 * kMiB);
  void* b = f.pool.allocate(15 * kMiB, kStream);
  void* c = f.pool.allocate(15 * kMiB, kStream);
  CHECK(c == behind(b, 15 * kMiB)); // the rest of one page and the beginning of the next
  CHECK(f.device.memory.used() == 42 * kMiB);
  CHECK(f.segments() == 2); // one of small blocks
  const auto segments = f.pool.snapshot();
  REQUIRE(segments.size() == 2);
  CHECK((segments[0].is_expandable && segments[1].is_expandable));

  // What is released is joined and serves a request that neither part would.
  f.pool.release(b);
  f.pool.release(c);
  CHECK(f.pool.allocate(60 * kMiB, kStream) == b);
  CHECK(f.device.memory.used() == 62 * kMiB);
  CHECK(f.device.memory.allocations() == 0); // nothing by the ordinary way
  f.pool.release(a);
}

TEST_CASE("pages that no block in use touches go back", "[cuda][allocator][expandable]") {
  Fixture f(kGiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(f.pool.allocate(30 * kMiB, kStream));
  }
  CHECK(f.device.memory.used() == 120 * kMiB);
  f.pool.release(blocks[1]); // from 30 to 60 MiB: one whole page of 20
  f.pool.empty_cache();
  CHECK(f.device.memory.used() == 100 * kMiB);
  CHECK(f.segments() == 2);
  CHECK(f.pool.stats().inactive_split_bytes[0].current == static_cast<int64_t>(10 * kMiB));
  CHECK(f.pool.segment_of(blocks[2])->second == 60 * kMiB);

  // The hole is filled again before the segment grows.
  CHECK(f.pool.allocate(25 * kMiB, kStream) == blocks[1]);
  CHECK(f.device.memory.used() == 120 * kMiB);
  CHECK(f.segments() == 1);
  for (void* block : blocks) {
    f.pool.release(block);
  }
  f.pool.empty_cache();
  CHECK(f.device.memory.used() == 0);
  CHECK(f.device.addresses.used() == 0);
  CHECK(f.segments() == 0);
}

TEST_CASE("memory free in pieces serves a larger request", "[cuda][allocator][expandable][oom]") {
  // Eight blocks, every other one released.
  const auto run = [](const std::string& settings) {
    Fixture f(160 * kMiB, settings);
    std::vector<void*> blocks;
    for (int i = 0; i < 8; ++i) {
      blocks.push_back(f.pool.allocate(20 * kMiB, kStream));
    }
    for (int i = 0; i < 8; i += 2) {
      f.pool.release(blocks[static_cast<size_t>(i)]);
    }
    return f.pool.allocate(80 * kMiB, kStream) != nullptr;
  };
  CHECK(run("expandable_segments:False")); // whole segments go back
  CHECK(run("expandable_segments:True"));

  Fixture f(64 * kMiB);
  void* a = f.pool.allocate(60 * kMiB, kStream);
  CHECK_THROWS_AS(f.pool.allocate(5 * kMiB, kStream), c10::OutOfMemoryError);
  CHECK(f.pool.allocate(4 * kMiB, kStream) != nullptr); // less than a page is left: a segment of its own
  CHECK(f.device.memory.used() == 64 * kMiB);
  f.pool.release(a);
  CHECK(f.pool.allocate(60 * kMiB, kStream) == a);
}

TEST_CASE("without addresses, segments are of one piece", "[cuda][allocator][expandable]") {
  Fixture f(kGiB, "", 0);
  f.pool.allocate(1000, kStream);
  f.pool.allocate(15 * kMiB, kStream);
  CHECK(f.device.pages.empty());
  CHECK(f.device.memory.used() == 18 * kMiB);
  CHECK_FALSE(f.pool.snapshot()[0].is_expandable);
}

TEST_CASE("large blocks are not cut beyond max_split_size_mb", "[cuda][allocator][settings]") {
  Fixture f(kGiB, "expandable_segments:False,max_split_size_mb:100,max_non_split_rounding_mb:30");
  void* big = f.pool.allocate(200 * kMiB, kStream);
  CHECK(f.pool.stats().oversize_allocations.current == 1);
  CHECK(f.pool.stats().oversize_segments.current == 1);
  CHECK(f.pool.stats().max_split_size == static_cast<int64_t>(100 * kMiB));
  f.pool.release(big);
  CHECK(f.pool.allocate(50 * kMiB, kStream) != big); // too good for it
  CHECK(f.pool.allocate(120 * kMiB, kStream) != big); // 80 MiB would lie idle
  CHECK(f.pool.allocate(180 * kMiB, kStream) == big);
  f.pool.release(big);

  // Room for a large request is made of large blocks first.
  void* c = f.pool.allocate(10 * kMiB, kStream);
  f.pool.release(c);
  CHECK(f.pool.allocate(700 * kMiB, kStream) != nullptr);
  CHECK(f.pool.allocate(10 * kMiB, kStream) == c);
  CHECK(f.pool.stats().oversize_segments.current == 2);
}

TEST_CASE("unused blocks go back beyond garbage_collection_threshold, oldest first", "[cuda][allocator][settings]") {
  Fixture f(1000 * kMiB, "expandable_segments:False,garbage_collection_threshold:0.5");
  void* old = f.pool.allocate(200 * kMiB, kStream);
  void* young = f.pool.allocate(150 * kMiB, kStream);
  f.pool.release(old);
  for (int i = 0; i < 10; ++i) {
    f.pool.release(f.pool.allocate(1000, kStream));
  }
  f.pool.release(young);
  CHECK(f.device.memory.used() == 352 * kMiB);
  f.pool.allocate(220 * kMiB, kStream); // 572 MiB would be more than half
  CHECK(f.device.memory.used() == (352 - 200 + 220) * kMiB);
  CHECK(f.pool.allocate(150 * kMiB, kStream) == young);
}

TEST_CASE("sizes are rounded to steps between powers of two", "[cuda][allocator][settings]") {
  Fixture f(8 * kGiB, "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]");
  const auto block = [&](size_t bytes) {
    void* p = f.pool.allocate(bytes, kStream);
    size_t size = 0;
    for (const auto& segment : f.pool.snapshot()) {
      for (const auto& b : segment.blocks) {
        size = b.allocated ? b.size : size;
      }
    }
    f.pool.release(p);
    return size;
  };
  CHECK(block(300 * kMiB + 1) == 300 * kMiB + 512); // one division: to 512 bytes
  CHECK(block(600 * kMiB) == 768 * kMiB);
  CHECK(block(1100 * kMiB) == 1280 * kMiB);
  CHECK(block(2100 * kMiB) == 2304 * kMiB);
  CHECK(block(2048 * kMiB) == 2048 * kMiB);
}

TEST_CASE("settings are read from the environment's form", "[cuda][allocator][settings]") {
  const AllocatorSettings settings = parse_allocator_settings(
      " max_split_size_mb:128, garbage_collection_threshold:0.8 ,expandable_segments:False,roundup_power2_divisions:4,"
      "per_process_memory_fraction:0.5,backend:native");
  CHECK(settings.max_split_size == 128 * kMiB);
  CHECK(settings.garbage_collection_threshold == 0.8);
  CHECK_FALSE(settings.expandable_segments);
  CHECK(settings.divisions_for(5) == 4);
  CHECK(settings.memory_fraction == 0.5);
  CHECK(parse_allocator_settings("").expandable_segments);

  CHECK_THROWS_WITH(
      parse_allocator_settings("max_split:1"),
      Contains("Unrecognized key 'max_split'") && Contains("max_split_size_mb"));
  CHECK_THROWS_WITH(parse_allocator_settings("max_split_size_mb:5"), Contains("from 21 to"));
  CHECK_THROWS_WITH(parse_allocator_settings("expandable_segments:yes"), Contains("Expected 'True' or 'False'"));
  CHECK_THROWS_WITH(parse_allocator_settings("expandable_segments"), Contains("has no value"));
  CHECK_THROWS_WITH(parse_allocator_settings("roundup_power2_divisions:[256:3]"), Contains("power of 2"));
  CHECK_THROWS_WITH(parse_allocator_settings("roundup_power2_divisions:[256:2"), Contains("no ]"));
  CHECK_THROWS_WITH(parse_allocator_settings("garbage_collection_threshold:2"), Contains("from 0 to 1"));
  CHECK_THROWS_WITH(parse_allocator_settings("backend:cudaMallocAsync"), Contains("there is: native"));

  static std::vector<double> heard; // the listener stays
  c10::CachingAllocator::on_allocator_settings(
      [](const AllocatorSettings& s) { heard.push_back(s.garbage_collection_threshold); });
  c10::CachingAllocator::setAllocatorSettings("garbage_collection_threshold:0.3");
  CHECK(heard == std::vector<double>{0.3});
  CHECK(c10::CachingAllocator::getAllocatorSettings() == "garbage_collection_threshold:0.3");
  CHECK_THROWS(c10::CachingAllocator::setAllocatorSettings("nonsense"));
  CHECK(c10::CachingAllocator::AcceleratorAllocatorConfig::garbage_collection_threshold() == 0.3);
  c10::CachingAllocator::setAllocatorSettings("");
}

TEST_CASE("the history keeps the last events and where they come from", "[cuda][allocator][history]") {
  struct Place : c10::GatheredContext {
    int number = 0;
  };
  static int gathered = 0;
  const auto gather = []() -> std::shared_ptr<c10::GatheredContext> {
    auto place = std::make_shared<Place>();
    place->number = ++gathered;
    return place;
  };
  using c10::cuda::impl::AllocationHistory;
  using Entry = AllocationHistory::Entry;
  const auto actions = [](const DeviceMemoryPool& pool) {
    std::string names;
    for (const Entry& entry : pool.history()) {
      names += std::string(names.empty() ? "" : " ") + AllocationHistory::name(entry.action_);
    }
    return names;
  };
  Fixture f(kGiB);
  f.pool.allocate(100, kStream);
  CHECK(gathered == 0);
  int heard = 0;
  f.pool.attach_tracker([&](const Entry&) { ++heard; });
  f.pool.record_history({true, gather, 4, AllocationHistory::Level::ALLOC, false, {}});
  CHECK(f.pool.records_history());
  void* a = f.pool.allocate(1000, kStream);
  CHECK(gathered == 1);
  f.pool.release(a);
  CHECK(gathered == 1); // releases only with ALL
  CHECK(actions(f.pool) == "alloc free_requested free_completed");
  CHECK(f.pool.history()[0].size_ == 1000);
  CHECK(f.pool.history()[0].addr_ == reinterpret_cast<size_t>(a));
  CHECK(static_cast<const Place&>(*f.pool.history()[0].context_).number == 1);
  CHECK(f.pool.history()[1].context_ == nullptr);
  f.pool.allocate(5 * kMiB, kStream);
  CHECK(actions(f.pool) == "free_requested free_completed segment_map alloc");
  CHECK_THROWS_AS(f.pool.allocate(2 * kGiB, kStream), c10::OutOfMemoryError);
  CHECK(actions(f.pool) == "free_completed segment_map alloc oom");
  CHECK(heard == 6);

  f.pool.record_history({true, gather, 8, AllocationHistory::Level::STATE, false, {"free_completed"}});
  a = f.pool.allocate(1000, kStream);
  f.pool.release(a);
  CHECK(actions(f.pool) == "free_completed segment_map alloc oom alloc free_requested");
  CHECK(f.pool.history()[4].context_ == nullptr); // only blocks remember
  a = f.pool.allocate(1000, kStream);
  bool found = false;
  for (const auto& segment : f.pool.snapshot()) {
    for (const auto& block : segment.blocks) {
      found = found || block.context_when_allocated != nullptr;
    }
  }
  CHECK(found);
  f.pool.record_history({});
  CHECK(f.pool.history().empty());
}

TEST_CASE("running out of memory tells what graphs hold", "[cuda][allocator][oom]") {
  Fixture f(64 * kMiB);
  f.pool.begin_allocate_to_pool({1, 0}, [](void*) { return true; });
  f.pool.allocate(20 * kMiB, kStream);
  f.pool.end_allocate_to_pool({1, 0});
  CHECK_THROWS_WITH(
      f.pool.allocate(50 * kMiB, kStream),
      Contains("with 20.00 MiB allocated in private pools (e.g., CUDA Graphs), and 0 bytes is reserved"));
}
