// TCPStore: calls as requests to the server.
#include <csrc/distributed/store/TCPStore.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/store/TCPClient.h>
#include <csrc/distributed/store/TCPServer.h>
#include <csrc/distributed/store/TCPWatcher.h>

#include <algorithm>
#include <thread>

namespace c10d {

using detail::Query;

namespace {

TCPStoreOptions options_of(
    std::uint16_t port,
    std::optional<int> workers,
    bool is_server,
    std::chrono::milliseconds timeout,
    bool wait_workers) {
  TCPStoreOptions options;
  options.port = port;
  options.isServer = is_server;
  if (workers && *workers >= 0) {
    options.numWorkers = static_cast<std::size_t>(*workers);
  }
  options.timeout = timeout;
  options.waitWorkers = wait_workers;
  return options;
}

[[noreturn]] void wait_timeout(std::chrono::milliseconds timeout, const std::vector<std::string>& keys) {
  C10_THROW_ERROR(
      DistStoreError, c10::str("wait timeout after ", timeout.count(), "ms, keys: ", detail::some_keys(keys)));
}

} // namespace

TCPStore::TCPStore(std::string host, const TCPStoreOptions& opts)
    : Store(opts.timeout), addr_{std::move(host), opts.port}, numWorkers_(opts.numWorkers), usingLibUv_(opts.useLibUV) {
  if (opts.isServer) {
    server_ = detail::TCPServer::start(opts.port, opts.masterListenFd.value_or(-1), opts.multiTenant);
    addr_.port = server_->port();
  }
  // The server of this process is reached whatever name others have for it.
  reached_at_ = server_ && !opts.masterListenFd ? "127.0.0.1" : addr_.host;
  client_ = std::make_unique<detail::TCPClient>(reached_at_, addr_.port, opts.timeout);
  if (opts.waitWorkers) {
    waitForWorkers();
  }
}

TCPStore::TCPStore(
    const std::string& masterAddr,
    std::uint16_t masterPort,
    std::optional<int> numWorkers,
    bool isServer,
    const std::chrono::milliseconds& timeout,
    bool waitWorkers)
    : TCPStore(masterAddr, options_of(masterPort, numWorkers, isServer, timeout, waitWorkers)) {}

TCPStore::~TCPStore() = default;

c10::intrusive_ptr<Store> TCPStore::clone() {
  TCPStoreOptions options;
  options.port = addr_.port;
  options.timeout = timeout_;
  options.waitWorkers = false;
  auto copy = c10::make_intrusive<TCPStore>(server_ ? std::string("127.0.0.1") : addr_.host, options);
  copy->addr_ = addr_;
  copy->server_ = server_;
  copy->numWorkers_ = numWorkers_;
  return copy;
}

std::string TCPStore::key_of(const std::string& key) const {
  TORCH_CHECK_VALUE(key.size() < detail::kMaxKeyBytes, "TCPStore: a key of ", key.size(), " bytes is too long");
  return keyPrefix_ + key;
}

std::vector<std::string> TCPStore::keys_of(const std::vector<std::string>& keys) const {
  TORCH_CHECK_VALUE(keys.size() <= detail::kMaxKeys, "TCPStore: ", keys.size(), " keys are too many for one call");
  std::vector<std::string> full;
  full.reserve(keys.size());
  for (const auto& key : keys) {
    full.push_back(key_of(key));
  }
  return full;
}

void TCPStore::waitForWorkers() {
  if (!numWorkers_) {
    return;
  }
  {
    const std::lock_guard lock(activeOpLock_);
    incrementValueBy(initKey_, 1);
  }
  if (!server_) {
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto deadline = detail::deadline_after(timeout_);
  for (;;) {
    int64_t joined = 0;
    {
      const std::lock_guard lock(activeOpLock_);
      joined = incrementValueBy(initKey_, 0);
    }
    if (joined >= static_cast<int64_t>(*numWorkers_)) {
      return;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      const auto seconds =
          std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count();
      C10_THROW_ERROR(
          DistStoreError,
          c10::str(
              "Timed out after ", seconds, " seconds waiting for clients. ", joined, "/", *numWorkers_,
              " clients joined."));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void TCPStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  const std::lock_guard lock(activeOpLock_);
  client_->ask(Query::SET).text(key_of(key)).bytes(value).send(timeout_);
}

void TCPStore::_splitSet(const std::string& key, const std::vector<uint8_t>& data) {
  const std::lock_guard lock(activeOpLock_);
  client_->ask(Query::SET).text(key_of(key)).bytes(data).send_in_pieces(timeout_);
}

std::vector<uint8_t> TCPStore::compareSet(
    const std::string& key, const std::vector<uint8_t>& expectedValue, const std::vector<uint8_t>& desiredValue) {
  const std::lock_guard lock(activeOpLock_);
  client_->ask(Query::COMPARE_SET).text(key_of(key)).bytes(expectedValue).bytes(desiredValue).send(timeout_);
  return client_->receive_bytes(timeout_);
}

std::vector<uint8_t> TCPStore::get(const std::string& key) {
  const std::lock_guard lock(activeOpLock_);
  doWait({key_of(key)}, timeout_);
  client_->ask(Query::GET).text(key_of(key)).send(timeout_);
  return client_->receive_bytes(timeout_);
}

int64_t TCPStore::incrementValueBy(const std::string& key, int64_t delta) {
  client_->ask(Query::ADD).text(key).number(delta).send(timeout_);
  return client_->receive_number<int64_t>(timeout_);
}

int64_t TCPStore::add(const std::string& key, int64_t value) {
  const std::lock_guard lock(activeOpLock_);
  return incrementValueBy(key_of(key), value);
}

bool TCPStore::deleteKey(const std::string& key) {
  const std::lock_guard lock(activeOpLock_);
  client_->ask(Query::DELETE_KEY).text(key_of(key)).send(timeout_);
  return client_->receive_number<int64_t>(timeout_) > 0;
}

bool TCPStore::check(const std::vector<std::string>& keys) {
  const std::lock_guard lock(activeOpLock_);
  client_->ask(Query::CHECK).keys(keys_of(keys)).send(timeout_);
  return client_->receive_number<uint8_t>(timeout_) == 0;
}

int64_t TCPStore::getNumKeys() {
  const std::lock_guard lock(activeOpLock_);
  client_->ask(Query::GETNUMKEYS).send(timeout_);
  return client_->receive_number<int64_t>(timeout_);
}

void TCPStore::wait(const std::vector<std::string>& keys) {
  wait(keys, timeout_);
}

void TCPStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  const std::lock_guard lock(activeOpLock_);
  doWait(keys_of(keys), timeout);
}

void TCPStore::doWait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) {
  client_->ask(Query::WAIT).keys(keys).send(timeout_);
  if (!client_->receive_stop(timeout)) {
    wait_timeout(timeout, keys);
  }
}

void TCPStore::append(const std::string& key, const std::vector<uint8_t>& value) {
  const std::lock_guard lock(activeOpLock_);
  client_->ask(Query::APPEND).text(key_of(key)).bytes(value).send(timeout_);
}

std::vector<std::vector<uint8_t>> TCPStore::multiGet(const std::vector<std::string>& keys) {
  const std::lock_guard lock(activeOpLock_);
  const auto full = keys_of(keys);
  doWait(full, timeout_);
  client_->ask(Query::MULTI_GET).keys(full).send(timeout_);
  std::vector<std::vector<uint8_t>> values;
  values.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    values.push_back(client_->receive_bytes(timeout_));
  }
  return values;
}

void TCPStore::multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) {
  TORCH_CHECK_VALUE(
      keys.size() == values.size(), "multiSet keys and values vectors must be of same size, but got ", keys.size(),
      " keys and ", values.size(), " values");
  const std::lock_guard lock(activeOpLock_);
  const auto full = keys_of(keys);
  client_->ask(Query::MULTI_SET).number<uint64_t>(full.size());
  for (size_t i = 0; i < full.size(); ++i) {
    client_->text(full[i]).bytes(values[i]);
  }
  client_->send(timeout_);
}

