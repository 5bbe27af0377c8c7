// Tensors over the memory of mapped files.
#include <aten/Functions.h>
#include <aten/core/from_blob.h>
#include <aten/native/support/OutArgument.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace at::native {
namespace {

std::string reason() {
  return std::string(std::strerror(errno)) + " (" + std::to_string(errno) + ")";
}

class MappedDescriptor {
 public:
  MappedDescriptor(const std::string& path, bool shared)
      : fd_(::open(path.c_str(), O_CLOEXEC | (shared ? O_RDWR | O_CREAT : O_RDONLY), S_IRUSR | S_IWUSR)) {
    TORCH_CHECK(
        fd_ >= 0, "unable to open file <", path, "> in ", shared ? "read-write" : "read-only", " mode: ", reason());
  }
  ~MappedDescriptor() {
    ::close(fd_);
  }
  MappedDescriptor(const MappedDescriptor&) = delete;
  MappedDescriptor& operator=(const MappedDescriptor&) = delete;
  int get() const {
    return fd_;
  }

 private:
  int fd_;
};

/// Makes sure that the file holds `bytes`: a shared one grows, a private one must.
void require_bytes(const MappedDescriptor& file, const std::string& path, size_t bytes, bool shared) {
  struct stat status {};
  TORCH_CHECK(::fstat(file.get(), &status) == 0, "unable to stat the file <", path, ">: ", reason());
  TORCH_CHECK(S_ISREG(status.st_mode), "unable to map <", path, ">: it is not a regular file");
  if (static_cast<size_t>(status.st_size) >= bytes) {
    return;
  }
  TORCH_CHECK(
      shared, "file <", path, "> size <", status.st_size, "> is smaller than the required mapping size <", bytes, ">");
  TORCH_CHECK(
      ::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0, "unable to resize file <", path,
      "> to the right size of ", bytes, " bytes: ", reason());
}

} // namespace

Tensor from_file(
    std::string_view filename,
    std::optional<bool> shared_,
    std::optional<int64_t> size_,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  TORCH_CHECK(!pin_memory.value_or(false), "tensors constructed from a file cannot be pinned");
  TORCH_CHECK(
      layout.value_or(kStrided) == kStrided && device.value_or(kCPU).is_cpu(),
      "from_file: the memory of a file is a strided tensor on the CPU, but layout ", layout.value_or(kStrided),
      " and device ", device.value_or(kCPU), " were asked for");
  TORCH_CHECK(
      filename.find('\0') == std::string_view::npos,
      "from_file: a file name ends at its first zero byte; give one without");
  const std::string path(filename);
  const bool shared = shared_.value_or(false);
  const int64_t size = size_.value_or(0);
  const c10::TensorOptions options = c10::TensorOptions().dtype(dtype.value_or(c10::get_default_dtype_as_scalartype()));
  int64_t bytes = 0;
  TORCH_CHECK(
      size >= 0 && !__builtin_mul_overflow(size, static_cast<int64_t>(options.dtype().itemsize()), &bytes),
      "from_file: the number of elements must not be negative, and their bytes must fit 64 bits, but got ", size);
  const MappedDescriptor file(path, shared);
  require_bytes(file, path, static_cast<size_t>(bytes), shared);
  if (bytes == 0) {
    return at::empty({0}, options);
  }
  void* memory = ::mmap(
      nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, file.get(), 0);
  TORCH_CHECK(memory != MAP_FAILED, "unable to mmap ", bytes, " bytes from file <", path, ">: ", reason());
  const auto unmap = [bytes](void* start) { ::munmap(start, static_cast<size_t>(bytes)); };
  return at::from_blob(memory, {size}, unmap, options);
}

Tensor& from_file_out(std::string_view filename, std::optional<bool> shared, std::optional<int64_t> size, Tensor& out) {
  TORCH_CHECK(out.defined(), "from_file: the output tensor is undefined");
  copy_into_out(
      "from_file", out,
      at::native::from_file(filename, shared, size, out.scalar_type(), std::nullopt, std::nullopt, std::nullopt));
  return out;
}

} // namespace at::native
