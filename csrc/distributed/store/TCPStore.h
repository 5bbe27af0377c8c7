// TCPStore: a store that one process serves to all.
#pragma once

#include <csrc/distributed/store/Store.h>

#include <memory>
#include <mutex>

namespace c10d {

namespace detail {
class TCPClient;
class TCPServer;
class TCPWatcher;

struct SocketAddress {
  std::string host;
  std::uint16_t port{};
};
} // namespace detail

struct TCPStoreOptions {
  static constexpr std::uint16_t kDefaultPort = 29500;

  /// With 0 the server takes any free port.
  std::uint16_t port = kDefaultPort;
  bool isServer = false;
  /// How many processes take part, the server among them.
  std::optional<std::size_t> numWorkers = std::nullopt;
  /// The server's constructor waits until all have connected.
  bool waitWorkers = true;
  std::chrono::milliseconds timeout = Store::kDefaultTimeout;
  /// Servers of one process at one port are one.
  bool multiTenant = false;
  /// A bound socket that the server takes over.
  std::optional<int> masterListenFd = std::nullopt;
  /// Kept for programs; there is one kind of server.
  bool useLibUV = true;
};

/// A client of the store, with its server where `isServer`. Clients speak PyTorch's form, so that its processes can
/// serve or take part. One call at a time goes over a connection: use clone() for a thread that waits beside others.
class TORCH_API TCPStore : public Store {
 public:
  using Store::compareSet;
  using Store::set;

  static constexpr std::chrono::milliseconds kConnectRetryDelay{1000};

  explicit TCPStore(std::string host, const TCPStoreOptions& opts = {});
  /// The form of libtorch before 1.9.
  explicit TCPStore(
      const std::string& masterAddr,
      std::uint16_t masterPort,
      std::optional<int> numWorkers = std::nullopt,
      bool isServer = false,
      const std::chrono::milliseconds& timeout = kDefaultTimeout,
      bool waitWorkers = true);
  ~TCPStore() override;

  c10::intrusive_ptr<Store> clone() override;
  void set(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<uint8_t> compareSet(
      const std::string& key,
      const std::vector<uint8_t>& expectedValue,
      const std::vector<uint8_t>& desiredValue) override;
  std::vector<uint8_t> get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  void append(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<std::vector<uint8_t>> multiGet(const std::vector<std::string>& keys) override;
  void multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) override;
  bool hasExtendedApi() const override;
  /// Has `callback` called, in a thread of this store, with the value before and after each change of the key by
  /// whoever it is; none for a key that was not there or is gone. Returns when the server watches. Its callbacks must
  /// not give up the store.
  void watchKey(const std::string& key, WatchKeyCallback callback) override;
  void queuePush(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<uint8_t> queuePop(const std::string& key, bool block) override;
  int64_t queueLen(const std::string& key) override;
  std::vector<std::string> listKeys() override;
  using Store::barrier;
  void barrier(const std::string& key, int64_t world_size, const std::chrono::milliseconds& timeout) override;

  /// Counts this process, and on the server waits until all are counted.
  void waitForWorkers();
  const std::string& getHost() const noexcept {
    return addr_.host;
  }
  /// The port of the server, also where 0 was asked for.
  std::uint16_t getPort() const noexcept {
    return addr_.port;
  }
  bool isLibUvBackend() const noexcept {
    return usingLibUv_;
  }
  std::string repr() const;
  /// For tests of servers: set() whose bytes leave in several pieces, with pauses between them.
  void _splitSet(const std::string& key, const std::vector<uint8_t>& data);

 private:
  int64_t incrementValueBy(const std::string& key, int64_t delta);
  void doWait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout);
  std::string key_of(const std::string& key) const;
  std::vector<std::string> keys_of(const std::vector<std::string>& keys) const;

  detail::SocketAddress addr_;
  std::string reached_at_;
  std::shared_ptr<detail::TCPServer> server_;
  std::unique_ptr<detail::TCPClient> client_;
  std::unique_ptr<detail::TCPWatcher> watcher_; // from the first watchKey on
  std::optional<std::size_t> numWorkers_;
  const std::string initKey_ = "init/";
  const std::string keyPrefix_ = "/";
  std::mutex activeOpLock_;
  bool usingLibUv_ = true;
};

} // namespace c10d
