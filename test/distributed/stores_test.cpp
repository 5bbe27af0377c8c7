// What all stores promise, one after the other; and what is particular to those in memory and in files.
#include "expect.h"

#include <catch2/catch.hpp>

#include <c10/util/Exception.h>
#include <csrc/distributed/store/FileStore.h>
#include <csrc/distributed/store/HashStore.h>
#include <csrc/distributed/store/PrefixStore.h>
#include <csrc/distributed/store/TCPStore.h>

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>

using namespace c10d;
using namespace std::chrono_literals;

namespace {

std::vector<uint8_t> bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string fresh_path() {
  static int n = 0;
  return (std::filesystem::temp_directory_path() / ("store_" + std::to_string(::getpid()) + "_" + std::to_string(n++)))
      .string();
}

c10::intrusive_ptr<Store> served_store(std::chrono::milliseconds timeout = 2s) {
  TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  options.timeout = timeout;
  return c10::make_intrusive<TCPStore>("localhost", options);
}

c10::intrusive_ptr<Store> store_named(const std::string& kind) {
  if (kind == "hash") {
    return c10::make_intrusive<HashStore>();
  }
  if (kind == "file") {
    return c10::make_intrusive<FileStore>(fresh_path(), 1);
  }
  if (kind == "tcp") {
    return served_store();
  }
  return c10::make_intrusive<PrefixStore>("run/0", served_store());
}

} // namespace

TEST_CASE("Stores keep values, count, compare and delete", "[distributed][store]") {
  const std::string kind = GENERATE("hash", "file", "tcp", "prefix");
  CAPTURE(kind);
  const auto store = store_named(kind);
  const int64_t own = store->getNumKeys();
  store->set("key0", "value0");
  store->set("key1", "value1");
  store->set("key0", std::string("a\0b", 3));
  CHECK(store->get("key0") == bytes(std::string("a\0b", 3)));
  CHECK(store->get_to_str("key1") == "value1");
  CHECK(store->getNumKeys() == own + 2);

  CHECK(store->add("counter", 3) == 3);
  CHECK(store->add("counter", -5) == -2);
  CHECK(store->get_to_str("counter") == "-2");

  CHECK(store->compareSet("absent", "old", "new") == "old");
  CHECK_FALSE(store->check({"absent"}));
  CHECK(store->compareSet("absent", "", "new") == "new");
  CHECK(store->compareSet("absent", "wrong", "newer") == "new");
  CHECK(store->compareSet("absent", "new", "newer") == "newer");

  CHECK(store->check({"key0", "key1", "absent"}));
  CHECK_FALSE(store->check({"key0", "none"}));
  CHECK(store->check({}));
  CHECK(store->deleteKey("key0"));
  CHECK_FALSE(store->deleteKey("key0"));
  CHECK_FALSE(store->check({"key0"}));

  const auto keys = store->listKeys();
  CHECK(std::set<std::string>(keys.begin(), keys.end()).count("key1") == 1);
  CHECK(std::set<std::string>(keys.begin(), keys.end()).count("key0") == 0);
}

TEST_CASE("Stores append and take several keys at once", "[distributed][store]") {
  const std::string kind = GENERATE("hash", "file", "tcp", "prefix");
  CAPTURE(kind);
  const auto store = store_named(kind);
  store->append("text", bytes("one"));
  store->append("text", bytes("two"));
  CHECK(store->get_to_str("text") == "onetwo");
  store->multiSet({"a", "b"}, {bytes("1"), bytes("")});
  CHECK(store->multiGet({"b", "a", "text"}) == std::vector{bytes(""), bytes("1"), bytes("onetwo")});
  CHECK_THROWS_AS(store->multiSet({"a", "b"}, {bytes("1")}), c10::ValueError);
  CHECK(store->hasExtendedApi() == (kind != "file"));
}

TEST_CASE("A store's wait ends with a named key, or throws after its timeout", "[distributed][store]") {
  const std::string kind = GENERATE("hash", "file", "tcp", "prefix");
  CAPTURE(kind);
  const auto store = store_named(kind);
  store->setTimeout(50ms);
  CHECK(store->getTimeout() == 50ms);
  CHECK_THROWS_AS(store->get("never"), c10::DistStoreError);
  CHECK_THROWS_WITH(store->wait({"never"}, 20ms), Catch::Contains("after 20ms") && Catch::Contains("never"));
  CHECK_THROWS_AS(store->multiGet({"never"}), c10::DistStoreError);
  {
    const StoreTimeoutGuard guard(*store, 3s);
    const auto other = store->clone();
    std::thread setter([&] {
      std::this_thread::sleep_for(30ms);
      other->set("x", "1");
      std::this_thread::sleep_for(30ms);
      other->set("y", "2");
    });
    store->wait({"x", "y", "x"});
    CHECK(store->check({"x", "y"}));
    setter.join();
  }
  CHECK(store->getTimeout() == 50ms);
  store->setTimeout(10s);
  CHECK(store->get_to_str("y") == "2"); // waits that timed out leave nothing behind
  if (kind == "hash") {
    CHECK_THROWS_AS(store->watchKey("x", [](auto, auto) {}), c10::NotImplementedError);
  }
}

