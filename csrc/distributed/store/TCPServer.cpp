// The server of TCPStore: requests are answered when they are complete, in the order of each client.
#include <csrc/distributed/store/TCPServer.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/store/TCPProtocol.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace c10d::detail {

// Reads the arguments of one request from bytes that may not all be there yet: views of them, since it may have to
// begin again when more have come.
class Request {
 public:
  explicit Request(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    T value{};
    if (take(sizeof value)) {
      std::memcpy(&value, bytes_.data() + at_ - sizeof value, sizeof value);
    }
    return value;
  }
  std::string_view text(uint64_t limit) {
    const auto size = number<uint64_t>();
    if (size > limit) {
      bad_ = true;
    }
    return take(size) ? bytes_.substr(at_ - size, size) : std::string_view();
  }
  std::string_view key() {
    return text(kMaxKeyBytes);
  }
  std::string_view value() {
    return text(kMaxValueBytes);
  }
  uint64_t count() {
    const auto count = number<uint64_t>();
    if (count > kMaxKeys) {
      bad_ = true;
    }
    return complete() ? count : 0;
  }
  std::vector<std::string> keys() {
    std::vector<std::string_view> views;
    for (uint64_t n = count(); n > 0 && complete(); --n) {
      views.push_back(key());
    }
    return complete() ? std::vector<std::string>(views.begin(), views.end()) : std::vector<std::string>();
  }

  bool complete() const {
    return !bad_ && needed_ == 0;
  }
  bool bad() const {
    return bad_;
  }
  // Bytes that there must be before reading again can get further.
  size_t needed() const {
    return needed_;
  }
  size_t consumed() const {
    return at_;
  }

 private:
  bool take(uint64_t size) {
    if (!complete()) {
      return false;
    }
    if (size > kMaxRequestBytes - at_) {
      bad_ = true;
      return false;
    }
    if (bytes_.size() - at_ < size) {
      needed_ = at_ + size;
      return false;
    }
    at_ += size;
    return true;
  }

  const std::string_view bytes_;
  size_t at_ = 0;
  size_t needed_ = 0;
  bool bad_ = false;
};

struct TCPServer::Client : Waiter {
  Descriptor fd;
  std::string in;
  std::string out;
  size_t needed = 0;
  uint32_t events = EPOLLIN;
  bool validated = false;

  template <class T>
  void put(T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(const std::string& text) {
    put<uint64_t>(text.size());
    out += text;
  }
};

namespace {

// A client that does not take its answers gets no more of them: its requests wait.
constexpr size_t kMaxUnsent = 1 << 20;
// One that does not take reports loses its connection.
constexpr size_t kMaxUnsentReports = 64 << 20;

template <class T>
T checked(T result, const char* what) {
  if (result < 0) {
    C10_THROW_ERROR(DistNetworkError, c10::str(what, ": ", strerror(errno)));
  }
  return result;
}

} // namespace

TCPServer::TCPServer(Descriptor listening)
    : listening_(std::move(listening)),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      stop_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      port_(port_of(listening_.get())),
      content_([this](Waiter& waiter) {
        auto& client = static_cast<Client&>(waiter);
        client.put(kStopWaiting);
        woken_.push_back(client.fd.get());
      }) {
  for (const int fd : {listening_.get(), stop_.get()}) {
    epoll_event event{EPOLLIN, {}};
    event.data.fd = fd;
    checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
  }
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "tcp_store");
}

TCPServer::~TCPServer() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

std::shared_ptr<TCPServer> TCPServer::start(uint16_t port, int listen_fd, bool shared) {
  static std::mutex mutex;
  static auto& servers = *new std::map<uint16_t, std::weak_ptr<TCPServer>>();
  const std::lock_guard lock(mutex);
  if (shared && port != 0) {
    if (const auto server = servers[port].lock()) {
      return server;
    }
  }
  if (listen_fd >= 0) {
    const int flags = checked(::fcntl(listen_fd, F_GETFL), "masterListenFd");
    checked(::fcntl(listen_fd, F_SETFL, flags | O_NONBLOCK), "masterListenFd");
    ::listen(listen_fd, 2048); // does no harm where it listens already
  }
  auto server = std::make_shared<TCPServer>(listen_fd >= 0 ? Descriptor(listen_fd) : listen_tcp(port));
  if (listen_fd >= 0 && port != 0 && server->port() != port) {
    C10_THROW_ERROR(
        DistStoreError,
        c10::str(
            "listen fd ", listen_fd, " is bound to port ", server->port(), ", expected to be bound to port ", port));
  }
  if (shared) {
    servers[server->port()] = server;
  }
  return server;
}

