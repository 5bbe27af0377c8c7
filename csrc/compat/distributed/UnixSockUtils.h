// poll() under the names of c10d.
#pragma once

#include <csrc/compat/distributed/Utils.h>

#include <poll.h>

#include <vector>

#define CONNECT_SOCKET_OFFSET 2

namespace c10d::tcputil {

inline int poll(struct pollfd* fds, unsigned long nfds, int timeout) {
  return ::poll(fds, nfds, timeout);
}
inline struct ::pollfd getPollfd(int socket, short events) {
  struct ::pollfd entry = {};
  entry.fd = socket;
  entry.events = events;
  return entry;
}
inline void addPollfd(std::vector<struct pollfd>& fds, int socket, short events) {
  fds.push_back(getPollfd(socket, events));
}

} // namespace c10d::tcputil
