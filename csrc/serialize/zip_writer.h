// Writes ZIP files of stored entries, data aligned to 64 bytes: the containers of .pt files.
#pragma once

#include <csrc/serialize/byte_sink.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torch::serialize {

/// Every entry lies in one folder. finish() must be called at the end.
class ZipWriter {
 public:
  ZipWriter(ByteSink& sink, std::string folder) : sink_(sink), folder_(std::move(folder)) {}

  void add(std::string_view name, const void* data, size_t size);
  void add(std::string_view name, std::string_view text) {
    add(name, text.data(), text.size());
  }
  /// Adds the entry ".data/serialization_id", a number made of names and contents, and the directory.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint64_t offset;
    uint64_t size;
    uint32_t crc;
  };
  void put(const std::string& bytes);
  void write_directory();

  ByteSink& sink_;
  std::string folder_;
  std::vector<Entry> entries_;
  uint64_t offset_ = 0;
};

} // namespace torch::serialize
