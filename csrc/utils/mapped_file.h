#pragma once

#include <c10/macros/Export.h>

#include <cstddef>
#include <string>

namespace torch::utils {

/// A file in memory, read when its bytes are looked at. Writes to the bytes stay in memory. While it is mapped nobody may
/// shorten the file: reading what is gone would end the process.
class TORCH_API MappedFile {
 public:
  /// Throws a c10::Error with the path and the reason if it is not a file that can be read.
  explicit MappedFile(std::string path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// Null when the file is empty.
  unsigned char* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }

 private:
  std::string path_;
  unsigned char* data_ = nullptr;
  size_t size_ = 0;
};

} // namespace torch::utils
