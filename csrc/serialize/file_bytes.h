// The bytes that a reader works on: a mapped file, or memory.
#pragma once

#include <c10/core/Storage.h>
#include <c10/macros/Export.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace torch::serialize {

/// Counted bytes with the name that messages call them by. Storages of a mapped file or of a stream that was read at
/// once may lie in these bytes and keep them alive.
class TORCH_API FileBytes {
 public:
  /// Maps a regular file; reads anything else to its end. The mapping is private: writing to it copies the page.
  static FileBytes map(const std::string& path);
  /// Copies the file into memory.
  static FileBytes read(const std::string& path);
  /// All of the stream, wherever it stands, as libtorch reads it; one that cannot seek from here to its end. The stream
  /// stays usable: it can be read again.
  static FileBytes read(std::istream& stream);
  static FileBytes read(
      const std::function<size_t(uint64_t pos, void* buffer, size_t nbytes)>& read_func, uint64_t size);
  /// Does not own the memory: the caller keeps it until reading has ended.
  static FileBytes view(const void* data, size_t size);

  const uint8_t* data() const {
    return data_;
  }
  size_t size() const {
    return size_;
  }
  bool is_mapped() const {
    return kind_ == Kind::MappedFile;
  }
  /// "file 'model.pt'", "stream", ...
  const std::string& name() const {
    return name_;
  }

  /// A CPU storage of bytes [offset, offset + size), which must lie inside: these very bytes where they may be shared
  /// and the address is a multiple of `alignment`, else a copy.
  c10::Storage storage(size_t offset, size_t size, size_t alignment) const;

 private:
  // Where the bytes come from: storages may share pages, not what the allocator gave or the caller keeps.
  enum class Kind { MappedFile, Pages, Memory };

  FileBytes(std::shared_ptr<void> owner, const uint8_t* data, size_t size, Kind kind, std::string name)
      : owner_(std::move(owner)), data_(data), size_(size), kind_(kind), name_(std::move(name)) {}
  static FileBytes of_stream_of_size(std::istream& stream, size_t size);
  static FileBytes take(std::vector<char> bytes, std::string name);

  std::shared_ptr<void> owner_;
  const uint8_t* data_;
  size_t size_;
  Kind kind_;
  std::string name_;
};

} // namespace torch::serialize