bool TCPStore::hasExtendedApi() const {
  return true;
}

void TCPStore::watchKey(const std::string& key, WatchKeyCallback callback) {
  TORCH_CHECK_VALUE(callback, "watchKey: the callback is empty");
  const std::lock_guard lock(activeOpLock_);
  if (!watcher_) {
    watcher_ = std::make_unique<detail::TCPWatcher>(reached_at_, addr_.port, timeout_);
  }
  watcher_->watch(key_of(key), std::move(callback));
}

void TCPStore::queuePush(const std::string& key, const std::vector<uint8_t>& value) {
  const std::lock_guard lock(activeOpLock_);
  client_->ask(Query::QUEUE_PUSH).text(key_of(key)).bytes(value).send(timeout_);
}

std::vector<uint8_t> TCPStore::queuePop(const std::string& key, bool block) {
  const std::lock_guard lock(activeOpLock_);
  const auto deadline = detail::deadline_after(timeout_);
  for (;;) {
    if (block) {
      doWait({key_of(key)}, std::chrono::milliseconds(std::max(1, detail::poll_time(deadline))));
    }
    client_->ask(Query::QUEUE_POP).text(key_of(key)).send(timeout_);
    if (client_->receive_number<int64_t>(timeout_) > 0) {
      return client_->receive_bytes(timeout_);
    }
    if (!block) {
      C10_THROW_ERROR(DistQueueEmptyError, "queue is empty");
    }
    // Another client was faster: wait again.
  }
}

int64_t TCPStore::queueLen(const std::string& key) {
  const std::lock_guard lock(activeOpLock_);
  client_->ask(Query::QUEUE_LEN).text(key_of(key)).send(timeout_);
  return client_->receive_number<int64_t>(timeout_);
}

std::vector<std::string> TCPStore::listKeys() {
  const std::lock_guard lock(activeOpLock_);
  client_->ask(Query::LIST_KEYS).send(timeout_);
  std::vector<std::string> keys;
  for (auto n = client_->receive_number<uint64_t>(timeout_); n > 0; --n) {
    const std::string key = client_->receive_text(timeout_);
    if (key.compare(0, keyPrefix_.size(), keyPrefix_) == 0) {
      keys.push_back(key.substr(keyPrefix_.size()));
    }
  }
  return keys;
}

void TCPStore::barrier(const std::string& key, int64_t world_size, const std::chrono::milliseconds& timeout) {
  TORCH_CHECK_VALUE(world_size > 0, "barrier: world_size must be positive, but got ", world_size);
  const std::lock_guard lock(activeOpLock_);
  const std::string full = key_of(key);
  client_->ask(Query::BARRIER).text(full).number(world_size).send(timeout_);
  if (!client_->receive_stop(timeout)) {
    wait_timeout(timeout, {full});
  }
}

std::string TCPStore::repr() const {
  return c10::str(
      "TCPStore(host=", addr_.host, ", port=", addr_.port, ", server=", server_ != nullptr ? "true" : "false", ")");
}

} // namespace c10d