void TCPServer::run() {
  std::array<epoll_event, 64> events;
  for (;;) {
    const int n = ::epoll_wait(epoll_.get(), events.data(), events.size(), accepting_ ? -1 : 100);
    if (!accepting_) {
      set_accepting(true); // descriptors may be free again
    }
    for (int i = 0; i < n; ++i) {
      const int fd = events[i].data.fd;
      if (fd == stop_.get()) {
        return;
      }
      if (fd == listening_.get()) {
        accept_all();
        continue;
      }
      const auto found = clients_.find(fd);
      if (found == clients_.end()) {
        continue;
      }
      Client& client = *found->second;
      bool alive = false;
      try {
        alive = (events[i].events & EPOLLOUT) == 0 || flush(client);
        alive = alive && ((events[i].events & ~uint32_t(EPOLLOUT)) == 0 || receive(client));
        alive = alive && handle_buffered(client);
      } catch (const std::exception&) {
        alive = false; // what it asked for cannot be done: a sum with text that is no number, no memory
      }
      if (!alive) {
        drop(fd);
      }
    }
    for (const int fd : std::exchange(woken_, {})) {
      const auto found = clients_.find(fd);
      if (found != clients_.end() && !flush(*found->second)) {
        drop(fd);
      }
    }
  }
}

void TCPServer::set_accepting(bool accepting) {
  epoll_event event{accepting ? uint32_t(EPOLLIN) : 0, {}};
  event.data.fd = listening_.get();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listening_.get(), &event);
  accepting_ = accepting;
}

void TCPServer::accept_all() {
  for (;;) {
    const int fd = ::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        set_accepting(false);
        return;
      }
      if (errno == EINTR || errno == ECONNABORTED) {
        continue;
      }
      return;
    }
    auto client = std::make_unique<Client>();
    client->fd = Descriptor(fd);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{EPOLLIN, {}};
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) {
      clients_[fd] = std::move(client);
    }
  }
}

bool TCPServer::receive(Client& client) {
  std::array<char, 64 << 10> bytes;
  const ssize_t n = ::recv(client.fd.get(), bytes.data(), bytes.size(), 0);
  if (n > 0) {
    client.in.append(bytes.data(), static_cast<size_t>(n));
    return true;
  }
  return n < 0 && (errno == EAGAIN || errno == EINTR);
}

bool TCPServer::handle_buffered(Client& client) {
  for (bool again = true; again;) {
    again = false;
    size_t begin = 0;
    while (begin < client.in.size() && client.out.size() <= kMaxUnsent && client.in.size() - begin >= client.needed) {
      Request request(std::string_view(client.in).substr(begin));
      const auto query = request.number<uint8_t>();
      if (!answer(client, query, request)) {
        return false;
      }
      client.needed = request.needed();
      if (!request.complete()) {
        break;
      }
      begin += request.consumed();
      again = true;
    }
    client.in.erase(0, begin);
    if (!flush(client)) {
      return false;
    }
  }
  return true;
}

