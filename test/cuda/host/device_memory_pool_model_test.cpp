// The device allocator against a simple model, under random requests.
#include "mock_device.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

using namespace test;
using c10::cuda::impl::DeviceMemoryPool;

namespace {

using Stats = c10::CachingDeviceAllocator::DeviceStats;
using c10::CachingAllocator::StatArray;

constexpr size_t kMiB = size_t{1} << 20;

void* stream_handle(int number) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(number) * 16);
}

/// What a program may rely on, kept the obvious way.
class Model {
 public:
  Model(uint32_t seed, size_t capacity)
      : random_(seed), device_(capacity, 12 * capacity), pool_(0, device_, pick_settings()) {}

  void step() {
    const int choice = pick(100);
    if (choice < 45) {
      allocate();
    } else if (choice < 80) {
      release();
    } else if (choice < 88) {
      use_elsewhere();
    } else if (choice < 96) {
      const DeviceStream stream{static_cast<c10::DeviceIndex>(pick(2)), stream_handle(pick(3))};
      pick(3) == 0 ? device_.streams.finish(stream) : device_.streams.do_work(stream);
    } else if (choice < 99) {
      const int what = pick(4);
      what == 0 ? pool_.empty_cache() : what == 1 ? release_pool() : capture_ ? end_capture() : begin_capture();
    } else if (pick(2) == 0) {
      pool_.set_memory_fraction(pick(2) == 0 ? 1.0 : 0.7);
    } else {
      pool_.configure(pick_settings());
    }
  }

  /// Gives everything back and finishes all work.
  void drain() {
    if (capture_) {
      end_capture();
    }
    for (auto& [id, holders] : holders_) {
      for (; holders > 0; --holders) {
        pool_.release_pool(id);
      }
    }
    always_held_.clear();
    while (!live_.empty()) {
      release();
    }
    pool_.empty_cache();
    check();
    CHECK(device_.memory.used() == 0);
    CHECK(device_.addresses.used() == 0);
    CHECK(device_.streams.open_events() == 0);
  }

  void check() {
    forget_finished();
    check_private_pools();
    check_segments();
    check_statistics();
  }

  int failures() const {
    return failures_;
  }

 private:
  struct Range {
    size_t size = 0;
    size_t requested = 0;
    void* stream = nullptr;
    std::vector<DeviceStream> used_on;
  };
  /// Released, but work on other streams may still touch it.
  struct Busy {
    uintptr_t start = 0;
    size_t size = 0;
    std::vector<std::pair<DeviceStream, int64_t>> until;
  };

  int pick(int n) {
    return static_cast<int>(random_() % static_cast<uint32_t>(n));
  }

  c10::CachingAllocator::AllocatorSettings pick_settings() {
    c10::CachingAllocator::AllocatorSettings settings;
    settings.expandable_segments = pick(3) != 0;
    settings.max_split_size = pick(3) == 0 ? 24 * kMiB : SIZE_MAX;
    settings.garbage_collection_threshold = pick(3) == 0 ? 0.6 : 0;
    settings.roundup_power2_divisions.fill(pick(3) == 0 ? 4 : 0);
    settings.large_segment_size = pick(4) == 0 ? 32 * kMiB : 20 * kMiB;
    return settings;
  }

  size_t pick_size() {
    switch (pick(8)) {
      case 0:
        return 1 + random_() % (30 * kMiB);
      case 1:
      case 2:
        return 1 + random_() % (3 * kMiB);
      case 3:
        return 512 * static_cast<size_t>(1 + pick(8));
      default:
        return size_t{1} << pick(20);
    }
  }

