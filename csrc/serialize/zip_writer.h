// Writes ZIP files of stored entries, aligned: the containers of .pt files.
#pragma once

#include <csrc/serialize/byte_sink.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torch::serialize {

/// Every entry lies in one folder. finish() must be called at the end.
class ZipWriter {
 public:
  /// The data of each entry begins at a multiple of `alignment`, from 1 to 32768.
  ZipWriter(ByteSink& sink, std::string folder, uint64_t alignment = 64);

  void add(std::string_view name, const void* data, size_t size);
  void add(std::string_view name, std::string_view text) {
    add(name, text.data(), text.size());
  }
  /// Adds the entry ".data/serialization_id", a number made of names and contents, which it returns, and the directory.
  std::string finish();

  /// Where the data of an entry begins whose header is written at `header_offset`, and how much padding stands before
  /// it.
  static std::pair<uint64_t, uint64_t> data_offset(
      uint64_t header_offset, size_t name_size, uint64_t size, uint64_t alignment);
  /// The extra field of a header that holds so much padding.
  static std::string padding_field(uint64_t padding);

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
  uint64_t alignment_;
  std::vector<Entry> entries_;
  uint64_t offset_ = 0;
};

} // namespace torch::serialize