// False for what breaks the protocol. An incomplete request changes nothing.
bool TCPServer::answer(Client& client, uint8_t query, Request& request) {
  if (client.waiting() && query != static_cast<uint8_t>(Query::CANCEL_WAIT)) {
    return false;
  }
  if (client.validated == (query == static_cast<uint8_t>(Query::VALIDATE))) {
    return false;
  }
  const auto complete = [&] { return request.complete(); };
  switch (static_cast<Query>(query)) {
    case Query::VALIDATE: {
      const auto magic = request.number<uint32_t>();
      client.validated = complete() && magic == kMagic;
      return client.validated || (!complete() && !request.bad());
    }
    case Query::PING: {
      const auto nonce = request.number<uint32_t>();
      if (complete()) {
        client.put(nonce);
      }
      break;
    }
    case Query::SET:
    case Query::APPEND:
    case Query::QUEUE_PUSH: {
      const auto key_bytes = request.key();
      const auto value_bytes = request.value();
      if (complete()) {
        const std::string key(key_bytes);
        std::string value(value_bytes);
        if (query == static_cast<uint8_t>(Query::SET)) {
          change(key, [&] { content_.set(key, std::move(value)); });
        } else if (query == static_cast<uint8_t>(Query::APPEND)) {
          change(key, [&] { content_.append(key, value); });
        } else {
          content_.push(key, std::move(value));
        }
      }
      break;
    }
    case Query::COMPARE_SET: {
      const auto key = request.key();
      const auto expected = request.value();
      const auto desired = request.value();
      if (complete()) {
        const std::string* now = content_.find(std::string(key));
        const auto compare_set = [&] {
          client.put_text(content_.compare_set(std::string(key), std::string(expected), std::string(desired)));
        };
        if (now == nullptr ? expected.empty() : *now == expected) {
          change(std::string(key), compare_set);
        } else {
          compare_set();
        }
      }
      break;
    }
    case Query::GET: {
      const std::string key(request.key());
      if (complete()) {
        const std::string* value = content_.find(key);
        client.put_text(value == nullptr ? std::string() : *value);
      }
      break;
    }
    case Query::ADD: {
      const std::string key(request.key());
      const auto delta = request.number<int64_t>();
      if (complete()) {
        change(key, [&] { client.put(content_.add(key, delta)); });
      }
      break;
    }
    case Query::CHECK:
    case Query::WAIT: {
      const auto keys = request.keys();
      if (!complete()) {
        break;
      }
      if (query == static_cast<uint8_t>(Query::WAIT)) {
        content_.forget(client);
        if (content_.wait(client, keys)) {
          client.put(kStopWaiting);
        }
      } else {
        uint8_t absent = 0;
        for (const auto& key : keys) {
          absent |= static_cast<uint8_t>(!content_.has(key));
        }
        client.put(absent);
      }
      break;
    }
    case Query::GETNUMKEYS:
      client.put<int64_t>(static_cast<int64_t>(content_.map().size()));
      break;
    case Query::DELETE_KEY: {
      const std::string key(request.key());
      if (complete()) {
        change(key, [&] { client.put<int64_t>(content_.erase(key)); });
      }
      break;
    }
    case Query::MULTI_GET: {
      const auto keys = request.keys();
      for (size_t i = 0; complete() && i < keys.size(); ++i) {
        const std::string* value = content_.find(keys[i]);
        client.put_text(value == nullptr ? std::string() : *value);
      }
      break;
    }
    case Query::MULTI_SET: {
      std::vector<std::pair<std::string_view, std::string_view>> pairs;
      for (uint64_t n = request.count(); n > 0 && complete(); --n) {
        const auto key = request.key();
        pairs.emplace_back(key, request.value());
      }
      for (size_t i = 0; complete() && i < pairs.size(); ++i) {
        const std::string key(pairs[i].first);
        change(key, [&] { content_.set(key, std::string(pairs[i].second)); });
      }
      break;
    }
    case Query::CANCEL_WAIT:
      content_.forget(client);
      client.put(kWaitCanceled);
      break;
    case Query::QUEUE_POP: {
      const std::string key(request.key());
      if (complete()) {
        const auto entry = content_.pop(key);
        content_.forget(client, client.owed_queue == key && !entry.empty());
        client.put<int64_t>(static_cast<int64_t>(entry.size()));
        if (!entry.empty()) {
          client.put_text(entry[0]);
        }
      }
      break;
    }
    case Query::QUEUE_LEN: {
      const std::string key(request.key());
      if (complete()) {
        client.put(content_.queue_length(key));
      }
      break;
    }
    case Query::LIST_KEYS:
      client.put<uint64_t>(content_.map().size());
      for (const auto& [key, value] : content_.map()) {
        client.put_text(key);
      }
      break;
    case Query::BARRIER: {
      const std::string key(request.key());
      const auto size = request.number<int64_t>();
      if (complete() && content_.barrier(client, key, size)) {
        client.put(kStopWaiting);
      }
      break;
    }
    case Query::WATCH_KEY: {
      const std::string key(request.key());
      if (complete()) {
        auto& fds = watching_[key];
        if (std::find(fds.begin(), fds.end(), client.fd.get()) == fds.end()) {
          fds.push_back(client.fd.get());
        }
        client.put(WatchReport::kWatching);
      }
      break;
    }
    default:
      return false;
  }
  return !request.bad();
}

// Changes a key, and reports it to those who watch it; one that was not there and is not there is no change.
void TCPServer::change(const std::string& key, const std::function<void()>& how) {
  const auto watching = watching_.find(key);
  if (watching == watching_.end()) {
    return how();
  }
  const auto value_of = [&] {
    const std::string* value = content_.find(key);
    return value == nullptr ? std::nullopt : std::optional<std::string>(*value);
  };
  const auto before = value_of();
  how();
  const auto after = value_of();
  if (!before && !after) {
    return;
  }
  for (const int fd : watching->second) {
    Client& client = *clients_.at(fd);
    client.put(!before ? WatchReport::kCreated : !after ? WatchReport::kDeleted : WatchReport::kUpdated);
    for (const std::string& text : {key, before.value_or(""), after.value_or("")}) {
      client.put_text(text);
    }
    woken_.push_back(fd);
  }
}

bool TCPServer::flush(Client& client) {
  if (client.out.size() > kMaxUnsentReports) {
    return false;
  }
  size_t at = 0;
  while (at < client.out.size()) {
    const ssize_t n = ::send(client.fd.get(), client.out.data() + at, client.out.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
      return false;
    }
    if (n < 0 && errno == EAGAIN) {
      break;
    }
    at += n > 0 ? static_cast<size_t>(n) : 0;
  }
  client.out.erase(0, at);
  const uint32_t wanted =
      (client.out.size() <= kMaxUnsent ? uint32_t(EPOLLIN) : 0) | (client.out.empty() ? 0 : uint32_t(EPOLLOUT));
  if (wanted != client.events) {
    epoll_event event{wanted, {}};
    event.data.fd = client.fd.get();
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, client.fd.get(), &event);
    client.events = wanted;
  }
  return true;
}

void TCPServer::drop(int fd) {
  const auto found = clients_.find(fd);
  content_.forget(*found->second);
  for (auto watching = watching_.begin(); watching != watching_.end();) {
    auto& fds = watching->second;
    fds.erase(std::remove(fds.begin(), fds.end(), fd), fds.end());
    watching = fds.empty() ? watching_.erase(watching) : std::next(watching);
  }
  clients_.erase(found);
}

} // namespace c10d::detail
