#include <csrc/serialize/file_bytes.h>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <istream>

namespace torch::serialize {

namespace {

constexpr size_t kBlock = size_t(1) << 20;

struct Descriptor {
  explicit Descriptor(const std::string& path) : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    TORCH_CHECK(fd >= 0, "open file failed: cannot open '", path, "' for reading: ", std::strerror(errno));
  }
  ~Descriptor() {
    ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd;
};

struct stat status_of(const Descriptor& file, const std::string& path) {
  struct stat status {};
  TORCH_CHECK(::fstat(file.fd, &status) == 0, "cannot read the size of '", path, "': ", std::strerror(errno));
  TORCH_CHECK(!S_ISDIR(status.st_mode), "open file failed: '", path, "' is a directory, not a file");
  return status;
}

std::vector<char> read_all(const Descriptor& file, const std::string& path, size_t expected) {
  std::vector<char> bytes(expected);
  size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) {
      bytes.resize(filled + kBlock);
    }
    const ssize_t got = ::read(file.fd, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    TORCH_CHECK(got >= 0, "reading '", path, "' failed at byte ", filled, ": ", std::strerror(errno));
    if (got == 0) {
      break;
    }
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

} // namespace

FileBytes FileBytes::take(std::vector<char> bytes, std::string name) {
  auto owner = std::make_shared<std::vector<char>>(std::move(bytes));
  const auto* data = reinterpret_cast<const uint8_t*>(owner->data());
  const size_t size = owner->size();
  return FileBytes(std::move(owner), data, size, Kind::Memory, std::move(name));
}

FileBytes FileBytes::map(const std::string& path) {
  const Descriptor file(path);
  const struct stat status = status_of(file, path);
  std::string name = "file '" + path + "'";
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    return take(read_all(file, path, 0), std::move(name));
  }
  const size_t size = static_cast<size_t>(status.st_size);
  void* start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.fd, 0);
  // Some file systems cannot map.
  if (start == MAP_FAILED) {
    return take(read_all(file, path, size), std::move(name));
  }
  std::shared_ptr<void> owner(start, [size](void* mapping) { ::munmap(mapping, size); });
  return FileBytes(std::move(owner), static_cast<const uint8_t*>(start), size, Kind::MappedFile, std::move(name));
}

FileBytes FileBytes::read(const std::string& path) {
  const Descriptor file(path);
  const struct stat status = status_of(file, path);
  const size_t expected = S_ISREG(status.st_mode) ? static_cast<size_t>(status.st_size) : 0;
  return take(read_all(file, path, expected), "file '" + path + "'");
}

FileBytes FileBytes::of_stream_of_size(std::istream& stream, size_t size) {
  // Pages that nothing is written to take no memory, should the stream end before the size that it told.
  void* start =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, 0);
  TORCH_CHECK(start != MAP_FAILED, "reading the stream failed: no memory for its ", size, " bytes");
  std::shared_ptr<void> owner(start, [size](void* pages) { ::munmap(pages, size); });
  ::madvise(start, size, MADV_HUGEPAGE); // where it is refused, small pages do
  stream.read(static_cast<char*>(start), static_cast<std::streamsize>(size));
  TORCH_CHECK(
      !stream.bad() && stream.gcount() == static_cast<std::streamsize>(size), "reading the stream failed after ",
      stream.gcount(), " of ", size, " bytes: it must be open and readable to its end");
  stream.clear(std::ios::eofbit);
  return FileBytes(std::move(owner), static_cast<const uint8_t*>(start), size, Kind::Pages, "stream");
}

FileBytes FileBytes::read(std::istream& stream) {
  std::vector<char> bytes;
  TORCH_CHECK(!stream.fail(), "reading the stream failed: it is not open, or an operation on it has failed before");
  stream.clear();
  if (stream.tellg() != std::istream::pos_type(-1)) {
    stream.seekg(0, std::istream::end);
    const auto size = static_cast<std::streamoff>(stream.tellg());
    stream.clear();
    stream.seekg(0);
    // Smaller ones do not pay for pages of their own.
    if (stream && size > static_cast<std::streamoff>(kBlock)) {
      return of_stream_of_size(stream, static_cast<size_t>(size));
    }
  }
  while (stream) {
    const size_t filled = bytes.size();
    bytes.resize(filled + kBlock);
    stream.read(bytes.data() + filled, kBlock);
    bytes.resize(filled + static_cast<size_t>(stream.gcount()));
  }
  TORCH_CHECK(
      !stream.bad() && stream.eof(), "reading the stream failed after ", bytes.size(),
      " bytes: it must be open and readable to its end");
  stream.clear(std::ios::eofbit);
  return take(std::move(bytes), "stream");
}

FileBytes FileBytes::read(
    const std::function<size_t(uint64_t pos, void* buffer, size_t nbytes)>& read_func, uint64_t size) {
  std::vector<char> bytes(size);
  uint64_t filled = 0;
  while (filled < size) {
    const size_t got = read_func(filled, bytes.data() + filled, size - filled);
    TORCH_CHECK(
        got > 0 && got <= size - filled, "the read function gave ", got, " bytes at position ", filled, ", where 1 to ",
        size - filled, " were asked for");
    filled += got;
  }
  return take(std::move(bytes), "data of the read function");
}

FileBytes FileBytes::view(const void* data, size_t size) {
  return FileBytes(nullptr, static_cast<const uint8_t*>(data), size, Kind::Memory, "buffer");
}

c10::Storage FileBytes::storage(size_t offset, size_t size, size_t alignment) const {
  const uint8_t* start = data_ + offset;
  if (kind_ != Kind::Memory && size > 0 && reinterpret_cast<uintptr_t>(start) % alignment == 0) {
    auto* keeper = new std::shared_ptr<void>(owner_);
    c10::DataPtr data(
        const_cast<uint8_t*>(start), keeper, [](void* context) { delete static_cast<std::shared_ptr<void>*>(context); },
        c10::DeviceType::CPU);
    return c10::Storage(c10::Storage::use_byte_size_t(), size, std::move(data));
  }
  c10::Allocator* allocator = c10::GetCPUAllocator();
  c10::Storage copy(c10::Storage::use_byte_size_t(), size, allocator->allocate(size), allocator, /*resizable=*/true);
  if (size > 0) {
    std::memcpy(copy.mutable_data(), start, size);
  }
  return copy;
}

} // namespace torch::serialize
