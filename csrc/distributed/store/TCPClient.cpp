// A client's connection: requests leave in one piece.
#include <csrc/distributed/store/TCPClient.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/store/Store.h>

#include <unistd.h>

#include <algorithm>
#include <thread>

namespace c10d::detail {

TCPClient::TCPClient(const std::string& host, uint16_t port, std::chrono::milliseconds timeout)
    : fd_(connect_tcp(host, port, timeout)) {
  ask(Query::VALIDATE).number(kMagic).send(timeout);
  const auto nonce = static_cast<uint32_t>(::getpid());
  ask(Query::PING).number(nonce).send(timeout);
  if (receive_number<uint32_t>(timeout) != nonce) {
    C10_THROW_ERROR(
        DistNetworkError, c10::str("Ping failed, invalid value returned from server at (", host, ", ", port, ")"));
  }
}

TCPClient& TCPClient::ask(Query query) {
  check_usable();
  request_.clear();
  return number(static_cast<uint8_t>(query));
}

TCPClient& TCPClient::text(const std::string& text) {
  number<uint64_t>(text.size());
  request_ += text;
  return *this;
}

TCPClient& TCPClient::bytes(const std::vector<uint8_t>& bytes) {
  TORCH_CHECK_VALUE(
      bytes.size() <= kMaxValueBytes, "TCPStore: a value of ", bytes.size(), " bytes is too long; at most ",
      kMaxValueBytes, " are allowed");
  number<uint64_t>(bytes.size());
  request_.append(bytes.begin(), bytes.end());
  return *this;
}

TCPClient& TCPClient::keys(const std::vector<std::string>& keys) {
  number<uint64_t>(keys.size());
  for (const auto& key : keys) {
    text(key);
  }
  return *this;
}

void TCPClient::check_usable() const {
  if (!usable_) {
    C10_THROW_ERROR(
        DistNetworkError,
        "The connection to the store was lost in an earlier call. Did the remote server shutdown or crash?");
  }
}

void TCPClient::send(std::chrono::milliseconds timeout) {
  usable_ = false;
  send_all(fd_.get(), request_.data(), request_.size(), deadline_after(timeout));
  usable_ = true;
}

void TCPClient::send_in_pieces(std::chrono::milliseconds timeout) {
  usable_ = false;
  const auto deadline = deadline_after(timeout);
  const size_t piece = request_.size() / 4 + 1;
  for (size_t sent = 0; sent < request_.size(); sent += piece) {
    send_all(fd_.get(), request_.data() + sent, std::min(piece, request_.size() - sent), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  usable_ = true;
}

void TCPClient::receive(void* data, size_t size, std::chrono::milliseconds timeout) {
  check_usable();
  usable_ = false;
  if (!receive_all(fd_.get(), data, size, deadline_after(timeout))) {
    C10_THROW_ERROR(DistNetworkError, c10::str("Socket Timeout: no answer of the server in ", timeout.count(), "ms"));
  }
  usable_ = true;
}

std::vector<uint8_t> TCPClient::receive_bytes(std::chrono::milliseconds timeout) {
  const auto size = receive_number<uint64_t>(timeout);
  constexpr uint64_t piece = 1 << 20; // memory is taken as bytes come
  std::vector<uint8_t> bytes;
  while (bytes.size() < size) {
    const size_t at = bytes.size();
    bytes.resize(at + std::min(piece, size - at));
    receive(bytes.data() + at, bytes.size() - at, timeout);
  }
  return bytes;
}

std::string TCPClient::receive_text(std::chrono::milliseconds timeout) {
  const auto bytes = receive_bytes(timeout);
  return std::string(bytes.begin(), bytes.end());
}

bool TCPClient::receive_stop(std::chrono::milliseconds timeout) {
  usable_ = false;
  uint8_t answer = 0;
  const bool answered = receive_all(fd_.get(), &answer, 1, deadline_after(timeout));
  usable_ = true;
  if (answered) {
    return answer == kStopWaiting;
  }
  constexpr auto patience = std::chrono::seconds(5);
  ask(Query::CANCEL_WAIT).send(patience);
  if (receive_number<uint8_t>(patience) == kStopWaiting) {
    receive_number<uint8_t>(patience); // the answers crossed: that of the cancellation follows
    return true;
  }
  return false;
}

} // namespace c10d::detail
