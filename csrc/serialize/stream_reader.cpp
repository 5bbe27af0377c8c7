#include <csrc/serialize/stream_reader.h>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <csrc/serialize/zip_reader.h>
#include <csrc/serialize/zip_writer.h>

#include <charconv>
#include <mutex>

namespace caffe2::serialize {

using torch::serialize::FileBytes;
using torch::serialize::ZipReader;

namespace {

FileBytes bytes_of(const std::shared_ptr<ReadAdapterInterface>& adapter) {
  TORCH_CHECK(adapter, "PyTorchStreamReader: the adapter must not be null");
  if (const auto* file = dynamic_cast<const FileAdapter*>(adapter.get())) {
    return file->bytes();
  }
  return FileBytes::read(
      [&](uint64_t pos, void* buffer, size_t size) { return adapter->read(pos, buffer, size, "reading an archive"); },
      adapter->size());
}

FileBytes bytes_of(std::istream* stream) {
  TORCH_CHECK(stream, "PyTorchStreamReader: the stream must not be null");
  return FileBytes::read(*stream);
}

uint64_t parse_version(std::string_view text, const std::string& where) {
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  TORCH_CHECK(
      error == std::errc() && (end == text.data() + text.size() || *end == '\n'), where,
      ": the version must be a number, is '", text.substr(0, 32), "'");
  TORCH_CHECK(
      version >= kMinSupportedFileFormatVersion && version <= kMaxSupportedFileFormatVersion, where, ": version ",
      version, " is not supported; ", kMinSupportedFileFormatVersion, " to ", kMaxSupportedFileFormatVersion, " are");
  return version;
}

bool is_debug_record(std::string_view name) {
  constexpr std::string_view kSuffix = ".debug_pkl";
  return name.size() >= kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
}

} // namespace

ChunkRecordIterator::ChunkRecordIterator(
    FileBytes bytes, std::string unpacked, std::string_view record, size_t chunk_size)
    : bytes_(std::move(bytes)),
      unpacked_(std::move(unpacked)),
      record_(unpacked_.empty() ? record : std::string_view(unpacked_)),
      chunk_size_(chunk_size) {}
ChunkRecordIterator::~ChunkRecordIterator() = default;

size_t ChunkRecordIterator::next(void* buf) {
  const std::string_view chunk = record_.substr(offset_, chunk_size_);
  if (!chunk.empty()) {
    std::memcpy(buf, chunk.data(), chunk.size());
  }
  offset_ += chunk.size();
  return chunk.size();
}

struct PyTorchStreamReader::State {
  explicit State(FileBytes bytes) : zip(std::move(bytes)), folder(zip.folder() + "/") {}

