// Memory that other processes map, by the descriptor of the one that made it. It has no name, so nothing stays behind.
#pragma once

#include <cstddef>
#include <string>

namespace c10d::detail {

/// A descriptor of so much memory. Throws c10::DistBackendError.
int make_memfd(const char* name, size_t bytes);
/// Throws c10::DistBackendError.
char* map_memfd(int fd, size_t bytes);
/// A memfd of another process, or -1.
int open_memfd_of(int pid, int fd);
/// Throws c10::DistBackendError with what errno says.
[[noreturn]] void segment_error(const std::string& what);

constexpr size_t page_up(size_t bytes) {
  return (bytes + 4095) & ~size_t(4095);
}

} // namespace c10d::detail
