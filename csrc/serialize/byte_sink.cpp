#include <csrc/serialize/byte_sink.h>

#include <c10/util/Exception.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ostream>

namespace torch::serialize {

namespace {

constexpr size_t kBufferSize = size_t(1) << 16;

// The file that the name leads to, through symbolic links.
std::string resolve(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) ? std::string(resolved) : path;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The permissions that a newly created file would get. Reading the mask means setting it, which is not safe with
// threads; /proc tells it without.
mode_t default_mode() {
  mode_t mask = 022;
  if (FILE* status = std::fopen("/proc/self/status", "re")) {
    char line[256];
    unsigned value = 0;
    while (std::fgets(line, sizeof line, status)) {
      if (std::sscanf(line, "Umask: %o", &value) == 1) {
        mask = static_cast<mode_t>(value);
        break;
      }
    }
    std::fclose(status);
  }
  return 0666 & ~mask;
}

} // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(resolve(path)) {
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  TORCH_CHECK(!exists || !S_ISDIR(status.st_mode), "cannot write to '", path_, "': it is a directory, not a file");
  regular_ = !exists || S_ISREG(status.st_mode);
  if (!regular_) {
    // Pipes and devices cannot be replaced.
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) {
      fail("cannot open for writing");
    }
    return;
  }
  temporary_ = target_ + ".XXXXXX";
  fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) {
    const int error = errno;
    struct stat folder {};
    temporary_.clear();
    TORCH_CHECK(
        ::stat(folder_of(target_).c_str(), &folder) == 0, "Parent directory ", folder_of(target_), " does not exist.");
    errno = error;
    fail("cannot create a temporary file beside it");
  }
  if (::fchmod(fd_, exists ? status.st_mode & 07777 : default_mode()) != 0) {
    // Only a nicety: some file systems know no permissions.
  }
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

void AtomicFile::fail(const char* what) const {
  const int error = errno;
  TORCH_CHECK(
      false, "writing '", path_, "' failed: ", what, ": ", std::strerror(error),
      regular_ ? ". An older file of this name is as it was." : "");
}

void AtomicFile::put(const char* data, size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(fd_, data, size);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done < 0) {
      fail("write");
    }
    data += done;
    size -= static_cast<size_t>(done);
  }
}

void AtomicFile::flush() {
  put(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::write(const void* data, size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  if (buffer_.size() + size > kBufferSize) {
    flush();
  }
  if (size > kBufferSize) {
    put(bytes, size);
  } else {
    buffer_.insert(buffer_.end(), bytes, bytes + size);
  }
}

void AtomicFile::commit() {
  flush();
  if (!regular_) {
    return;
  }
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP) {
    fail("fsync");
  }
  const int fd = fd_;
  fd_ = -1;
  // Network file systems report late errors here.
  if (::close(fd) != 0) {
    fail("close");
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail("rename");
  }
  temporary_.clear();
  // The new name must last as well.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void StreamSink::write(const void* data, size_t size) {
  stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  TORCH_CHECK(stream_.good(), "writing to the stream failed after ", written_, " bytes: it must be open and have room");
  written_ += size;
}

void FunctionSink::write(const void* data, size_t size) {
  const size_t taken = func_(data, size);
  TORCH_CHECK(
      taken == size, "the writer function took ", taken, " of ", size, " bytes at position ", written_,
      ": it must take all of them");
  written_ += size;
}

void VectorSink::write(const void* data, size_t size) {
  const auto* start = static_cast<const char*>(data);
  bytes.insert(bytes.end(), start, start + size);
}

} // namespace torch::serialize
