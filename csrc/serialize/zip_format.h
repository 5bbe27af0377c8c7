// Numbers of the ZIP format (PKWARE APPNOTE 6.3).
#pragma once

#include <cstdint>

namespace torch::serialize::zip {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kDirectoryEnd = 0x06054b50;
constexpr uint32_t kZip64DirectoryEnd = 0x06064b50;
constexpr uint32_t kZip64Locator = 0x07064b50;

constexpr uint64_t kLocalHeaderSize = 30;
constexpr uint64_t kDirectoryEntrySize = 46;
constexpr uint64_t kDirectoryEndSize = 22;
constexpr uint64_t kZip64DirectoryEndSize = 56;
constexpr uint64_t kZip64LocatorSize = 20;

constexpr uint16_t kEncrypted = 1 << 0;
constexpr uint16_t kDataDescriptor = 1 << 3;
constexpr uint16_t kUtf8Names = 1 << 11;

constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kZip64Extra = 1;
// 1980-01-01, the first day there is: the same content gives the same file.
constexpr uint16_t kDate = (0 << 9) | (1 << 5) | 1;

constexpr uint16_t kMax16 = 0xffff;
constexpr uint32_t kMax32 = 0xffffffff;

} // namespace torch::serialize::zip
