// TCPStore: its server among good clients and bad ones.
#include "expect.h"

#include <catch2/catch.hpp>

#include <c10/util/Exception.h>
#include <csrc/distributed/store/PrefixStore.h>
#include <csrc/distributed/store/Socket.h>
#include <csrc/distributed/store/TCPProtocol.h>
#include <csrc/distributed/store/TCPStore.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

using namespace c10d;
using namespace std::chrono_literals;

namespace {

c10::intrusive_ptr<TCPStore> server_with(const std::function<void(TCPStoreOptions&)>& change = {}) {
  TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  options.timeout = 3s;
  if (change) {
    change(options);
  }
  return c10::make_intrusive<TCPStore>("localhost", options);
}

c10::intrusive_ptr<TCPStore> client_of(const TCPStore& server, std::chrono::milliseconds timeout = 3s) {
  TCPStoreOptions options;
  options.port = server.getPort();
  options.timeout = timeout;
  return c10::make_intrusive<TCPStore>("localhost", options);
}

std::string le(uint64_t value, int size) {
  return std::string(reinterpret_cast<const char*>(&value), size);
}

std::string hello() {
  return std::string(1, '\0') + le(detail::kMagic, 4);
}

void say(const detail::Descriptor& fd, const std::string& text) {
  ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

bool hung_up(const detail::Descriptor& fd) {
  char byte = 0;
  try {
    return !detail::receive_all(fd.get(), &byte, 1, detail::deadline_after(2s)) && false;
  } catch (const c10::DistNetworkError&) {
    return true;
  }
}

} // namespace

TEST_CASE("Clients of a TCPStore see what others set", "[distributed][store]") {
  const auto server = server_with();
  CHECK(server->getPort() != 0);
  CHECK(server->getHost() == "localhost");
  CHECK(server->repr().find("server=true") != std::string::npos);
  const auto a = client_of(*server);
  const auto b = client_of(*server);
  a->set("x", "1");
  CHECK(b->get_to_str("x") == "1");
  const std::string large(5 << 20, 'z');
  b->set("large", large);
  CHECK(a->get_to_str("large") == large);
  CHECK_THROWS_AS(a->set("huge", std::string((64 << 20) + 1, 'z')), c10::ValueError);
  CHECK_THROWS_AS(a->set(std::string(70000, 'k'), "1"), c10::ValueError);
  CHECK(a->get_to_str("x") == "1");
}

TEST_CASE("A TCPStore's server waits for its workers, and says who came", "[distributed][store]") {
  auto server = server_with([](TCPStoreOptions& o) {
    o.numWorkers = 2;
    o.waitWorkers = false;
  });
  std::thread worker([&] {
    TCPStoreOptions options;
    options.port = server->getPort();
    options.numWorkers = 2;
    TCPStore store("localhost", options);
  });
  server->waitForWorkers();
  worker.join();
  CHECK_THROWS_WITH(
      server_with([](TCPStoreOptions& o) {
        o.numWorkers = 3;
        o.timeout = 50ms;
      }),
      Catch::Contains("1/3 clients joined"));
}

TEST_CASE("A client of a TCPStore names the server it cannot reach or loses", "[distributed][store]") {
  auto server = server_with();
  const auto client = client_of(*server);
  std::thread waiting([&] { test::expect_error<c10::DistNetworkError>([&] { client->get("never"); }); });
  std::this_thread::sleep_for(30ms);
  TCPStoreOptions options;
  options.port = server->getPort();
  options.timeout = 100ms;
  server.reset();
  waiting.join();
  test::report_expectations();
  CHECK_THROWS_AS(client->set("x", "1"), c10::DistNetworkError);
  CHECK_THROWS_WITH(TCPStore("localhost", options), Catch::Contains("timed out after 100ms"));
  CHECK_THROWS_AS(TCPStore("no.such.host.invalid", options), c10::DistNetworkError);
}

TEST_CASE("TCPStores of one process share a server where they are told to", "[distributed][store]") {
  const auto first = server_with([](TCPStoreOptions& o) { o.multiTenant = true; });
  const auto again = server_with([&](TCPStoreOptions& o) {
    o.multiTenant = true;
    o.port = first->getPort();
  });
  first->set("x", "1");
  CHECK(again->get_to_str("x") == "1");
  CHECK_THROWS_WITH(
      server_with([&](TCPStoreOptions& o) { o.port = first->getPort(); }), Catch::Contains("failed to listen"));
}

TEST_CASE("A TCPStore serves at a socket that was bound before", "[distributed][store]") {
  detail::Descriptor bound = detail::listen_tcp(0);
  const uint16_t port = detail::port_of(bound.get());
  const int fd = ::dup(bound.get());
  bound.close();
  const auto server = server_with([&](TCPStoreOptions& o) {
    o.masterListenFd = fd;
    o.port = port;
  });
  CHECK(server->getPort() == port);
  CHECK(client_of(*server)->add("n", 2) == 2);
}

TEST_CASE("Hundreds of clients meet at a TCPStore's barrier", "[distributed][store]") {
  const auto server = server_with();
  std::vector<std::thread> threads;
  for (int i = 0; i < 200; ++i) {
    threads.emplace_back([&] {
      const auto client = client_of(*server, 20s);
      client->add("n", 1);
      client->barrier("all", 200, 20s);
      test::expect(client->add("n", 0) == 200);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  test::report_expectations();
}

TEST_CASE("Who watches a key of a TCPStore hears of each change, by whoever it is", "[distributed][store]") {
  const auto server = server_with();
  const auto client = client_of(*server);
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> heard;
  const auto hear = [&](const std::optional<std::string>& before, const std::optional<std::string>& after) {
    const std::lock_guard lock(mutex);
    heard.push_back(before.value_or("-") + ">" + after.value_or("-"));
    changed.notify_all();
  };
  const auto wait_for = [&](size_t count) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, 5s, [&] { return heard.size() >= count; });
    return std::exchange(heard, {});
  };
  using Changes = std::vector<std::string>;
  c10::make_intrusive<PrefixStore>("p", client)->watchKey("key", hear);
  server->set("p/key", "");
  server->set("p/key", "1");
  server->append("p/key", {'2'});
  server->compareSet("p/key", "12", "3");
  server->compareSet("p/key", "12", "4"); // changes nothing
  server->add("p/key", 4);
  server->multiSet({"p/key", "other"}, {{'8'}, {'9'}});
  server->deleteKey("p/key");
  server->deleteKey("p/key"); // changes nothing
  client->compareSet("p/key", "", "new");
  CHECK(wait_for(8) == Changes{"->", ">1", "1>12", "12>3", "3>7", "7>8", "8>-", "->new"});

  server->watchKey("key", hear);
  client->watchKey("key", hear);
  client->watchKey("key", [](auto, auto) { throw std::runtime_error("of a callback"); });
  client->set("key", "1");
  CHECK(wait_for(2) == Changes{"->1", "->1"});
  CHECK_THROWS_AS(client->watchKey("key", nullptr), c10::ValueError);
  CHECK(client->get_to_str("key") == "1");
}

TEST_CASE("A TCPStore that watches keys ends, and its server forgets it", "[distributed][store]") {
  auto server = server_with();
  for (int i = 0; i < 50; ++i) {
    client_of(*server)->watchKey("key", [](auto, auto) {});
    server->set("key", std::to_string(i));
  }
  const auto left = client_of(*server, 500ms);
  left->watchKey("key", [](auto, auto) {});
  server.reset();
  CHECK_THROWS_AS(left->watchKey("other", [](auto, auto) {}), c10::DistNetworkError);
}

TEST_CASE("A TCPStore takes a request that comes in pieces", "[distributed][store]") {
  const auto server = server_with();
  const auto client = client_of(*server);
  const std::vector<uint8_t> value(100'000, 7);
  client->_splitSet("key", value);
  CHECK(client->get("key") == value);
  client->_splitSet("other", {});
  CHECK(server->get("other").empty());
}

TEST_CASE("Clients that break the protocol lose their connection and nothing else", "[distributed][store]") {
  const auto server = server_with();
  const auto connect = [&] { return detail::connect_tcp("localhost", server->getPort(), 2s); };
  const std::string huge = le(~uint64_t(0), 8);
  const std::vector<std::string> bad = {
      "GET / HTTP/1.1\r\n\r\n",
      std::string(1, '\0') + "nope",
      hello() + hello(),
      hello() + '\x63',
      hello() + '\x03' + huge, // a key of 2^64 bytes
      hello() + '\x01' + le(1, 8) + "k" + le(uint64_t(1) << 40, 8),
      hello() + '\x05' + huge, // that many keys
      hello() + '\x0b' + le(uint64_t(1) << 20, 8),
      hello() + '\x06' + le(1, 8) + le(4, 8) + "none" + '\x07', // a call while it waits
      hello() + '\x01' + le(2, 8) + "/t" + le(1, 8) + "z" + '\x04' + le(2, 8) + "/t" + le(1, 8), // a sum with text
  };
  for (size_t i = 0; i < bad.size(); ++i) {
    CAPTURE(i);
    const auto fd = connect();
    say(fd, bad[i]);
    CHECK(hung_up(fd));
  }
  // Clients that stop amid a request, send bytes one by one, or never speak do not hold others up.
  const auto silent = connect();
  const auto partial = connect();
  say(partial, hello() + '\x01' + le(1000, 8) + "begin");
  const auto slow = connect();
  for (const char byte : hello() + '\x0d' + "abcd") {
    say(slow, std::string(1, byte));
  }
  char echo[4];
  REQUIRE(detail::receive_all(slow.get(), echo, 4, detail::deadline_after(2s)));
  CHECK(std::memcmp(echo, "abcd", 4) == 0);
  server->set("x", "1");
  CHECK(client_of(*server)->get_to_str("x") == "1");
}

TEST_CASE("A client that takes no answers makes a TCPStore keep few of them", "[distributed][store]") {
  const auto server = server_with();
  server->set("big", std::string(1 << 20, 'b'));
  server->wait({"big"}); // set has no answer: only calls of the same client are behind it
  const auto fd = detail::connect_tcp("localhost", server->getPort(), 2s);
  std::string asks = hello();
  for (int i = 0; i < 200; ++i) {
    asks += std::string(1, '\x03') + le(4, 8) + "/big";
  }
  say(fd, asks);
  server->set("x", "1");
  CHECK(server->get_to_str("x") == "1");
  size_t received = 0;
  std::string chunk(1 << 20, '\0');
  for (int i = 0; i < 200; ++i) {
    uint64_t size = 0;
    REQUIRE(detail::receive_all(fd.get(), &size, sizeof size, detail::deadline_after(2s)));
    REQUIRE(detail::receive_all(fd.get(), chunk.data(), size, detail::deadline_after(2s)));
    received += size;
  }
  CHECK(received == size_t(200) << 20);
}

TEST_CASE("Random bytes do a TCPStore no harm", "[distributed][store]") {
  const auto server = server_with();
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const auto fd = detail::connect_tcp("localhost", server->getPort(), 2s);
    std::string text = hello();
    for (int n = random() % 60; n > 0; --n) {
      text += random() % 3 == 0 ? le(random() % 5, 8) : std::string(1, static_cast<char>(random() % 20));
    }
    say(fd, text);
  }
  server->set("x", "1");
  CHECK(server->get_to_str("x") == "1");
}

TEST_CASE("A process that dies while it waits at a TCPStore is forgotten", "[distributed][store]") {
  const auto server = server_with();
  const uint16_t port = server->getPort();
  const pid_t child = ::fork();
  if (child == 0) {
    TCPStoreOptions options;
    options.port = port;
    TCPStore store("localhost", options);
    store.set("waiting", "1");
    store.queuePop("q", true);
    ::_exit(0);
  }
  server->wait({"waiting"}, 10s);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  std::this_thread::sleep_for(50ms);
  server->queuePush("q", {1});
  CHECK(server->queuePop("q", true) == std::vector<uint8_t>{1});
}