  void allocate() {
    const size_t bytes = pick_size();
    void* stream = stream_handle(pick(3));
    void* address = nullptr;
    try {
      address = pool_.allocate(bytes, stream);
    } catch (const c10::OutOfMemoryError&) {
      ++failures_;
      check();
      return;
    }
    const auto start = reinterpret_cast<uintptr_t>(address);
    REQUIRE(start % 512 == 0);
    // Nobody else has any of it.
    const auto next = live_.lower_bound(start);
    REQUIRE((next == live_.end() || start + bytes <= next->first));
    REQUIRE((next == live_.begin() || std::prev(next)->first + std::prev(next)->second.size <= start));
    forget_finished();
    for (const Busy& busy : busy_) {
      REQUIRE((start + bytes <= busy.start || busy.start + busy.size <= start));
    }
    live_[start] = {bytes, bytes, stream, {}};
    if (capture_ && stream == capture_->stream) {
      const auto segments = pool_.snapshot(capture_->id);
      REQUIRE(std::any_of(segments.begin(), segments.end(), [&](const auto& segment) {
        return segment.address <= start && start < segment.address + segment.total_size;
      }));
    }
  }

  std::map<uintptr_t, Range>::iterator any() {
    return std::next(live_.begin(), pick(static_cast<int>(live_.size())));
  }

  void release() {
    if (live_.empty()) {
      return;
    }
    const auto chosen = any();
    const auto& [start, range] = *chosen;
    Busy busy{start, range.size, {}};
    for (const DeviceStream stream : range.used_on) {
      busy.until.emplace_back(stream, device_.streams.given(stream));
    }
    if (!busy.until.empty()) {
      busy_.push_back(busy);
    }
    REQUIRE(pool_.release(reinterpret_cast<void*>(start)));
    live_.erase(chosen);
  }

  void use_elsewhere() {
    if (live_.empty()) {
      return;
    }
    auto& [start, range] = *any();
    const DeviceStream stream{static_cast<c10::DeviceIndex>(pick(2)), stream_handle(pick(3))};
    REQUIRE(pool_.record_stream(reinterpret_cast<void*>(start), stream));
    device_.streams.give_work(stream);
    if (stream != DeviceStream{0, range.stream}) {
      range.used_on.push_back(stream);
    }
  }

  void begin_capture() {
    capture_ = Capture{{0, static_cast<uint64_t>(1 + pick(2))}, stream_handle(pick(3))};
    void* stream = capture_->stream;
    pool_.begin_allocate_to_pool(capture_->id, [stream](void* s) { return s == stream; });
    ++holders_[capture_->id];
    device_.streams.forbid_events(true);
  }

  void end_capture() {
    device_.streams.forbid_events(false);
    pool_.end_allocate_to_pool(capture_->id);
    capture_.reset();
  }

  void release_pool() {
    for (auto& [id, holders] : holders_) {
      if (holders > 0 && !(capture_ && capture_->id == id)) {
        pool_.release_pool(id);
        if (--holders == 0) {
          always_held_.erase(id);
        }
        return;
      }
    }
  }

  /// Memory of a pool stays while it is held; segments may grow together.
  void check_private_pools() {
    std::map<c10::MempoolId_t, std::map<uintptr_t, size_t>> segments;
    for (const auto& segment : pool_.snapshot()) {
      if (segment.owner_private_pool_id != c10::MempoolId_t(0, 0)) {
        segments[segment.owner_private_pool_id][segment.address] = segment.total_size;
      }
    }
    for (const auto& [id, before] : private_segments_) {
      REQUIRE(pool_.pool_holders(id) == holders_[id]);
      if (always_held_.count(id) != 0) {
        for (const auto& [start, size] : before) {
          const auto after = segments[id].upper_bound(start);
          REQUIRE(after != segments[id].begin());
          REQUIRE(start + size <= std::prev(after)->first + std::prev(after)->second);
        }
      }
    }
    private_segments_ = segments;
    always_held_.clear();
    for (const auto& [id, holders] : holders_) {
      if (holders > 0) {
        always_held_.insert(id);
      }
    }
  }

  void forget_finished() {
    busy_.erase(
        std::remove_if(
            busy_.begin(), busy_.end(),
            [&](const Busy& busy) {
              return std::all_of(busy.until.begin(), busy.until.end(), [&](const auto& work) {
                return device_.streams.reached(work.first, work.second);
              });
            }),
        busy_.end());
  }

