// The server of TCPStore: one thread with epoll for all clients.
#pragma once

#include <csrc/distributed/store/Socket.h>
#include <csrc/distributed/store/StoreContent.h>

#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

namespace c10d::detail {

/// Serves until its end. A client that breaks the protocol loses its connection; others do not notice.
class TCPServer {
 public:
  /// Takes a listening socket.
  explicit TCPServer(Descriptor listening);
  ~TCPServer();
  TCPServer(const TCPServer&) = delete;
  TCPServer& operator=(const TCPServer&) = delete;

  /// A server at this port, or at `listen_fd` if that is a descriptor. With `shared` the one that this process has
  /// there already.
  static std::shared_ptr<TCPServer> start(uint16_t port, int listen_fd, bool shared);

  uint16_t port() const {
    return port_;
  }

 private:
  struct Client;

  void run();
  void accept_all();
  void set_accepting(bool accepting);
  bool receive(Client& client);
  bool handle_buffered(Client& client);
  bool answer(Client& client, uint8_t query, class Request& request);
  void change(const std::string& key, const std::function<void()>& how);
  bool flush(Client& client);
  void drop(int fd);

  Descriptor listening_;
  Descriptor epoll_;
  Descriptor stop_;
  uint16_t port_ = 0;
  bool accepting_ = true;
  std::unordered_map<int, std::unique_ptr<Client>> clients_;
  std::vector<int> woken_; // whose wait another client has ended
  std::unordered_map<std::string, std::vector<int>> watching_; // clients by the keys whose changes they hear of
  StoreContent content_;
  std::thread thread_;
};

} // namespace c10d::detail
