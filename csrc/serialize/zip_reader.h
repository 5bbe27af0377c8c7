// Reads ZIP files, the containers of .pt files and TorchScript archives.
#pragma once

#include <csrc/serialize/file_bytes.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torch::serialize {

/// The directory of a ZIP file (PKWARE APPNOTE 6.3: ZIP64 included; encryption and several disks not). The whole
/// directory is checked at once: every entry must lie inside the file, apart from all others, under a name of its own.
/// The bytes of an entry are checked against their CRC-32 when they are first asked for.
class ZipReader {
 public:
  struct Entry {
    std::string_view name;
    uint64_t header_offset;
    uint64_t data_offset;
    uint64_t size; // of the bytes in the file
    uint64_t unpacked_size; // differs for compressed entries
    uint32_t crc; // of the unpacked bytes
    uint16_t method;
    bool checked;
  };

  /// Whether the bytes begin as a ZIP file does.
  static bool looks_like_zip(const FileBytes& bytes);

  /// Without `verify_crc`, CRCs are not looked at: torch.serialization.set_crc32_options(False) writes wrong ones.
  explicit ZipReader(FileBytes bytes, bool verify_crc = true);

  const FileBytes& bytes() const {
    return bytes_;
  }
  const std::vector<Entry>& entries() const {
    return entries_;
  }
  /// The folder of the first entry: PyTorch's files have one that all lie in.
  std::string folder() const;
  bool has(std::string_view name) const {
    return index_.count(name) > 0;
  }
  /// The entry, which must be there and stored, its bytes checked.
  const Entry& entry(std::string_view name);
  std::string_view read(std::string_view name);
  /// The bytes of an entry, which may be compressed by DEFLATE: then `unpacked` holds them. Checked.
  std::string_view read(std::string_view name, std::string& unpacked);
  /// Where a stored entry lies, not checked.
  const Entry& stored_entry(std::string_view name) const;
  /// How many bytes the entry has when it is unpacked.
  uint64_t unpacked_size(std::string_view name) const {
    return find(name).unpacked_size;
  }
  /// "file 'model.pt', entry 'model/data.pkl'".
  std::string where(std::string_view name) const;

 private:
  struct Directory {
    uint64_t offset;
    uint64_t size;
    uint64_t count;
  };
  Directory find_directory() const;
  Directory read_zip64_directory(uint64_t end_offset) const;
  void read_directory(const Directory& directory);
  void read_local_header(Entry& entry, uint64_t directory_offset) const;
  void check_overlaps() const;
  const Entry& find(std::string_view name) const;
  void check_crc(std::string_view name, const Entry& entry, std::string_view unpacked) const;
  [[noreturn]] void corrupt(const std::string& what) const;

  template <class T>
  T number(uint64_t offset) const;

  FileBytes bytes_;
  bool verify_crc_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, size_t> index_;
};

} // namespace torch::serialize
