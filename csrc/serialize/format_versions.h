// Versions of archives, as PyTorch counts them: in the record "version" of a file.
#pragma once

#include <cstdint>

namespace caffe2::serialize {

constexpr uint64_t kMinSupportedFileFormatVersion = 1;
constexpr uint64_t kMaxSupportedFileFormatVersion = 10;
constexpr uint64_t kProducedFileFormatVersion = 10;
constexpr uint64_t kMinProducedFileFormatVersion = 3;
constexpr uint64_t kProducedBytecodeVersion = 8;
constexpr uint64_t kMinSupportedBytecodeVersion = 4;
constexpr uint64_t kMaxSupportedBytecodeVersion = 9;

} // namespace caffe2::serialize
