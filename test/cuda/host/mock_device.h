// A device for the allocators to work on where there is none: addresses without memory, streams without work.
#pragma once

#include <c10/cuda/impl/DeviceMemoryPool.h>
#include <c10/cuda/impl/HostMemoryPool.h>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace test {

using c10::cuda::impl::DeviceStream;

/// A stream's work is a number of steps; an event is the number it waits for.
class MockStreams {
 public:
  struct Event {
    DeviceStream stream;
    int64_t step = 0;
  };

  void give_work(DeviceStream stream) {
    ++streams_[stream].given;
  }
  void do_work(DeviceStream stream) {
    Stream& s = streams_[stream];
    s.done = s.done < s.given ? s.done + 1 : s.given;
  }
  void finish(DeviceStream stream) {
    streams_[stream].done = streams_[stream].given;
  }
  int64_t given(DeviceStream stream) {
    return streams_[stream].given;
  }
  bool reached(DeviceStream stream, int64_t step) {
    return streams_[stream].done >= step;
  }
  size_t open_events() const {
    return events_.size();
  }
  /// While a capture is underway, asking for events breaks it.
  void forbid_events(bool forbid) {
    forbidden_ = forbid;
  }

  void* record(DeviceStream stream) {
    check_allowed();
    auto* event = new Event{stream, given(stream)};
    events_.insert(event);
    return event;
  }
  bool done(void* event) {
    check_allowed();
    const Event& e = known(event);
    return reached(e.stream, e.step);
  }
  void wait(void* event) {
    check_allowed();
    const Event& e = known(event);
    Stream& s = streams_[e.stream];
    s.done = s.done < e.step ? e.step : s.done;
  }
  void recycle(void* event) {
    known(event);
    events_.erase(static_cast<Event*>(event));
    delete static_cast<Event*>(event);
  }

 private:
  struct Stream {
    int64_t given = 0;
    int64_t done = 0;
  };

  void check_allowed() const {
    if (forbidden_) {
      FAIL_CHECK("the allocator asked for events during a capture");
      std::abort();
    }
  }

  const Event& known(void* event) const {
    auto* e = static_cast<Event*>(event);
    if (events_.count(e) == 0) {
      FAIL_CHECK("the allocator uses an event that it has given back");
      std::abort();
    }
    return *e;
  }

  std::map<DeviceStream, Stream> streams_;
  std::set<Event*> events_;
  bool forbidden_ = false;
};

/// Hands out ranges of an address space and watches that each comes back once.
class AddressSpace {
 public:
  explicit AddressSpace(size_t capacity, uintptr_t start = uintptr_t{1} << 40) : capacity_(capacity), start_(start) {}

  /// Null if the capacity is used up. Takes the first gap, so that addresses come again.
  void* allocate(size_t bytes) {
    if (bytes > capacity_ - used_) {
      return nullptr;
    }
    uintptr_t address = start_;
    for (const auto& [start, size] : ranges_) {
      if (start - address >= bytes) {
        break;
      }
      address = start + size;
    }
    ranges_[address] = bytes;
    used_ += bytes;
    ++allocations_;
    return reinterpret_cast<void*>(address);
  }
  /// The size of the range.
  size_t release(void* address) {
    const auto found = ranges_.find(reinterpret_cast<uintptr_t>(address));
    if (found == ranges_.end()) {
      FAIL_CHECK("the allocator released memory that it does not have");
      std::abort();
    }
    const size_t size = found->second;
    used_ -= size;
    ranges_.erase(found);
    return size;
  }
  /// Memory without an address of this space. False if the capacity is used up.
  bool take(size_t bytes) {
    const bool fits = bytes <= capacity_ - used_;
    used_ += fits ? bytes : 0;
    return fits;
  }
  void give(size_t bytes) {
    used_ -= bytes;
  }
  const std::map<uintptr_t, size_t>& ranges() const {
    return ranges_;
  }
  size_t used() const {
    return used_;
  }
  size_t capacity() const {
    return capacity_;
  }
  int allocations() const {
    return allocations_;
  }

 private:
  const size_t capacity_;
  const uintptr_t start_;
  std::map<uintptr_t, size_t> ranges_;
  size_t used_ = 0;
  int allocations_ = 0;
};

template <class Driver>
class WithMockStreams : public Driver {
 public:
  void* record(DeviceStream stream) noexcept override {
    return streams.record(stream);
  }
  bool done(void* event) noexcept override {
    return streams.done(event);
  }
  void wait(void* event) noexcept override {
    streams.wait(event);
  }
  void recycle(void* event) noexcept override {
    streams.recycle(event);
  }

  MockStreams streams;
};

class MockDevice final : public WithMockStreams<c10::cuda::impl::DeviceMemoryDriver> {
 public:
  /// With room for so many addresses without memory.
  explicit MockDevice(size_t capacity, size_t address_room = 0)
      : memory(capacity), addresses(address_room, uintptr_t{1} << 44) {}

  void* allocate(size_t bytes) override {
    return memory.allocate(bytes);
  }
  void release(void* address, size_t bytes) noexcept override {
    CHECK(memory.release(address) == bytes);
  }
  std::pair<size_t, size_t> memory_info() override {
    return {memory.capacity() - memory.used(), memory.capacity()};
  }

  void* reserve_addresses(size_t bytes) override {
    return addresses.allocate(bytes);
  }
  void release_addresses(void* address, size_t bytes) noexcept override {
    const auto start = reinterpret_cast<uintptr_t>(address);
    const auto page = pages.lower_bound(start);
    CHECK((page == pages.end() || page->first >= start + bytes));
    CHECK(addresses.release(address) == bytes);
  }
  bool map(void* address, size_t bytes, size_t page) override {
    const auto start = reinterpret_cast<uintptr_t>(address);
    check_range(start, bytes, page);
    const auto next = pages.lower_bound(start);
    CHECK((next == pages.end() || next->first >= start + bytes));
    if (!memory.take(bytes)) {
      return false;
    }
    for (size_t offset = 0; offset < bytes; offset += page) {
      pages[start + offset] = page;
    }
    return true;
  }
  void unmap(void* address, size_t bytes, size_t page) noexcept override {
    const auto start = reinterpret_cast<uintptr_t>(address);
    check_range(start, bytes, page);
    for (size_t offset = 0; offset < bytes; offset += page) {
      CHECK(pages.count(start + offset) == 1);
      CHECK(pages[start + offset] == page);
      pages.erase(start + offset);
    }
    memory.give(bytes);
  }

  /// What has memory: ranges, pages of one reservation that lie together joined.
  std::map<uintptr_t, size_t> backed() const {
    std::map<uintptr_t, size_t> runs = memory.ranges();
    uintptr_t start = 0;
    for (const auto& [address, page] : pages) {
      const bool goes_on = start != 0 && start + runs[start] == address && addresses.ranges().count(address) == 0;
      start = goes_on ? start : address;
      runs[start] += page;
    }
    return runs;
  }

  AddressSpace memory;
  AddressSpace addresses;
  std::map<uintptr_t, size_t> pages;

 private:
  /// Whole pages of a reservation.
  void check_range(uintptr_t start, size_t bytes, size_t page) const {
    const auto after = addresses.ranges().upper_bound(start);
    if (bytes == 0 || bytes % page != 0 || after == addresses.ranges().begin()) {
      FAIL_CHECK("the allocator maps what is not a range of pages");
      std::abort();
    }
    const auto& [base, size] = *std::prev(after);
    CHECK((start - base) % page == 0);
    CHECK(start + bytes <= base + size);
  }
};

} // namespace test
