#include <csrc/serialize/zip_reader.h>

#include <csrc/serialize/inflate.h>
#include <csrc/utils/crc32.h>
#include <csrc/serialize/zip_format.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace torch::serialize {

using namespace zip;

bool ZipReader::looks_like_zip(const FileBytes& bytes) {
  uint32_t signature = 0;
  if (bytes.size() < kDirectoryEndSize) {
    return false;
  }
  std::memcpy(&signature, bytes.data(), sizeof signature);
  return signature == kLocalHeader || signature == kDirectoryEnd;
}

ZipReader::ZipReader(FileBytes bytes, bool verify_crc) : bytes_(std::move(bytes)), verify_crc_(verify_crc) {
  const Directory directory = find_directory();
  read_directory(directory);
  check_overlaps();
}

void ZipReader::corrupt(const std::string& what) const {
  TORCH_CHECK(
      false, "failed reading zip archive: ", bytes_.name(), " (", bytes_.size(), " bytes): ", what,
      ". The file is damaged, was cut short, or is no ZIP file");
}

std::string ZipReader::where(std::string_view name) const {
  return fmt::format("{}, entry '{}'", bytes_.name(), name);
}

// Little-endian, as this library's only platform is. Callers have checked that the bytes are there.
template <class T>
T ZipReader::number(uint64_t offset) const {
  T value;
  std::memcpy(&value, bytes_.data() + offset, sizeof value);
  return value;
}

ZipReader::Directory ZipReader::find_directory() const {
  const uint64_t size = bytes_.size();
  if (size < kDirectoryEndSize) {
    corrupt(fmt::format("a ZIP file has at least {} bytes", kDirectoryEndSize));
  }
  // The end record is followed by a comment of at most 65535 bytes, whose length must fit.
  const uint64_t last = size - kDirectoryEndSize;
  const uint64_t first = last > kMax16 ? last - kMax16 : 0;
  for (uint64_t offset = last;; --offset) {
    if (number<uint32_t>(offset) == kDirectoryEnd && number<uint16_t>(offset + 20) == last - offset) {
      const auto disk = number<uint16_t>(offset + 4), directory_disk = number<uint16_t>(offset + 6);
      const auto count_here = number<uint16_t>(offset + 8), count = number<uint16_t>(offset + 10);
      const auto directory_size = number<uint32_t>(offset + 12), directory_offset = number<uint32_t>(offset + 16);
      // ZIP64 is recognised by its locator; writers may fill in the small record as well.
      if (offset >= kZip64LocatorSize && number<uint32_t>(offset - kZip64LocatorSize) == kZip64Locator) {
        return read_zip64_directory(offset);
      }
      if (disk != 0 || directory_disk != 0 || count_here != count) {
        corrupt("it is a part of several, which are not supported");
      }
      if (uint64_t(directory_offset) + directory_size > offset) {
        corrupt(fmt::format(
            "the directory at {} with {} bytes reaches past its end record at {}", directory_offset, directory_size,
            offset));
      }
      return Directory{directory_offset, directory_size, count};
    }
    if (offset == first) {
      break;
    }
  }
  corrupt("failed finding central directory: there is no end record in the last 64 KiB");
}

ZipReader::Directory ZipReader::read_zip64_directory(uint64_t end_offset) const {
  const uint64_t locator = end_offset - kZip64LocatorSize;
  const auto record = number<uint64_t>(locator + 8);
  if (record > locator || locator - record < kZip64DirectoryEndSize || number<uint32_t>(record) != kZip64DirectoryEnd) {
    corrupt(fmt::format("there is no ZIP64 end record at offset {}", record));
  }
  const auto count = number<uint64_t>(record + 32);
  const auto size = number<uint64_t>(record + 40), offset = number<uint64_t>(record + 48);
  if (offset > record || size > record - offset) {
    corrupt(fmt::format("the directory at {} with {} bytes reaches past its end record at {}", offset, size, record));
  }
  return Directory{offset, size, count};
}

void ZipReader::read_directory(const Directory& directory) {
  if (directory.count > directory.size / kDirectoryEntrySize) {
    corrupt(fmt::format("{} entries do not fit into a directory of {} bytes", directory.count, directory.size));
  }
  entries_.reserve(directory.count);
  uint64_t offset = directory.offset;
  const uint64_t end = directory.offset + directory.size;
  for (uint64_t i = 0; i < directory.count; ++i) {
    if (end - offset < kDirectoryEntrySize || number<uint32_t>(offset) != kDirectoryEntry) {
      corrupt(fmt::format("directory entry {} is missing at offset {}", i, offset));
    }
    const auto flags = number<uint16_t>(offset + 8);
    uint64_t packed_size = number<uint32_t>(offset + 20);
    const auto name_size = number<uint16_t>(offset + 28), extra_size = number<uint16_t>(offset + 30),
               comment_size = number<uint16_t>(offset + 32);
    Entry entry{};
    entry.method = number<uint16_t>(offset + 10);
    entry.crc = number<uint32_t>(offset + 16);
    entry.size = number<uint32_t>(offset + 24);
    entry.header_offset = number<uint32_t>(offset + 42);
    const uint64_t length = kDirectoryEntrySize + name_size + extra_size + comment_size;
    if (end - offset < length) {
      corrupt(fmt::format("directory entry {} at offset {} is cut short", i, offset));
    }
    entry.name =
        std::string_view(reinterpret_cast<const char*>(bytes_.data()) + offset + kDirectoryEntrySize, name_size);

    // The ZIP64 field holds, in this order, those of the numbers that are all ones in the entry.
    uint64_t extra = offset + kDirectoryEntrySize + name_size;
    const uint64_t extra_end = extra + extra_size;
    while (extra_end - extra >= 4) {
      const auto id = number<uint16_t>(extra), field_size = number<uint16_t>(extra + 2);
      extra += 4;
      if (field_size > extra_end - extra) {
        corrupt(fmt::format("entry '{}' has a cut extra field", entry.name));
      }
      if (id == kZip64Extra) {
        uint64_t at = extra;
        for (uint64_t* value : {&entry.size, &packed_size, &entry.header_offset}) {
          if (*value != kMax32) {
            continue;
          }
          if (extra + field_size - at < 8) {
            corrupt(fmt::format("entry '{}' has a ZIP64 field that is too short", entry.name));
          }
          *value = number<uint64_t>(at);
          at += 8;
        }
      }
      extra += field_size;
    }

    if (flags & kEncrypted) {
      corrupt(fmt::format("entry '{}' is encrypted, which is not supported", entry.name));
    }
    if (entry.method == kStored && packed_size != entry.size) {
      corrupt(fmt::format("entry '{}' is stored, but its sizes {} and {} differ", entry.name, packed_size, entry.size));
    }
    entry.unpacked_size = entry.size;
    entry.size = packed_size;
    read_local_header(entry, directory.offset);
    if (!index_.emplace(entry.name, entries_.size()).second) {
      corrupt(fmt::format("there are two entries '{}'", entry.name));
    }
    entries_.push_back(entry);
    offset += length;
  }
  if (offset != end) {
    corrupt(fmt::format("the directory has {} bytes after its last entry", end - offset));
  }
}