  std::mutex mutex; // checking a record is noted in its entry
  ZipReader zip;
  std::string folder;
  std::string serialization_id;
  uint64_t version = 0;
  bool load_debug_records = true;
};

PyTorchStreamReader::PyTorchStreamReader(FileBytes bytes) : state_(new State(std::move(bytes))) {
  const char* name = hasRecord(".data/version") ? ".data/version" : "version";
  std::string unpacked;
  state_->version = parse_version(record(name, unpacked), state_->zip.where(state_->folder + name));
  if (hasRecord(kSerializationIdRecordName)) {
    state_->serialization_id = record(kSerializationIdRecordName, unpacked);
  }
}

PyTorchStreamReader::PyTorchStreamReader(const std::string& file_name)
    : PyTorchStreamReader(FileBytes::map(file_name)) {}
PyTorchStreamReader::PyTorchStreamReader(std::istream* in) : PyTorchStreamReader(bytes_of(in)) {}
PyTorchStreamReader::PyTorchStreamReader(std::shared_ptr<ReadAdapterInterface> in)
    : PyTorchStreamReader(bytes_of(in)) {}
PyTorchStreamReader::~PyTorchStreamReader() = default;

// Compressed records are unpacked into `unpacked`.
std::string_view PyTorchStreamReader::record(const std::string& name, std::string& unpacked) {
  if (!state_->load_debug_records && is_debug_record(name)) {
    return {};
  }
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->zip.read(state_->folder + name, unpacked);
}

c10::Storage PyTorchStreamReader::getStorage(const std::string& name) {
  // Enough for every dtype.
  constexpr size_t kAlignment = 16;
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const std::string full_name = state_->folder + name;
  const ZipReader::Entry& entry = isMapped() ? state_->zip.stored_entry(full_name) : state_->zip.entry(full_name);
  return state_->zip.bytes().storage(entry.data_offset, entry.size, kAlignment);
}

bool PyTorchStreamReader::isMapped() const {
  return state_->zip.bytes().is_mapped();
}

std::tuple<at::DataPtr, size_t> PyTorchStreamReader::getRecord(
    const std::string& name, std::optional<at::Allocator*> allocator) {
  std::string unpacked;
  const std::string_view bytes = record(name, unpacked);
  at::DataPtr copy = (allocator ? *allocator : c10::GetCPUAllocator())->allocate(bytes.size());
  if (!bytes.empty()) {
    std::memcpy(copy.get(), bytes.data(), bytes.size());
  }
  return {std::move(copy), bytes.size()};
}

std::tuple<at::DataPtr, size_t> PyTorchStreamReader::getRecord(
    const std::string& name,
    std::vector<std::shared_ptr<ReadAdapterInterface>>&,
    std::optional<at::Allocator*> allocator) {
  return getRecord(name, allocator);
}

size_t PyTorchStreamReader::getRecord(const std::string& name, void* dst, size_t n) {
  return getRecord(name, dst, n, /*chunk_size=*/n, /*buf=*/nullptr);
}

size_t PyTorchStreamReader::getRecord(
    const std::string& name, void* dst, size_t n, std::vector<std::shared_ptr<ReadAdapterInterface>>&) {
  return getRecord(name, dst, n);
}

size_t PyTorchStreamReader::getRecordMultiReaders(
    const std::string& name, std::vector<std::shared_ptr<ReadAdapterInterface>>&, void* dst, size_t n) {
  return getRecord(name, dst, n);
}

size_t PyTorchStreamReader::getRecord(
    const std::string& name,
    void* dst,
    size_t n,
    size_t chunk_size,
    void* buf,
    const std::function<void(void*, const void*, size_t)>& memcpy_func) {
  std::string unpacked;
  const std::string_view bytes = record(name, unpacked);
  if (bytes.empty() && !state_->load_debug_records) {
    return 0;
  }
  TORCH_CHECK(
      bytes.size() == n, state_->zip.where(state_->folder + name), " has ", bytes.size(), " bytes; ", n,
      " were asked for");
  TORCH_CHECK(chunk_size > 0 || n == 0, "PyTorchStreamReader::getRecord: chunk_size must be positive");
  TORCH_CHECK(
      !memcpy_func || buf, "PyTorchStreamReader::getRecord: memcpy_func needs a buffer of ", chunk_size, " bytes");
  for (size_t offset = 0; offset < n; offset += chunk_size) {
    const std::string_view chunk = bytes.substr(offset, chunk_size);
    char* const place = static_cast<char*>(dst) + offset;
    if (!memcpy_func) {
      std::memcpy(place, chunk.data(), chunk.size());
      continue;
    }
    std::memcpy(buf, chunk.data(), chunk.size());
    memcpy_func(place, buf, chunk.size());
  }
  return n;
}

bool PyTorchStreamReader::hasRecord(const std::string& name) {
  return state_->zip.has(state_->folder + name);
}

std::vector<std::string> PyTorchStreamReader::getAllRecords() {
  std::vector<std::string> names;
  for (const ZipReader::Entry& entry : state_->zip.entries()) {
    TORCH_CHECK(
        entry.name.substr(0, state_->folder.size()) == state_->folder, state_->zip.where(entry.name),
        ": the entry must lie in the folder '", state_->folder, "'");
    const std::string_view name = entry.name.substr(state_->folder.size());
    if (state_->load_debug_records || !is_debug_record(name)) {
      names.emplace_back(name);
    }
  }
  return names;
}

size_t PyTorchStreamReader::getRecordSize(const std::string& name) {
  if (!state_->load_debug_records && is_debug_record(name)) {
    return 0;
  }
  return state_->zip.unpacked_size(state_->folder + name);
}

size_t PyTorchStreamReader::getRecordHeaderOffset(const std::string& name) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->zip.entry(state_->folder + name).header_offset;
}

size_t PyTorchStreamReader::getRecordOffset(const std::string& name) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->zip.entry(state_->folder + name).data_offset;
}

size_t PyTorchStreamReader::getRecordOffsetNoRead(
    size_t cursor, std::string filename, size_t size, uint64_t alignment) {
  return std::get<0>(detail::getOffset(cursor, state_->folder.size() + filename.size(), size, alignment));
}

ChunkRecordIterator PyTorchStreamReader::createChunkReaderIter(
    const std::string& name, const size_t recordSize, const size_t chunkSize) {
  std::string unpacked;
  const std::string_view bytes = record(name, unpacked);
  TORCH_CHECK(
      bytes.size() == recordSize, state_->zip.where(state_->folder + name), " has ", bytes.size(), " bytes; ",
      recordSize, " were asked for");
  TORCH_CHECK(chunkSize > 0, "PyTorchStreamReader::createChunkReaderIter: chunkSize must be positive");
  return ChunkRecordIterator(state_->zip.bytes(), std::move(unpacked), bytes, chunkSize);
}

uint64_t PyTorchStreamReader::version() const {
  return state_->version;
}

const std::string& PyTorchStreamReader::serializationId() {
  return state_->serialization_id;
}

void PyTorchStreamReader::setShouldLoadDebugSymbol(bool should_load_debug_symbol) {
  state_->load_debug_records = should_load_debug_symbol;
}

namespace detail {

size_t getPadding(size_t cursor, size_t filename_size, size_t size, std::string& padding_buf, uint64_t alignment) {
  const size_t padding = std::get<1>(getOffset(cursor, filename_size, size, alignment));
  padding_buf = torch::serialize::ZipWriter::padding_field(padding);
  return padding_buf.size();
}

std::tuple<size_t, size_t> getOffset(size_t cursor, size_t filename_size, size_t size, uint64_t alignment) {
  return torch::serialize::ZipWriter::data_offset(cursor, filename_size, size, alignment);
}

} // namespace detail

} // namespace caffe2::serialize
