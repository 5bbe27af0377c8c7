// Where a PyTorchStreamReader reads from.
#pragma once

#include <c10/macros/Macros.h>
#include <csrc/serialize/file_bytes.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <string>

namespace caffe2::serialize {

/// Bytes at positions; programs derive from it.
class TORCH_API ReadAdapterInterface {
 public:
  virtual ~ReadAdapterInterface();
  virtual size_t size() const = 0;
  /// Reads at most `n` bytes from position `pos` and returns how many it read. `what` says for what, in messages.
  virtual size_t read(uint64_t pos, void* buf, size_t n, const char* what = "") const = 0;
};

/// A file, mapped.
class TORCH_API FileAdapter final : public ReadAdapterInterface {
 public:
  C10_DISABLE_COPY_AND_ASSIGN(FileAdapter);
  explicit FileAdapter(const std::string& file_name);
  ~FileAdapter() override;
  size_t size() const override {
    return bytes_.size();
  }
  size_t read(uint64_t pos, void* buf, size_t n, const char* what = "") const override;
  const torch::serialize::FileBytes& bytes() const {
    return bytes_;
  }

 private:
  torch::serialize::FileBytes bytes_;
};

/// A stream that can seek. The program keeps it.
class TORCH_API IStreamAdapter final : public ReadAdapterInterface {
 public:
  C10_DISABLE_COPY_AND_ASSIGN(IStreamAdapter);
  explicit IStreamAdapter(std::istream* istream) : istream_(istream) {}
  ~IStreamAdapter() override;
  size_t size() const override;
  size_t read(uint64_t pos, void* buf, size_t n, const char* what = "") const override;

 private:
  void check(const char* what) const;
  std::istream* istream_;
};

/// Memory that the program keeps.
class MemoryReadAdapter final : public ReadAdapterInterface {
 public:
  explicit MemoryReadAdapter(const void* data, off_t size) : data_(data), size_(static_cast<size_t>(size)) {}
  size_t size() const override {
    return size_;
  }
  size_t read(uint64_t pos, void* buf, size_t n, const char* = "") const override {
    if (pos >= size_) {
      return 0;
    }
    const size_t count = std::min<size_t>(n, size_ - pos);
    std::memcpy(buf, static_cast<const char*>(data_) + pos, count);
    return count;
  }

 private:
  const void* data_;
  size_t size_;
};

} // namespace caffe2::serialize
