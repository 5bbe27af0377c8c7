#include <csrc/utils/mapped_file.h>

#include <c10/util/Exception.h>
#include <c10/util/ScopeExit.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace torch::utils {

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  TORCH_CHECK(file >= 0, "Error opening file ", path_, ": ", std::strerror(errno));
  const auto closing = c10::make_scope_exit([file] { close(file); });
  struct stat status {};
  TORCH_CHECK(fstat(file, &status) == 0, "Error reading file ", path_, ": ", std::strerror(errno));
  TORCH_CHECK(
      S_ISREG(status.st_mode), "Error reading file ", path_, ": it is ",
      S_ISDIR(status.st_mode) ? "a folder" : "not a regular file");
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) {
    return;
  }
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
  TORCH_CHECK(memory != MAP_FAILED, "Error mapping file ", path_, " (", size_, " bytes): ", std::strerror(errno));
  data_ = static_cast<unsigned char*>(memory);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    munmap(data_, size_);
  }
}

} // namespace torch::utils
