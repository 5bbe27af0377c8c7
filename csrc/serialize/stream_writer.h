// Writes PyTorch's archives, record by record.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/OwnedPtr.h>
#include <csrc/serialize/format_versions.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>

namespace caffe2::serialize {

/// Records become entries of a ZIP file, stored and aligned, in a folder called as the file is. The file comes into
/// being at writeEndOfFile(), or when the writer is destroyed; not when an exception destroys it.
class TORCH_API PyTorchStreamWriter final {
 public:
  /// The CRC-32 of a record is always computed, whatever `compute_crc32` says.
  explicit PyTorchStreamWriter(const std::string& archive_name, bool compute_crc32 = true, uint64_t alignment = 64);
  /// The function takes bytes and returns how many it took: all of them.
  explicit PyTorchStreamWriter(
      const std::function<size_t(const void*, size_t)> writer_func, bool compute_crc32 = true, uint64_t alignment = 64);
  C10_DISABLE_COPY_AND_ASSIGN(PyTorchStreamWriter);
  ~PyTorchStreamWriter();

  /// The version that is written is at least this one.
  void setMinVersion(const uint64_t version);
  /// Throws if there is such a record already. Nothing is compressed: `compress` is for programs written for libtorch.
  void writeRecord(const std::string& name, const void* data, size_t size, bool compress = false);
  /// Adds the records "version" and "byteorder", unless they were written, and the directory.
  void writeEndOfFile();

  const std::unordered_set<std::string>& getAllWrittenRecords();
  bool finalized() const;
  /// The folder of the records.
  const std::string& archiveName();
  /// Known after writeEndOfFile().
  const std::string& serializationId();

 private:
  struct State;
  c10::OwnedPtr<State> state_;
};

} // namespace caffe2::serialize
