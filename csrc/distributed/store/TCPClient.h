// A client's connection to a TCPStore's server.
#pragma once

#include <csrc/distributed/store/Socket.h>
#include <csrc/distributed/store/TCPProtocol.h>

#include <string>
#include <vector>

namespace c10d::detail {

/// Builds one request after the other and reads answers. An exception amid an answer leaves the connection unusable:
/// all later calls say so.
class TCPClient {
 public:
  TCPClient(const std::string& host, uint16_t port, std::chrono::milliseconds timeout);

  /// To wait for what comes.
  int fd() const {
    return fd_.get();
  }
  /// Begins a request, whose arguments follow.
  TCPClient& ask(Query query);
  TCPClient& text(const std::string& text);
  TCPClient& bytes(const std::vector<uint8_t>& bytes);
  TCPClient& keys(const std::vector<std::string>& keys);
  template <class T>
  TCPClient& number(T value) {
    request_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  /// Sends it.
  void send(std::chrono::milliseconds timeout);
  /// The same in four pieces, each a while after the one before.
  void send_in_pieces(std::chrono::milliseconds timeout);

  template <class T>
  T receive_number(std::chrono::milliseconds timeout) {
    T value{};
    receive(&value, sizeof value, timeout);
    return value;
  }
  std::vector<uint8_t> receive_bytes(std::chrono::milliseconds timeout);
  std::string receive_text(std::chrono::milliseconds timeout);
  /// The answer to WAIT or BARRIER; false, and the wait is cancelled, if it does not come in time.
  bool receive_stop(std::chrono::milliseconds timeout);

 private:
  void receive(void* data, size_t size, std::chrono::milliseconds timeout);
  void check_usable() const;

  Descriptor fd_;
  std::string request_;
  bool usable_ = true;
};

} // namespace c10d::detail