TEST_CASE("Queues of stores are first in, first out, and wake one client an entry", "[distributed][store]") {
  const std::string kind = GENERATE("hash", "tcp", "prefix");
  CAPTURE(kind);
  const auto store = store_named(kind);
  CHECK(store->queueLen("q") == 0);
  CHECK_THROWS_AS(store->queuePop("q", false), c10::DistQueueEmptyError);
  store->queuePush("q", bytes("1"));
  store->queuePush("q", bytes("2"));
  CHECK(store->queueLen("q") == 2);
  CHECK(store->check({"q"}));
  CHECK(store->queuePop("q", true) == bytes("1"));
  CHECK(store->queuePop("q", false) == bytes("2"));
  CHECK_FALSE(store->check({"q"}));

  std::atomic<int> taken{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&taken, handle = store->clone()] {
      for (int n = 0; n < 5; ++n) {
        taken += std::stoi(std::string(1, static_cast<char>(handle->queuePop("jobs", true)[0])));
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    store->queuePush("jobs", bytes("1"));
  }
  for (auto& client : clients) {
    client.join();
  }
  CHECK(taken == 20);
  store->setTimeout(20ms);
  CHECK_THROWS_AS(store->queuePop("jobs", true), c10::DistStoreError);
}

TEST_CASE("A store's barrier holds everybody until the last has come", "[distributed][store]") {
  const std::string kind = GENERATE("hash", "file", "tcp", "prefix");
  CAPTURE(kind);
  const auto store = store_named(kind);
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, handle = store->clone()] {
      ++arrived;
      handle->barrier("start", 4, 5s);
      test::expect(arrived == 4);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  test::report_expectations();
  CHECK_THROWS_AS(store->barrier("alone", 2, 20ms), c10::DistStoreError);
  CHECK_THROWS_AS(store->barrier("none", 0), c10::ValueError);
}

TEST_CASE("Numbers of stores are refused where they are none", "[distributed][store]") {
  HashStore hash;
  hash.set("x", "abc");
  CHECK_THROWS_WITH(hash.add("x", 1), Catch::Contains("not a number"));
  hash.set("x", "9223372036854775807");
  CHECK_THROWS_WITH(hash.add("x", 1), Catch::Contains("out of range"));
  FileStore file(fresh_path(), 1);
  file.set("x", "1 ");
  CHECK_THROWS_AS(file.add("x", 1), c10::ValueError);
}

TEST_CASE("PrefixStore shows its part alone, through all its layers", "[distributed][store]") {
  const auto hash = c10::make_intrusive<HashStore>();
  const auto outer = c10::make_intrusive<PrefixStore>("run", hash);
  const auto inner = c10::make_intrusive<PrefixStore>("1", outer);
  inner->set("x", "1");
  hash->set("x", "2");
  CHECK(hash->get_to_str("run/1/x") == "1");
  CHECK(inner->listKeys() == std::vector<std::string>{"x"});
  CHECK(outer->listKeys() == std::vector<std::string>{"1/x"});
  CHECK(inner->getUnderlyingStore().get() == outer.get());
  CHECK(inner->getUnderlyingNonPrefixStore().get() == hash.get());
  CHECK_THROWS_AS(PrefixStore("a", nullptr), c10::ValueError);
}

TEST_CASE("A file store serves several processes and goes with the last", "[distributed][store]") {
  const std::string path = fresh_path();
  constexpr int workers = 4;
  {
    FileStore store(path, workers);
    std::vector<pid_t> children;
    for (int rank = 1; rank < workers; ++rank) {
      const pid_t child = ::fork();
      if (child == 0) {
        {
          FileStore mine(path, workers);
          for (int n = 0; n < 20; ++n) {
            mine.add("sum", rank);
          }
          mine.set("done" + std::to_string(rank), "1");
        }
        ::_exit(0);
      }
      children.push_back(child);
    }
    store.wait({"done1", "done2", "done3"}, 20s);
    for (const pid_t child : children) {
      int status = 1;
      ::waitpid(child, &status, 0);
      CHECK(status == 0);
    }
    CHECK(store.get_to_str("sum") == "120");
    CHECK(std::filesystem::exists(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("A file store overlooks what a writer left incomplete", "[distributed][store]") {
  const std::string path = fresh_path();
  FileStore store(path, -1);
  store.set("a", "1");
  FILE* file = ::fopen(path.c_str(), "ab");
  REQUIRE(file != nullptr);
  const char torn[] = {100, 0, 0, 0, 'x'};
  ::fwrite(torn, 1, sizeof torn, file);
  ::fclose(file);
  CHECK(store.get_to_str("a") == "1");
  store.set("b", "2");
  FileStore other(path, -1);
  CHECK(other.get_to_str("b") == "2");
  CHECK_THROWS_AS(FileStore("/nowhere/at/all", 1), c10::DistStoreError);
  std::filesystem::remove(path);
}
