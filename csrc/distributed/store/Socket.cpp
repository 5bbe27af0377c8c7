// Stream sockets with deadlines: every call that may block polls first.
#include <csrc/distributed/store/Socket.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/store/Store.h>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

namespace c10d::detail {

int poll_time(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 3600 * 1000));
}

Descriptor::~Descriptor() {
  close();
}

void Descriptor::close() {
  if (fd_ >= 0) {
    ::close(std::exchange(fd_, -1));
  }
}

Descriptor listen_tcp(uint16_t port) {
  int error = 0;
  for (const int family : {AF_INET6, AF_INET}) {
    Descriptor fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd) {
      error = errno;
      continue;
    }
    const int on = 1;
    const int off = 0;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_storage address{};
    socklen_t size = 0;
    if (family == AF_INET6) {
      ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
      auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
      v6->sin6_family = AF_INET6;
      v6->sin6_addr = in6addr_any;
      v6->sin6_port = htons(port);
      size = sizeof *v6;
    } else {
      auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
      v4->sin_family = AF_INET;
      v4->sin_addr.s_addr = htonl(INADDR_ANY);
      v4->sin_port = htons(port);
      size = sizeof *v4;
    }
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(fd.get(), 2048) == 0) {
      return fd;
    }
    error = errno;
  }
  C10_THROW_ERROR(
      DistNetworkError,
      c10::str(
          "The server socket has failed to listen on any local network address. port: ", port,
          ", message: ", strerror(error), ". With port 0 a free one is taken"));
}

uint16_t port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    C10_THROW_ERROR(DistNetworkError, c10::str("The port of the socket is unknown: ", strerror(errno)));
  }
  return ntohs(
      address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                    : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

namespace {

// One attempt with one address; the reason if it failed.
int try_address(const addrinfo& address, Deadline deadline, Descriptor& connected) {
  Descriptor fd(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) {
    return errno;
  }
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) {
      return errno;
    }
    pollfd poll{fd.get(), POLLOUT, 0};
    if (::poll(&poll, 1, poll_time(deadline)) <= 0) {
      return ETIMEDOUT;
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      return error;
    }
  }
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connected = std::move(fd);
  return 0;
}

// Waits for an event of the socket; false after the deadline.
bool wait_ready(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd poll{fd, events, 0};
    const int ready = ::poll(&poll, 1, poll_time(deadline));
    if (ready > 0) {
      return true;
    }
    if (ready == 0 && std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
    if (ready < 0 && errno != EINTR) {
      C10_THROW_ERROR(DistNetworkError, strerror(errno));
    }
  }
}

} // namespace

Descriptor connect_tcp(const std::string& host, uint16_t port, std::chrono::milliseconds timeout) {
  const Deadline deadline = deadline_after(timeout);
  std::string reason;
  for (auto pause = std::chrono::milliseconds(10);; pause = std::min(pause * 2, std::chrono::milliseconds(500))) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    if (failed != 0) {
      reason = ::gai_strerror(failed);
    } else {
      const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
      for (const addrinfo* address = list; address != nullptr; address = address->ai_next) {
        Descriptor connected;
        const int error = try_address(*address, deadline, connected);
        if (error == 0) {
          return connected;
        }
        reason = strerror(error);
      }
    }
    if (std::chrono::steady_clock::now() + pause >= deadline) {
      C10_THROW_ERROR(
          DistNetworkError,
          c10::str(
              "The client socket has timed out after ", timeout.count(), "ms while trying to connect to (", host, ", ",
              port, "): ", reason, ". Is the process that serves the store running?"));
    }
    std::this_thread::sleep_for(pause);
  }
}

void send_all(int fd, const void* data, size_t size, Deadline deadline) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::send(fd, bytes, size, MSG_NOSIGNAL);
    if (n > 0) {
      bytes += n;
      size -= static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      if (!wait_ready(fd, POLLOUT, deadline)) {
        C10_THROW_ERROR(DistNetworkError, "Socket Timeout: the server does not take what is sent");
      }
    } else if (errno != EINTR) {
      C10_THROW_ERROR(
          DistNetworkError,
          c10::str("Failed to send: ", strerror(errno), ". Did the remote server shutdown or crash?"));
    }
  }
}

bool receive_all(int fd, void* data, size_t size, Deadline deadline) {
  auto* bytes = static_cast<char*>(data);
  for (size_t at = 0; at < size;) {
    const ssize_t n = ::recv(fd, bytes + at, size - at, 0);
    if (n > 0) {
      at += static_cast<size_t>(n);
    } else if (n == 0) {
      C10_THROW_ERROR(
          DistNetworkError,
          "Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?");
    } else if (errno == EAGAIN) {
      if (!wait_ready(fd, POLLIN, deadline)) {
        if (at == 0) {
          return false;
        }
        C10_THROW_ERROR(DistNetworkError, "Socket Timeout: the server stopped within an answer");
      }
    } else if (errno != EINTR) {
      C10_THROW_ERROR(
          DistNetworkError,
          c10::str("Failed to recv: ", strerror(errno), ". Did the remote server shutdown or crash?"));
    }
  }
  return true;
}

} // namespace c10d::detail
