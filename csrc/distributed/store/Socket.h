// Stream sockets with deadlines.
#pragma once

#include <c10/macros/Export.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace c10d::detail {

using Deadline = std::chrono::steady_clock::time_point;

/// Milliseconds until then for poll(): at least 0, rounded up, at most an hour.
TORCH_API int poll_time(Deadline deadline);

/// A file descriptor that is closed at the end.
class TORCH_API Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const {
    return fd_;
  }
  explicit operator bool() const {
    return fd_ >= 0;
  }
  void close();

 private:
  int fd_ = -1;
};

/// Listens on all addresses at `port`, or with 0 at any free one; nonblocking. Throws c10::DistNetworkError.
TORCH_API Descriptor listen_tcp(uint16_t port);
/// The port that a listening socket is bound to.
TORCH_API uint16_t port_of(int fd);
/// Connects, and tries again until the deadline, for the other side may not listen yet. Nonblocking.
TORCH_API Descriptor connect_tcp(const std::string& host, uint16_t port, std::chrono::milliseconds timeout);

/// Sends all bytes of a nonblocking socket, or throws c10::DistNetworkError.
TORCH_API void send_all(int fd, const void* data, size_t size, Deadline deadline);
/// Receives as many bytes; false if none has come by the deadline. Throws when the other side is gone or stops amid.
TORCH_API bool receive_all(int fd, void* data, size_t size, Deadline deadline);

} // namespace c10d::detail
