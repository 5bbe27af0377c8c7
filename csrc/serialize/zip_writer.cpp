#include <csrc/serialize/zip_writer.h>

#include <csrc/utils/crc32.h>
#include <csrc/serialize/zip_format.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <type_traits>

namespace torch::serialize {

using namespace zip;

namespace {

constexpr uint64_t kMaxAlignment = uint64_t(1) << 15;
// The extra field that PyTorch pads headers with: an id that no other program uses, its length, then letters.
constexpr uint16_t kPaddingExtra = 'F' | ('B' << 8);
constexpr uint64_t kExtraHeaderSize = 4;

template <class T>
void append(std::string& out, T value) {
  static_assert(std::is_unsigned_v<T>);
  for (size_t i = 0; i < sizeof value; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i)));
  }
}

constexpr uint16_t version_needed(bool zip64) {
  return zip64 ? 45 : 20;
}

uint32_t or_max(uint64_t value) {
  return value >= kMax32 ? kMax32 : static_cast<uint32_t>(value);
}

} // namespace

ZipWriter::ZipWriter(ByteSink& sink, std::string folder, uint64_t alignment)
    : sink_(sink), folder_(std::move(folder)), alignment_(alignment) {
  TORCH_CHECK(
      alignment >= 1 && alignment <= kMaxAlignment, "ZIP file: data cannot be aligned to ", alignment, " bytes; 1 to ",
      kMaxAlignment, " are possible");
}

std::pair<uint64_t, uint64_t> ZipWriter::data_offset(
    uint64_t header_offset, size_t name_size, uint64_t size, uint64_t alignment) {
  TORCH_CHECK(alignment > 0, "ZIP file: data cannot be aligned to 0 bytes");
  const uint64_t zip64_field = size >= kMax32 ? 20 : 0;
  const uint64_t unpadded = header_offset + kLocalHeaderSize + name_size + zip64_field + kExtraHeaderSize;
  const uint64_t padding = (alignment - unpadded % alignment) % alignment;
  return {unpadded + padding, padding};
}

std::string ZipWriter::padding_field(uint64_t padding) {
  std::string field;
  append(field, kPaddingExtra);
  append(field, static_cast<uint16_t>(padding));
  field.append(padding, 'Z');
  return field;
}

void ZipWriter::put(const std::string& bytes) {
  sink_.write(bytes.data(), bytes.size());
  offset_ += bytes.size();
}

void ZipWriter::add(std::string_view name, const void* data, size_t size) {
  Entry entry{folder_ + "/" + std::string(name), offset_, size, utils::crc32(data, size)};
  TORCH_CHECK(
      entry.name.size() <= kMax16, "ZIP entry name of ", entry.name.size(), " bytes: at most 65535 are possible");
  const bool zip64 = size >= kMax32;
  std::string header;
  append(header, kLocalHeader);
  append(header, version_needed(zip64));
  append(header, kUtf8Names);
  append(header, kStored);
  append(header, uint16_t(0));
  append(header, kDate);
  append(header, entry.crc);
  append(header, or_max(size));
  append(header, or_max(size));
  append(header, static_cast<uint16_t>(entry.name.size()));

  std::string extra;
  if (zip64) {
    append(extra, kZip64Extra);
    append(extra, uint16_t(16));
    append(extra, uint64_t(size));
    append(extra, uint64_t(size));
  }
  extra += padding_field(data_offset(offset_, entry.name.size(), size, alignment_).second);

  append(header, static_cast<uint16_t>(extra.size()));
  header += entry.name;
  header += extra;
  put(header);
  if (size > 0) {
    sink_.write(data, size);
  }
  offset_ += size;
  entries_.push_back(std::move(entry));
}

std::string ZipWriter::finish() {
  uint32_t names = 0, contents = 0;
  for (const Entry& entry : entries_) {
    names = utils::crc32(entry.name.data(), entry.name.size(), names);
    contents = utils::crc32(&entry.crc, sizeof entry.crc, contents);
  }
  std::string id = fmt::format("{:020}{:020}", names, contents);
  add(".data/serialization_id", id);
  write_directory();
  return id;
}

void ZipWriter::write_directory() {
  const uint64_t start = offset_;
  std::string record;
  for (const Entry& entry : entries_) {
    std::string extra;
    if (entry.size >= kMax32) {
      append(extra, entry.size);
      append(extra, entry.size);
    }
    if (entry.offset >= kMax32) {
      append(extra, entry.offset);
    }
    record.clear();
    append(record, kDirectoryEntry);
    append(record, version_needed(!extra.empty()));
    append(record, version_needed(!extra.empty()));
    append(record, kUtf8Names);
    append(record, kStored);
    append(record, uint16_t(0));
    append(record, kDate);
    append(record, entry.crc);
    append(record, or_max(entry.size));
    append(record, or_max(entry.size));
    append(record, static_cast<uint16_t>(entry.name.size()));
    append(record, static_cast<uint16_t>(extra.empty() ? 0 : extra.size() + 4));
    append(record, uint16_t(0)); // comment
    append(record, uint16_t(0)); // disk
    append(record, uint16_t(0)); // internal attributes
    append(record, uint32_t(0)); // external attributes
    append(record, or_max(entry.offset));
    record += entry.name;
    if (!extra.empty()) {
      append(record, kZip64Extra);
      append(record, static_cast<uint16_t>(extra.size()));
      record += extra;
    }
    put(record);
  }
  const uint64_t end = offset_, size = end - start, count = entries_.size();
  record.clear();
  if (count >= kMax16 || start >= kMax32 || size >= kMax32) {
    append(record, kZip64DirectoryEnd);
    append(record, uint64_t(kZip64DirectoryEndSize - 12));
    append(record, version_needed(true));
    append(record, version_needed(true));
    append(record, uint32_t(0));
    append(record, uint32_t(0));
    append(record, count);
    append(record, count);
    append(record, size);
    append(record, start);
    append(record, kZip64Locator);
    append(record, uint32_t(0));
    append(record, end);
    append(record, uint32_t(1));
  }
  const auto small_count = static_cast<uint16_t>(count >= kMax16 ? kMax16 : count);
  append(record, kDirectoryEnd);
  append(record, uint16_t(0));
  append(record, uint16_t(0));
  append(record, small_count);
  append(record, small_count);
  append(record, or_max(size));
  append(record, or_max(start));
  append(record, uint16_t(0));
  put(record);
}

} // namespace torch::serialize
