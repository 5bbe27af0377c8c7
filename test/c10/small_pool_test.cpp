#include <catch2/catch.hpp>

#include <c10/core/SmallPool.h>
#include <c10/macros/Macros.h>

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace c10;

namespace {

struct Base : PoolAllocated {
  virtual ~Base() = default;
  char bytes[40] = {};
};

struct Derived final : Base {
  ~Derived() override = default;
  char more[300] = {};
};

struct Huge final : Base {
  ~Huge() override = default;
  char more[5000] = {};
};

// Frees a block when its thread ends, after the pool's own per-thread state may be gone.
struct FreedAtThreadEnd {
  void* block = nullptr;
  ~FreedAtThreadEnd() {
    small_free(block, 64);
    void* late = small_alloc(128);
    small_free(late, 128);
  }
};

} // namespace

TEST_CASE("pool blocks are aligned, apart and used again", "[c10][small_pool]") {
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{64}, size_t{65}, size_t{1000}, size_t{1024}, size_t{1025}, size_t{100000}}) {
    std::vector<void*> blocks;
    std::set<void*> distinct;
    for (int i = 0; i < 300; ++i) {
      void* p = small_alloc(bytes);
      REQUIRE(p != nullptr);
      if (bytes <= kSmallPoolMaxBytes) {
        REQUIRE(reinterpret_cast<uintptr_t>(p) % 64 == 0);
      }
      std::memset(p, i, bytes);
      blocks.push_back(p);
      distinct.insert(p);
    }
    CHECK(distinct.size() == blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (bytes != 0) {
        REQUIRE(static_cast<unsigned char*>(blocks[i])[bytes - 1] == static_cast<unsigned char>(i));
      }
      small_free(blocks[i], bytes);
    }
  }
  void* p = small_alloc(192);
  small_free(p, 192);
  if (C10_ASAN_ENABLED == 0) {
    CHECK(small_alloc(150) == p);
    small_free(p, 150);
  }
  small_free(nullptr, 64);
}

TEST_CASE("a block made on one thread and freed on another comes back", "[c10][small_pool]") {
  std::mutex mutex;
  std::condition_variable ready;
  std::vector<void*> queue;
  bool done = false;
  constexpr int kRounds = 50000;
  std::thread consumer([&] {
    while (true) {
      std::vector<void*> taken;
      {
        std::unique_lock lock(mutex);
        ready.wait(lock, [&] { return !queue.empty() || done; });
        if (queue.empty()) {
          return;
        }
        taken.swap(queue);
      }
      for (void* p : taken) {
        small_free(p, 192);
      }
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    void* p = small_alloc(192);
    std::memset(p, 1, 192);
    std::lock_guard lock(mutex);
    queue.push_back(p);
    ready.notify_one();
  }
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  ready.notify_one();
  consumer.join();
  // Threads keep 128 blocks of a class, and 64 runs wait at most: nothing near what went through.
  CHECK(small_pool_release() <= 65 * (size_t{256} << 10));
}

TEST_CASE("memory of blocks that are no longer used serves other sizes and goes back", "[c10][small_pool]") {
  if (C10_ASAN_ENABLED != 0) {
    return; // no pool there
  }
  small_pool_release();
  constexpr size_t kBlocks = 4000;
  std::vector<void*> blocks;
  for (const size_t bytes : {size_t{1024}, size_t{64}, size_t{320}}) {
    for (size_t i = 0; i < kBlocks; ++i) {
      blocks.push_back(small_alloc(bytes));
      std::memset(blocks.back(), 0x5a, bytes);
    }
    // In an order of its own: every third, then the rest.
    for (size_t start = 0; start < 3; ++start) {
      for (size_t i = start; i < kBlocks; i += 3) {
        small_free(blocks[i], bytes);
      }
    }
    blocks.clear();
  }
  const size_t all = kBlocks * 1024;
  const size_t released = small_pool_release();
  CHECK(released >= all); // the runs of the largest class
  CHECK(released < all + all / 4); // which served the others
  CHECK(small_pool_release() == 0);
}

TEST_CASE("blocks may be freed while their thread ends", "[c10][small_pool]") {
  for (int i = 0; i < 50; ++i) {
    std::thread([] {
      thread_local FreedAtThreadEnd late; // constructed first, so destroyed last
      late.block = small_alloc(64);
      small_free(small_alloc(64), 64);
    }).join();
  }
  SUCCEED();
}

TEST_CASE("classes of the pool are deleted by their true size", "[c10][small_pool]") {
  for (int i = 0; i < 500; ++i) {
    std::unique_ptr<Base> a = std::make_unique<Derived>();
    std::unique_ptr<Base> b = std::make_unique<Base>();
    std::unique_ptr<Base> c = std::make_unique<Huge>();
    a->bytes[3] = b->bytes[3] = c->bytes[3] = 1;
  }
  alignas(Derived) unsigned char place[sizeof(Derived)];
  Base* in_place = new (place) Derived();
  in_place->~Base();
  auto shared = std::allocate_shared<Derived>(PoolAllocator<Derived>());
  CHECK(shared->more[0] == 0);
  std::vector<int, PoolAllocator<int>> numbers(1000, 5);
  CHECK(numbers[999] == 5);
  CHECK_THROWS(PoolAllocator<int>().allocate(~size_t{0}));
}
