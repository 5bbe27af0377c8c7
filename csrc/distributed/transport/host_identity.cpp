// Which ranks share a host.
#include <csrc/distributed/transport/host_identity.h>

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

namespace c10d::detail {

std::string host_identity() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, boot);
  struct stat space {};
  ::stat("/proc/self/ns/pid", &space);
  return boot + "/" + std::to_string(space.st_ino);
}

bool on_one_host(Store& store, int rank, int size, std::chrono::milliseconds timeout) {
  if (size == 1) {
    return true;
  }
  const std::string mine = host_identity();
  store.set("host/" + std::to_string(rank), mine);
  std::vector<std::string> keys;
  for (int other = 0; other < size; ++other) {
    keys.push_back("host/" + std::to_string(other));
  }
  store.wait(keys, timeout); // the store's own timeout is not ours to change: other ranks may be threads
  const auto hosts = store.multiGet(keys);
  return std::all_of(hosts.begin(), hosts.end(), [&](const auto& host) {
    return std::equal(host.begin(), host.end(), mine.begin(), mine.end());
  });
}

} // namespace c10d::detail
