// PyTorch's archives, record by record.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Storage.h>
#include <c10/util/OwnedPtr.h>
#include <csrc/serialize/format_versions.h>
#include <csrc/serialize/read_adapter.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace caffe2::serialize {

constexpr const char* kSerializationIdRecordName = ".data/serialization_id";

/// Gives a record in chunks. Lives on its own: the reader may go first.
class TORCH_API ChunkRecordIterator final {
 public:
  ~ChunkRecordIterator();
  /// Copies the next chunk to `buf`, which has room for one, and returns its size: 0 at the end.
  size_t next(void* buf);
  size_t recordSize() const {
    return record_.size();
  }

 private:
  friend class PyTorchStreamReader;
  ChunkRecordIterator(
      torch::serialize::FileBytes bytes, std::string unpacked, std::string_view record, size_t chunk_size);

  torch::serialize::FileBytes bytes_; // which the record lies in
  std::string unpacked_; // or here, if it is compressed
  std::string_view record_;
  size_t chunk_size_;
  size_t offset_ = 0;
};

/// Reads the records of a .pt file or TorchScript archive by name: the ZIP entries of its folder. The directory is
/// checked at once and each record against its CRC-32. Records may be compressed by DEFLATE, as those of code are. May
/// be used by several threads.
class TORCH_API PyTorchStreamReader final {
 public:
  explicit PyTorchStreamReader(const std::string& file_name);
  explicit PyTorchStreamReader(std::istream* in);
  /// Files are mapped; what any other adapter gives is copied into memory.
  explicit PyTorchStreamReader(std::shared_ptr<ReadAdapterInterface> in);
  ~PyTorchStreamReader();

  /// A copy of the record and its size. The readers beside are not needed: the bytes lie in memory already.
  std::tuple<at::DataPtr, size_t> getRecord(
      const std::string& name, std::optional<at::Allocator*> allocator = std::nullopt);
  std::tuple<at::DataPtr, size_t> getRecord(
      const std::string& name,
      std::vector<std::shared_ptr<ReadAdapterInterface>>& additionalReaders,
      std::optional<at::Allocator*> allocator = std::nullopt);
  /// Copies the record, which must have `n` bytes, to `dst` and returns its size.
  size_t getRecord(const std::string& name, void* dst, size_t n);
  size_t getRecord(
      const std::string& name,
      void* dst,
      size_t n,
      std::vector<std::shared_ptr<ReadAdapterInterface>>& additionalReaders);
  /// The same in chunks, each of which goes through `buf` and is brought to its place by `memcpy_func(dst, buf, size)`.
  size_t getRecord(
      const std::string& name,
      void* dst,
      size_t n,
      size_t chunk_size,
      void* buf,
      const std::function<void(void*, const void*, size_t)>& memcpy_func = nullptr);
  size_t getRecordMultiReaders(
      const std::string& name,
      std::vector<std::shared_ptr<ReadAdapterInterface>>& additionalReaders,
      void* dst,
      size_t n);

  /// The record's bytes as a CPU storage that lies in the mapped file, where there is one: nothing is read before it is
  /// used, and so the bytes are not checked. Elsewhere a checked copy. The record must not be compressed.
  c10::Storage getStorage(const std::string& name);
  /// Whether the bytes lie in a mapped file, so that keeping the reader costs no memory.
  bool isMapped() const;

  bool hasRecord(const std::string& name);
  std::vector<std::string> getAllRecords();
  size_t getRecordSize(const std::string& name);
  size_t getRecordHeaderOffset(const std::string& name);
  /// Where the record's bytes begin in the file.
  size_t getRecordOffset(const std::string& name);
  /// Where they would begin if a header was written at `cursor`.
  size_t getRecordOffsetNoRead(size_t cursor, std::string filename, size_t size, uint64_t alignment);
  /// `recordSize` must be the size of the record.
  ChunkRecordIterator createChunkReaderIter(const std::string& name, const size_t recordSize, const size_t chunkSize);

  uint64_t version() const;
  const std::string& serializationId();
  /// Without them, records "....debug_pkl" count as empty.
  void setShouldLoadDebugSymbol(bool should_load_debug_symbol);
  /// Has no effect: there is one reader.
  void setAdditionalReaderSizeThreshold(const size_t&) {}

 private:
  explicit PyTorchStreamReader(torch::serialize::FileBytes bytes);
  std::string_view record(const std::string& name, std::string& unpacked);

  struct State;
  c10::OwnedPtr<State> state_;
};

namespace detail {
/// How many bytes of padding stand before the data of a record whose header is written at `cursor`. `padding_buf` gets
/// the extra field that holds them.
TORCH_API size_t
getPadding(size_t cursor, size_t filename_size, size_t size, std::string& padding_buf, uint64_t alignment);
/// Where the data of such a record begins, and the padding.
TORCH_API std::tuple<size_t, size_t> getOffset(size_t cursor, size_t filename_size, size_t size, uint64_t alignment);
} // namespace detail

} // namespace caffe2::serialize
