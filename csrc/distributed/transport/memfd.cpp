// Memory by descriptor.
#include <csrc/distributed/transport/memfd.h>

#include <c10/util/Exception.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace c10d::detail {

void segment_error(const std::string& what) {
  C10_THROW_ERROR(DistBackendError, c10::str("shm: ", what, ": ", strerror(errno)));
}

int make_memfd(const char* name, size_t bytes) {
  const int fd = ::memfd_create(name, MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    segment_error("cannot make shared memory");
  }
  return fd;
}

char* map_memfd(int fd, size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (memory == MAP_FAILED) {
    segment_error("cannot map shared memory");
  }
  return static_cast<char*>(memory);
}

int open_memfd_of(int pid, int fd) {
  return ::open(c10::str("/proc/", pid, "/fd/", fd).c_str(), O_RDWR | O_CLOEXEC);
}

} // namespace c10d::detail