  /// The pool's picture of its memory: segments are the driver's, blocks tile them, free neighbours are joined, blocks
  /// in use are the program's.
  void check_segments() {
    size_t blocks_in_use = 0;
    std::map<uintptr_t, size_t> segments;
    for (const auto& segment : pool_.snapshot()) {
      segments[segment.address] = segment.total_size;
      uintptr_t address = segment.address;
      bool previous_free = false;
      for (const auto& block : segment.blocks) {
        REQUIRE(block.size > 0);
        REQUIRE(block.size % 512 == 0);
        REQUIRE_FALSE((previous_free && !block.active));
        previous_free = !block.active;
        const auto owned = live_.find(address);
        REQUIRE(block.allocated == (owned != live_.end()));
        if (block.allocated) {
          ++blocks_in_use;
          REQUIRE(block.active);
          REQUIRE(owned->second.requested == block.requested_size);
          REQUIRE(owned->second.size <= block.size);
          REQUIRE(owned->second.stream == segment.stream);
        }
        address += block.size;
      }
      REQUIRE(address == segment.address + segment.total_size);
    }
    REQUIRE(blocks_in_use == live_.size());
    REQUIRE(segments == device_.backed());
  }

  struct Sum {
    int64_t count = 0;
    int64_t bytes = 0;
  };

  static void require_equal(const char* name, const StatArray& count, const StatArray& bytes, const Sum (&sums)[3]) {
    INFO(name);
    for (size_t type = 0; type < 3; ++type) {
      INFO("statistic type " << type);
      REQUIRE(count[type].current == sums[type].count);
      REQUIRE(bytes[type].current == sums[type].bytes);
      REQUIRE(count[type].current == count[type].allocated - count[type].freed);
      REQUIRE(bytes[type].peak >= bytes[type].current);
    }
  }

  void check_statistics() {
    const Stats stats = pool_.stats();
    Sum segments[3];
    Sum allocated[3];
    Sum active[3];
    Sum split[3];
    int64_t requested = 0;
    for (const auto& segment : pool_.snapshot()) {
      const auto add = [&](Sum(&sums)[3], size_t bytes) {
        for (const size_t type : {size_t{0}, size_t{segment.is_large ? 2u : 1u}}) {
          ++sums[type].count;
          sums[type].bytes += static_cast<int64_t>(bytes);
        }
      };
      add(segments, segment.total_size);
      requested += static_cast<int64_t>(segment.requested_size);
      for (const auto& block : segment.blocks) {
        if (block.allocated) {
          add(allocated, block.size);
        }
        if (block.active) {
          add(active, block.size);
        } else if (segment.blocks.size() > 1) {
          add(split, block.size);
        }
      }
    }
    require_equal("segments", stats.segment, stats.reserved_bytes, segments);
    require_equal("allocated", stats.allocation, stats.allocated_bytes, allocated);
    require_equal("active", stats.active, stats.active_bytes, active);
    require_equal("inactive split", stats.inactive_split, stats.inactive_split_bytes, split);
    REQUIRE(stats.requested_bytes[0].current == requested);
  }

  struct Capture {
    c10::MempoolId_t id;
    void* stream = nullptr;
  };

  std::mt19937 random_;
  MockDevice device_;
  DeviceMemoryPool pool_;
  std::map<uintptr_t, Range> live_;
  std::vector<Busy> busy_;
  std::optional<Capture> capture_;
  std::map<c10::MempoolId_t, int> holders_;
  std::map<c10::MempoolId_t, std::map<uintptr_t, size_t>> private_segments_; // at the last check
  std::set<c10::MempoolId_t> always_held_; // since then
  int failures_ = 0;
};

} // namespace

TEST_CASE("random requests: no overlap, joined neighbours, statistics that add up", "[cuda][allocator][model]") {
  const size_t capacity = GENERATE(4096 * kMiB, 256 * kMiB, 60 * kMiB);
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    INFO("seed " << seed << ", capacity " << capacity);
    Model model(seed, capacity);
    for (int i = 0; i < 1500; ++i) {
      model.step();
      if (i % 10 == 0) {
        model.check();
      }
    }
    CHECK((model.failures() > 0) == (capacity < 1024 * kMiB));
    model.drain();
  }
}