void ZipReader::read_local_header(Entry& entry, uint64_t directory_offset) const {
  const uint64_t offset = entry.header_offset;
  if (offset > directory_offset || directory_offset - offset < kLocalHeaderSize ||
      number<uint32_t>(offset) != kLocalHeader) {
    corrupt(fmt::format("entry '{}' has no header at offset {}", entry.name, offset));
  }
  const auto name_size = number<uint16_t>(offset + 26), extra_size = number<uint16_t>(offset + 28);
  entry.data_offset = offset + kLocalHeaderSize + name_size + extra_size;
  if (entry.data_offset > directory_offset || directory_offset - entry.data_offset < entry.size) {
    corrupt(fmt::format(
        "entry '{}' with {} bytes at offset {} reaches past the directory at {}", entry.name, entry.size,
        entry.data_offset, directory_offset));
  }
  const std::string_view name(reinterpret_cast<const char*>(bytes_.data()) + offset + kLocalHeaderSize, name_size);
  if (name != entry.name) {
    corrupt(fmt::format("entry '{}' is called '{}' in its header at offset {}", entry.name, name, offset));
  }
}

void ZipReader::check_overlaps() const {
  std::vector<const Entry*> by_offset;
  by_offset.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    by_offset.push_back(&entry);
  }
  std::sort(by_offset.begin(), by_offset.end(), [](const Entry* a, const Entry* b) {
    return a->header_offset < b->header_offset;
  });
  for (size_t i = 1; i < by_offset.size(); ++i) {
    const Entry &before = *by_offset[i - 1], &entry = *by_offset[i];
    if (before.data_offset + before.size > entry.header_offset) {
      corrupt(fmt::format("entries '{}' and '{}' overlap at offset {}", before.name, entry.name, entry.header_offset));
    }
  }
}

std::string ZipReader::folder() const {
  TORCH_CHECK(!entries_.empty(), "failed reading zip archive: ", bytes_.name(), " has no entries");
  const std::string_view first = entries_.front().name;
  const size_t slash = first.find('/');
  TORCH_CHECK(slash != std::string_view::npos, where(first), ": the entries of a .pt file lie in a folder");
  return std::string(first.substr(0, slash));
}

const ZipReader::Entry& ZipReader::find(std::string_view name) const {
  const auto found = index_.find(name);
  TORCH_CHECK(found != index_.end(), where(name), ": the file has no such entry");
  return entries_[found->second];
}

void ZipReader::check_crc(std::string_view name, const Entry& entry, std::string_view unpacked) const {
  const uint32_t crc = utils::crc32(unpacked.data(), unpacked.size());
  TORCH_CHECK(
      crc == entry.crc, where(name), ", ", entry.size, " bytes at offset ", entry.data_offset,
      fmt::format(": CRC-32 is {:08x}, must be {:08x}", crc, entry.crc), ". The file is damaged");
}

const ZipReader::Entry& ZipReader::stored_entry(std::string_view name) const {
  const Entry& entry = find(name);
  TORCH_CHECK(
      entry.method == kStored, where(name), ": the entry is compressed (method ", entry.method,
      "); PyTorch stores data as it is: unpack the file and pack it again with `zip -0`");
  return entry;
}

const ZipReader::Entry& ZipReader::entry(std::string_view name) {
  const Entry& entry = stored_entry(name);
  if (verify_crc_ && !entry.checked) {
    check_crc(name, entry, {reinterpret_cast<const char*>(bytes_.data()) + entry.data_offset, entry.size});
    entries_[static_cast<size_t>(&entry - entries_.data())].checked = true;
  }
  return entry;
}

std::string_view ZipReader::read(std::string_view name) {
  const Entry& found = entry(name);
  return std::string_view(reinterpret_cast<const char*>(bytes_.data()) + found.data_offset, found.size);
}

std::string_view ZipReader::read(std::string_view name, std::string& unpacked) {
  const Entry& packed = find(name);
  if (packed.method != kDeflated) {
    return read(name);
  }
  const std::string_view bytes(reinterpret_cast<const char*>(bytes_.data()) + packed.data_offset, packed.size);
  unpacked = inflate(bytes, packed.unpacked_size, where(name));
  if (verify_crc_) {
    check_crc(name, packed, unpacked);
  }
  return unpacked;
}

} // namespace torch::serialize
