#include <c10/util/MaybeOwned.h>
#include <c10/util/intrusive_ptr.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>
#include <unordered_set>
#include <vector>

using namespace c10;

namespace {

struct Tracked : intrusive_ptr_target {
  Tracked(int* destroyed, int* released) : destroyed_(destroyed), released_(released) {}
  ~Tracked() override {
    ++*destroyed_;
  }
  void release_resources() override {
    ++*released_;
  }
  int* destroyed_;
  int* released_;
};

struct Derived : Tracked {
  using Tracked::Tracked;
};

struct Null : intrusive_ptr_target {
  static Null instance;
};
Null Null::instance;
struct NullType {
  static Null* singleton() {
    return &Null::instance;
  }
};

} // namespace

TEST_CASE("the last intrusive_ptr destroys the object", "[c10][intrusive_ptr]") {
  int destroyed = 0, released = 0;
  auto a = make_intrusive<Derived>(&destroyed, &released);
  CHECK(a.use_count() == 1);
  CHECK(a.is_uniquely_owned());
  intrusive_ptr<Tracked> b = a;
  CHECK(b.use_count() == 2);
  CHECK(b == a);
  a = nullptr;
  CHECK(destroyed == 0);
  CHECK(b.unique());
  const intrusive_ptr<Tracked> c = std::move(b);
  CHECK_FALSE(b);
  b = c;
  b.reset();
  CHECK(c.use_count() == 1);
  const_cast<intrusive_ptr<Tracked>&>(c).reset();
  CHECK(destroyed == 1);
}

TEST_CASE("a weak pointer keeps the memory but not the resources", "[c10][intrusive_ptr]") {
  int destroyed = 0, released = 0;
  auto strong = make_intrusive<Tracked>(&destroyed, &released);
  weak_intrusive_ptr<Tracked> weak(strong);
  CHECK(strong.weak_use_count() == 2);
  CHECK_FALSE(strong.is_uniquely_owned());
  {
    const auto locked = weak.lock();
    CHECK(locked == strong);
    CHECK(strong.use_count() == 2);
  }
  strong.reset();
  CHECK(released == 1);
  CHECK(destroyed == 0);
  CHECK(weak.expired());
  CHECK_FALSE(weak.lock().defined());
  weak.reset();
  CHECK(destroyed == 1);
  CHECK(released == 1);
}

TEST_CASE("release and reclaim move a reference through plain pointers", "[c10][intrusive_ptr]") {
  int destroyed = 0, released = 0;
  auto p = make_intrusive<Tracked>(&destroyed, &released);
  Tracked* raw_pointer = p.release();
  CHECK_FALSE(p.defined());
  raw::intrusive_ptr::incref(raw_pointer);
  CHECK(raw::intrusive_ptr::use_count(raw_pointer) == 2);
  raw::intrusive_ptr::decref(raw_pointer);
  auto copy = intrusive_ptr<Tracked>::reclaim_copy(raw_pointer);
  CHECK(copy.use_count() == 2);
  p = intrusive_ptr<Tracked>::reclaim(raw_pointer);
  copy.reset();
  Tracked* weak = raw::intrusive_ptr::make_weak(p.get());
  CHECK(p.weak_use_count() == 2);
  auto locked = intrusive_ptr<Tracked>::reclaim(raw::weak_intrusive_ptr::lock(weak));
  CHECK(locked == p);
  raw::weak_intrusive_ptr::decref(weak);
  locked.reset();
  p.reset();
  CHECK(destroyed == 1);
}

TEST_CASE("an empty pointer may point to a null object", "[c10][intrusive_ptr]") {
  intrusive_ptr<Null, NullType> p;
  CHECK_FALSE(p.defined());
  CHECK(p.get() == &Null::instance);
  CHECK(p.use_count() == 0);
  const intrusive_ptr<Null> plain = p;
  CHECK(plain.get() == nullptr);
  const intrusive_ptr<Null, NullType> back = plain;
  CHECK(back.get() == &Null::instance);
}

TEST_CASE("objects that are not on the heap are never deleted", "[c10][intrusive_ptr]") {
  int destroyed = 0, released = 0;
  {
    Tracked local(&destroyed, &released);
    {
      auto p = intrusive_ptr<Tracked>::unsafe_adapt_non_heap_allocated(&local, 2);
      auto copy = p;
    }
    CHECK(destroyed == 0);
  }
  CHECK(destroyed == 1);
}

TEST_CASE("copying an object does not copy its references", "[c10][intrusive_ptr]") {
  int destroyed = 0, released = 0;
  const auto a = make_intrusive<Tracked>(&destroyed, &released);
  const auto a2 = a;
  const auto b = make_intrusive<Tracked>(*a);
  CHECK(b.use_count() == 1);
  std::unordered_set<intrusive_ptr<Tracked>> set = {a, a2, b};
  CHECK(set.size() == 2);
}

TEST_CASE("MaybeOwned borrows without counting", "[c10][intrusive_ptr]") {
  int destroyed = 0, released = 0;
  const auto owner = make_intrusive<Tracked>(&destroyed, &released);
  {
    const auto borrowed = MaybeOwned<intrusive_ptr<Tracked>>::borrowed(owner);
    CHECK(owner.use_count() == 1);
    CHECK((*borrowed).get() == owner.get());
    auto copy = borrowed;
    copy = MaybeOwned<intrusive_ptr<Tracked>>::owned(intrusive_ptr<Tracked>(owner));
    CHECK(owner.use_count() == 2);
    copy = borrowed;
    CHECK(owner.use_count() == 1);
  }
  CHECK(owner.use_count() == 1);
}

TEST_CASE("counts survive many threads", "[c10][intrusive_ptr]") {
  int destroyed = 0, released = 0;
  auto shared = make_intrusive<Tracked>(&destroyed, &released);
  const weak_intrusive_ptr<Tracked> weak(shared);
  std::atomic<int> mismatches{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        auto copy = shared;
        auto locked = weak.lock();
        mismatches += copy != locked;
        weak_intrusive_ptr<Tracked> another(copy);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(mismatches == 0);
  CHECK(shared.use_count() == 1);
  CHECK(shared.weak_use_count() == 2);
  shared.reset();
  CHECK(released == 1);
}
